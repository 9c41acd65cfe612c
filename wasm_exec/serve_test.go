package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
)

// tree is a root with two built pages, one with headers of its own.
func tree(t *testing.T) (string, *manifest) {
	t.Helper()
	root := t.TempDir()
	m := mustBuild(t, "testdata/hello", filepath.Join(root, "hello"), "main")
	mustBuild(t, "testdata/pages", filepath.Join(root, "pages"), "main")
	return root, m
}

func get(h http.Handler, target string, headers ...string) *http.Response {
	r := httptest.NewRequest("GET", target, nil)
	r.Host = "127.0.0.1:8080"
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// A relay is for this machine alone.
func TestServeRelay(t *testing.T) {
	if err := serveCommand(t.Context(), []string{"-relay", "-public", t.TempDir()}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "-public") {
		t.Errorf("a relay for other machines: %v", err)
	}
}

func TestServe(t *testing.T) {
	root, m := tree(t)
	s, err := newSite(root)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	wasm := "/hello/" + m.Files["main.wasm"].Path
	data := read(t, root, "hello", m.Files["main.wasm"].Path)

	res := get(s, wasm, "Accept-Encoding", "gzip, deflate, br")
	for name, want := range map[string]string{
		"Content-Type": "application/wasm", "Content-Encoding": "br", "Cache-Control": "public, max-age=31536000, immutable",
		"Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	got, err := io.ReadAll(brotli.NewReader(res.Body))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("the brotli form is not the file: %v", err)
	}
	tag := res.Header.Get("Etag")
	if res := get(s, wasm, "Accept-Encoding", "br", "If-None-Match", tag); res.StatusCode != 304 {
		t.Errorf("the same form again: %s", res.Status)
	}
	for accept, want := range map[string]string{"gzip": "gzip", "br;q=0, gzip;q=0.5": "gzip", "": "", "identity": "", "*": "br", "BR": "br", "gzip;q=0": ""} {
		res := get(s, wasm, "Accept-Encoding", accept)
		if res.Header.Get("Content-Encoding") != want {
			t.Errorf("Accept-Encoding %q: %q, want %q", accept, res.Header.Get("Content-Encoding"), want)
		}
		if want != "br" && res.Header.Get("Etag") == tag {
			t.Error("two forms share one ETag")
		}
		if want == "" {
			if got, _ := io.ReadAll(res.Body); !bytes.Equal(got, data) {
				t.Error("the plain form is not the file")
			}
		}
	}
	for path, want := range map[string]int{
		"/": 200, "/hello/": 200, "/hello": 301, "/hello/bailey.js": 200, "/hello/bailey.js/": 404, "/nothing": 404,
		"/pages/headers.json": 404, "/hello/../pages/": 200, "/pages/img/": 200, "/../../../../etc/passwd": 404, "/hello/.tmp": 404,
	} {
		if res := get(s, path); res.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, res.Status, want)
		}
	}
	if res := get(s, "/hello/manifest.json"); res.Header.Get("Cache-Control") != "no-cache" {
		t.Error("the manifest must be asked for afresh")
	}
	body, _ := io.ReadAll(get(s, "/").Body)
	if !strings.Contains(string(body), `<a href="hello/"><h2>hello</h2></a>`) || !strings.Contains(string(body), `<a href="pages/">`) {
		t.Errorf("the list of pages: %s", body)
	}
}

// Each folder has its own headers; errors and lists have headers too.
func TestHeadersByFolder(t *testing.T) {
	root, _ := tree(t)
	s, err := newSite(root)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for path, opened := range map[string]bool{"/": false, "/hello/": false, "/pages/": true, "/pages/img/a.png": true, "/nothing": false, "/pages/nothing": true} {
		csp := get(s, path).Header.Get("Content-Security-Policy")
		want := "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-"
		if path == "/" { // the list loads and runs nothing
			want = "default-src 'none'; img-src data:; style-src 'sha256-"
		}
		if !strings.HasPrefix(csp, want) {
			t.Errorf("%s: %s", path, csp)
		}
		if strings.Contains(csp, "https://api.example.com") != opened {
			t.Errorf("%s: open to api.example.com: %v, want %v", path, !opened, opened)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "pages", headersName), []byte(`{"conect": []}`), 0o644); err != nil {
		t.Fatal(err)
	}
	res := get(s, "/pages/")
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 500 || !strings.Contains(string(body), `"conect"`) {
		t.Errorf("a misspelt key: %s %s", res.Status, body)
	}
}

// A compressed form that is older than its file is not used.
func TestEditedFileIsNotHiddenByItsOldForm(t *testing.T) {
	root, _ := tree(t)
	name := filepath.Join(root, "pages", "app.css")
	later := time.Now().Add(time.Hour)
	if err := os.WriteFile(name, []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, later, later); err != nil {
		t.Fatal(err)
	}
	s, err := newSite(root)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	res := get(s, "/pages/app.css", "Accept-Encoding", "br")
	if body, _ := io.ReadAll(res.Body); string(body) != "edited" || res.Header.Get("Content-Encoding") != "" {
		t.Errorf("got %q in %q", body, res.Header.Get("Content-Encoding"))
	}
}

func TestServeRefuses(t *testing.T) {
	root, _ := tree(t)
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(root, "link.txt")); err != nil {
		t.Fatal(err)
	}
	s, err := newSite(root)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if res := get(s, "/link.txt"); res.StatusCode != 404 {
		t.Errorf("a link out of the folder: %s", res.Status)
	}
	for host, want := range map[string]int{"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1": 200, "[::1]:80": 200, "a.localhost:80": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "192.168.1.2": 421, "": 421} {
		if res := get(s, "/", "Host", host); res.StatusCode != want {
			t.Errorf("Host %q: %s, want %d", host, res.Status, want)
		}
	}
	s.public = true
	if res := get(s, "/", "Host", "app.example"); res.StatusCode != 200 {
		t.Errorf("-public: %s", res.Status)
	}
	r := httptest.NewRequest("POST", "/", nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 405 {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestListen(t *testing.T) {
	ctx := context.Background()
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "[::]:0"} {
		if l, err := listen(ctx, addr, false, io.Discard); err == nil || !strings.Contains(err.Error(), "-public") {
			t.Errorf("%s without -public: %v", addr, err)
			if l != nil {
				l.Close()
			}
		}
	}
	for _, addr := range []string{"127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1"} {
		if _, err := listen(ctx, addr, false, io.Discard); err == nil {
			t.Errorf("%s was taken", addr)
		}
	}
	l, err := listen(ctx, "0.0.0.0:0", true, io.Discard)
	if err != nil {
		t.Fatalf("-public: %v", err)
	}
	l.Close()

	// If a port is taken, the next free one is used, and a line reports it.
	first, err := listen(ctx, "127.0.0.1:0", false, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	var out bytes.Buffer
	second, err := listen(ctx, first.Addr().String(), false, &out)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if second.Addr().(*net.TCPAddr).Port == first.Addr().(*net.TCPAddr).Port || !strings.Contains(out.String(), "is taken") {
		t.Errorf("%s beside %s: %q", second.Addr(), first.Addr(), out.String())
	}
}

// After Ctrl-C a response that is being sent is completed before serve returns.
func TestServeEndsGracefully(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l, err := listen(ctx, "127.0.0.1:0", false, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	inside := make(chan bool)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inside <- true
		<-ctx.Done()
		io.WriteString(w, "whole")
	})
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l, h) }()
	answer := make(chan string, 1)
	go func() {
		res, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		answer <- string(b)
	}()
	<-inside
	cancel()
	if got := <-answer; got != "whole" {
		t.Errorf("the open answer ended as %q", got)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("serve did not end")
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args string
		ok   bool
		want string // on either output, or in the error
	}{
		{"", false, "build PKG -o DIR"},
		{"help", true, "build PKG -o DIR"},
		{"biuld", false, `no command "biuld"`},
		{"build", false, "wants PKG, got 0"},
		{"build a b", false, "wants PKG, got 2"},
		{"build -x", false, "not defined"},
		{"headers", false, "name the server with -for: nginx, caddy"},
		{"headers -for iis", false, "is not a known server"},
		{"headers -for nginx -connect *", false, "would open every host"},
		{"headers -for netlify -connect api.example.com", true, "https://api.example.com wss://api.example.com"},
		{"headers -for json -f testdata/pages/headers.json", true, "https://api.example.com"},
		{"headers -for json -f testdata/nothing.json", false, "no such file"},
		{"serve testdata/nothing", false, "build something into it first"},
		{"serve . -addr 0.0.0.0:0", false, "-public"},
	} {
		var out bytes.Buffer
		err := run(context.Background(), strings.Fields(c.args), &out, &out)
		text := out.String()
		if err != nil {
			text += err.Error()
		}
		if (err == nil) != c.ok || !strings.Contains(text, c.want) {
			t.Errorf("wasm_exec %s: ok %v, %q; want %v and %q", c.args, err == nil, text, c.ok, c.want)
		}
	}
}
