package gate

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Each need of a call is in one effect, whose words name its subject.
func TestEffectsSayEveryNeed(t *testing.T) {
	tool := &protocol.Tool{ID: "prog"}
	for _, c := range []struct {
		name  string
		needs []policy.Need
		want  string
	}{
		{"a file", []policy.Need{read("a.md")}, "read a.md"},
		{"a folder", []policy.Need{{Capability: protocol.FSRead, Subject: "docs", Tree: true}}, "read every file in docs"},
		{"all", []policy.Need{{Capability: protocol.FSWrite, Subject: ".", Tree: true}}, "write any file in the whole folder"},
		{"replaced", []policy.Need{write(protocol.OpWrite, "t.tex"), {Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: "t.tex", Destroys: true}}, "write t.tex, whose content is lost"},
		{"moved over", []policy.Need{{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: "a", Tree: true}, {Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: "b", Tree: true, Replaces: true},
			{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: "b", Destroys: true}}, "move a to b|delete b"},
		{"commands", []policy.Need{{Capability: protocol.ShellRun, Subject: "cat"}, {Capability: protocol.ShellRun, Subject: "sed"}, {Capability: protocol.ShellRun, Subject: "tr"}}, "run the commands cat, sed and tr"},
		{"words that name the subject", []policy.Need{{Capability: protocol.NetFetch, Subject: "a.example:443", Words: "fetch https://a.example/x"}}, "fetch https://a.example/x"},
		{"words that do not", []policy.Need{{Capability: protocol.NetFetch, Subject: "a.example:443", Words: "fetch https://b.example/x"}}, "fetch https://b.example/x (send a request to a.example:443)"},
		{"a name like words", []policy.Need{read("a.md, and read b.md")}, `read "a.md, and read b.md"`},
		{"a name with quotes", []policy.Need{read(`a" and "b`)}, `read "a\" and \"b"`},
		{"a name that turns", []policy.Need{read("a\u202egpj")}, `read "a\u202egpj"`},
		{"a capability alone", []policy.Need{{Capability: protocol.CodeRun}}, "run JavaScript"},
	} {
		var got []string
		n := 0
		for _, e := range (&Gate{}).effects(t.Context(), Passage{Tool: tool, Needs: c.needs}) {
			got = append(got, e.Text)
			n += len(e.Needs)
		}
		if text := strings.Join(got, "|"); text != c.want || n != len(c.needs) {
			t.Errorf("%s: %s (%d needs), want %s", c.name, text, n, c.want)
		}
	}
	for _, c := range protocol.Capabilities() {
		for _, e := range (&Gate{}).effects(t.Context(), Passage{Tool: tool, Needs: []policy.Need{{Capability: c}}}) {
			if strings.HasPrefix(e.Text, "use ") && !strings.HasPrefix(e.Text, "use the ") {
				t.Errorf("%s has no words: %s", c, e.Text)
			}
		}
	}
}

// A title contains each effect, or the effect is marked as not in the title.
func TestTitlesSayEffects(t *testing.T) {
	long := strings.Repeat("w", MaxTitle)
	for _, c := range []struct {
		own     string
		late    bool
		effects []string
		want    string
		in      string // y or n for each
	}{
		{"", false, []string{"read a"}, "read a", "y"},
		{"read a", false, []string{"read a"}, "read a", "y"},
		{"read a", false, []string{"read a", "read b", "read c"}, "read a, and read b and read c", "yyy"},
		{"run it", false, []string{"read a"}, "run it, and read a", "y"},
		{"run it", true, []string{"read a"}, "t: read a", "y"},
		{"say read a", false, []string{"read a"}, "say read a, and read a", "y"},
		{long, false, []string{"read a"}, long + ", and 1 more", "n"},
		{long[7:], false, []string{"a"}, long[7:] + ", and a", "y"},
		{long[6:], false, []string{"a"}, long[6:] + ", and 1 more", "n"},
		{"", false, []string{long + "w"}, long + "w", "n"},
		{"", false, []string{long, "b"}, "t: 2 effects", "nn"},
		{"x", true, []string{long, "b"}, "t: 2 effects", "nn"},
		{"x", true, []string{long}, "t: " + long, "n"},
		{"read a", false, []string{"read a", long, "b"}, "read a, and 2 more", "ynn"},
		{"", false, nil, "t", ""},
	} {
		r := Request{Tool: "t", Title: c.own}
		for _, text := range c.effects {
			r.Effects = append(r.Effects, Effect{Text: text})
		}
		entitle(&r, c.late)
		in := ""
		for _, e := range r.Effects {
			in += map[bool]string{true: "y", false: "n"}[e.InTitle]
		}
		for _, e := range r.Effects {
			if !e.InTitle && !strings.Contains(r.Title+r.Diff, e.Text) {
				t.Errorf("%q + %q: %q is nowhere", c.own, c.effects, e.Text)
			}
		}
		if r.Title != c.want || in != c.in {
			t.Errorf("%q + %q: %q %s, want %q %s", c.own, c.effects, r.Title, in, c.want, c.in)
		}
	}
}
