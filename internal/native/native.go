// Package native lets a test run natively only. It is for tests, and imports no other package of
// Bailey.
package native

import (
	"runtime"
	"testing"
)

// Only skips a test in a page of make test. It is for tests whose code is the same there, only slower.
// Without -short, as in make soak, the test runs in a page too.
func Only(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "js" && testing.Short() {
		t.Skip("the same code as natively: make soak runs it in a page")
	}
}
