package main

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/confine"
)

// A page of a named origin copies files to a real bailey-box on loopback, whose folder is gone at its end. A folder that has
// files is never replaced.
func TestPages(t *testing.T) {
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	tmp, own, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "policy.json")
	t.Setenv("TMPDIR", tmp)
	for name, text := range map[string]string{file: pol, filepath.Join(own, "mine.txt"): "mine"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("sub/a.txt")
	if err == nil {
		_, err = io.WriteString(w, "hello")
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	ask := func(h hello, method, path, origin string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, h.Address+path, bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+h.Credential)
		r.Header.Set("Content-Type", "application/zip")
		r.Header.Set("Origin", origin)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	const page = "https://app.example"
	h, end := launch(t, "-dir", "", "-policy", file, "-cache", "none", "-origin", page, "-listen", "127.0.0.1:0")
	defer end()
	if code, text := ask(h, "PUT", "/files", page+".evil.example"); code != http.StatusForbidden {
		t.Errorf("%d %s", code, text)
	}
	code, text := ask(h, "PUT", "/files", page)
	if code != 200 || !strings.Contains(text, `"files":1`) {
		t.Fatalf("%d %s", code, text)
	}
	_, id, _ := strings.Cut(text, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	if code, text = ask(h, "GET", "/changes?since="+id, page); code != 200 || !strings.HasPrefix(text, "PK") {
		t.Errorf("%d %q", code, text)
	}
	if code, text = ask(h, "GET", "/about", page); code != 200 || !strings.Contains(text, `"name":"Landlock"`) || !strings.Contains(text, `"copies":true`) {
		t.Errorf("%d %s", code, text)
	}
	there := func() (list []string) {
		list, err := filepath.Glob(filepath.Join(tmp, "bailey-box-*", "files", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := there(); len(list) != 1 {
		t.Errorf("the folder has %q", list)
	}
	end()
	if list := there(); len(list) != 0 {
		t.Errorf("it leaves %q", list)
	}
	h, end = launch(t, "-dir", own, "-policy", file, "-cache", "none", "-origin", page, "-listen", "127.0.0.1:0")
	defer end()
	if code, text := ask(h, "PUT", "/files", page); code != http.StatusNotFound {
		t.Errorf("%d %s", code, text)
	}
	if data, err := os.ReadFile(filepath.Join(own, "mine.txt")); err != nil || string(data) != "mine" {
		t.Errorf("%q %v", data, err)
	}
	h, end = launch(t, "-dir", "", "-policy", file, "-cache", "none", "-origin", page, "-listen", "127.0.0.1:0", "-outside")
	defer end()
	if code, text := ask(h, "GET", "/about", page); code != 200 || !strings.Contains(text, `"walls":[]`) || !strings.Contains(text, "-outside") {
		t.Errorf("a box without a sandbox of its own: %d %s", code, text)
	}
	if err := run(t.Context(), []string{"-policy", file, "-origin", "http://app.example"}, io.Discard); err == nil {
		t.Error("an origin without TLS was accepted")
	}
}
