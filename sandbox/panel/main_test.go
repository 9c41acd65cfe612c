package panel

import (
	"testing"

	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }
