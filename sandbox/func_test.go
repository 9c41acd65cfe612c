package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// This example is a tool of the app's own. It reads one file and writes another, and the user sees both
// effects before it runs.
func ExampleFunc() {
	type in struct {
		From string `json:"from" jsonschema:"the file to read"`
		To   string `json:"to" jsonschema:"the file to write"`
		Top  int    `json:"top,omitempty" jsonschema:"how many lines, 1 if it is missing"`
	}
	type out struct {
		Lines int `json:"lines"`
	}
	head := sandbox.Func("head", "Copies the first lines of a file to another.",
		func(a in) []policy.Need { return append(sandbox.Reads(a.From), sandbox.Writes(a.To)...) },
		func(ctx context.Context, c *sandbox.Call, a in) (out, error) {
			text, _, err := c.FS.Read(ctx, c.Permit, a.From)
			if err != nil {
				return out{}, err
			}
			lines := strings.SplitAfter(string(text), "\n")
			n := min(max(a.Top, 1), len(lines))
			_, err = c.FS.Write(ctx, c.Permit, a.To, []byte(strings.Join(lines[:n], "")), fsaccess.AnyVersion)
			return out{Lines: n}, err
		})

	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = dir.WriteFile("a.txt", []byte("one\ntwo\nthree\n"), 0o644)
	box, err := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges(), Ask: terminal{}, Tools: []sandbox.Tool{head}})
	if err != nil {
		fmt.Println(err)
		return
	}
	res := box.Call(context.Background(), "head", map[string]any{"from": "a.txt", "to": "b.txt", "top": 2})
	fmt.Println(res.Data, res.Err())
	text, _ := dir.ReadFile("b.txt")
	fmt.Printf("%q\n", text)
	// Output:
	// May the assistant read a.txt and write the new file b.txt? (risk: medium)
	// map[lines:2] <nil>
	// "one\ntwo\n"
}

// This example is a tool by its parts, for one that Func is not enough for: Preview shows in the question
// what the call writes.
func ExampleTool() {
	stamp := sandbox.Tool{
		Tool: protocol.Tool{ID: "stamp", Requires: []protocol.Grant{{Capability: protocol.FSWrite}},
			Description: "Writes a line into the file stamp.txt.",
			Parameters:  `{"type":"object","properties":{"line":{"type":"string"}},"required":["line"],"additionalProperties":false}`},
		Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) { return sandbox.Writes("stamp.txt"), nil },
		Preview: func(_ context.Context, c *sandbox.Call) (title, diff string) {
			return "", "+" + c.Args.(map[string]any)["line"].(string) + "\n"
		},
		Run: func(ctx context.Context, c *sandbox.Call) (any, error) {
			var a struct {
				Line string `json:"line"`
			}
			if err := c.Bind(&a); err != nil {
				return nil, err
			}
			_, err := c.FS.Write(ctx, c.Permit, "stamp.txt", []byte(a.Line+"\n"), fsaccess.AnyVersion)
			return map[string]any{"done": err == nil}, err
		},
	}
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	box, _ := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges(), Ask: terminal{}, Tools: []sandbox.Tool{stamp}})
	res := box.Call(context.Background(), "stamp", map[string]any{"line": "approved"})
	fmt.Println(res.Data, res.Err())
	// Output:
	// May the assistant write the new file stamp.txt? (risk: medium)
	// +approved
	// map[done:true] <nil>
}

type every struct {
	Text   string            `json:"text" jsonschema:"a text"`
	Flag   bool              `json:"flag,omitempty"`
	Count  uint8             `json:"count,omitempty"`
	Size   *float64          `json:"size"`
	List   []int             `json:"list,omitzero"`
	Labels map[string]string `json:"labels,omitempty"`
	At     time.Time         `json:"at,omitzero"`
	Inner  struct{ A, B string }
	Rest   any    `json:"rest,omitempty"`
	Hidden string `json:"-"`
	Plain  string `json:",omitempty"`
}

func TestFuncSchema(t *testing.T) {
	var got every
	tool := sandbox.Func("every", "d", nil, func(_ context.Context, _ *sandbox.Call, in every) (string, error) { got = in; return in.Text, nil })
	want := `{"additionalProperties":false,"properties":{"Inner":{"additionalProperties":false,"properties":{"A":{"type":"string"},"B":{"type":"string"}},"required":["A","B"],"type":"object"},"Plain":{"type":"string"},"at":{"type":"string"},"count":{"minimum":0,"type":"integer"},"flag":{"type":"boolean"},"labels":{"additionalProperties":{"type":"string"},"type":"object"},"list":{"items":{"type":"integer"},"type":"array"},"rest":{},"size":{"type":"number"},"text":{"description":"a text","type":"string"}},"required":["text","Inner"],"type":"object"}`
	if tool.Parameters != want {
		t.Errorf("schema:\n%s\nwant:\n%s", tool.Parameters, want)
	}
	box, err := sandbox.New(sandbox.Options{Policy: policy.AskBeforeChanges(), Tools: []sandbox.Tool{tool}})
	must(t, err)
	res := box.Call(t.Context(), "every", args{"text": "x", "Inner": args{"A": "a", "B": "b"}, "size": 1.5, "list": []int{1, 2}, "labels": args{"k": "v"}, "at": "2026-01-02T03:04:05Z", "count": 255})
	must(t, res.Err())
	if res.Data != "x" || *got.Size != 1.5 || got.List[1] != 2 || got.Labels["k"] != "v" || got.At.Year() != 2026 || got.Count != 255 || got.Inner.B != "b" {
		t.Errorf("%v %+v", res.Data, got)
	}
	for name, a := range map[string]args{
		"missing": {"Inner": args{"A": "a", "B": "b"}}, "unknown": {"text": "x", "Inner": args{"A": "a", "B": "b"}, "Hidden": "h"}, "type": {"text": 1, "Inner": args{"A": "a", "B": "b"}},
		"too large": {"text": "x", "Inner": args{"A": "a", "B": "b"}, "count": 256}, "negative": {"text": "x", "Inner": args{"A": "a", "B": "b"}, "count": -1},
	} {
		if err := box.Call(t.Context(), "every", a).Err(); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type itself struct {
	Next []itself `json:"next"`
}

func TestFuncRefuses(t *testing.T) {
	type chans struct{ C chan int }
	type bytesIn struct{ B []byte }
	type embeds struct{ every }
	type keyed struct{ M map[int]string }
	for want, tool := range map[string]sandbox.Tool{
		"must be a struct":      sandbox.Func("a", "d", nil, func(context.Context, *sandbox.Call, string) (int, error) { return 0, nil }),
		"chan int has no":       sandbox.Func("a", "d", nil, func(context.Context, *sandbox.Call, chans) (int, error) { return 0, nil }),
		"[]uint8 has no":        sandbox.Func("a", "d", nil, func(context.Context, *sandbox.Call, bytesIn) (int, error) { return 0, nil }),
		"contains itself":       sandbox.Func("a", "d", nil, func(context.Context, *sandbox.Call, itself) (int, error) { return 0, nil }),
		"is embedded":           sandbox.Func("a", "d", nil, func(context.Context, *sandbox.Call, embeds) (int, error) { return 0, nil }),
		"map[int]string has no": sandbox.Func("a", "d", nil, func(context.Context, *sandbox.Call, keyed) (int, error) { return 0, nil }),
		"no function":           sandbox.Func[every, int]("a", "d", nil, nil),
	} {
		_, err := sandbox.New(sandbox.Options{Tools: []sandbox.Tool{tool}})
		if !errors.Is(err, protocol.ErrInvalidParams) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// The capabilities that a tool requires are those of its needs, and the gate decides each of them.
func TestFuncNeeds(t *testing.T) {
	type in struct {
		Path string `json:"path,omitempty"`
		Host string `json:"host,omitempty"`
	}
	run := func(ctx context.Context, c *sandbox.Call, a in) (string, error) {
		text, _, err := c.FS.Read(ctx, c.Permit, a.Path)
		return string(text), err
	}
	reads := sandbox.Func("reads", "d", func(a in) []policy.Need { return sandbox.Reads(a.Path) }, run)
	lies := sandbox.Func("lies", "d", nil, run)
	more := sandbox.Func("more", "d", func(a in) []policy.Need {
		if a.Host != "" {
			return sandbox.Fetches(a.Host)
		}
		return sandbox.Reads(a.Path)
	}, run)
	panics := sandbox.Func("panics", "d", func(a in) []policy.Need { return sandbox.Reads(strings.Split(a.Path, "/")[1]) }, run)
	if len(reads.Requires) != 1 || reads.Requires[0].Capability != protocol.FSRead || len(lies.Requires) != 0 || len(panics.Requires) != 0 {
		t.Errorf("%v %v %v", reads.Requires, lies.Requires, panics.Requires)
	}
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, dir.WriteFile("a.txt", []byte("hello"), 0o644))
	box, err := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges(), Tools: []sandbox.Tool{reads, lies, more, panics}})
	must(t, err)
	if res := box.Call(t.Context(), "reads", args{"path": "a.txt"}); res.Data != "hello" || res.Err() != nil {
		t.Errorf("%v %v", res.Data, res.Err())
	}
	if err := box.Call(t.Context(), "lies", args{"path": "a.txt"}).Err(); !errors.Is(err, protocol.ErrSecurityViolation) {
		t.Errorf("a tool that declared nothing reads: %v", err)
	}
	if err := box.Call(t.Context(), "more", args{"host": "example.org"}).Err(); err == nil || !strings.Contains(err.Error(), "set Requires") {
		t.Errorf("a need that an empty struct has not: %v", err)
	}
	if err := box.Call(t.Context(), "panics", args{"path": "x/a.txt"}).Err(); err == nil || !strings.Contains(err.Error(), "set Requires") {
		t.Errorf("needs that panic for an empty struct: %v", err)
	}
	want := []policy.Need{{Capability: protocol.FSWrite, Subject: "a"}, {Capability: protocol.FSWrite, Subject: "b"}}
	if got := sandbox.Writes("a", "b"); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v", got)
	}
}

// A panic is told to the developer with its value and its stack, and to the model with neither.
func TestOnPanic(t *testing.T) {
	boom := func(where string) sandbox.Tool {
		at := func(w string) {
			if w == where {
				panic("secret of " + w)
			}
		}
		return sandbox.Tool{
			Tool: protocol.Tool{ID: where, Requires: []protocol.Grant{{Capability: protocol.FSWrite}}},
			Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) {
				at("needs")
				return sandbox.Writes("a.txt"), nil
			},
			Preview:  func(context.Context, *sandbox.Call) (string, string) { at("preview"); return "", "" },
			Precheck: func(context.Context, *sandbox.Call) error { at("precheck"); return nil },
			Run:      func(context.Context, *sandbox.Call) (any, error) { at("run"); return "done", nil },
		}
	}
	for _, where := range []string{"needs", "preview", "precheck", "run"} {
		var heard []string
		var stack []byte
		box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: policy.AskBeforeChanges(), Ask: sandboxtest.Always(policy.AnswerOnce), Tools: []sandbox.Tool{boom(where)},
			OnPanic: func(tool string, v any, s []byte) {
				heard, stack = append(heard, tool+": "+fmt.Sprint(v)), s
				panic("a handler that panics ends nothing")
			}})
		must(t, err)
		res := box.Call(t.Context(), where, nil)
		if failed := where == "needs" || where == "run"; failed != (res.Err() != nil) || strings.Contains(res.ErrorText, "secret of") {
			t.Errorf("%s: %v", where, res.Err())
		}
		if len(heard) == 0 || heard[0] != where+": secret of "+where || !bytes.Contains(stack, []byte("func_test.go")) {
			t.Errorf("%s: heard %q, stack %s", where, heard, stack)
		}
	}
}

// A name that differs in a letter or two gets the tools that it may mean, and an agent only its own.
func TestDidYouMean(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	for name, want := range map[string]string{"reed": "did you mean read?", "gerp": "did you mean grep?", "wriet": "did you mean write?", "nothing_like_it": "there is no tool of that name"} {
		err := h.Call(t.Context(), name, nil).Err()
		if !errors.Is(err, protocol.ErrToolNotFound) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := h.Call(t.Context(), "nothing_like_it", nil).Err(); strings.Contains(err.Error(), "mean") {
		t.Error(err)
	}
}

// A write that the send policy forbids is refused before the user is asked, and the error names its cause.
func TestUnsendableIsNotAsked(t *testing.T) {
	pol, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}], "send": {"nothing": ["private"]}}`, policy.Options{})
	must(t, err)
	type in struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	cp := sandbox.Func("copy", "d", func(a in) []policy.Need { return append(sandbox.Reads(a.From), sandbox.Writes(a.To)...) },
		func(ctx context.Context, c *sandbox.Call, a in) (string, error) {
			text, _, err := c.FS.Read(ctx, c.Permit, a.From)
			if err == nil {
				_, err = c.FS.Write(ctx, c.Permit, a.To, text, fsaccess.AnyVersion)
			}
			return "done", err
		})
	later := sandbox.Tool{Tool: protocol.Tool{ID: "later", Requires: []protocol.Grant{{Capability: protocol.FSRead}, {Capability: protocol.FSWrite}}},
		Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.FSRead, Subject: ".", Tree: true, Filtered: true}}, nil
		},
		Run: func(ctx context.Context, c *sandbox.Call) (any, error) {
			if _, err := c.View(ctx, c.Permit, []string{"."}, nil); err != nil {
				return nil, err
			}
			_, err := c.Acquire(ctx, sandbox.Writes("y.txt")...)
			return "done", err
		}}
	asked := 0
	ask := sandbox.AskFunc(func(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
		asked++
		return []sandbox.Reply{{Answer: policy.AnswerOnce}}, nil
	})
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, dir.MkdirAll("private", 0o755))
	must(t, dir.WriteFile("private/a.txt", []byte("hidden"), 0o644))
	must(t, dir.WriteFile("b.txt", []byte("open"), 0o644))
	box, err := sandbox.New(sandbox.Options{FS: dir, Policy: pol, Ask: ask, Tools: []sandbox.Tool{cp, later}})
	must(t, err)
	for _, row := range []struct {
		tool, from, to, want string
		asked                int
	}{
		{"copy", "private/a.txt", "c.txt", "private/a.txt was read", 0},
		{"later", "", "", "a program could read every file of the folder", 0},
		{"copy", "private/a.txt", "private/c.txt", "", 1},
		{"copy", "b.txt", "c.txt", "", 1},
	} {
		asked = 0
		var a any
		if row.from != "" {
			a = args{"from": row.from, "to": row.to}
		}
		err := box.Call(t.Context(), row.tool, a).Err()
		if row.want == "" != (err == nil) || err != nil && (!strings.Contains(err.Error(), row.want) || !errors.Is(err, protocol.ErrCapabilityDenied)) || asked != row.asked {
			t.Errorf("%s %s to %s: %d questions, %v", row.tool, row.from, row.to, asked, err)
		}
	}
}
