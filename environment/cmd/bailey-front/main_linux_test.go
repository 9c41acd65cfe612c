package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/frontcmd"
	"github.com/bailey-go/bailey/internal/until"
)

// The command serves, reads its credentials, has metrics, and ends after a drain.
func TestFront(t *testing.T) {
	dir, box := workDir(t)
	policy, tenants := filepath.Join(dir, "policy.json"), filepath.Join(dir, "tenants")
	if err := os.WriteFile(policy, []byte(`{"capabilities": {"fs.read": ["."], "stream.send": true}, "rules": []}`), 0o644); err != nil {
		t.Fatal(err)
	}
	var line, shown boxtest.Log
	if err := run(t.Context(), []string{"credential", "acme"}, &line, &shown); err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(strings.TrimSpace(shown.String()), ": ")
	if err := os.WriteFile(tenants, []byte("# of a test\n"+line.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(line.String(), secret) || !strings.HasPrefix(line.String(), "acme sha256:") {
		t.Errorf("%q", line.String())
	}
	socket, metrics := filepath.Join(dir, "front.sock"), filepath.Join(dir, "metrics.sock")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log boxtest.Log
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-listen", "unix:" + socket, "-metrics", "unix:" + metrics, "-tenants", tenants, "-store", filepath.Join(dir, "store"), "-dir", dir, "-warm", "1", "-model", "test@http://127.0.0.1:1/v1", "--",
			box, "-policy", policy, "-cache", "none"}, io.Discard, &log)
	}()
	until.True(t, "it serves", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("%v\n%s", err, log.String())
		default:
		}
		return strings.Contains(log.String(), `"serving"`)
	})
	if fi, err := os.Stat(socket); err != nil || fi.Mode().Perm() != 0o660 {
		t.Errorf("the socket's mode: %v %v", fi, err)
	}
	do := func(socket, method, path, body, secret string) (int, string) {
		c := http.Client{Transport: &http.Transport{DialContext: dial(socket), DisableKeepAlives: true}}
		r, err := http.NewRequestWithContext(t.Context(), method, "http://front"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Content-Type", "application/json")
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	if code, text := do(socket, "GET", "/v1/sessions", "", "wrong"); code != http.StatusUnauthorized || !strings.Contains(text, "credential") {
		t.Errorf("%d %s", code, text)
	}
	// The model does not answer, and the stream says so. The message is stored.
	if code, text := do(socket, "POST", "/v1/sessions/a/messages", `{"text": "hello"}`, secret); code != 200 || !strings.HasSuffix(text, "data: [DONE]\n\n") || !strings.Contains(text, `"error"`) {
		t.Errorf("%d %s", code, text)
	}
	if code, text := do(socket, "GET", "/v1/sessions", "", secret); code != 200 || !strings.Contains(text, `"a"`) {
		t.Errorf("%d %s", code, text)
	}
	code, text := do(metrics, "GET", "/metrics", "", "")
	for _, want := range []string{`bailey_front_jobs{state="idle",tenant="acme"} 1`, `bailey_front_job_start_duration_seconds_count{kind="new",tenant="acme"} 1`, `bailey_front_run_duration_seconds_count{result="done",tenant="acme"} 1`, `bailey_front_refusals_total{reason="credential",tenant="none"} 1`,
		`bailey_front_model_requests_total{result="server",tenant="acme"}`} {
		if code != 200 || !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s: %d\n%s", want, code, text)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "jobs-*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if !strings.Contains(log.String(), `"drain ended"`) || strings.Contains(log.String(), secret) || strings.Contains(log.String(), "hello") {
		t.Errorf("%s", log.String())
	}
}

func dial(socket string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	tenants := filepath.Join(dir, "tenants")
	if err := os.WriteFile(tenants, []byte("acme sha256:"+strings.Repeat("0", 64)), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tenants, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"credential"}, {"credential", "A b"}, {"-tenants", tenants}, {"-tenants", tenants, "-store", dir, "-dir", dir},
		{"-tenants", tenants, "-store", dir, "-dir", dir, "--", "/none"}, {"-tenants", tenants, "-store", dir, "-dir", dir, "--", "sh"},
		{"-tenants", tenants, "-store", dir, "-dir", dir, "-model", "name", "--", "sh"}, {"-tenants", tenants, "-store", dir, "-dir", dir, "-model", "a@https://b.example/v1", "--", "sh", "-model", "a@https://b.example/v1"}} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	if _, err := frontcmd.Open(t.Context(), "memory:"); err == nil {
		t.Error("a store that forgets was accepted")
	}
}
