package runner_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/testpage"
)

// Outside of a page, the error of testpage states the remedy. (This import also keeps the module of
// the fixtures in go.mod, because go mod tidy does not look below testdata.)
func TestTestpageNatively(t *testing.T) {
	if testpage.Available() || testpage.Engine() != "" || testpage.InOwnPage() {
		t.Error("it takes itself to be in a page")
	}
	if err := testpage.CDP(t.Context(), "Browser.getVersion", nil, nil); err == nil || !strings.Contains(err.Error(), "go test -exec browsertest") {
		t.Error(err)
	}
}
