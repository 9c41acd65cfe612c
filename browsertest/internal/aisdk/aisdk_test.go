package aisdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
	"github.com/bailey-go/bailey/sandbox/uistream"
)

type args = map[string]any

// picture is a GIF of one pixel.
const picture = "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"

// A scene is one run, or several of one session.
type scene struct {
	name   string
	turns  []sandboxtest.Turn              // of the model
	events [][]sandbox.ModelEvent          // in place of turns: an answer each, and broken where it has no PartFinish
	reply  []sandbox.Reply                 // the user's answers; without any, the user agrees once
	o      sandbox.RunOptions              //
	during func(h *house, c sandbox.Chunk) // called for each chunk
	before func(h *house)                  // called before the run
	says   string                          // the user's message
	// parts are the types and states of the message's parts in versions 7 and 6. "" checks nothing.
	parts, parts6 string
	fails         bool          // the run ends with an error
	silent        bool          // the user answers no question
	release       chan struct{} // closed when the tool slow may end
}

type house struct {
	*sandbox.Box
	s *sandbox.Session
	t *testing.T
}

// streaming is a model that yields events as they are.
type streaming struct {
	events [][]sandbox.ModelEvent
}

func (m *streaming) Name() string { return "streaming" }
func (m *streaming) Local() bool  { return false }
func (m *streaming) Stream(ctx context.Context, _ sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	var list []sandbox.ModelEvent
	if len(m.events) > 0 {
		list, m.events = m.events[0], m.events[1:]
	} else {
		list = []sandbox.ModelEvent{say("(the script has ended)"), stop}
	}
	return func(yield func(sandbox.ModelEvent, error) bool) {
		for _, e := range list {
			if e.Type == waits {
				<-ctx.Done()
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

const waits sandbox.PartType = "waits" // the model is silent until the run is stopped

var (
	stop = sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}
	wait = sandbox.ModelEvent{Type: waits}
)

func say(text string) sandbox.ModelEvent {
	return sandbox.ModelEvent{Type: sandbox.PartText, Text: text}
}

func think(text, meta string) sandbox.ModelEvent {
	e := sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: text}
	if meta != "" {
		e.Meta = json.RawMessage(meta)
	}
	return e
}

func begin(id, tool string) sandbox.ModelEvent {
	return sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: id, Tool: tool}
}

func delta(id, text string) sandbox.ModelEvent {
	return sandbox.ModelEvent{Type: sandbox.PartCallDelta, CallID: id, Text: text}
}

func call(id, tool, input string) sandbox.ModelEvent {
	return sandbox.ModelEvent{Type: sandbox.PartCall, CallID: id, Tool: tool, Args: json.RawMessage(input)}
}

func calls(list ...sandbox.ToolCall) sandboxtest.Turn { return sandboxtest.Turn{Calls: list} }

func read(path string) sandbox.ToolCall {
	return sandbox.ToolCall{Tool: "read", Args: args{"path": path}}
}

func write(path string) sandbox.ToolCall {
	return sandbox.ToolCall{Tool: "write", Args: args{"path": path, "content": "new"}}
}

var (
	agree   = sandbox.Reply{Answer: policy.AnswerOnce}
	decline = sandbox.Reply{Reason: "not now"}
	busy    = &sandbox.ModelError{Status: 529, Message: "overloaded", Retry: true}
	broken  = &sandbox.ModelError{Status: 400, Message: "bad request"}
)

func stops(at string) func(h *house, c sandbox.Chunk) {
	return func(h *house, c sandbox.Chunk) {
		if string(c.Type) == at {
			h.s.Interrupt("the user stopped it")
		}
	}
}

// seen closes a channel at the first output so far that contains a text.
func seen(text string, release chan struct{}) func(h *house, c sandbox.Chunk) {
	once := sync.OnceFunc(func() { close(release) })
	return func(_ *house, c sandbox.Chunk) {
		if out, _ := json.Marshal(c.Output); c.Preliminary && strings.Contains(string(out), text) {
			once()
		}
	}
}

func scenes() []scene {
	slow, below, failing := make(chan struct{}), make(chan struct{}), make(chan struct{})
	big := strings.Repeat("line of text\n", 7_000)
	weird := "\u202eabc\u0000\ufffd 👩‍👩‍👧 \u2028 </script> &amp;"
	past := func(n int) func(h *house) {
		return func(h *house) {
			for i := range n {
				h.say(fmt.Sprintf("turn %d", i))
				h.run(&sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say(strings.Repeat("word ", 500))}}, scene{}, nil)
			}
		}
	}
	return []scene{
		{name: "text", turns: []sandboxtest.Turn{sandboxtest.Say("hello")}, parts: "step-start text:done"},
		{name: "an empty answer", turns: []sandboxtest.Turn{sandboxtest.Say("")}, parts: "step-start"},
		{name: "long text", turns: []sandboxtest.Turn{sandboxtest.Say(big)}},
		{name: "odd characters", turns: []sandboxtest.Turn{sandboxtest.Say(weird)}},
		{name: "reasoning and text", turns: []sandboxtest.Turn{{Reasoning: "hm", Text: "hello"}}, parts: "step-start reasoning:done text:done"},
		{name: "reasoning alone", turns: []sandboxtest.Turn{{Reasoning: "hm"}}, parts: "step-start reasoning:done"},
		{name: "two blocks of reasoning", events: [][]sandbox.ModelEvent{{think("a", `{"signature":"1"}`), think("b", `{"signature":"2"}`), say("c"), stop}}, parts: "step-start reasoning:done reasoning:done text:done"},
		{name: "reasoning between texts", events: [][]sandbox.ModelEvent{{say("a"), think("b", ""), say("c"), stop}}, parts: "step-start text:done reasoning:done text:done"},
		{name: "a signature without text", events: [][]sandbox.ModelEvent{{think("", `{"signature":"1"}`), say("c"), stop}}},
		{name: "one call", turns: []sandboxtest.Turn{calls(read("a")), sandboxtest.Say("done")}, parts: "step-start tool-read:output-available step-start text:done"},
		{name: "text and a call", turns: []sandboxtest.Turn{{Text: "I look.", Calls: []sandbox.ToolCall{read("a")}}, sandboxtest.Say("done")}},
		{name: "three calls at once", turns: []sandboxtest.Turn{calls(read("a"), read("b"), sandbox.ToolCall{Tool: "glob", Args: args{"pattern": "*"}})}},
		{name: "ten steps", turns: slices.Repeat([]sandboxtest.Turn{calls(read("a"))}, 10)},
		{name: "two calls of one id", events: [][]sandbox.ModelEvent{{call("x", "read", `{"path":"a"}`), call("x", "read", `{"path":"b"}`), stop}}, parts: "step-start tool-read:output-available tool-read:output-available step-start text:done"},
		{name: "one id in two steps", events: [][]sandbox.ModelEvent{{call("x", "read", `{"path":"a"}`), stop}, {call("x", "read", `{"path":"b"}`), stop}}, parts: "step-start tool-read:output-available step-start tool-read:output-available step-start text:done"},
		{name: "an id of 300 bytes", events: [][]sandbox.ModelEvent{{begin(strings.Repeat("i", 300), "read"), delta(strings.Repeat("i", 300), `{"path":"a"}`), call(strings.Repeat("i", 300), "read", `{"path":"a"}`), stop}}, parts: "step-start tool-read:output-available step-start text:done"},
		{name: "no id", events: [][]sandbox.ModelEvent{{begin("", "read"), delta("", `{"path":"a"}`), call("", "read", `{"path":"a"}`), stop}}, parts: "step-start tool-read:output-available step-start text:done"},
		{name: "arguments in pieces", events: [][]sandbox.ModelEvent{{begin("x", "read"), delta("x", `{"pa`), delta("x", `th":"`), delta("x", `a"}`), call("x", "read", `{"path":"a"}`), stop}}},
		{name: "pieces of two calls", events: [][]sandbox.ModelEvent{{begin("x", "read"), begin("y", "read"), delta("x", `{"path":`), delta("y", `{"path":`), delta("x", `"a"}`), delta("y", `"b"}`), call("x", "read", `{"path":"a"}`), call("y", "read", `{"path":"b"}`), stop}}},
		{name: "a call without a beginning", events: [][]sandbox.ModelEvent{{call("x", "read", `{"path":"a"}`), stop}}},
		{name: "an unknown tool", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "nothing", Args: args{}})}, parts: "step-start tool-nothing:output-error step-start text:done"},
		{name: "a tool of an odd name", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "a b/../" + weird, Args: args{}})}},
		{name: "arguments that are not JSON", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "read", Args: json.RawMessage(`{"path":`)})}, parts: "step-start tool-read:output-error step-start text:done"},
		{name: "arguments that are a list", events: [][]sandbox.ModelEvent{{call("x", "read", `[1,2]`), stop}}},
		{name: "arguments of the wrong type", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "read", Args: args{"path": 7.0}})}},
		{name: "a file that is not there", turns: []sandboxtest.Turn{calls(read("missing"))}, parts: "step-start tool-read:output-error step-start text:done"},
		{name: "a path that the policy denies", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "write", Args: args{"path": ".mcp.json", "content": ""}})}, parts: "step-start tool-write:output-error step-start text:done"},
		{name: "a question, agreed", turns: []sandboxtest.Turn{calls(write("n"))}, parts: "step-start tool-write:output-available:true step-start text:done", parts6: "step-start tool-write:output-available data-approval step-start text:done"},
		{name: "a question, declined", turns: []sandboxtest.Turn{calls(write("n"))}, reply: []sandbox.Reply{decline}, parts: "step-start tool-write:output-denied:false step-start text:done", parts6: "step-start tool-write:output-error data-approval step-start text:done"},
		{name: "two questions, one agreed", turns: []sandboxtest.Turn{calls(write("n"), write("m"))}, reply: []sandbox.Reply{agree, decline}},
		{name: "declined, and again without a question", turns: []sandboxtest.Turn{calls(write("n")), calls(write("n"))}, reply: []sandbox.Reply{decline}, parts: "step-start tool-write:output-denied:false step-start tool-write:output-error step-start text:done"},
		{name: "agreed, and the call fails", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "bash", Args: args{"command": "echo x > n; exit 3"}})}},
		{name: "a question within a command", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "bash", Args: args{"command": "for f in n m; do echo x > $f; done; cat n"}})}},
		{name: "a question within a command, declined", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "bash", Args: args{"command": "for f in n m; do echo x > $f; done; cat n"}})}, reply: []sandbox.Reply{agree, decline, decline}},
		{name: "a question of the model's", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "question", Args: args{"questions": []any{args{"question": "Which?", "options": []any{args{"label": "a"}, args{"label": "b"}}}}}})}},
		{name: "a list of things to do", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "todo", Args: args{"todos": []any{args{"content": "one", "status": "pending"}}}})}, parts: "step-start tool-todo:output-available step-start text:done"},
		{name: "an edit and its undo", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "edit", Args: args{"path": "a", "old_string": "one", "new_string": "two"}}), calls(sandbox.ToolCall{Tool: "undo", Args: args{}})}},
		{name: "a subagent", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "task", Args: args{"subagent_type": "general", "prompt": "read a"}})}, parts: "step-start tool-task:output-available step-start text:done"},
		{name: "a large output", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "bash", Args: args{"command": "cat big"}})}, parts: "step-start tool-bash:output-available step-start text:done"},
		{name: "an answer of the greatest length", turns: []sandboxtest.Turn{{Text: "cut", Finish: "length"}}},
		{name: "a filtered answer", turns: []sandboxtest.Turn{{Text: "cut", Finish: "content-filter"}}},
		{name: "a reason of the model's own", turns: []sandboxtest.Turn{{Text: "hm", Finish: "stop_sequence<|eot|>"}}},
		{name: "another try after half a text", turns: []sandboxtest.Turn{{Text: "half a sent", Err: busy}, sandboxtest.Say("whole")}, parts: "step-start text:done", parts6: "step-start text:done text:done"},
		{name: "another try after a cut", turns: []sandboxtest.Turn{{Text: "cut", Cut: true}, sandboxtest.Say("whole")}, parts: "step-start text:done"},
		{name: "another try after half a call", events: [][]sandbox.ModelEvent{{say("a"), begin("x", "read"), delta("x", `{"pa`)}, {say("b"), stop}}, parts: "step-start text:done", parts6: "step-start text:done tool-read:output-error text:done"},
		{name: "another try after a call", events: [][]sandbox.ModelEvent{{begin("x", "read"), call("x", "read", `{"path":"a"}`)}, {begin("x", "read"), call("x", "read", `{"path":"b"}`), stop}}, parts: "step-start tool-read:output-available step-start text:done"},
		{name: "another try after reasoning", events: [][]sandbox.ModelEvent{{think("a", "")}, {think("b", ""), say("c"), stop}}, parts: "step-start reasoning:done text:done"},
		{name: "three tries", turns: []sandboxtest.Turn{{Text: "1", Err: busy}, {Text: "2", Err: busy}, sandboxtest.Say("3")}, parts: "step-start text:done"},
		{name: "another try in the second step", turns: []sandboxtest.Turn{calls(read("a")), {Text: "half", Err: busy}, sandboxtest.Say("whole")}, parts: "step-start tool-read:output-available step-start text:done"},
		{name: "an error at once", turns: []sandboxtest.Turn{{Err: broken}}, fails: true},
		{name: "an error after text", turns: []sandboxtest.Turn{{Text: "half", Err: broken}}, fails: true},
		{name: "an error after a call", turns: []sandboxtest.Turn{{Calls: []sandbox.ToolCall{read("a")}, Err: broken}}, fails: true},
		{name: "the budget of steps", turns: slices.Repeat([]sandboxtest.Turn{calls(read("a"))}, 5), o: sandbox.RunOptions{Steps: 2}},
		{name: "the budget of tokens", turns: slices.Repeat([]sandboxtest.Turn{{Calls: []sandbox.ToolCall{read("a")}, Usage: sandbox.Usage{Input: 10}}}, 5), o: sandbox.RunOptions{Tokens: 20}},
		{name: "stopped in a text", events: [][]sandbox.ModelEvent{{say("a"), wait}}, during: stops("text-delta")},
		{name: "stopped in half a call", events: [][]sandbox.ModelEvent{{say("a"), begin("x", "read"), delta("x", `{"p`), wait}}, during: stops("tool-input-delta")},
		{name: "stopped before a call is made", events: [][]sandbox.ModelEvent{{call("x", "read", `{"path":"a"}`), wait}}, during: stops("tool-input-available")},
		{name: "stopped during a question", turns: []sandboxtest.Turn{calls(write("n"))}, during: stops("tool-approval-request"), silent: true, parts: "step-start tool-write:output-denied:false data-stopped", parts6: "step-start tool-write:output-error data-approval data-stopped"},
		{name: "a message while it works", turns: []sandboxtest.Turn{calls(read("a")), sandboxtest.Say("I see")}, during: func(h *house, c sandbox.Chunk) {
			if c.Type == "tool-output-available" {
				if err := h.s.Steer(h.t.Context(), "and b"); err != nil {
					h.t.Error(err)
				}
			}
		}},
		{name: "a picture of the model's, and sources", events: [][]sandbox.ModelEvent{{say("see"), {Type: sandbox.PartSource, Source: sandbox.Source{URL: "https://a.example/", Title: "A"}}, {Type: sandbox.PartSource, Source: sandbox.Source{URL: "https://b.example/"}}, say(" there"),
			{Type: sandbox.PartFile, File: sandbox.File{Data: []byte(picture)}}, {Type: sandbox.PartSource, Source: sandbox.Source{Title: "a report", MediaType: "application/pdf", Filename: "r.pdf"}}, say("done"), stop}},
			parts: "step-start text:done source-url source-url file source-document text:done"},
		{name: "a file that is none", events: [][]sandbox.ModelEvent{{{Type: sandbox.PartFile}, say("done"), stop}}, parts: "step-start text:done"},
		{name: "a picture that is read", turns: []sandboxtest.Turn{calls(read("picture")), sandboxtest.Say("done")}, parts: "step-start tool-read:output-available step-start text:done"},
		{name: "a signature of a text", events: [][]sandbox.ModelEvent{{say("a"), {Type: sandbox.PartText, Meta: json.RawMessage(`{"signatures":[]}`)}, call("x", "read", `{"path":"a"}`), {Type: sandbox.PartText, Meta: json.RawMessage(`{"signatures":[]}`)}, stop}}, parts: "step-start text:done tool-read:output-available text:done step-start text:done"},
		{name: "an output so far", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "slow", Args: args{}}), sandboxtest.Say("done")}, o: sandbox.RunOptions{Progress: time.Millisecond}, release: slow, during: seen("half", slow), parts: "step-start tool-slow:output-available step-start text:done"},
		{name: "an output so far of a call that fails", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "slow", Args: args{"fail": true}}), sandboxtest.Say("done")}, o: sandbox.RunOptions{Progress: time.Millisecond}, release: failing, during: seen("half", failing), parts: "step-start tool-slow:output-error step-start text:done"},
		{name: "a subagent's parts so far", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "task", Args: args{"subagent_type": "general", "prompt": "be slow"}}), {Text: "I begin", Calls: []sandbox.ToolCall{{Tool: "slow", Args: args{}}}}, sandboxtest.Say("slow"), sandboxtest.Say("done")}, o: sandbox.RunOptions{Progress: time.Millisecond}, release: below, during: seen("half", below), parts: "step-start tool-task:output-available step-start text:done"},
		{name: "a signature of a call", events: [][]sandbox.ModelEvent{{{Type: sandbox.PartCall, CallID: "x", Tool: "read", Args: json.RawMessage(`{"path":"a"}`), Meta: json.RawMessage(`"S"`)}, stop}}, parts: "step-start tool-read:output-available step-start text:done"},
		{name: "a tool of a server", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "far_echo", Args: args{}}), sandboxtest.Say("done")}, parts: "step-start dynamic-tool:output-available:true step-start text:done", parts6: "step-start dynamic-tool:output-available data-approval step-start text:done"},
		{name: "a tool of a server, declined", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "far_echo", Args: args{}}), sandboxtest.Say("done")}, reply: []sandbox.Reply{decline}, parts: "step-start dynamic-tool:output-denied:false step-start text:done", parts6: "step-start dynamic-tool:output-error data-approval step-start text:done"},
		{name: "a tool of a server, wrong arguments", turns: []sandboxtest.Turn{calls(sandbox.ToolCall{Tool: "far_echo", Args: json.RawMessage(`{"a":`)}), sandboxtest.Say("done")}, parts: "step-start dynamic-tool:output-error step-start text:done"},
		{name: "a message with a picture to a running run", turns: []sandboxtest.Turn{calls(read("a")), sandboxtest.Say("done")}, during: func(h *house, c sandbox.Chunk) {
			if c.Type == "tool-output-available" {
				must(h.t, h.s.Steer(h.t.Context(), "and this", sandbox.File{Data: []byte(picture)}))
			}
		}},
		{name: "a summary", before: past(6), turns: []sandboxtest.Turn{sandboxtest.Say("IN SHORT"), sandboxtest.Say("done")}, o: sandbox.RunOptions{Context: 4000}},
		{name: "refused as too long", before: past(3), turns: []sandboxtest.Turn{{Err: &sandbox.ModelError{Status: 400, Message: "too long", TooLong: true}}, sandboxtest.Say("IN SHORT"), sandboxtest.Say("done")}},
		{name: "a message that is too long", says: big, turns: []sandboxtest.Turn{sandboxtest.Say("done")}, o: sandbox.RunOptions{Context: 20_000}},
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, c scene) *house {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for name, text := range map[string]string{"a": "one", "b": "two", "picture": picture, "big": strings.Repeat("0123456789abcde\n", 1<<15)} {
		must(t, mem.WriteFile(name, []byte(text), 0o644))
	}
	var person sandbox.Asker = sandboxtest.Always(policy.AnswerOnce)
	if c.reply != nil {
		person = sandboxtest.Script(c.reply...)
	}
	if c.silent {
		person = silent{}
	}
	rules, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"], "stream.send": true},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "shell.run", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{
		FS:     fsaccess.NewJournal(mem, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{}),
		Policy: rules, Ask: person,
		Agents: []sandbox.Agent{{Name: "general"}},
		Tools: append(sandbox.Standard(), shell.Bash(shell.Options{}), sandbox.Tool{
			Tool: protocol.Tool{ID: "slow", Parameters: `{"type":"object"}`},
			Run: func(_ context.Context, call *sandbox.Call) (any, error) {
				call.Partial(func() any { return args{"output": "half"} })
				<-c.release
				if m, _ := call.Args.(args); m["fail"] == true {
					return nil, errors.New("it failed")
				}
				return args{"output": "whole"}, nil
			}}, sandbox.Tool{
			Tool: protocol.Tool{ID: "far_echo", Server: "far", Untrusted: true},
			Run: func(_ context.Context, c *sandbox.Call) (any, error) {
				return args{"content": "hi"}, c.AddFile(sandbox.File{Data: []byte(picture)})
			}}),
	})
	must(t, err)
	s, err := box.NewSession(t.Context(), sandbox.SessionOptions{})
	must(t, err)
	t.Cleanup(s.Close)
	return &house{Box: box, s: s, t: t}
}

// silent is a user who answers no question.
type silent struct{}

func (silent) Ask(ctx context.Context, _ sandbox.Prompt) ([]sandbox.Reply, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (h *house) say(text string) {
	h.t.Helper()
	_, err := h.s.Say(h.t.Context(), text)
	must(h.t, err)
}

// run makes a run, and returns its chunks and its error.
func (h *house) run(m sandbox.Model, c scene, each func(sandbox.Chunk)) (failed error) {
	c.o.Sleep = func(context.Context, time.Duration) error { return nil }
	for chunk, err := range h.Run(h.t.Context(), h.s, m, c.o) {
		if err != nil {
			failed = err
			continue
		}
		if each != nil {
			each(chunk)
		}
		if c.during != nil {
			c.during(h, chunk)
		}
	}
	return failed
}

// Every chunk of every run, and the message that AI SDK makes of it, is valid for AI SDK.
func TestRunsAreValidForAISDK(t *testing.T) {
	list := scenes()
	if len(list) < 45 {
		t.Fatalf("%d runs, want at least 45", len(list))
	}
	var in bytes.Buffer
	byName := map[string]scene{}
	for _, c := range list {
		if _, twice := byName[c.name]; twice {
			t.Fatalf("two runs are named %q", c.name)
		}
		byName[c.name] = c
		line := map[string]string{"name": c.name}
		outs, writers := map[int]*strings.Builder{}, map[int]*uistream.Writer{}
		for _, v := range []int{6, 7} {
			outs[v] = &strings.Builder{}
			w, err := uistream.NewWriter(outs[v], v)
			must(t, err)
			writers[v] = w
		}
		h := open(t, c)
		if c.before != nil {
			c.before(h)
		}
		if c.says == "" {
			c.says = "go"
		}
		h.say(c.says)
		var m sandbox.Model = &sandboxtest.Model{Turns: c.turns}
		if c.events != nil {
			m = &streaming{events: c.events}
		}
		err := h.run(m, c, func(chunk sandbox.Chunk) {
			for _, w := range writers {
				must(t, w.Write(chunk))
			}
		})
		if (err != nil) != c.fails {
			t.Errorf("%s: the run returned %v", c.name, err)
		}
		for v, w := range writers {
			must(t, w.Close())
			line[fmt.Sprint(v)] = outs[v].String()
		}
		must(t, json.NewEncoder(&in).Encode(line))
	}
	cmd := exec.CommandContext(t.Context(), "node", "check.mjs")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("node: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("%v (npm ci at the top of the repository installs what this needs)", err)
	}
	checked := map[int]int{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var got struct {
			Name    string
			Version int
			Chunks  int
			Errors  []string
			Message struct {
				Parts []struct {
					Type, State string
					Approval    *struct{ Approved *bool }
				}
			}
		}
		must(t, json.Unmarshal(lines.Bytes(), &got))
		checked[got.Version]++
		for _, e := range got.Errors {
			t.Errorf("%s, version %d: %.3000s", got.Name, got.Version, e)
		}
		var parts []string
		for _, p := range got.Message.Parts {
			text := p.Type
			if p.State != "" {
				text += ":" + p.State
			}
			if p.Approval != nil && p.Approval.Approved != nil {
				text += fmt.Sprint(":", *p.Approval.Approved)
			}
			parts = append(parts, text)
		}
		c := byName[got.Name]
		want := c.parts
		if got.Version == 6 {
			want = c.parts6
		}
		if is := strings.Join(parts, " "); want != "" && is != want {
			t.Errorf("%s, version %d: the message is\n%s, want\n%s", got.Name, got.Version, is, want)
		}
		if got.Chunks < 2 {
			t.Errorf("%s, version %d: %d chunks", got.Name, got.Version, got.Chunks)
		}
	}
	if checked[6] != len(list) || checked[7] != len(list) {
		t.Errorf("of %d runs, %v were checked", len(list), checked)
	}
}
