package panel

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// A drawn list follows from the changes alone, at every moment of a long stream.
func TestRowsChangesAreEnough(t *testing.T) {
	var r rows
	calls := 0
	r.changed = func() { calls++ }
	shown := map[int]string{}
	added := 0
	for i := range 3 * maxRows {
		join := ""
		if i%5 > 1 {
			join = "text"
		}
		r.add(row{kind: "k", line: "first", join: join, text: "x", size: 1})
		added++
		if i%7 == 0 || i > 3*maxRows-3 {
			changed, from, first := r.take()
			for n := range shown {
				if n < first {
					delete(shown, n)
				}
			}
			for j, c := range changed {
				shown[from+j] = c.line
			}
			if len(shown) != len(r.list) {
				t.Fatalf("after %d: %d rows are shown, the list has %d", i, len(shown), len(r.list))
			}
			for j, c := range r.list {
				if shown[r.first+j] != c.line {
					t.Fatalf("after %d: row %d is %q, not %q", i, r.first+j, shown[r.first+j], c.line)
				}
			}
		}
	}
	if len(r.list) != maxRows || calls != added {
		t.Errorf("%d rows, %d calls for %d rows added", len(r.list), calls, added)
	}
	last, ok := r.at(r.first + maxRows - 1)
	if !ok || last.times != 3 || last.line != "3 pieces, 3 bytes: xxx" {
		t.Errorf("%+v, %v", last, ok)
	}
	if _, ok := r.at(r.first - 1); ok {
		t.Error("a dropped row is still there")
	}
	end := r.first + maxRows
	r.clear()
	r.add(row{line: "later"})
	if changed, from, first := r.take(); len(changed) != 1 || from != end || first != end {
		t.Errorf("after clear: %d rows from %d, the first is %d, want 1 from %d", len(changed), from, first, end)
	}
}

// No text of a model, a file or a tool makes a row long or invisible.
func TestRowsAreBounded(t *testing.T) {
	long := strings.Repeat("\u202e<b>é", 100_000)
	for _, n := range []row{
		ofEvent(protocol.TraceEvent{Type: protocol.TraceTool, Tool: long, Rule: long, Error: long, Input: map[string]any{long: long}}),
		ofChunk(sandbox.Chunk{Type: sandbox.ChunkText, Delta: long}, nil),
		ofChunk(sandbox.Chunk{Type: "tool-output-error", ErrorText: long}, nil),
		ofChunk(sandbox.Chunk{}, errors.New(long)),
	} {
		for range 3 {
			n.merge(row{text: long, size: len(long)})
		}
		if len(n.line) > maxLine+3 || len(n.text) > maxText+3 || len(n.kind) > maxLine+3 {
			t.Errorf("%d, %d and %d bytes", len(n.kind), len(n.line), len(n.text))
		}
		if strings.ContainsRune(n.line+n.text, '\u202e') {
			t.Errorf("%q has a character that changes the direction of the text", n.line)
		}
	}
	if got := visible("a\u200bb\n\tc"); got != `a\u{200b}b`+"\n\tc" {
		t.Errorf("%q", got)
	}
}

func TestRowsOfEvents(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	for _, c := range []struct {
		event                     protocol.TraceEvent
		line, state, tool, inText string
	}{
		{protocol.TraceEvent{Type: protocol.TraceStart, Tool: "read", Input: map[string]any{"path": "a"}}, "read", "", "read", `"path": "a"`},
		{protocol.TraceEvent{Type: protocol.TracePermission, Tool: "write", Capability: protocol.FSWrite, Input: "fs.write on a", Decision: protocol.ActionAsk, Rule: "fs.write a"}, "write · fs.write on a · ask · fs.write a", "ask", "", "fs.write on a"},
		{protocol.TraceEvent{Type: protocol.TracePermission, Tool: "write", Decision: protocol.ActionDeny}, "write · deny", "deny", "", "deny"},
		{protocol.TraceEvent{Type: protocol.TraceEnd, Tool: "write", Status: "error", Error: "no\nfile", DurationMS: 1.26}, "write · no file · error · 1.3 ms", "error", "", "duration_ms"},
	} {
		c.event.Time = at
		if n := ofEvent(c.event); n.line != c.line || n.state != c.state || n.tool != c.tool || !strings.Contains(n.text, c.inText) || n.when != "03:04:05.006" {
			t.Errorf("%+v", n)
		}
	}
}

// The arguments to begin with are valid for the types of the standard tools.
func TestTemplateFitsTools(t *testing.T) {
	for _, tool := range sandbox.Standard() {
		var args map[string]any
		if err := json.Unmarshal([]byte(template(tool.Parameters)), &args); err != nil {
			t.Errorf("%s: %v", tool.ID, err)
		}
		if strings.Contains(tool.Parameters, `"required"`) && len(args) == 0 {
			t.Errorf("%s: %v for %s", tool.ID, args, tool.Parameters)
		}
	}
	if got := template("no JSON"); got != "{}" {
		t.Error(got)
	}
}

func TestCounters(t *testing.T) {
	var l lists
	l.setPool("a", func() any { return struct{ Ready, Busy int }{2, 1} })
	l.setPool("b", func() any { return make(chan int) })
	l.setPool("a", func() any { return struct{ Ready, Busy int }{3, 0} })
	names, tables := l.counters()
	if len(names) != 2 || names[0] != "a" || tables[0][1][0] != "Ready" || tables[0][1][1] != "3" || !strings.Contains(tables[1][0][1], "chan") {
		t.Errorf("%v %v", names, tables)
	}
	l.setPool("a", nil)
	if names, _ := l.counters(); len(names) != 1 || names[0] != "b" {
		t.Errorf("%v", names)
	}
}

// A panel that is nil, not opened or closed takes everything and changes nothing.
func TestPanelOff(t *testing.T) {
	closed := new(Panel)
	_ = closed.Close()
	for _, p := range []*Panel{nil, new(Panel), closed} {
		p.Trace(protocol.TraceEvent{})
		p.Box(nil)
		p.Pool("x", func() any { t.Error("counted"); return nil })
		n := 0
		for c, err := range p.Chunks(func(yield func(sandbox.Chunk, error) bool) {
			_ = yield(sandbox.Chunk{Type: sandbox.ChunkText, Delta: "a"}, nil) && yield(sandbox.Chunk{}, errors.ErrUnsupported)
		}) {
			if n++; n == 1 && c.Delta != "a" || n == 2 && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%+v, %v", c, err)
			}
		}
		if err := p.Close(); n != 2 || err != nil {
			t.Errorf("%d chunks, %v", n, err)
		}
	}
}
