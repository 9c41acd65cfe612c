package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/headers"
)

// Each row of the table in docs/headers.md matches the effect of its headers.json.
func TestDocsHeaders(t *testing.T) {
	text, err := os.ReadFile("../docs/headers.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\|[^|]*\\| `(\\{.*\\})` \\| (?:`(\\S+) ([^`]*)`|nothing) \\|$").FindAllStringSubmatch(string(text), -1)
	if len(rows) < 9 {
		t.Fatalf("the table has %d rows that can be read", len(rows))
	}
	closed := map[string]string{}
	for _, x := range headers.Default().List() {
		closed[x.Name] = x.Value
	}
	for _, row := range rows {
		u, err := decodeUse([]byte(row[1]))
		if err != nil {
			t.Errorf("%s: %v", row[1], err)
			continue
		}
		h, err := headers.For(u.Use)
		if err != nil {
			t.Errorf("%s: %v", row[1], err)
			continue
		}
		name, want := row[2], row[3]
		found := name == ""
		for _, x := range h.List() {
			value := x.Value
			if name == "" {
				found = found && value == closed[x.Name]
				continue
			}
			was := closed[x.Name]
			if x.Name == "Content-Security-Policy" {
				value, was = directive(value, name), directive(was, name)
			} else if x.Name != name {
				continue
			}
			found = found || strings.Contains(value, want) && !strings.Contains(was, want)
		}
		if !found {
			t.Errorf("%s doesn't do %s %s", row[1], name, want)
		}
	}
}

func directive(policy, name string) string {
	for part := range strings.SplitSeq(policy, "; ") {
		if rest, ok := strings.CutPrefix(part, name+" "); ok {
			return rest
		}
	}
	return ""
}
