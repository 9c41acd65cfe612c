package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe"
)

func fetched(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// The page written by the command and the headers sent by serve are those of AppOptions.Page.
func TestAppsCommand(t *testing.T) {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	args := []string{"apps", "-embed", "https://app.example", "-connect", "https://a.example", "-connect", "wss://a.example", "-resources", "https://r.example", "-permission", "camera", "-o", filepath.Join(dir, "apps")}
	if err := run(t.Context(), args, &out, &errs); err != nil {
		t.Fatal(err, errs.String())
	}
	s, err := newSite(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.proxies = "localhost:1"
	srv := httptest.NewServer(s)
	defer srv.Close()
	res, body := fetched(t, srv.URL+"/apps/")
	page, err := iframe.AppOptions{Connect: []string{"https://a.example", "wss://a.example"}, Resources: []string{"https://r.example"}, Permissions: []string{"camera"}}.Page("https://app.example")
	if err != nil {
		t.Fatal(err)
	}
	if body != page.HTML {
		t.Error("another page than AppOptions.Page's")
	}
	for name, v := range page.Header {
		got := res.Header.Values(name)
		if name != "Etag" && (len(got) != 1 || strings.ReplaceAll(got[0], " ", "") != strings.ReplaceAll(v[0], " ", "")) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, v)
		}
	}
	out.Reset()
	if err := run(t.Context(), []string{"headers", "-f", filepath.Join(dir, "apps", headersName), "-for", "nginx"}, &out, &errs); err != nil || !strings.Contains(out.String(), "frame-ancestors https://app.example") {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, args := range [][]string{{"apps"}, {"apps", "-o", filepath.Join(dir, "x")}, {"apps", "-embed", "*", "-o", filepath.Join(dir, "x")}, {"apps", "-embed", "https://a.example", "-connect", "*", "-o", filepath.Join(dir, "x")}, {"apps", "-embed", "https://a.example", "-permission", "usb", "-o", filepath.Join(dir, "x")}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	for _, text := range []string{`{"apps":{}}`, `{"apps":{"embedders":["https://a.example"]},"connect":["a.example"]}`, `{"apps":{"embedders":["https://a.example"]},"enclave":{"level":"STRICT"}}`} {
		if _, err := decodeUse([]byte(text)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}

// started runs a command until the test ends, and returns the addresses of a site and of its proxies.
func started(t *testing.T, args ...string) (site, proxy string) {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, args, w, io.Discard)
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		go io.Copy(io.Discard, r)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	var text strings.Builder
	buf := make([]byte, 1)
	for proxy == "" {
		if _, err := r.Read(buf); err != nil {
			t.Fatalf("%v after %s", err, text.String())
		}
		text.Write(buf)
		for line := range strings.Lines(text.String()) {
			_, rest, ok := strings.Cut(line, "http://")
			if !ok || !strings.HasSuffix(line, "\n") {
				continue
			}
			if at := "http://" + strings.Fields(rest)[0]; strings.HasPrefix(line, "the proxy") {
				proxy = at
			} else {
				site = at
			}
		}
	}
	return site, proxy
}

// serve and dev have a proxy beside each page, on another origin. An app there can have no more than the page.
func TestServeApps(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"index.html": "root", "shop/index.html": "shop", "shop/headers.json": `{"connect": ["api.example.com", "localhost:9"], "images": ["img.example.com"], "frames": ["self", "video.example.com"]}`} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	site, proxy := started(t, "serve", "-addr", "127.0.0.1:0", "-apps", "127.0.0.1:0", dir)
	host := strings.TrimSuffix(strings.TrimPrefix(proxy, "http://"), "/")
	if !strings.HasPrefix(host, "localhost:") || strings.Contains(site, host) {
		t.Fatalf("the proxy of %s is at %s", site, proxy)
	}
	at := strings.Replace(proxy, "localhost", "127.0.0.1", 1) // this machine's name may have another address first
	for path, want := range map[string][]string{
		"":      {"connect-src 'none'", "img-src data: blob:;", "frame-src 'none'", "frame-ancestors " + strings.TrimSuffix(site, "/")},
		"shop/": {"connect-src https://api.example.com wss://api.example.com http://localhost:9;", "img-src data: blob: https://img.example.com;", "frame-src https://video.example.com;"},
	} {
		res, body := fetched(t, at+path)
		for _, w := range want {
			if got := res.Header.Get("Content-Security-Policy"); !strings.Contains(got, w) {
				t.Errorf("the proxy of /%s: no %q in %s", path, w, got)
			}
		}
		if !strings.Contains(body, "sandbox-") {
			t.Errorf("the proxy of /%s is %q", path, body)
		}
		res, _ = fetched(t, site+path)
		if csp := res.Header.Get("Content-Security-Policy"); strings.Count(csp, "http://"+host) != 2 || !strings.Contains(res.Header.Get("Connection-Allowlist"), host) {
			t.Errorf("the page /%s can't show its proxy: %s", path, csp)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("another name: %s", res.Status)
	}
	if err := run(t.Context(), []string{"serve", "-public", "-addr", "127.0.0.1:0", "-apps", "127.0.0.1:0", dir}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "wasm_exec apps") {
		t.Errorf("with -public: %v", err)
	}
}

func TestDevApps(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	site, proxy := started(t, "dev", "-addr", "127.0.0.1:0", "-apps", "127.0.0.1:0", "-o", filepath.Join(t.TempDir(), "out"), "a="+dir)
	res, body := fetched(t, strings.Replace(proxy, "localhost", "127.0.0.1", 1)+"a/")
	if got := res.Header.Get("Content-Security-Policy"); !strings.Contains(got, "frame-ancestors "+strings.TrimSuffix(site, "/")) || !strings.Contains(body, "sandbox-") {
		t.Errorf("%s %q", got, body)
	}
}
