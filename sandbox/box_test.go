package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

type args = map[string]any

// house is a box with its environment.
type house struct {
	*sandbox.Box
	mem     *fsaccess.Folder // the real content of the folder
	journal *fsaccess.Journal
	asker   *sandboxtest.Asker
	t       testing.TB
	mu      sync.Mutex
	traces  []protocol.TraceEvent
}

func parse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(text, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func build(t testing.TB, p *policy.Policy, asker *sandboxtest.Asker, files map[string]string, more ...func(*sandbox.Options)) *house {
	t.Helper()
	h := &house{t: t, mem: fsaccess.NewMemory(fsaccess.MemoryOptions{}), asker: asker}
	for name, text := range files {
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			must(t, h.mem.MkdirAll(name[:i], 0o755))
		}
		must(t, h.mem.WriteFile(name, []byte(text), 0o644))
	}
	h.journal = fsaccess.NewJournal(fsaccess.Guard(h.mem, p.FS, fsaccess.GuardOptions{Kinds: allKinds()}), fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	o := sandbox.Options{FS: h.journal, Policy: p, OnTrace: func(e protocol.TraceEvent) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.traces = append(h.traces, e)
	}}
	if asker != nil {
		o.Ask = asker
	}
	for _, f := range more {
		f(&o)
	}
	var err error
	h.Box, err = sandbox.New(o)
	must(t, err)
	return h
}

// allKinds lets the lower guard allow the kinds that the box's own guard asks about.
func allKinds() map[fsaccess.Kind]protocol.Action {
	m := map[fsaccess.Kind]protocol.Action{}
	for _, k := range []fsaccess.Kind{fsaccess.KindActive, fsaccess.KindArchive, fsaccess.KindAutorun, fsaccess.KindExecutable, fsaccess.KindMacro, fsaccess.KindScript, fsaccess.KindShortcut} {
		m[k] = protocol.ActionAllow
	}
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *house) file(t testing.TB, name string) string {
	t.Helper()
	data, err := h.mem.ReadFile(name)
	if err != nil {
		return "(" + strings.ToLower(err.Error()) + ")" // GOOS=js says "No such file"
	}
	return string(data)
}

// ok calls a tool and fails the test if the call fails.
func (h *house) ok(t testing.TB, id string, a args) args {
	t.Helper()
	res := h.Call(context.Background(), id, a)
	if res.Err() != nil {
		t.Fatalf("%s %v: %s (%s %s)", id, a, res.ErrorText, res.Code, res.Reason)
	}
	m, _ := res.Data.(map[string]any)
	return m
}

// fails calls a tool and fails the test unless the call fails with the wanted error.
func (h *house) fails(t testing.TB, id string, a args, want error) sandbox.ToolResult {
	t.Helper()
	res := h.Call(context.Background(), id, a)
	err := res.Err()
	if err == nil {
		t.Fatalf("%s %v went well: %v", id, a, res.Data)
	}
	if e := err.(*protocol.Error); !e.Is(want) {
		t.Fatalf("%s %v: %v; want %v", id, a, err, want)
	}
	return res
}

const open = `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`

func TestBoxWorksOnAFolder(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), map[string]string{"notes/a.md": "one\ntwo\nthree\n", "b.txt": "two\n"})
	got := h.ok(t, "read", args{"path": "notes/a.md"})
	if got["content"] != "one\ntwo\nthree\n" || got["version"] == "" {
		t.Fatalf("read: %v", got)
	}
	if got := h.ok(t, "read", args{"path": "notes/a.md", "offset": 2, "limit": 1}); got["content"] != "two\n" {
		t.Errorf("lines: %v", got)
	}
	got = h.ok(t, "edit", args{"path": "notes/a.md", "old_string": "two", "new_string": "2"})
	if !strings.Contains(got["diff"].(string), "-two\n+2\n") || h.file(t, "notes/a.md") != "one\n2\nthree\n" {
		t.Errorf("edit: %v, %q", got, h.file(t, "notes/a.md"))
	}
	h.ok(t, "write", args{"path": "new/c.md", "content": "c two"})
	if got := fmt.Sprint(h.ok(t, "glob", args{"pattern": "**/*.md"})["paths"]); got != "[new/c.md notes/a.md]" {
		t.Errorf("glob: %s", got)
	}
	if got := fmt.Sprint(h.ok(t, "grep", args{"pattern": "t.o", "include": "*.txt"})["matches"]); got != "[map[line:1 path:b.txt text:two]]" {
		t.Errorf("grep: %s", got)
	}
	h.ok(t, "move", args{"from": "b.txt", "to": "old/b.txt"})
	h.ok(t, "mkdir", args{"path": "empty"})
	h.ok(t, "delete", args{"path": "notes"})
	if _, err := h.mem.Stat("notes"); err == nil {
		t.Error("notes are still there")
	}
	if got := h.ok(t, "diff", nil); !strings.Contains(got["diff"].(string), "notes") {
		t.Errorf("diff: %v", got)
	}
	h.ok(t, "undo", nil)
	if h.file(t, "notes/a.md") != "one\n2\nthree\n" {
		t.Errorf("undo: %q", h.file(t, "notes/a.md"))
	}
	if n := len(h.asker.Prompts()); n != 7 { // edit, write, move, mkdir, delete, undo and the sequence read-delete is the same prompt
		for _, r := range h.asker.Requests() {
			t.Log(r.Tool, r.Title, r.Reason)
		}
		if n != 6 {
			t.Errorf("%d prompts", n)
		}
	}
	var log bytes.Buffer
	must(t, h.Audit().Export(&log))
	seq, hash, err := sandbox.VerifyAudit(bytes.NewReader(log.Bytes()))
	if s, head := h.Audit().Head(); err != nil || seq != s || hash != head {
		t.Errorf("audit: %d %s %v, head %d %s", seq, hash, err, s, head)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.traces {
		if err := e.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestZeroBoxDeniesEverything(t *testing.T) {
	h := build(t, &policy.Policy{}, sandboxtest.Always(policy.AnswerProject), map[string]string{"a": "x"})
	for id, a := range map[string]args{
		"read": {"path": "a"}, "write": {"path": "b", "content": ""}, "glob": {"pattern": "**"}, "grep": {"pattern": "x"},
		"edit": {"path": "a", "old_string": "x", "new_string": "y"}, "delete": {"path": "a"}, "move": {"from": "a", "to": "b"}, "mkdir": {"path": "d"},
	} {
		h.fails(t, id, a, protocol.ErrCapabilityDenied)
	}
	if n := len(h.asker.Prompts()); n != 0 {
		t.Errorf("asked %d times about what can't be", n)
	}
	if _, total := h.Violations(); total != 8 {
		t.Errorf("%d violations", total)
	}
}

func TestHeadlessAsksAreDenied(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"})
	h.ok(t, "read", args{"path": "a"})
	h.fails(t, "edit", args{"path": "a", "old_string": "x", "new_string": "y"}, protocol.ReasonNobodyAsks)
	if h.file(t, "a") != "x" {
		t.Error("written all the same")
	}
}

func TestStaleAndUnreadAreRefused(t *testing.T) {
	h := build(t, parse(t, open), nil, map[string]string{"a": "x", "b": "y y"})
	h.fails(t, "edit", args{"path": "a", "old_string": "x", "new_string": "y"}, protocol.ReasonNotRead)
	h.fails(t, "write", args{"path": "a", "content": "lost"}, protocol.ReasonNotRead)
	v := h.ok(t, "read", args{"path": "a"})["version"]
	must(t, h.mem.WriteFile("a", []byte("theirs x"), 0o644))
	h.fails(t, "edit", args{"path": "a", "old_string": "x", "new_string": "y"}, protocol.ReasonStale)
	h.fails(t, "edit", args{"path": "a", "old_string": "x", "new_string": "y", "version": v}, protocol.ReasonStale)
	h.fails(t, "write", args{"path": "a", "content": "lost", "version": v}, protocol.ReasonStale)
	h.ok(t, "read", args{"path": "b"})
	h.fails(t, "edit", args{"path": "b", "old_string": "y", "new_string": "z"}, protocol.ReasonAmbiguous)
	h.fails(t, "edit", args{"path": "b", "old_string": "q", "new_string": "z"}, protocol.ReasonNotFound)
	h.fails(t, "edit", args{"path": "b", "old_string": "y", "new_string": "y"}, protocol.ReasonNoOp)
	h.fails(t, "read", args{"path": "none"}, protocol.ReasonNotFound)
	h.fails(t, "grep", args{"pattern": "("}, protocol.ReasonParse)
	h.fails(t, "read", args{"path": "../a"}, protocol.ErrInvalidParams)
	h.fails(t, "read", args{"path": "a", "x": 1}, protocol.ErrInvalidParams)
	h.fails(t, "read", nil, protocol.ErrInvalidParams)
	h.fails(t, "nothing", nil, protocol.ErrToolNotFound)
	if got := h.ok(t, "edit", args{"path": "b", "old_string": "y", "new_string": "z", "replace_all": true}); got["version"] == "" || h.file(t, "b") != "z z" {
		t.Errorf("replace_all: %v", got)
	}
}

// A bug of another project: the approval of one delete let the next two run without a question.
func TestDeletesNeverRideABlanketGrant(t *testing.T) {
	for name, reply := range map[string]sandbox.Reply{
		"session":         {Answer: policy.AnswerSession},
		"session, all":    {Answer: policy.AnswerSession, Pattern: "**"},
		"session, *":      {Answer: policy.AnswerSession, Pattern: "*"},
		"session, folder": {Answer: policy.AnswerSession, Pattern: "."},
		"project":         {Answer: policy.AnswerProject},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "fs.write", "action": "allow"}]}`),
				sandboxtest.Script(reply), map[string]string{"a": "", "b": "", "tmp/c": ""})
			h.ok(t, "delete", args{"path": "a"})
			h.fails(t, "delete", args{"path": "b"}, protocol.ErrCapabilityDenied)
			h.fails(t, "delete", args{"path": "tmp/c"}, protocol.ErrCapabilityDenied)
			if n := len(h.asker.Prompts()); n != 3 {
				t.Errorf("%d prompts", n)
			}
		})
	}
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerSession, Pattern: "tmp/**"}), map[string]string{"b": "", "tmp/c": "", "tmp/d": ""})
	h.ok(t, "delete", args{"path": "tmp/c"})
	h.ok(t, "delete", args{"path": "tmp/d"}) // which the user has said in so many words
	h.fails(t, "delete", args{"path": "b"}, protocol.ErrCapabilityDenied)
}

func TestGrantIsForThisToolAndPath(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerSession}), map[string]string{"a": "x", "b": "x"})
	for _, f := range []string{"a", "b"} {
		h.ok(t, "read", args{"path": f})
	}
	h.ok(t, "edit", args{"path": "a", "old_string": "x", "new_string": "y"})
	h.ok(t, "edit", args{"path": "a", "old_string": "y", "new_string": "z"})
	h.fails(t, "edit", args{"path": "b", "old_string": "x", "new_string": "y"}, protocol.ErrCapabilityDenied)
	h.fails(t, "write", args{"path": "a", "content": "w"}, protocol.ErrCapabilityDenied)
	if n := len(h.asker.Prompts()); n != 3 {
		t.Errorf("%d prompts", n)
	}
}

func TestDeniedIsNotRetried(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerReject, Reason: "I need it"}), map[string]string{"a": "x"})
	res := h.fails(t, "delete", args{"path": "a"}, protocol.ErrCapabilityDenied)
	if !strings.Contains(res.ErrorText, "I need it") {
		t.Errorf("the reason is lost: %s", res.ErrorText)
	}
	h.fails(t, "delete", args{"path": "a"}, protocol.ErrCapabilityDenied)
	h.fails(t, "move", args{"from": "a", "to": "b"}, protocol.ErrCapabilityDenied) // the same effect by another tool
	h.fails(t, "delete", args{"path": "./a"}, protocol.ErrInvalidParams)
	if n := len(h.asker.Prompts()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// The count of violations distinguishes the user's refusals from those of the policy.
func TestViolationsSayWhoseNo(t *testing.T) {
	h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "fs.write", "pattern": "b", "action": "deny"}]}`), sandboxtest.Always(policy.AnswerReject), map[string]string{"a": "x", "b": "x"})
	h.fails(t, "delete", args{"path": "a"}, protocol.ErrCapabilityDenied)
	h.fails(t, "delete", args{"path": "b"}, protocol.ErrCapabilityDenied)
	list, _ := h.Violations()
	if len(list) != 2 || list[0].Reason != protocol.ReasonRejected || list[1].Reason == protocol.ReasonRejected {
		t.Errorf("%+v", list)
	}
}

func TestNeverIsKept(t *testing.T) {
	var kept []policy.Rule
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerNever, Pattern: "private/**"}), map[string]string{"private/a": "x"},
		func(o *sandbox.Options) {
			o.Remember = func(_ context.Context, r policy.Rule) error { kept = append(kept, r); return nil }
		})
	h.fails(t, "delete", args{"path": "private/a"}, protocol.ErrCapabilityDenied)
	if len(kept) != 1 || kept[0].Action != protocol.ActionDeny || kept[0].Permission != "delete" || kept[0].Pattern != "private/**" {
		t.Fatalf("kept %v", kept)
	}
	e, err := h.Explain(context.Background(), "delete", args{"path": "private/other"})
	if err != nil || e.Decision.Action != protocol.ActionDeny {
		t.Errorf("%v %v", e, err)
	}
}

func TestCallsAtOnceAreAskedAboutAtOnce(t *testing.T) {
	files := map[string]string{}
	var calls []sandbox.ToolCall
	for i := range 50 {
		files[fmt.Sprintf("f%02d.txt", i)] = fmt.Sprint(i)
		calls = append(calls, sandbox.ToolCall{Tool: "move", Args: args{"from": fmt.Sprintf("f%02d.txt", i), "to": fmt.Sprintf("sorted/%d/f%02d.txt", i%5, i)}})
	}
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), files, func(o *sandbox.Options) { o.AskWindow = time.Hour })
	for i, res := range h.CallAll(context.Background(), calls...) {
		if err := res.Err(); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if n := len(h.asker.Prompts()); n > 2 {
		t.Errorf("%d prompts for a reorganisation of 50 files", n)
	}
	if got := h.file(t, "sorted/3/f43.txt"); got != "43" {
		t.Error(got)
	}
}

// A tool of the app that passes on an error of the folder is answered as the tools of the box are.
func TestErrorOfABadName(t *testing.T) {
	tool := sandbox.Tool{Tool: protocol.Tool{ID: "climb"}, Run: func(context.Context, *sandbox.Call) (any, error) {
		_, err := fsaccess.NewMemory(fsaccess.MemoryOptions{}).ReadFile("../x")
		return nil, err
	}}
	h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Tools = []sandbox.Tool{tool} })
	h.fails(t, "climb", args{}, protocol.ErrInvalidParams)
}

func TestPolicyHidesFromSearches(t *testing.T) {
	h := build(t, parse(t, `{"filesystem": {"denyRead": ["keys"], "allowWrite": ["."]},
		"rules": [{"permission": "*", "action": "allow"}, {"permission": "fs.read", "pattern": "diary/**", "action": "deny"}]}`), nil,
		map[string]string{"keys/id": "secret", "diary/d": "secret", "a": "secret"})
	if got := fmt.Sprint(h.ok(t, "glob", args{"pattern": "**"})["paths"]); got != "[a]" {
		t.Errorf("glob: %s", got)
	}
	if got := fmt.Sprint(h.ok(t, "grep", args{"pattern": "secret"})["matches"]); strings.Count(got, "path:") != 1 {
		t.Errorf("grep: %s", got)
	}
	h.fails(t, "read", args{"path": "keys/id"}, protocol.ErrCapabilityDenied)
	h.fails(t, "read", args{"path": "diary/d"}, protocol.ErrCapabilityDenied)
	h.fails(t, "move", args{"from": "keys", "to": "open"}, protocol.ErrCapabilityDenied)
	h.fails(t, "write", args{"path": ".git/hooks/post-commit", "content": "x"}, protocol.ReasonProtected)
	h.fails(t, "write", args{"path": ".mcp.json", "content": "x"}, protocol.ErrCapabilityDenied)
}

func TestDangerousKindsNeedConsentOfTheirOwn(t *testing.T) {
	h := build(t, parse(t, open), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerReject}, sandbox.Reply{Answer: policy.AnswerOnce}), nil)
	h.fails(t, "write", args{"path": "run.bat", "content": "del *"}, protocol.ErrCapabilityDenied)
	if _, err := h.mem.Stat("run.bat"); err == nil {
		t.Error("it is there")
	}
	h.fails(t, "write", args{"path": "run.bat", "content": "del *"}, protocol.ErrCapabilityDenied)
	h.ok(t, "write", args{"path": "other.bat", "content": "echo"})
	if n := len(h.asker.Prompts()); n != 2 {
		t.Errorf("%d prompts", n)
	}
}

func TestLongOutputsAreCutAndKept(t *testing.T) {
	limit := sandbox.ReadLimit
	h := build(t, parse(t, open), nil, map[string]string{"below": strings.Repeat("a", limit-1), "at": strings.Repeat("a", limit), "above": strings.Repeat("b", limit+1)})
	for name, cut := range map[string]bool{"below": false, "at": false, "above": true} {
		res := h.Call(context.Background(), "read", args{"path": name})
		if res.Metadata.Truncated != cut {
			t.Errorf("%s: cut is %t", name, res.Metadata.Truncated)
		}
		if !cut {
			continue
		}
		got := h.ok(t, "read", args{"path": res.Metadata.OutputPath, "limit": 1})
		if len(got["content"].(string)) != limit { // which is cut again
			t.Errorf("%d bytes", len(got["content"].(string)))
		}
	}
	h.fails(t, "read", args{"path": ".bailey/output/other.txt"}, protocol.ReasonNotFound)
}
