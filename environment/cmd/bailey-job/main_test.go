package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
)

const rules = `{"capabilities": {"net.fetch": ["api.example.com", "asks.example.com"]}, "rules": [{"permission": "net.fetch", "pattern": "*", "action": "ask"}, {"permission": "net.fetch", "pattern": "api.example.com:443", "action": "allow"}]}`

// The proxy of a cluster connects to the hosts that the policy allows without a question, and to the model's.
func TestAttackEgress(t *testing.T) {
	count := attack.Start(t, "pods")
	count.NoSwitch("package proxy has the controls")
	allow, err := allowed(rules, "Model.example:8443")
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"api.example.com:443", "model.example:8443"} {
		if err := allow(t.Context(), host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"asks.example.com:443", "api.example.com:80", "evil.example:443", "model.example:443", "model.example:84433", "xmodel.example:8443", "model.example.evil.example:8443", "api.example.com.evil.example:443",
		"api.example.com@evil.example:443", "127.0.0.1:8443", "169.254.169.254:80", "kubernetes.default.svc:443", "[::1]:443", ""} {
		count.Try(host, allow(t.Context(), host) == nil)
	}
	for _, more := range []string{"model.example", "model.example:", "a,b"} {
		if _, err := allowed(rules, more); err == nil {
			t.Errorf("-allow %s was accepted", more)
		}
	}
	if _, err := allowed("{", ""); err == nil {
		t.Error("a policy that is none was accepted")
	}
	// As it is served.
	file := filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	var log boxtest.Log
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"egress", "-listen", address, "-policy", file, "-allow", "127.0.0.1:443"}, &log)
	}()
	ask := func(host string) (string, error) {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return "", err
		}
		defer c.Close()
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp.Status + " " + string(text), err
	}
	until.True(t, "it serves", func() bool { _, err := ask("evil.example:443"); return err == nil })
	for _, host := range []string{"evil.example:443", "asks.example.com:443", "127.0.0.1:443"} { // the last is an operator's mistake
		text, err := ask(host)
		count.Try("through the proxy, "+host, err != nil || !strings.HasPrefix(text, "403"))
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), `"host":"evil.example:443"`) || !strings.Contains(log.String(), `"allowed":false`) {
		t.Errorf("%s", log.String())
	}
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{}, {"-front", "x"}, {"-front", "x", "-dir", dir}, {"-front", "x", "-dir", dir, "--", "/none"}, {"-listen", "127.0.0.1:0", "-front", "x", "-dir", dir, "--", "sh"},
		{"egress"}, {"egress", "-policy", dir}, {"egress", "-policy", dir, "more"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
