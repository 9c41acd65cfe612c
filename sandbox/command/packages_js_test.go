package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/worker"
)

// A package has the smallest of three permissions: its grant, the policy, and the call. The
// manifest of this one requests everything. The program is worker/testdata/probe.c.
func TestPackageMeetsThePolicy(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	wasm, err := os.ReadFile(filepath.Join("..", "..", "build", "testwasm", "probe.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	packages := worker.NewPackages(worker.MemoryStore(), worker.PackagesOptions{})
	install(t, packages, toolZIP(t, "mine", string(wasm), "positional"))
	pool, err := worker.NewPool(ctx, worker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	r, err := New(pool, Options{Commands: map[string]string{"probe": "p"}, Fetch: fetched, Packages: packages})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["mine"]}, "filesystem": {"denyRead": ["private"], "allowWrite": ["out"]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "allow"}, {"permission": "shell.run", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const read, write = `{"how":["cat","/in.txt"]}`, `{"how":["write","/out/new.txt","new"]}`
	for _, tt := range []struct {
		name  string
		files worker.FileAccess
		args  map[string]any
		exit  float64
		out   string
	}{
		{"nothing granted", worker.FilesNone, map[string]any{"args": []any{read}, "read": []any{"in.txt"}}, 1, ""},
		{"reading granted", worker.FilesRead, map[string]any{"args": []any{read}, "read": []any{"in.txt"}}, 0, "in"},
		{"the call asks for less", worker.FilesReadWrite, map[string]any{"args": []any{read}}, 1, ""},
		{"the policy allows less", worker.FilesReadWrite, map[string]any{"args": []any{`{"how":["cat","/private"]}`}, "read": []any{"."}}, 1, ""},
		{"writing not granted", worker.FilesRead, map[string]any{"args": []any{write}, "read": []any{"out"}, "write": []any{"out"}}, 1, ""},
		{"writing granted", worker.FilesReadWrite, map[string]any{"args": []any{write}, "read": []any{"out"}, "write": []any{"out"}}, 0, ""},
		{"input", worker.FilesNone, map[string]any{"args": []any{`{"how":["upper"]}`}, "stdin": "loud"}, 0, "LOUD"},
	} {
		if _, err := packages.Grant(ctx, "mine", worker.PackageGrant{Files: tt.files, Decision: worker.PackageAlways}); err != nil {
			t.Fatal(err)
		}
		mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		if err := errors.Join(mem.MkdirAll("out", 0o755), mem.WriteFile("in.txt", []byte("in"), 0o644), mem.WriteFile("private", []byte("secret"), 0o644)); err != nil {
			t.Fatal(err)
		}
		box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: []sandbox.Tool{sandbox.ToolRun(r)}})
		if err != nil {
			t.Fatal(err)
		}
		tt.args["command"] = "mine"
		res := box.Call(ctx, "tool_run", tt.args)
		m, _ := res.Data.(map[string]any)
		if err := res.Err(); err != nil || m["exit_code"] != tt.exit || m["output"] != tt.out {
			t.Errorf("%s: %v %v", tt.name, m, err)
		}
		_, err = mem.Stat("out/new.txt")
		if made := err == nil; made != strings.HasPrefix(tt.name, "writing granted") {
			t.Errorf("%s: the file was made: %v", tt.name, made)
		}
	}
	trusted, err := worker.NewPool(ctx, worker.Options{Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	defer trusted.Close()
	in, err := New(trusted, Options{Commands: map[string]string{"probe": "p"}, Fetch: fetched, Packages: packages})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := in.RunCommand(ctx, sandbox.Command{Name: "mine", Args: []string{read}}); !errors.Is(err, protocol.ErrCapabilityDenied) {
		t.Errorf("in a trusted pool: %v", err)
	}
}
