package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// checkedStore calls check before it stores a text. It checks its context.
type checkedStore struct {
	sandbox.Store
	check func(text string) error
}

func (s checkedStore) Put(ctx context.Context, rec sandbox.SessionRecord, ms []sandbox.MessageRecord, ps []sandbox.PartRecord) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for _, p := range ps {
		d, _ := p.Data.(map[string]any)
		if text, ok := d["text"].(string); ok && s.check != nil {
			if err := s.check(text); err != nil {
				return err
			}
		}
	}
	return s.Store.Put(ctx, rec, ms, ps)
}

func checked(check func(text string) error) func(*sandbox.Options) {
	return func(o *sandbox.Options) { o.Sessions = checkedStore{sandbox.MemoryStore(), check} }
}

var errFull = errors.New("the disk is full")

// spoken returns the texts of a session's messages, in order.
func spoken(s *sandbox.Session) (out []string) {
	for _, m := range s.Messages() {
		for _, p := range m.Parts {
			d, _ := p.Data.(map[string]any)
			if text, ok := d["text"].(string); ok {
				out = append(out, text)
			}
		}
	}
	return out
}

// A run that begins while another ends receives all messages that were queued for the other, and
// answers after them. No message overtakes an earlier one.
func TestNoRunBeginsBeforeAllThatWasSteered(t *testing.T) {
	var s *sandbox.Session
	var h *house
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint("late ", i))
	}
	want = append(want, "after")
	next, done := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("yes")}}, make(chan error, 1)
	h = build(t, policy.AskBeforeChanges(), nil, nil, checked(func(text string) error {
		if text == want[0] { // the run has ended, and its last queued message is being stored
			go func() {
				err := s.Steer(context.Background(), "after")
				for tries := true; tries && err == nil; {
					tries = false
					for _, e := range h.Run(context.Background(), s, next, sandbox.RunOptions{}) {
						tries = errors.Is(e, protocol.ErrSession)
					}
					until.Turn() // a page has one thread
				}
				done <- err
			}()
		}
		if strings.HasPrefix(text, "late") {
			until.Turns(2) // the others wait for their turn by now
		}
		return nil
	}))
	s = h.session(t)
	_, err := s.Say(t.Context(), "go")
	must(t, err)
	for c, err := range h.Run(t.Context(), s, &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("done")}}, sandbox.RunOptions{}) {
		must(t, err)
		if c.Type == "finish" {
			for _, text := range want[:20] {
				must(t, s.Steer(t.Context(), text))
			}
		}
	}
	must(t, <-done)
	all := append(append([]string{"go", "done"}, want...), "yes")
	if got := spoken(s); !slices.Equal(got, all) {
		t.Errorf("the session says %q", got)
	}
	var heard []string
	for _, m := range next.Requests()[0].Messages {
		heard = append(heard, m.Parts[0].Text)
	}
	if !slices.Equal(heard, all[:len(all)-1]) {
		t.Errorf("the model heard %q", heard)
	}
}

// If storing a queued message fails at the end of a run, the run yields the error. The message is
// stored first when storing works again.
func TestSteerThatCantBeStored(t *testing.T) {
	for _, how := range []string{"listens", "breaks", "panics"} {
		t.Run(how, func(t *testing.T) {
			full := false
			h := build(t, policy.AskBeforeChanges(), nil, nil, checked(func(text string) error {
				if full && strings.HasPrefix(text, "late") {
					return errFull
				}
				return nil
			}))
			s := h.session(t)
			_, err := s.Say(t.Context(), "go")
			must(t, err)
			var failed error
			var last sandbox.Chunk
			mine := errors.New("the consumer's own")
			func() {
				defer func() {
					if v := recover(); v != nil && v != mine {
						t.Errorf("panic: %v", v)
					}
				}()
				full = true
				for c, err := range h.Run(t.Context(), s, &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("done")}}, sandbox.RunOptions{}) {
					if err != nil {
						failed = err
						continue
					}
					last = c
					if c.Type != "finish" {
						continue
					}
					must(t, s.Steer(t.Context(), "late one"))
					must(t, s.Steer(t.Context(), "late two"))
					if how == "breaks" {
						break
					}
					if how == "panics" {
						panic(mine)
					}
				}
			}()
			if told := errors.Is(failed, errFull) && last.Type == "error"; told != (how == "listens") || s.Status() != sandbox.StatusError {
				t.Errorf("the run ended with %v, %s, and is %s", failed, last.Type, s.Status())
			}
			if _, err := s.Say(t.Context(), "more"); !errors.Is(err, errFull) {
				t.Errorf("said before what was said earlier: %v", err)
			}
			full = false
			m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("yes")}}
			want := []string{"go", "done", "late one", "late two", "yes"}
			if how == "breaks" { // by what is said next, or else by the next run
				_, err := s.Say(t.Context(), "more")
				must(t, err)
				want = slices.Insert(want, 4, "more")
			}
			_, err = h.talk(t, s, m, "")
			must(t, err)
			if got := spoken(s); !slices.Equal(got, want) {
				t.Errorf("the session says %q", got)
			}
			if sent := m.Requests()[0].Messages; sent[len(sent)-1].Parts[0].Text != want[len(want)-2] {
				t.Errorf("the model heard %+v", sent)
			}
		})
	}
}

// An interruption or an error between steps loses no earlier message of the user.
func TestStopKeepsWhatWasSteered(t *testing.T) {
	for _, how := range []string{"stop", "error"} {
		t.Run(how, func(t *testing.T) {
			fails := how == "error"
			h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"}, checked(func(text string) error {
				if text == "one" && fails {
					fails = false
					return errFull
				}
				return nil
			}))
			s := h.session(t)
			_, err := s.Say(t.Context(), "go")
			must(t, err)
			m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("read", args{"path": "a"})}}
			var failed error
			for c, err := range h.Run(t.Context(), s, m, sandbox.RunOptions{}) {
				if err != nil {
					failed = err
				}
				if c.Type == "finish-step" {
					must(t, s.Steer(t.Context(), "one"))
					must(t, s.Steer(t.Context(), "two"))
					if how == "stop" {
						s.Interrupt("enough")
					}
				}
			}
			if errors.Is(failed, errFull) != (how == "error") || len(m.Requests()) != 1 {
				t.Errorf("%v after %d requests", failed, len(m.Requests()))
			}
			if got := spoken(s); !slices.Equal(got, []string{"go", "one", "two"}) {
				t.Errorf("the session says %q", got)
			}
		})
	}
}

// Close stores the queued messages, and no later ones.
func TestCloseKeepsWhatWasSteered(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s := h.session(t)
	_, err := s.Say(t.Context(), "go")
	must(t, err)
	var again *sandbox.Session
	for c, err := range h.Run(t.Context(), s, &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("done")}}, sandbox.RunOptions{}) {
		must(t, err)
		if c.Type != "start-step" {
			continue
		}
		must(t, s.Steer(t.Context(), "one"))
		must(t, s.Steer(t.Context(), "two"))
		s.Close()
		s.Close()
		if err := s.Steer(t.Context(), "three"); !errors.Is(err, protocol.ErrSession) {
			t.Errorf("steered when closed: %v", err)
		}
		again, err = h.OpenSession(t.Context(), s.ID())
		must(t, err)
	}
	defer again.Close()
	if got := spoken(again); !slices.Equal(got, []string{"go", "one", "two"}) {
		t.Errorf("the session says %q", got)
	}
}

// If Close fails to store a message, the run that it ends yields the error.
func TestCloseThatCantStore(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil, checked(func(text string) error {
		if text == "late" {
			return errFull
		}
		return nil
	}))
	s := h.session(t)
	_, err := s.Say(t.Context(), "go")
	must(t, err)
	var failed error
	for c, err := range h.Run(t.Context(), s, &sandboxtest.Model{}, sandbox.RunOptions{}) {
		if err != nil {
			failed = err
		}
		if c.Type == "start-step" {
			must(t, s.Steer(t.Context(), "late"))
			s.Close()
		}
	}
	if !errors.Is(failed, protocol.ErrSession) {
		t.Errorf("the run ended with %v", failed)
	}
	again, err := h.OpenSession(t.Context(), s.ID())
	must(t, err)
	again.Close()
}
