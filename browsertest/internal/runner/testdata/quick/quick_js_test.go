// Package quick is the least that a package can test.
package quick

import (
	"fmt"
	"os"
	"testing"
)

func TestQuick(t *testing.T) { fmt.Println("ran in", os.Getenv("BROWSERTEST_ENGINE")) }
