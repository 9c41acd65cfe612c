package command

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/worker"
)

// emptyModule is the smallest valid module.
const emptyModule = "\x00asm\x01\x00\x00\x00"

// toolZIP returns a package. Its tool has one parameter, how, and requests access to all files.
func toolZIP(t testing.TB, name, wasm, style string) []byte {
	t.Helper()
	manifest, err := json.Marshal(map[string]any{"name": name, "version": "1.0.0", "description": "a tool", "licence": "MIT", "category": "test", "author": "A",
		"parameters": map[string]any{"type": "object", "properties": map[string]any{"how": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}, "required": []string{"how"}, "additionalProperties": false},
		"returns":    "text", "pipeable": true, "execution": map[string]any{"argStyle": style, "fileAccess": "readwrite"}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range [][2]string{{"manifest.json", string(manifest)}, {"tool.wasm", wasm}} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func install(t testing.TB, p *worker.Packages, zip []byte) *worker.Package {
	t.Helper()
	pkg, err := p.Install(context.Background(), zip, "")
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// The attack: a page with another list of built-in names stored a package under the name of a
// built-in tool. The package is neither listed nor run.
func TestPackageShadowsNothing(t *testing.T) {
	packages := worker.NewPackages(worker.MemoryStore(), worker.PackagesOptions{})
	for _, name := range []string{"a", "grep", "mine"} {
		install(t, packages, toolZIP(t, name, emptyModule, "positional"))
		if _, err := packages.Grant(context.Background(), name, worker.PackageGrant{Decision: worker.PackageAlways}); err != nil {
			t.Fatal(err)
		}
	}
	var ran []string
	e := &fake{run: func(_ context.Context, c sandbox.Command) (int, error) { ran = append(ran, c.Name); return 0, nil }}
	r := runnerOf(t, e, Options{Packages: packages, Commands: map[string]string{"a": "m1", "GREP": "m1"}})
	if got := fmt.Sprint(r.Commands()); got != "[GREP a mine]" {
		t.Error(got)
	}
	for name, want := range map[string]string{"a": "[a]", "GREP": "[GREP]", "mine": "[package mine]"} {
		ran = nil
		if _, err := r.RunCommand(context.Background(), sandbox.Command{Name: name, Args: []string{`{"how":["x"]}`}}); err != nil || fmt.Sprint(ran) != want {
			t.Errorf("%s: %v %v, want %s", name, ran, err, want)
		}
	}
	for _, name := range []string{"grep", "MINE", "nope", "../a"} {
		if _, err := r.RunCommand(context.Background(), sandbox.Command{Name: name}); !errors.Is(err, protocol.ReasonNotFound) && !strings.Contains(fmt.Sprint(err), "invalid") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without the list of built-in names it would run.
	open := runnerOf(t, e, Options{Packages: packages, Commands: map[string]string{"other": "m1"}})
	ran = nil
	if _, err := open.RunCommand(context.Background(), sandbox.Command{Name: "grep", Args: []string{`{"how":["x"]}`}}); err != nil || len(ran) != 1 {
		t.Errorf("%v %v", ran, err)
	}
}

// A package runs without a question only if the user chose "always". A package that was installed
// anew under its name does not, and neither does one that the user switched off.
func TestPackageIsAskedAbout(t *testing.T) {
	ctx := context.Background()
	packages := worker.NewPackages(worker.MemoryStore(), worker.PackagesOptions{})
	install(t, packages, toolZIP(t, "mine", emptyModule, "positional"))
	e := &fake{}
	r := runnerOf(t, e, Options{Packages: packages})
	// The rules let all commands run unasked.
	p, err := policy.Parse(`{"capabilities": {"shell.run": ["mine", "a"]}, "rules": [{"permission": "shell.run", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	asked, answer := 0, policy.AnswerReject
	ask := sandbox.AskFunc(func(_ context.Context, q sandbox.Prompt) ([]sandbox.Reply, error) {
		asked++
		out := make([]sandbox.Reply, len(q.Requests))
		for i, r := range q.Requests {
			if !r.Untrusted || !strings.Contains(r.Title, "mine") || !strings.Contains(r.Reason, "installed") {
				t.Errorf("asked %+v", r)
			}
			out[i].Answer = answer
		}
		return out, nil
	})
	run := func(command string) error {
		box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: p, Ask: ask, Tools: []sandbox.Tool{sandbox.ToolRun(r)}})
		if err != nil {
			t.Fatal(err)
		}
		return box.Call(ctx, "tool_run", map[string]any{"command": command, "args": []any{`{"how":["x"]}`}}).Err()
	}
	if err := run("a"); err != nil || asked != 0 {
		t.Errorf("a built-in command: %v, asked %d times", err, asked)
	}
	if err := run("mine"); !errors.Is(err, protocol.ErrCapabilityDenied) || asked != 1 {
		t.Errorf("the user declined: %v, asked %d times", err, asked)
	}
	answer = policy.AnswerOnce
	if err := run("mine"); err != nil || asked != 2 {
		t.Errorf("the user agreed: %v, asked %d times", err, asked)
	}
	if _, err := r.RunCommand(ctx, sandbox.Command{Name: "mine", Args: []string{`{"how":["x"]}`}}); !errors.Is(err, protocol.ErrCapabilityDenied) {
		t.Errorf("by another way than tool_run: %v", err)
	}
	grant := func(d worker.PackageDecision) {
		if _, err := packages.Grant(ctx, "mine", worker.PackageGrant{Decision: d}); err != nil {
			t.Fatal(err)
		}
	}
	grant(worker.PackageAlways)
	if err := run("mine"); err != nil || asked != 2 {
		t.Errorf("always: %v, asked %d times", err, asked)
	}
	install(t, packages, toolZIP(t, "mine", emptyModule, "json"))
	if err := run("mine"); err != nil || asked != 3 {
		t.Errorf("another package of the name: %v, asked %d times", err, asked)
	}
}

func TestPackageTakesAnObject(t *testing.T) {
	packages := worker.NewPackages(worker.MemoryStore(), worker.PackagesOptions{})
	install(t, packages, toolZIP(t, "mine", emptyModule, "positional"))
	r := runnerOf(t, &fake{}, Options{Packages: packages})
	for _, args := range [][]string{{"x"}, {"{}", "{}"}, {"[1]"}, {`{"how":`}} {
		pkg, err := packages.Get(context.Background(), "mine")
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.RunCommand(context.Background(), sandbox.Command{Name: "mine", Args: args, Asked: true, AskedKey: pkg.SHA256})
		if !errors.Is(err, protocol.ErrInvalidParams) || !strings.Contains(err.Error(), `"how"`) {
			t.Errorf("%q: %v, want the schema", args, err)
		}
	}
}

// A package that is replaced while the user reads the question does not run.
func TestPackageReplacedDuringTheQuestion(t *testing.T) {
	ctx := context.Background()
	for name, during := range map[string]func(t *testing.T, packages *worker.Packages){
		"another":          func(t *testing.T, p *worker.Packages) { install(t, p, toolZIP(t, "mine", emptyModule, "json")) },
		"removed":          func(t *testing.T, p *worker.Packages) { must(t, p.Remove(ctx, "mine")) },
		"another and back": nil,
		"itself":           func(t *testing.T, p *worker.Packages) { install(t, p, toolZIP(t, "mine", emptyModule, "positional")) },
		"not":              func(*testing.T, *worker.Packages) {},
	} {
		packages := worker.NewPackages(worker.MemoryStore(), worker.PackagesOptions{})
		install(t, packages, toolZIP(t, "mine", emptyModule, "positional"))
		ran := 0
		r := runnerOf(t, &fake{run: func(context.Context, sandbox.Command) (int, error) { ran++; return 0, nil }}, Options{Packages: packages})
		p, err := policy.Parse(`{"capabilities": {"shell.run": ["*"]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
		must(t, err)
		asks := sandbox.AskFunc(func(_ context.Context, q sandbox.Prompt) ([]sandbox.Reply, error) {
			if during == nil {
				install(t, packages, toolZIP(t, "mine", emptyModule, "json"))
				install(t, packages, toolZIP(t, "mine", emptyModule, "positional"))
			} else {
				during(t, packages)
			}
			return []sandbox.Reply{{Answer: policy.AnswerOnce}}, nil
		})
		box, err := sandbox.New(sandbox.Options{Policy: p, Ask: asks, Tools: []sandbox.Tool{sandbox.ToolRun(r)}, FS: fsaccess.NewMemory(fsaccess.MemoryOptions{})})
		must(t, err)
		err = box.Call(ctx, "tool_run", map[string]any{"command": "mine", "args": []any{`{"how":["x"]}`}}).Err()
		if want := name != "another" && name != "removed"; (ran == 1) != want || (err == nil) != want {
			t.Errorf("%s: ran %d times, %v", name, ran, err)
		}
	}
	packages := worker.NewPackages(worker.MemoryStore(), worker.PackagesOptions{})
	install(t, packages, toolZIP(t, "mine", emptyModule, "positional"))
	r := runnerOf(t, &fake{}, Options{Packages: packages})
	for _, key := range []string{"", "x", strings.Repeat("0", 64)} {
		if _, err := r.RunCommand(ctx, sandbox.Command{Name: "mine", Args: []string{`{"how":["x"]}`}, Asked: true, AskedKey: key}); !errors.Is(err, protocol.ErrCapabilityDenied) {
			t.Errorf("asked about %q: %v", key, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
