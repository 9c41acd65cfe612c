//go:build !js

package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// internal are words of the library that a newcomer to the page doesn't know, each with a better one.
var internal = map[string]string{
	"policy": "rules", "policies": "rules", "grant": "permission", "grants": "permissions", "granted": "allowed", "call": "step", "calls": "steps", "header": "settings of this site", "headers": "settings of this site",
	"taken back": "undone", "take back": "undo", "took back": "undone", "put away": "archived", "behind two frames": "in a sandbox", "the person": "you", "conversations": "chats", "reader of plain commands": "demo mode",
	"carried out": "applied", "read in": "imported", "capability": "permission", "sandboxed frame": "sandbox",
}

// file names and the user's own commands may contain such a word.
var plainNames = regexp.MustCompile(`policy\.json|headers\.json`)

// shown are the parts of the page's HTML that a user reads or hears.
var shown = regexp.MustCompile(`(?s)<!--.*?-->|<(?:script|svg)[^>]*>.*?</(?:script|svg)>|(?:aria-label|title|placeholder)="([^"]*)"|>([^<]*)<`)

// internals returns the internal words of a text.
func internals(text string) (found []string) {
	text = strings.ToLower(plainNames.ReplaceAllString(text, ""))
	for word, better := range internal {
		if regexp.MustCompile(`\b` + word + `\b`).MatchString(text) {
			found = append(found, word+" (better: "+better+")")
		}
	}
	return found
}

// No internal word is in front of a user: not in the page, and not in a sentence of its program. A text of the
// program is a literal with a space that is no comment, no struct tag and no message to a model.
func TestTextsAreAUsers(t *testing.T) {
	html, err := os.ReadFile("web/index.html")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range shown.FindAllStringSubmatch(string(html), -1) {
		text := strings.TrimSpace(m[1] + m[2])
		if text == "" {
			continue
		}
		n++
		for _, word := range internals(text) {
			t.Errorf("index.html: %s in %q", word, text)
		}
	}
	if n < 150 {
		t.Errorf("%d texts of the page were found: what looks for them is wrong", n)
	}
	n = 0
	for _, dir := range []string{"sessions", "place", "talk", "settings", "dialog", "notify", "../../internal/consent", "../../internal/consent/inview", "../../sandbox/ui"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if f, ok := node.(*ast.Field); ok && f.Tag != nil {
					return false
				}
				lit, ok := node.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil || !strings.Contains(text, " ") || strings.ContainsAny(text, "{}") { // CSS and code
					return true
				}
				n++
				for _, word := range internals(text) {
					t.Errorf("%s: %s in %q", name, word, text)
				}
				return true
			})
		}
	}
	if n < 200 {
		t.Errorf("%d texts of the program were found: what looks for them is wrong", n)
	}
	if len(internals("Its policy has 3 Calls")) != 2 || len(internals("Recall policy.json")) != 0 {
		t.Error("the list finds nothing, or too much")
	}
}
