package mcpclient

import (
	"context"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/until"
)

// A server in the page that sends without end, while nobody waits for a message, ends its port.
func TestAttackFloodOfAPort(t *testing.T) {
	count := attack.Start(t, "server")
	count.NoSwitch("without the limit the messages wait in memory, which is no effect that a test can see")
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()
	far, near, err := s.Channel()
	if err != nil {
		t.Fatal(err)
	}
	got, err := newPort(jsx.ToRaw(near))
	if err != nil {
		t.Fatal(err)
	}
	port := got.(*portTransport)
	port.now = func() time.Time { return port.seen } // no time passes, however slow the machine is
	told := jsx.Unbounded[string]()
	if err := far.OnMessage(func(m jsx.Message) {
		text, _ := jsx.String(m.Data, 10)
		_ = told.Push(text)
	}); err != nil {
		t.Fatal(err)
	}
	for range maxBurst {
		if !port.may() {
			t.Fatal("fewer messages than the limit end the port")
		}
	}
	for range 2 {
		if err := far.Post(`{"jsonrpc":"2.0","method":"notifications/message"}`); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), until.Patience)
	defer cancel()
	text, err := told.Recv(ctx)
	count.Try("a flood", !port.gone)
	if err != nil || text != "" {
		t.Errorf("it is told %q, and the port is open: %v (%v)", text, !port.gone, err)
	}
}
