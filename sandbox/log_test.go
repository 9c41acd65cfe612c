package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Options.Log receives each trace and each violation once, with their attributes and without inputs
// and outputs.
func TestLog(t *testing.T) {
	const credential = "ghp_abcdefghij0123456789ABCDEFGHIJ012345"
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelError} {
		t.Run(level.String(), func(t *testing.T) {
			var out bytes.Buffer
			h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["out"]}, "rules": [{"permission": "*", "action": "allow"}]}`), nil,
				map[string]string{"key": "token = " + credential}, func(o *sandbox.Options) {
					o.Log = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: level}))
				})
			h.ok(t, "read", args{"path": "key"})
			h.ok(t, "write", args{"path": "out/a", "content": credential})
			h.fails(t, "write", args{"path": "key", "content": credential}, protocol.ErrCapabilityDenied)
			if strings.Contains(out.String(), "ghp_") {
				t.Errorf("a credential is in the log:\n%s", out.String())
			}
			var traces, violations []map[string]any
			for line := range strings.Lines(out.String()) {
				var row map[string]any
				must(t, json.Unmarshal([]byte(line), &row))
				switch {
				case row["msg"] == "trace" && row["level"] == "DEBUG":
					traces = append(traces, row)
				case row["msg"] == "violation" && row["level"] == "WARN":
					violations = append(violations, row)
				default:
					t.Errorf("neither: %s", line)
				}
			}
			wantTraces, wantViolations := 0, 0
			if level <= slog.LevelDebug {
				wantTraces = len(h.traces)
			}
			if level <= slog.LevelWarn {
				wantViolations = 1
			}
			if len(traces) != wantTraces || len(violations) != wantViolations {
				t.Fatalf("%d traces, %d violations; want %d, %d", len(traces), len(violations), wantTraces, wantViolations)
			}
			for i, row := range traces {
				e := h.traces[i]
				for key, want := range map[string]any{"type": string(e.Type), "call": e.ExecID, "tool": e.Tool, "capability": string(e.Capability), "decision": string(e.Decision), "rule": e.Rule, "status": e.Status, "ms": e.DurationMS} {
					if row[key] != want {
						t.Errorf("trace %d: %s is %v, want %v", i, key, row[key], want)
					}
				}
			}
			for _, row := range violations {
				v, _ := h.Violations()
				for key, want := range map[string]any{"layer": "policy", "code": string(protocol.ErrCapabilityDenied), "tool": "write", "detail": v[0].Detail} {
					if row[key] != want || want == "" {
						t.Errorf("violation: %s is %v, want %v", key, row[key], want)
					}
				}
			}
		})
	}
}

// A name, a path or an argument that makes a call fail does not put a credential into the log.
func TestLogOfRefusedArguments(t *testing.T) {
	const credential = "ghp_abcdefghij0123456789ABCDEFGHIJ012345"
	var out bytes.Buffer
	h := build(t, parse(t, open), nil, nil, func(o *sandbox.Options) {
		o.Log = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for _, a := range []args{{"path": credential, "content": 1.0}, {"path": "a", credential: "x"}, {"path": "a", "content": credential, "version": credential}, {"path": "../" + credential, "content": ""}} {
		if res := h.Call(context.Background(), "write", a); res.Err() == nil {
			t.Errorf("%v went well", a)
		}
	}
	h.Call(context.Background(), credential, nil)
	denied := build(t, parse(t, `{"capabilities": {"fs.read": ["a"]}}`), nil, nil, func(o *sandbox.Options) {
		o.Log = slog.New(slog.NewJSONHandler(&out, nil))
	})
	denied.fails(t, "read", args{"path": "b/" + credential}, protocol.ErrCapabilityDenied)
	if !strings.Contains(out.String(), `"violation"`) {
		t.Error("no violation is in the log")
	}
	if out.Len() == 0 || strings.Contains(out.String(), "ghp_") {
		t.Errorf("the log:\n%s", out.String())
	}
}

// A nil *slog.Logger logs nothing, like a nil Log.
func TestNilLogger(t *testing.T) {
	h := build(t, parse(t, `{"capabilities": {"fs.read": ["a"]}, "rules": [{"permission": "*", "action": "allow"}]}`), nil, map[string]string{"a": "x"}, func(o *sandbox.Options) {
		o.Log = (*slog.Logger)(nil)
	})
	h.ok(t, "read", args{"path": "a"})
	h.fails(t, "read", args{"path": "b"}, protocol.ErrCapabilityDenied)
}
