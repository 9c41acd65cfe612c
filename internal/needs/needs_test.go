package needs_test

import (
	"testing"

	"github.com/bailey-go/bailey/internal/needs"
)

// A told is a test that records its end.
type told struct {
	testing.TB
	end string
}

func (*told) Helper()                 {}
func (t *told) Fatalf(string, ...any) { t.end += "failed" }
func (t *told) Skipf(string, ...any)  { t.end += "skipped" }

func TestMissing(t *testing.T) {
	for value, want := range map[string]string{"": "skipped", "0": "skipped", "1": "failed"} {
		t.Setenv(needs.Variable, value)
		got := &told{}
		needs.Missing(got, "%s is not here", "node")
		if got.end != want && got.end != want+"skipped" {
			t.Errorf("with %q it is %s", value, got.end)
		}
	}
}
