package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
)

// The page written by the command and the headers sent by serve are those of EnclaveOptions.Page.
func TestEnclaveCommand(t *testing.T) {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	err := run(t.Context(), []string{"enclave", "-level", "secure", "-warm", "-embed", "https://app.example", "-o", filepath.Join(dir, "enclave")}, &out, &errs)
	if err != nil {
		t.Fatal(err, errs.String())
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{root: root}
	defer s.Close()
	srv := httptest.NewServer(s)
	defer srv.Close()
	res, err := http.Get(srv.URL + "/enclave/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	page, err := iframe.EnclaveOptions{Level: protocol.Secure, Warm: true}.Page("https://app.example")
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != page.HTML {
		t.Error("another page than EnclaveOptions.Page's")
	}
	for name, v := range page.Header {
		got := res.Header.Values(name)
		if name != "Etag" && (len(got) != 1 || strings.ReplaceAll(got[0], " ", "") != strings.ReplaceAll(v[0], " ", "")) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, v)
		}
	}
	if res, err = http.Get(srv.URL + "/enclave/headers.json"); err != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("headers.json: %v, %v", res.Status, err)
	}
	out.Reset()
	if err := run(t.Context(), []string{"headers", "-f", filepath.Join(dir, "enclave", headersName), "-for", "caddy"}, &out, &errs); err != nil ||
		!strings.Contains(out.String(), "frame-ancestors https://app.example") || !strings.Contains(out.String(), "Access-Control-Expose-Headers") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestEnclaveCommandRefuses(t *testing.T) {
	for _, args := range [][]string{{"enclave"}, {"enclave", "-level", "lax", "-o", "x"}, {"enclave", "-embed", "*", "-o", filepath.Join(t.TempDir(), "x")}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
	for _, text := range []string{`{"enclave":{"level":"lax"}}`, `{"enclave":{"level":"STRICT"},"connect":["a.example"]}`, `{"enclave":{"other":1}}`, `{"enclave":{"level":"STRICT","embedders":["x"]}}`} {
		if _, err := decodeUse([]byte(text)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
