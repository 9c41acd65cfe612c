package answers_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bailey-go/bailey/examples/markdown/answers"
)

func Example() {
	a, _ := answers.ByName("science")
	first, _, _ := strings.Cut(a.Text, "\n")
	fmt.Println(a.Title)
	fmt.Println(first)
	// Output:
	// Why the sky is blue
	// # Why is the sky blue, and why isn't it violet?
}

func TestAll(t *testing.T) {
	names := map[string]bool{}
	for a := range answers.All() {
		if names[a.Name] || a.Title == "" || strings.Contains(a.Title, "\n") {
			t.Errorf("%q: name used twice or title %q not one line", a.Name, a.Title)
		}
		names[a.Name] = true
		if n := len(a.Text); n < 3<<10 || n > 20<<10 || !utf8.ValidString(a.Text) {
			t.Errorf("%s: %d bytes, valid UTF-8 %t; want 3 to 20 KiB of valid UTF-8", a.Name, n, utf8.ValidString(a.Text))
		}
		if !strings.HasPrefix(a.Text, "# ") {
			t.Errorf("%s does not begin with a heading", a.Name)
		}
	}
	files, err := fs.Glob(os.DirFS("."), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(names)+1 {
		t.Errorf("%d files, %d answers: each file needs a title", len(files), len(names))
	}
	if a := answers.Bench20k(); len(a.Text) != 20<<10 {
		t.Errorf("bench20k is %d bytes; the benches compare at exactly 20 KiB", len(a.Text))
	}
	if _, ok := answers.ByName("none"); ok {
		t.Error("an answer that is not there")
	}
}

// The hostile answer must contain an attempt at everything that the example lists as blocked.
func TestHostileIsHostile(t *testing.T) {
	a, _ := answers.ByName("hostile")
	for _, try := range []string{
		"![A chart", "?d=", `width="1" height="1"`, "javascript:", "data:text/html", "vbscript:", "<form", `type="password"`, "position:fixed",
		"<svg", "<script", "<math", "http-equiv=\"refresh\"", "<base", "<link", "<style", "@import", "srcdoc=", "srcset=", "\u202e", "\u0430", "onerror=",
		"ontoggle=", "shadowrootmode", "speculationrules", "popovertarget", strings.Repeat("> ", 100), "<textarea", "<!-- ", "[^late]", "\U000e0068",
	} {
		if !strings.Contains(a.Text, try) {
			t.Errorf("the hostile answer no longer tries %q", try)
		}
	}
}
