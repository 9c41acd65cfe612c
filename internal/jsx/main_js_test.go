package jsx_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("JSX_GUEST"); role != "" {
		if err := guest(role); err != nil {
			fmt.Fprintln(os.Stderr, "guest:", err)
			os.Exit(1)
		}
		return
	}
	jsxtest.Main(m)
}
