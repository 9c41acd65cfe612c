package command_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/worker"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

const rules = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["probe"]},
	"filesystem": {"denyRead": ["private"], "allowWrite": ["out", "in.txt"]},
	"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "allow"}, {"permission": "shell.run", "action": "allow"}]}`

// house returns a box whose tool_run has the program of worker/testdata/probe.c.
func house(t *testing.T, l worker.Limits) (*sandbox.Box, *fsaccess.Folder, *int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	wasm, err := os.ReadFile(filepath.Join("..", "..", "build", "testwasm", "probe.wasm"))
	must(t, err)
	pool, err := worker.NewPool(ctx, worker.Options{})
	must(t, err)
	t.Cleanup(func() { pool.Close() })
	fetches := new(int)
	r, err := command.New(pool, command.Options{Commands: map[string]string{"probe": "probe.wasm", "other": "probe.wasm"}, Limits: l,
		Fetch: func(context.Context, string) ([]byte, error) { *fetches++; return wasm, nil }})
	must(t, err)
	t.Cleanup(func() { r.Close() })
	p, err := policy.Parse(rules, policy.Options{})
	must(t, err)
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.MkdirAll("out", 0o755))
	for name, text := range map[string]string{"in.txt": "in", "private": "secret", "out/old.txt": "old"} {
		must(t, mem.WriteFile(name, []byte(text), 0o644))
	}
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: append(sandbox.Standard(), sandbox.ToolRun(r))})
	must(t, err)
	return box, mem, fetches
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type args = map[string]any

func call(box *sandbox.Box, a args) (args, error) {
	if a["command"] == nil {
		a["command"] = "probe"
	}
	res := box.Call(context.Background(), "tool_run", a)
	m, _ := res.Data.(map[string]any)
	return m, res.Err()
}

// Real programs in real workers, whose files and outputs pass the gate.
func TestProgramsRunThroughTheGate(t *testing.T) {
	box, mem, fetches := house(t, worker.Limits{})
	for _, c := range []struct {
		name           string
		a              args
		exit           float64
		output, stderr string
	}{
		{"input", args{"args": []any{"upper"}, "stdin": "loud"}, 0, "LOUD", ""},
		{"exit code", args{"args": []any{"exit", "7"}}, 7, "", ""},
		{"reads", args{"args": []any{"cat", "/in.txt"}, "read": []any{"in.txt"}}, 0, "in", ""},
		{"not said", args{"args": []any{"cat", "/in.txt"}, "read": []any{"out"}}, 1, "", "/in.txt: "},
		{"nothing said", args{"args": []any{"cat", "/in.txt"}}, 1, "", "/in.txt: "},
		{"private", args{"args": []any{"cat", "/private"}, "read": []any{"."}}, 1, "", "/private: "},
		{"writes", args{"args": []any{"write", "/out/new.txt", "new"}, "write": []any{"out"}}, 0, "", ""},
		{"unseen", args{"args": []any{"cat", "/out/old.txt"}, "write": []any{"out"}}, 1, "", "/out/old.txt: "},
		{"changes", args{"args": []any{"write", "/out/old.txt", "er", "a"}, "read": []any{"out"}, "write": []any{"out"}}, 0, "", ""},
	} {
		m, err := call(box, c.a)
		if err != nil || m["exit_code"] != c.exit || m["output"] != c.output || !strings.HasPrefix(m["stderr"].(string), c.stderr) || (c.stderr == "") != (m["stderr"] == "") {
			t.Errorf("%s: %v %v", c.name, m, err)
		}
	}
	// A program can't replace a file that it may not read, because it can't know the content that
	// is lost.
	if m, err := call(box, args{"args": []any{"write", "/out/old.txt", "blind"}, "write": []any{"out"}}); !errors.Is(err, protocol.ErrCapabilityDenied) {
		t.Errorf("a write over an unseen file: %v %v", m, err)
	}
	for name, want := range map[string]string{"out/new.txt": "new", "out/old.txt": "older", "in.txt": "in"} {
		if got, err := mem.ReadFile(name); string(got) != want {
			t.Errorf("%s is %q %v", name, got, err)
		}
	}
	if *fetches != 1 {
		t.Errorf("fetched %d times", *fetches)
	}
}

// A program can't have effects that were not permitted.
func TestProgramsCanDoNoMore(t *testing.T) {
	box, mem, _ := house(t, worker.Limits{})
	for name, a := range map[string]args{
		"write a file that is only read":    {"args": []any{"write", "/in.txt", "bad"}, "read": []any{"in.txt"}},
		"write next to what may be written": {"args": []any{"write", "/new.txt", "bad"}, "read": []any{"in.txt"}, "write": []any{"out"}},
		"write with nothing said":           {"args": []any{"write", "/new.txt", "bad"}},
		"move the private file":             {"args": []any{"rename", "/private", "/out/p"}, "read": []any{"."}, "write": []any{"out"}},
	} {
		if m, err := call(box, a); err == nil && m["exit_code"] == 0.0 {
			t.Errorf("%s: went well: %v", name, m)
		}
	}
	for name, want := range map[string]error{"probe": nil, "other": protocol.ErrCapabilityDenied, "nope": protocol.ErrCapabilityDenied} {
		if _, err := call(box, args{"command": name, "args": []any{"hello"}}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := call(box, args{"args": []any{"hello"}, "write": []any{"private"}}); !errors.Is(err, protocol.ErrCapabilityDenied) {
		t.Errorf("to write what the policy does not allow: %v", err)
	}
	var got []string
	for e, err := range fsaccess.Walk(context.Background(), mem, ".", fsaccess.WalkOptions{}) {
		must(t, err)
		got = append(got, e.Path)
	}
	if len(got) != 4 {
		t.Errorf("the folder holds %v", got)
	}
	if data, _ := mem.ReadFile("in.txt"); string(data) != "in" {
		t.Errorf("in.txt is %q", data)
	}
}

func TestLimitsEndPrograms(t *testing.T) {
	box, _, _ := house(t, worker.Limits{Output: 100 << 10, Time: 2 * time.Second})
	for arg, want := range map[string]error{"flood": protocol.ErrOutputTooLarge, "spin": protocol.ErrTimeout, "trap": protocol.ErrExecution} {
		if _, err := call(box, args{"args": []any{arg}}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", arg, err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := box.Call(ctx, "tool_run", args{"command": "probe", "args": []any{"spin"}}).Err(); !errors.Is(err, protocol.ErrAborted) {
		t.Errorf("stopped: %v", err)
	}
}
