package sandboxtest

import (
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/bailey-go/bailey/sandbox"
)

// A Model is a [sandbox.Model] that follows a script: each request gets the next turn. After the
// last turn it answers "(the script has ended)". It records the requests. It counts as a remote
// model unless OnDevice is set, so the policy's "send" applies to it.
type Model struct {
	// Turns are the answers, one for each request. Stream removes each one that it has used.
	Turns []Turn
	// Next, if set, returns the answer to a request, and Turns are ignored.
	Next     func(r sandbox.ModelRequest) Turn
	OnDevice bool // OnDevice is the result of Local

	mu       sync.Mutex
	requests []sandbox.ModelRequest
	calls    int
}

// Turn is one answer of a [Model].
type Turn struct {
	Reasoning string
	Text      string
	Calls     []sandbox.ToolCall // without an ID, one is generated. Args may be invalid JSON as a json.RawMessage
	Usage     sandbox.Usage
	Err       error  // yielded after the other events of the turn
	Cut       bool   // the stream ends without PartFinish, like a broken connection
	Finish    string // the finish reason, by default "tool-calls" with calls, else "stop"
}

// Say returns a turn with text alone.
func Say(text string) Turn { return Turn{Text: text} }

// CallTool returns a turn with one call.
func CallTool(tool string, args any) Turn {
	return Turn{Calls: []sandbox.ToolCall{{Tool: tool, Args: args}}}
}

// Name implements [sandbox.Model].
func (m *Model) Name() string { return "scripted" }

// Local implements [sandbox.Model].
func (m *Model) Local() bool { return m.OnDevice }

// Requests returns the requests that the model received, in order.
func (m *Model) Requests() []sandbox.ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[:len(m.requests):len(m.requests)]
}

func (m *Model) next(r sandbox.ModelRequest) Turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	if m.Next != nil {
		return m.Next(r)
	}
	if len(m.Turns) == 0 {
		return Say("(the script has ended)")
	}
	t := m.Turns[0]
	m.Turns = m.Turns[1:]
	return t
}

// Stream implements [sandbox.Model].
func (m *Model) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	t := m.next(r)
	return func(yield func(sandbox.ModelEvent, error) bool) {
		for _, e := range m.events(t) {
			if ctx.Err() != nil {
				yield(sandbox.ModelEvent{}, context.Cause(ctx))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if t.Err != nil {
			yield(sandbox.ModelEvent{}, t.Err)
		}
	}
}

func (m *Model) events(t Turn) []sandbox.ModelEvent {
	var out []sandbox.ModelEvent
	if t.Reasoning != "" {
		out = append(out, sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: t.Reasoning})
	}
	for text := t.Text; text != ""; { // in pieces of whole characters, like a real answer
		n := min(7, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, sandbox.ModelEvent{Type: sandbox.PartText, Text: text[:n]})
		text = text[n:]
	}
	finish := "stop"
	for _, c := range t.Calls {
		finish = "tool-calls"
		args, ok := c.Args.(json.RawMessage)
		if !ok {
			args, _ = json.Marshal(c.Args)
		}
		if c.ID == "" {
			m.mu.Lock()
			m.calls++
			c.ID = "t" + strconv.Itoa(m.calls)
			m.mu.Unlock()
		}
		out = append(out, sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: c.ID, Tool: c.Tool},
			sandbox.ModelEvent{Type: sandbox.PartCallDelta, CallID: c.ID, Text: string(args)},
			sandbox.ModelEvent{Type: sandbox.PartCall, CallID: c.ID, Tool: c.Tool, Args: args})
	}
	if t.Usage != (sandbox.Usage{}) {
		out = append(out, sandbox.ModelEvent{Type: sandbox.PartUsage, Usage: t.Usage})
	}
	if t.Finish != "" {
		finish = t.Finish
	}
	if t.Err == nil && !t.Cut {
		out = append(out, sandbox.ModelEvent{Type: sandbox.PartFinish, Text: finish})
	}
	return out
}
