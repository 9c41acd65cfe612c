//go:build !js

package bailey_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

// Each code has a page in docs/errors, and the comment of protocol.Code links it.
func TestEachCodeHasAPage(t *testing.T) {
	src, err := os.ReadFile("protocol/errors.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range protocol.Codes() {
		page := "docs/errors/" + string(c) + ".md"
		if _, err := os.Stat(page); err != nil {
			t.Error(err)
		}
		if link := "// [" + string(c) + "]: https://" + module + "/blob/main/" + page; !strings.Contains(string(src), link) {
			t.Errorf("protocol/errors.go lacks %s", link)
		}
	}
}
