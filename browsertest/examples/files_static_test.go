package examples

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/iframe"
)

// download copies the built page of an example as a static host would serve it.
func download(t *testing.T, example string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join(built, example))))
	must(t, os.Remove(filepath.Join(dir, "headers.json")))
	return dir
}

// A host without any headers, and one whose page has its policy in a meta element: in each engine
// the guided task works, and the page does not violate the policy.
func TestFilesStaticHost(t *testing.T) {
	long(t)
	t.Parallel()
	for _, engine := range engines() {
		for _, c := range []struct {
			name string
			meta bool
		}{{"no headers", false}, {"meta policy alone", true}} {
			t.Run(string(engine)+"/"+c.name, func(t *testing.T) {
				server := staticHost(t, "files", c.meta)
				p := open(t, engine, server+"/", e2e.Options{})
				f := &filesPage{anyPage: anyPage{p.page, t}, in: p}
				f.ready()
				f.click("#tour")
				for range 2 {
					f.asks()
					f.answer(once)
				}
				f.ready()
				f.rested()
				holds(t, "the cards", f.cards(), "done bash awk", "done code_run const rows", "failed code_run const secret", "done undo")
				if got := f.check(`JSON.stringify(broken)`); got != "[]" {
					t.Errorf("violations: %s", got)
				}
				// The shield lists exactly the request that the task tries.
				if got := f.check(`document.getElementById("tab-shield").textContent + [...document.querySelectorAll("#stopped li")].map((e) => e.textContent).join("\n")`); !strings.HasPrefix(got, "Security, stopped: 1code_run: ") || !strings.Contains(got, "fetch") {
					t.Errorf("the shield says %q", got)
				}
				noErrors(t, p)
			})
		}
	}
}

// staticHost serves the files of an example unchanged, except for a script before ours that records violations.
func staticHost(t *testing.T, example string, meta bool) (origin string) {
	t.Helper()
	dir := download(t, example)
	policy := ""
	if meta {
		h, err := headers.For(headers.Use{ScriptHashes: iframe.ScriptHashes()})
		must(t, err)
		var list []string
		for _, d := range h.CSP {
			if d.Name != "frame-ancestors" { // which a meta element can't have
				list = append(list, strings.Join(append([]string{d.Name}, d.Values...), " "))
			}
		}
		policy = `<meta http-equiv="Content-Security-Policy" content="` + strings.Join(list, "; ") + `">`
	}
	file := filepath.Join(dir, "index.html")
	text, err := os.ReadFile(file)
	must(t, err)
	const head = `<meta charset="utf-8">`
	if strings.Count(string(text), head) != 1 {
		t.Fatalf("%s has not one %s", file, head)
	}
	must(t, os.WriteFile(file, []byte(strings.Replace(string(text), head, head+policy+`<script src="notes.js"></script>`, 1)), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "notes.js"), []byte(`globalThis.broken = []; document.addEventListener("securitypolicyviolation", (e) => broken.push(e.effectiveDirective + " " + e.blockedURI + " " + e.sourceFile))`), 0o644))
	for _, packed := range []string{".br", ".gz"} {
		_ = os.Remove(file + packed)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	res, err := http.Get(server.URL + "/")
	must(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	must(t, err)
	res.Body.Close()
	if v := res.Header.Get("Content-Security-Policy"); v != "" {
		t.Fatalf("the host sends a policy: %s", v)
	}
	return server.URL
}
