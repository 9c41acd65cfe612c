package frontmatter

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bailey-go/bailey/internal/frontmatter"
	"github.com/bailey-go/bailey/internal/frontmatter/frontmattertest"
)

// library returns the library's reading of a front matter in JSON, with every scalar as its text.
func library(head string) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(head), &n); err != nil {
		return "", err
	}
	var v any = map[string]any{}
	if n.Kind == yaml.DocumentNode {
		if v, err = tree(n.Content[0]); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(v)
	return string(b), err
}

func tree(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			v, err := tree(c)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, ok := out[key]; ok {
				return nil, fmt.Errorf("the key %q is there twice", key)
			}
			v, err := tree(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			out[key] = v
		}
		return out, nil
	case yaml.AliasNode:
		return tree(n.Alias)
	}
	return n.Value, nil
}

func own(head string) (string, error) {
	v, err := frontmatter.ParseYAML(head)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(frontmattertest.Plain(v))
	return string(b), err
}

// The library judges the table: it reads each front matter as the table says, and refuses what the table
// refuses. A row where it does not says so.
func TestTable(t *testing.T) {
	for _, r := range frontmattertest.Rows() {
		head, _, ok, err := frontmatter.Split(r.File)
		if !ok {
			continue
		}
		if err != nil { // the marks alone are wrong
			head = strings.SplitN(r.File, "\n", 2)[len(strings.SplitN(r.File, "\n", 2))-1]
		}
		got, err := library(head)
		say := "read"
		if err != nil {
			say = "refused"
		}
		want, other := r.Want, r.Other
		if want != "" && other == "" {
			if got != want {
				t.Errorf("%s: the library reads %s, %v; the table says %s", r.Name, got, err, want)
			}
			continue
		}
		if other == "" {
			other = "refused"
		}
		if say != other || want != "" && got == want {
			t.Errorf("%s: the library reads %s, %v; the table says %q", r.Name, got, err, other)
		}
	}
}

// pieces are the parts of the random front matters.
var pieces = []string{"a", "b", "c", "name", ": ", ":", ":", "\n", "\n", "\n", "\n  ", "\n    ", "\n ", "  ", " ", "- ", "\n- ", "\n  - ", "|", ">", "|-", ">-", "|+", ">+", "|2", ">1", ": |\n", ": >\n", ": >\n  ", ": |\n  ", "\n\n",
	"'", "''", `"`, `\`, `\n`, `\x41`, `\ `, "\\\n", "[", "]", "{", "}", ", ", ",", "#", " #", " # c", "\t", "---", "?", "? ", "!", "&", "*", "%", "@", "`", "~", "é", "<<", "x: y\n", "k: v\n", "l:\n  - m\n  - n\n", "(git:*)", "-", "...", "\n\na: b", "\r\n"}

// A random front matter that the package reads means the same in the library.
func TestRandom(t *testing.T) {
	n := 2_000_000
	if testing.Short() {
		n = 100_000
	}
	rows := frontmattertest.Rows()
	r := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range n {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		compare(t, b.String(), &read)
		// A mutation of a row.
		head, _, _, _ := frontmatter.Split(rows[r.IntN(len(rows))].File)
		if len(head) > 400 {
			continue
		}
		for range 1 + r.IntN(2) {
			at := r.IntN(len(head) + 1)
			cut := min(r.IntN(3), len(head)-at)
			head = head[:at] + pieces[r.IntN(len(pieces))] + head[at+cut:]
		}
		compare(t, head, &read)
		if bad > 20 {
			return
		}
	}
	t.Logf("%d of %d were read", read, 2*n)
	if read < n/10 {
		t.Errorf("only %d of %d were read", read, 2*n)
	}
}

var bad int

func compare(t *testing.T, head string, read *int) {
	t.Helper()
	head += "\n" // as Split returns it
	want, err := own(head)
	if err != nil {
		return
	}
	*read++
	got, err := library(head)
	if err != nil || got != want {
		bad++
		t.Errorf("%q is read as %s, and by the library as %s, %v", head, want, got, err)
	}
}
