package iframe

import (
	"os"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// The comment of Theme lists each variable, and a misspelt one is an error that lists them.
func TestThemeVariables(t *testing.T) {
	names := Theme{}.Names()
	if len(names) != 13 {
		t.Errorf("%d variables: %q", len(names), names)
	}
	text, err := os.ReadFile("options.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.Contains(string(text), "//	"+name+" ") {
			t.Errorf("the comment of Theme does not list %s", name)
		}
		if err := (Theme{Variables: map[string]string{name: "1px"}}).check(); err != nil {
			t.Error(err)
		}
	}
	err = Theme{Variables: map[string]string{"--bailey-colour": "red"}}.check()
	if err == nil || !strings.Contains(err.Error(), "--bailey-colour") || !strings.Contains(err.Error(), "--bailey-text") {
		t.Errorf("a variable that there is not: %v", err)
	}
	if err := (Theme{Variables: map[string]string{"--mine": "red"}}).check(); err != nil {
		t.Errorf("a variable of the app's own style: %v", err)
	}
}

func TestKind(t *testing.T) {
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := newConversation(r, func() {})
	s := c.section("a")
	for _, good := range []string{"user", "a", "note-2", strings.Repeat("x", 32)} {
		if err := s.SetKind(good); err != nil || s.kind != good {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "User", "2a", "-a", "a b", "a\"]", strings.Repeat("x", 33), "ä"} {
		if err := s.SetKind(bad); err == nil {
			t.Errorf("%q is a kind", bad)
		}
	}
}
