package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// streamModel streams what next yields.
type streamModel struct {
	next     func(try int, r sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool)
	requests []sandbox.ModelRequest
}

func (m *streamModel) Name() string { return "stream" }
func (m *streamModel) Local() bool  { return false }
func (m *streamModel) Stream(_ context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	m.requests = append(m.requests, r)
	try := len(m.requests)
	return func(yield func(sandbox.ModelEvent, error) bool) { m.next(try, r, yield) }
}

// streamed is a session in a store of its own.
type streamed struct {
	*house
	store sandbox.Store
	s     *sandbox.Session
}

func stream(t *testing.T) *streamed {
	t.Helper()
	d := &streamed{store: sandbox.MemoryStore()}
	d.house = build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "A"}, func(o *sandbox.Options) {
		o.Sessions = d.store
	})
	var err error
	d.s, err = d.NewSession(t.Context(), sandbox.SessionOptions{})
	must(t, err)
	_, err = d.s.Say(t.Context(), "go")
	must(t, err)
	return d
}

// texts returns the stored texts of the model, as "text" or "text (partial)" for each message.
func (d *streamed) texts(t *testing.T) (out []string) {
	t.Helper()
	ms, ps, err := d.store.Messages(t.Context(), d.s.ID())
	must(t, err)
	for _, m := range ms {
		if m.Role != sandbox.RoleAssistant {
			continue
		}
		line := ""
		for _, p := range ps {
			if p.MessageID == m.ID {
				line += fmt.Sprint(p.Data.(map[string]any)["text"])
			}
		}
		if m.Metadata.Partial {
			line += " (partial)"
		}
		out = append(out, line)
	}
	return out
}

// says yields a piece of text, and returns when it has been handled: an event is taken only after
// the one before.
func says(yield func(sandbox.ModelEvent, error) bool, s string) {
	yield(sandbox.ModelEvent{Type: sandbox.PartText, Text: s}, nil)
	yield(sandbox.ModelEvent{Type: sandbox.PartUsage}, nil)
}

func (d *streamed) runs(t *testing.T, m sandbox.Model) error {
	t.Helper()
	for _, err := range d.Run(t.Context(), d.s, m, sandbox.RunOptions{Sleep: func(context.Context, time.Duration) error { return nil }}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// A page that is closed while an answer streams loses no more than a second of it, also if the stream
// stalls.
func TestAnswersAreStoredWhileTheyStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stream(t)
		want := func(name, line string) {
			t.Helper()
			synctest.Wait()
			if got := strings.Join(d.texts(t), "|"); got != line {
				t.Errorf("%s: %q, want %q", name, got, line)
			}
		}
		must(t, d.runs(t, &streamModel{next: func(_ int, _ sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool) {
			says(yield, "one ")
			time.Sleep(500 * time.Millisecond)
			says(yield, "two ")
			time.Sleep(499 * time.Millisecond)
			want("just below a second", "")
			time.Sleep(time.Millisecond)
			want("a second after the first piece", "one two  (partial)")
			time.Sleep(time.Hour)
			says(yield, "three")
			want("at once", "one two  (partial)")
			time.Sleep(time.Second)
			want("a second later", "one two three (partial)")
			yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
		}}))
		want("the end", "one two three")
	})
}

// While an answer streams, its files are stored with its text.
func TestDraftsHaveTheirFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stream(t)
		image := png("a.png", 80)
		m := &streamModel{next: func(_ int, _ sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool) {
			yield(sandbox.ModelEvent{Type: sandbox.PartFile, File: image}, nil)
			yield(sandbox.ModelEvent{Type: sandbox.PartSource, Source: sandbox.Source{URL: "https://example.org/"}}, nil)
			for _, words := range []string{"", "see"} { // also while no text comes
				says(yield, words)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				parts := d.s.Messages()[1].Parts
				if len(parts) < 2 || parts[1].Type != "source-url" {
					t.Fatalf("stored: %v", parts)
				}
				list, err := d.s.Files(t.Context(), parts[0])
				if err != nil || len(list) != 1 || !bytes.Equal(list[0].Data, image.Data) {
					t.Errorf("%v %v", list, err)
				}
			}
			yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
		}}
		must(t, d.runs(t, m))
	})
}

// Another try of an answer writes over what was stored of the one before.
func TestRetryWritesOverDrafts(t *testing.T) {
	synctest.Test(t, retryWritesOverDrafts)
}

func retryWritesOverDrafts(t *testing.T) {
	d := stream(t)
	m := &streamModel{next: func(try int, _ sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool) {
		if try == 1 {
			says(yield, "wrong ")
			time.Sleep(2 * time.Second)
			yield(sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: "hm"}, nil)
			says(yield, "")
			time.Sleep(2 * time.Second)
			says(yield, "worse ")
			yield(sandbox.ModelEvent{}, &sandbox.ModelError{Message: "cut", Retry: true})
			return
		}
		says(yield, "right")
		yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
	}}
	must(t, d.runs(t, m))
	if got := strings.Join(d.texts(t), "|"); got != "right" {
		t.Errorf("%q", got)
	}
}

// The next run continues an answer that was cut off, and says so to the model.
func TestCutAnswerIsContinued(t *testing.T) {
	d := stream(t)
	m := &streamModel{next: func(try int, _ sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool) {
		if try == 1 {
			says(yield, "the first half")
			yield(sandbox.ModelEvent{}, &sandbox.ModelError{Status: 400, Message: "no"})
			return
		}
		says(yield, "the second half")
		yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
	}}
	if d.runs(t, m) == nil {
		t.Fatal("no error")
	}
	must(t, d.runs(t, m))
	if got := strings.Join(d.texts(t), "|"); got != "the first half (partial)|the second half" {
		t.Errorf("%q", got)
	}
	list := m.requests[1].Messages
	if n := len(list); n != 3 || list[1].Parts[0].Text != "the first half" || list[2].Role != sandbox.RoleUser || !strings.Contains(list[2].Parts[0].Text, "cut off") {
		t.Errorf("%+v", list)
	}
	_, err := d.s.Say(t.Context(), "and now?")
	must(t, err)
	must(t, d.runs(t, m))
	for _, msg := range m.requests[2].Messages {
		if strings.Contains(msg.Parts[0].Text, "cut off") {
			t.Errorf("it is asked to continue although the user has said something: %+v", m.requests[2].Messages)
		}
	}
}

// What an earlier try had more is not stored beside the text of the next one, at no time. A run that
// is stopped between two tries stores nothing of the first.
func TestDraftsHoldOneTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := stream(t)
		m := &streamModel{next: func(try int, _ sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool) {
			if try == 1 {
				says(yield, "WRONG-A")
				yield(sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: "hm"}, nil)
				says(yield, "WRONG-B")
				time.Sleep(2 * time.Second)
				yield(sandbox.ModelEvent{}, &sandbox.ModelError{Message: "broken", Retry: true})
				return
			}
			says(yield, "right")
			time.Sleep(2 * time.Second)
			if got := strings.Join(d.texts(t), "|"); got != "right (partial)" {
				t.Errorf("during the second try: %q", got)
			}
			yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
		}}
		must(t, d.runs(t, m))
		if got := strings.Join(d.texts(t), "|"); got != "right" {
			t.Errorf("at the end: %q", got)
		}

		d = stream(t)
		stop := func(ctx context.Context, _ time.Duration) error { return context.Canceled }
		for range d.Run(t.Context(), d.s, &streamModel{next: m.next}, sandbox.RunOptions{Sleep: stop}) {
		}
		if got := strings.Join(d.texts(t), "|"); got != " (partial)" {
			t.Errorf("stopped before the second try: %q", got)
		}
	})
}
