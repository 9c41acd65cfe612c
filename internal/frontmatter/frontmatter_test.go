package frontmatter_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/frontmatter"
	"github.com/bailey-go/bailey/internal/frontmatter/frontmattertest"
)

// read returns the front matter of a file in JSON.
func read(file string) (string, error) {
	head, _, ok, err := frontmatter.Split(file)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", errors.New("none")
	}
	v, err := frontmatter.Parse(head, "argument-hint")
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(frontmattertest.Plain(v))
	return string(b), err
}

func TestTable(t *testing.T) {
	rows := frontmattertest.Rows()
	if len(rows) < 40 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		got, err := read(r.File)
		if r.Want == "" {
			if err == nil || !strings.HasPrefix(err.Error(), r.Err) {
				t.Errorf("%s: read as %s, %v; want the error %q", r.Name, got, err, r.Err)
			}
			continue
		}
		if err != nil || got != r.Want {
			t.Errorf("%s: read as %s, %v; want %s", r.Name, got, err, r.Want)
		}
		// With line ends of Windows the reading is the same.
		if !strings.Contains(r.File, "\r") {
			if other, err := read(strings.ReplaceAll(r.File, "\n", "\r\n")); other != got {
				t.Errorf("%s: with CRLF read as %s, %v", r.Name, other, err)
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ file, head, body string }{
		{"---\na: b\n---\nDo it.\n---\nmore", "a: b\n", "Do it.\n---\nmore"},
		{"---\r\na: b\r\n---\r\nDo it.\r\n", "a: b\r\n", "Do it.\r\n"},
		{"---\n---", "", ""},
		{"---\n---\n", "", ""},
		{"\ufeff---\na: b\n--- \n\nDo", "a: b\n", "\nDo"},
	} {
		head, body, ok, err := frontmatter.Split(c.file)
		if head != c.head || body != c.body || !ok || err != nil {
			t.Errorf("%q: %q, %q, %v, %v", c.file, head, body, ok, err)
		}
	}
	for _, file := range []string{"", "Do it.", "----\na: b\n---\n", " ---\na: b\n---\n", "\n---\na: b\n---\n"} {
		if head, body, ok, err := frontmatter.Split(file); ok || head != "" || body != file || err != nil {
			t.Errorf("%q: %q, %q, %v, %v", file, head, body, ok, err)
		}
	}
}

// The limits hold before the text is read.
func TestLimits(t *testing.T) {
	size := func(n int) string { return "---\n" + "#" + strings.Repeat("x", n-2) + "\n---\nDo it.\n" }
	for n, ok := range map[int]bool{frontmatter.MaxSize - 1: true, frontmatter.MaxSize: true, frontmatter.MaxSize + 1: false} {
		if _, err := read(size(n)); (err == nil) != ok {
			t.Errorf("%d bytes: %v", n, err)
		}
		if _, err := frontmatter.Parse("#" + strings.Repeat("x", n-2) + "\n"); (err == nil) != ok {
			t.Errorf("%d bytes without marks: %v", n, err)
		}
	}
	values := func(n int) string { return "a: [" + strings.Repeat("b,", n-2) + "]" } // the outer map and the list
	for n, ok := range map[int]bool{frontmatter.MaxValues - 1: true, frontmatter.MaxValues: true, frontmatter.MaxValues + 1: false} {
		if _, err := frontmatter.Parse(values(n)); (err == nil) != ok {
			t.Errorf("%d values: %v", n, err)
		}
	}
	for n, ok := range map[int]bool{frontmatter.MaxDepth - 1: true, frontmatter.MaxDepth: true, frontmatter.MaxDepth + 1: false} {
		if _, err := frontmatter.Parse(frontmattertest.Nested(n)); (err == nil) != ok {
			t.Errorf("%d levels: %v", n, err)
		}
	}
	for n, ok := range map[int]bool{frontmatter.MaxKey - 1: true, frontmatter.MaxKey: true, frontmatter.MaxKey + 1: false} {
		if _, err := frontmatter.Parse(strings.Repeat("k", n) + ": a"); (err == nil) != ok {
			t.Errorf("a key of %d bytes: %v", n, err)
		}
	}
	// A file without an end mark is not searched to its end.
	if _, _, _, err := frontmatter.Split("---\n" + strings.Repeat("x\n", 1<<20)); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}

// FuzzParse checks that every text ends with a map or an *Error about one of its lines, and that a text
// that YAML parsers read is read in the same way with the mistakes allowed.
func FuzzParse(f *testing.F) {
	for _, r := range frontmattertest.Rows() {
		head, _, _, _ := frontmatter.Split(r.File)
		f.Add(head)
	}
	f.Fuzz(func(t *testing.T, head string) {
		strict, serr := frontmatter.ParseYAML(head)
		v, err := frontmatter.Parse(head)
		var e *frontmatter.Error
		switch {
		case err == nil:
			if v.Kind != frontmatter.Map || len(v.Keys) != len(v.Items) {
				t.Fatalf("%q: %+v", head, v)
			}
		case !errors.As(err, &e) || e.Line < 1 || e.Line > strings.Count(head, "\n")+2:
			t.Fatalf("%q: %v", head, err)
		}
		if serr == nil {
			a, _ := json.Marshal(frontmattertest.Plain(strict))
			b, _ := json.Marshal(frontmattertest.Plain(v))
			if err != nil || string(a) != string(b) {
				t.Fatalf("%q: %s, then %s, %v", head, a, b, err)
			}
		}
	})
}
