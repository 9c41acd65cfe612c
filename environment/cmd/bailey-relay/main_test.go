package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

// A token that the command made is accepted by the command, and a signal ends open streams.
func TestTokenAndServe(t *testing.T) {
	dir := t.TempDir()
	var line, made bytes.Buffer
	if err := run(t.Context(), []string{"token", "-tenant", "a", "-role", "page"}, &line, &made); err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(made.String())
	file := filepath.Join(dir, "tokens.txt")
	if strings.Contains(line.String(), token) {
		t.Error("the line has the token itself")
	}
	if err := os.WriteFile(file, append([]byte("# a comment\n\n"), line.Bytes()...), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, []string{"-tokens", file, "-listen", "127.0.0.1:0"}, in, io.Discard) }()
	hello := make([]byte, 100)
	n, err := out.Read(hello)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(strings.TrimPrefix(string(hello[:n]), "listening on "))
	req, err := http.NewRequest("GET", address+"/events?clientType=browser&sessionId=0123456789abcdef", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	defer res.Body.Close()
	stop()
	if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), `"connected"`) {
		t.Errorf("%s, %v", text, err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(until.Patience):
		t.Fatal("the command does not end")
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	file := func(text string) string {
		name := filepath.Join(dir, "f")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	sum := strings.Repeat("ab", 32)
	for name, args := range map[string][]string{
		"no tokens": {}, "an argument": {"-tokens", file("a page " + sum), "x"}, "a public address": {"-tokens", file("a page " + sum), "-listen", "0.0.0.0:0"},
		"an origin with a path": {"-tokens", file("a page " + sum), "-origin", "https://a.example/x"}, "token without a role": {"token", "-tenant", "a"}, "token with a space": {"token", "-tenant", "a b", "-role", "page"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, text := range map[string]string{"nothing": "", "two words": "a page", "a role": "a boss " + sum, "a short sum": "a page abcd", "no sum": "a page " + strings.Repeat("x", 64), "twice": "a page " + sum + "\nb page " + sum} {
		if err := run(t.Context(), []string{"-tokens", file(text)}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "btcprelay: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
