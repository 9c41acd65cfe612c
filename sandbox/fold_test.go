package sandbox_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// heap returns the bytes of memory that are in use.
func heap() int {
	runtime.GC()
	runtime.GC() // what finalizers have freed
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// talker says random text, which can't be compressed. Unlike a scripted model it keeps no request.
type talker struct{ bytes int }

func (talker) Name() string { return "talker" }
func (talker) Local() bool  { return false }

func (m talker) Stream(context.Context, sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		_ = yield(sandbox.ModelEvent{Type: sandbox.PartText, Text: m.text()}, nil) && yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
	}
}

func (m talker) text() string {
	b := make([]byte, m.bytes/2)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// A session keeps the messages in memory that the next request has. The older ones are in the store. Here 180
// further messages with 3 KB each take no more than the 50 messages that a store's last text may have, and the
// names of the others.
func TestOlderMessagesLeaveMemory(t *testing.T) {
	native.Only(t)
	const size, each = 3000, 50
	dir, err := fsaccess.OpenDir(t.TempDir(), fsaccess.DirOptions{})
	must(t, err)
	h := build(t, parse(t, `{"capabilities": {"stream.send": true}}`), nil, nil, func(o *sandbox.Options) { o.Sessions, o.OnTrace = sandbox.FolderStore(dir), nil })
	s := h.session(t)
	m := talker{size}
	o := sandbox.RunOptions{Context: 16 * size / 3, Compact: func(context.Context, []sandbox.ModelMessage) (string, error) { return "They said much.", nil }}
	said, largest := 0, 0
	until := func(n int) int {
		for said < n {
			_, err := s.Say(t.Context(), m.text())
			must(t, err)
			for _, err := range h.Run(t.Context(), s, m, o) {
				must(t, err)
			}
			said += 2
			largest = max(largest, len(s.Recent()))
		}
		return heap()
	}
	early := until(60)
	late := until(240)
	if grown := late - early; grown > (each+20)*size {
		t.Errorf("%d bytes are in use after 60 messages and %d after 240, with %d bytes in each message", early, late, size)
	}
	if largest > 30 {
		t.Errorf("%d messages were in memory", largest)
	}
	if n := len(s.Messages()); n < 240 {
		t.Errorf("%d messages are in the session", n)
	}
	runtime.KeepAlive(h)
}

const folds = `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`

// A session whose older messages are in the store alone is the same session to all who use it.
func TestFoldedSession(t *testing.T) {
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			h := build(t, parse(t, folds), nil, map[string]string{"a": "hello"}, func(o *sandbox.Options) { o.Sessions = store() })
			s := h.session(t)
			m := &sandboxtest.Model{}
			m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
				last := r.Messages[len(r.Messages)-1]
				if strings.Contains(last.Parts[0].Text, "Read it") {
					return sandboxtest.CallTool("read", args{"path": "a"})
				}
				return sandboxtest.Say("yes")
			}
			talk := func(say string, files ...sandbox.File) {
				t.Helper()
				_, err := s.Say(ctx, say, files...)
				must(t, err)
				_, err = h.talk(t, s, m, "")
				must(t, err)
			}
			talk("one", sandbox.File{Name: "n.txt", MediaType: "text/plain", Data: bytes.Repeat([]byte("x"), 1000)})
			talk("Read it")
			for i := range 60 { // more than a store's text has
				talk(fmt.Sprint("turn ", i))
			}
			before := s.Messages()
			if len(before) != len(s.Recent()) {
				t.Fatalf("without a summary %d of %d messages are in memory", len(s.Recent()), len(before))
			}
			call := ""
			for _, p := range before[3].Parts {
				call += p.ToolCallID
			}
			done, err := h.Compact(ctx, s, m, sandbox.RunOptions{Compact: func(context.Context, []sandbox.ModelMessage) (string, error) { return "all", nil }})
			must(t, err)
			if n := len(s.Recent()); !done || n != 5 {
				t.Fatalf("%d messages are in memory after the summary, want the last two turns and the summary", n)
			}
			same := func(what string, got []sandbox.Message) {
				t.Helper()
				if len(got) < len(before) {
					t.Fatalf("%s: %d messages of %d", what, len(got), len(before))
				}
				want, _ := json.Marshal(before)
				if have, _ := json.Marshal(got[:len(before)]); string(have) != string(want) {
					t.Errorf("%s: the messages are others: %.300s, want %.300s", what, have, want)
				}
			}
			same("Messages", s.Messages())
			list, err := s.History(ctx)
			must(t, err)
			same("History", list)
			if p, ok := s.Part(call); !ok || p.ToolCallID != call {
				t.Errorf("the call %q is not found", call)
			}
			var file bytes.Buffer
			must(t, s.Export(&file))
			if n := strings.Count(file.String(), `"role":`); n != len(before)+1 {
				t.Errorf("%d messages are exported, want %d", n, len(before)+1)
			}
			fork, err := s.Fork(ctx, before[1].ID)
			must(t, err)
			if n := len(fork.Messages()); n != 2 {
				t.Errorf("the fork has %d messages", n)
			}
			fork.Close()
			// The files of older messages count.
			if _, err := s.Say(ctx, "x", sandbox.File{Name: "n.txt", MediaType: "text/plain", Data: bytes.Repeat([]byte("x"), 1000)}); err != nil {
				t.Error(err)
			}
			talk("and on")
			s.Close()
			s, err = h.OpenSession(ctx, s.ID())
			must(t, err)
			defer s.Close()
			if n := len(s.Recent()); n >= len(before) {
				t.Errorf("%d messages are in memory after it was opened", n)
			}
			same("opened again", s.Messages())
			must(t, s.Rewind(ctx, before[5].ID, false))
			if n := len(s.Messages()); n != 5 || len(s.Recent()) != 5 {
				t.Errorf("%d messages after a rewind, %d of them in memory", n, len(s.Recent()))
			}
			talk("once more")
			if all := texts(m.Requests()[len(m.Requests())-1]); !strings.Contains(all, "one") || !strings.Contains(all, "hello") {
				t.Errorf("the model receives %s", all)
			}
		})
	}
}

// If the store can't be read, History tells so, and Messages has the latest messages.
func TestFoldedSessionWithoutStore(t *testing.T) {
	store := sandbox.MemoryStore()
	h := build(t, parse(t, folds), nil, nil, func(o *sandbox.Options) { o.Sessions = store })
	s := h.session(t)
	for range 4 {
		_, err := h.talk(t, s, &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("yes")}}, "go")
		must(t, err)
	}
	_, err := h.Compact(t.Context(), s, &sandboxtest.Model{}, sandbox.RunOptions{Compact: func(context.Context, []sandbox.ModelMessage) (string, error) { return "all", nil }})
	must(t, err)
	must(t, store.Delete(t.Context(), s.ID()))
	if _, err := s.History(t.Context()); err == nil {
		t.Error("no error")
	}
	if n := len(s.Messages()); n != 5 {
		t.Errorf("%d messages", n)
	}
	if err := s.Rewind(t.Context(), s.Recent()[0].ID, false); err == nil {
		t.Error("a rewind without the older messages")
	}
	if err := s.Export(&bytes.Buffer{}); err == nil {
		t.Error("half of it is exported")
	}
}
