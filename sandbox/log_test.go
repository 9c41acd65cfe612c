package sandbox_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
)

// A *slog.Logger gets what happens, without what went in and what came out.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := build(t, parse(t, open), nil, map[string]string{"a.txt": "a secret"}, func(o *sandbox.Options) { o.Log = log })
	h.ok(t, "read", args{"path": "a.txt"})
	got := out.String()
	for _, want := range []string{"msg=trace", "tool=read", "capability=fs.read", "decision=allow", "status=ok"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	for _, never := range []string{"a secret", "a.txt"} {
		if strings.Contains(got, never) {
			t.Errorf("%q is in %s", never, got)
		}
	}
}
