package sandbox_test

import (
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

func linked(testing.TB) fsaccess.FS { return fsaccess.NewMemory(fsaccess.MemoryOptions{}) }
