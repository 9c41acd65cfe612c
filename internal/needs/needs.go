// Package needs decides on tests that need a program or a file that a machine may lack: Node.js, node_modules, the tools that clang
// builds, bash. Without it a test is skipped. With BAILEY_REQUIRE=1 it fails, so that no evidence vanishes silently. make test sets the variable, as it
// has installed all of them before.
package needs

import (
	"os"
	"testing"
)

// Variable is the name of the environment variable that makes each missing thing a failure.
const Variable = "BAILEY_REQUIRE"

// Missing skips the test, or fails it if the variable is 1. The text names the thing and the way to get it.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv(Variable) == "1" {
		t.Fatalf(format+" ("+Variable+" is 1)", args...)
	}
	t.Skipf(format, args...)
}
