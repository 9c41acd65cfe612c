//go:build !js

package main

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

// siteOf writes the site of this repository, with a playground.
func siteOf(t *testing.T, playground string) *site {
	t.Helper()
	s := &site{root: "../..", out: filepath.Join(t.TempDir(), "site"), source: "https://example.org/blob/", playground: playground}
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	target = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchor = regexp.MustCompile(`id="([^"]*)"`)
)

// Each page is there, each link within the site leads to a page and a place on it, and no text of a paper is left out.
func TestSite(t *testing.T) {
	examples := t.TempDir()
	for _, name := range playgrounds {
		if err := os.MkdirAll(filepath.Join(examples, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(examples, name, "index.html"), []byte("<p>"+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(examples, "run", "headers.json"), []byte(`{"connect": ["api.example.org"]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s := siteOf(t, examples)
	texts, places := map[string]string{}, map[string]map[string]bool{}
	for _, p := range s.pages {
		data, err := os.ReadFile(filepath.Join(s.out, filepath.FromSlash(p.name)))
		if err != nil {
			t.Fatal(err)
		}
		texts[p.name], places[p.name] = string(data), map[string]bool{}
		for _, m := range anchor.FindAllStringSubmatch(string(data), -1) {
			places[p.name][html.UnescapeString(m[1])] = true
		}
	}
	if len(texts) < 70 {
		t.Errorf("only %d pages", len(texts))
	}
	links := 0
	for name, text := range texts {
		for _, wrong := range []string{"raw HTML omitted", "<script", "<title></title>"} {
			if strings.Contains(text, wrong) {
				t.Errorf("%s has %s", name, wrong)
			}
		}
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(html.UnescapeString(m[1]))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if u.IsAbs() {
				continue
			}
			links++
			to := name
			if u.Path != "" {
				to = path.Join(path.Dir(name), u.Path)
			}
			if _, err := os.Stat(filepath.Join(s.out, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s links %s, which is not there", name, m[1])
			} else if u.Fragment != "" && places[to] != nil && !places[to][u.Fragment] {
				t.Errorf("%s links %s, and the page has no such place", name, m[1])
			}
		}
	}
	if links < 1000 {
		t.Errorf("only %d links were looked at", links)
	}
	for name, want := range map[string]string{
		"index.html":              `href="docs/start.html"`,
		"docs/start.html":         `href="../docs/agent-in-100-lines.html"`,
		"api/sandbox.html":        `id="Box.Call"`,
		"api/iframe.html":         `id="NewDocument"`,
		"api/mcp.html":            `id="NewServer"`,
		"docs/architecture.html":  `href="https://example.org/blob/iframe/section.go"`,
		"api/sandbox/policy.html": `<pre><code>import "github.com/bailey-go/bailey/sandbox/policy"</code></pre>`,
	} {
		if !strings.Contains(texts[name], want) {
			t.Errorf("%s has no %s", name, want)
		}
	}
	if !strings.Contains(texts["api/sandbox.html"], "May the assistant") {
		t.Error("the package sandbox has no example of an Asker")
	}

	// The pages have a policy without scripts, and the playground has its own.
	server := httptest.NewServer(s.handler())
	defer server.Close()
	for path, want := range map[string]string{"/": "default-src 'none'; style-src 'self'", "/api/sandbox.html": "default-src 'none'; style-src 'self'", "/playground/run/": "api.example.org", "/playground/markdown/index.html": "wasm-unsafe-eval"} {
		r, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if csp := r.Header.Get("Content-Security-Policy"); r.StatusCode != http.StatusOK || !strings.Contains(csp, want) || strings.Contains(csp, "script-src") != strings.Contains(path, "playground") {
			t.Errorf("%s: %s, %s", path, r.Status, csp)
		}
	}
	if file := string(s.headerFile()); strings.Count(file, "! Content-Security-Policy\n") != 2 || strings.Count(file, "\n  Content-Security-Policy: ") != 3 {
		t.Errorf("_headers:\n%s", file)
	}
}

func TestLinks(t *testing.T) {
	s := &site{source: "https://example.org/blob/", packages: map[string]string{"iframe": "api/iframe.html"}}
	for _, c := range [][3]string{
		{"README.md", "docs/start.md", "docs/start.html"},
		{"README.md", "iframe", "api/iframe.html"},
		{"README.md", "examples/assistant", "https://example.org/blob/examples/assistant"},
		{"docs/start.md", "policy.md#rules", "../docs/policy.html#rules"},
		{"docs/start.md", "../README.md", "../index.html"},
		{"docs/errors/README.md", "../agent.md", "../../docs/agent.html"},
		{"docs/start.md", "../iframe/section.go", "https://example.org/blob/iframe/section.go"},
		{"docs/start.md", "https://go.dev/", "https://go.dev/"},
		{"docs/start.md", "#a", "#a"},
	} {
		if got := s.link(c[0], c[1]); got != c[2] {
			t.Errorf("%s in %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

// Each heading has an id of its own, as on GitHub.
func TestIDs(t *testing.T) {
	of := ids{}
	for _, c := range [][2]string{{"A b", "a-b"}, {"A-b", "a-b-1"}, {"A b 1", "a-b-1-1"}, {"A b", "a-b-2"}, {"Why?", "why"}} {
		if got := string(of.Generate([]byte(c[0]), ast.KindHeading)); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// A folder of the user's is not emptied.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := &site{out: dir}
	if err := s.claim(); err == nil {
		t.Error("it would be emptied")
	}
	s.out = filepath.Join(t.TempDir(), "new")
	for range 2 {
		if err := s.claim(); err != nil {
			t.Error(err)
		}
		if err := s.put("index.html", nil); err != nil {
			t.Fatal(err)
		}
	}
}
