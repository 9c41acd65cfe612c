package boxtest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

// Haproxy starts haproxy with the configuration in a manual (docs/front.md), in front of two front ends, and returns its
// address. Without haproxy the test is skipped.
func Haproxy(t testing.TB, manual string, one, two string) string {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		t.Skip("NOT TESTED: haproxy is not installed (Debian: apt-get install haproxy)")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	text, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```haproxy\n")
	config, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatalf("%s has no configuration for haproxy", manual)
	}
	for old, now := range map[string]string{"bind :443 ssl crt /etc/haproxy/public.pem alpn h2,http/1.1": "bind " + at, "127.0.0.1:8800": strings.TrimPrefix(one, "http://"),
		"10.0.0.2:8443 ssl verify required ca-file /etc/haproxy/ca.pem crt /etc/haproxy/client.pem": strings.TrimPrefix(two, "http://")} {
		if !strings.Contains(config, old) {
			t.Fatalf("the configuration lacks %q", old)
		}
		config = strings.ReplaceAll(config, old, now)
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-f", file, "-db")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
	})
	until.True(t, "haproxy listens", func() bool {
		c, err := net.Dial("tcp", at)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return "http://" + at
}
