package jsx

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

// pair is a channel with both ends in one scope.
func pair(t testing.TB, s *Scope) (near, far *Port) {
	t.Helper()
	near, v, err := s.Channel()
	if err != nil {
		t.Fatal(err)
	}
	far, err = s.Port(v)
	return near, ok(t, far, err)
}

// soon is a context for an answer that comes, if the test passes.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), until.Patience)
	t.Cleanup(cancel)
	return ctx
}

func TestPortDelivers(t *testing.T) {
	s := newScope(t)
	near, far := pair(t, s)
	// Sent before anybody listens: kept.
	if err := near.Post("early"); err != nil {
		t.Fatal(err)
	}
	q, err := far.Receive(QueueOptions[Message]{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		x     any
		check string
	}{
		{"text", `v => v === "text"`}, {5, `v => v === 5`}, {nil, `v => v === null`},
		{map[string]any{"a": []any{1, "b"}}, `v => v.a[1] === "b"`},
		{[]byte{1, 2}, `v => v instanceof Uint8Array && v.length === 2`},
		{eval(t, `new Map([[1, 2]])`), `v => v.get(1) === 2`},
		{eval(t, `10n`), `v => v === 10n`},
	} {
		if err := near.Post(tt.x); err != nil {
			t.Fatal(err)
		}
	}
	want := append([]string{`v => v === "early"`}, `v => v === "text"`, `v => v === 5`, `v => v === null`, `v => v.a[1] === "b"`, `v => v instanceof Uint8Array && v.length === 2`, `v => v.get(1) === 2`, `v => v === 10n`)
	for _, check := range want {
		m, err := q.Recv(soon(t))
		if err != nil || !isTrue(t, check, m.Data) {
			t.Errorf("%v is not %s", err, check)
		}
	}
	if err := near.Post(eval(t, `() => 1`)); !errors.Is(err, ErrDataClone) {
		t.Errorf("a function was posted: %v", err)
	}
	if err := near.Post(struct{}{}); !errors.Is(err, ErrDataClone) {
		t.Error(err)
	}
}

func TestPortTransfers(t *testing.T) {
	s := newScope(t)
	near, far := pair(t, s)
	q, err := far.Receive(QueueOptions[Message]{})
	if err != nil {
		t.Fatal(err)
	}
	buf := eval(t, `new ArrayBuffer(8)`)
	third, fourth := pair(t, s)
	_ = fourth
	if err := near.Post(map[string]any{"b": buf}, buf); err != nil {
		t.Fatal(err)
	}
	if n, err := ByteLength(buf); n != 0 || err == nil {
		t.Errorf("the buffer was copied, not transferred: %d, %v", n, err)
	}
	if err := near.Post("port", third.Value()); err != nil {
		t.Fatal(err)
	}
	m, _ := q.Recv(soon(t))
	if ports, err := m.Ports(); len(ports) != 0 || err != nil {
		t.Error(ports, err)
	}
	m, _ = q.Recv(soon(t))
	ports, err := m.Ports()
	if err != nil || len(ports) != 1 || !InstanceOf(ports[0], "MessagePort") {
		t.Fatal(ports, err)
	}
	if err := near.Post("again", third.Value()); !errors.Is(err, ErrDataClone) {
		t.Errorf("a port was transferred twice: %v", err)
	}
	if err := near.Post("wrong", eval(t, `{}`)); !errors.Is(err, ErrType) && !errors.Is(err, ErrDataClone) {
		t.Errorf("an object was transferred: %v", err)
	}
}

func TestPortCloses(t *testing.T) {
	base := Live()
	s := newScope(t)
	before := table()
	near, far := pair(t, s)
	q, err := far.Receive(QueueOptions[Message]{})
	if err != nil {
		t.Fatal(err)
	}
	if n := Live()[Ports]; n != 2 {
		t.Errorf("%d ports, want 2", n)
	}
	if err := near.Post("on its way"); err != nil {
		t.Fatal(err)
	}
	far.Close()
	far.Close()
	if _, err := q.Recv(soon(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := far.Post(1); !errors.Is(err, ErrClosed) || !far.Closed() {
		t.Error(err)
	}
	if _, err := far.Receive(QueueOptions[Message]{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := near.Post("to nobody"); err != nil {
		t.Error(err)
	}
	s.Close()
	if over := Live().Over(base); over.Total() != 0 || table() != before {
		t.Errorf("left: %v, table %d (before %d)", over, table(), before)
	}
	if _, err := s.Port(eval(t, `new MessageChannel().port1`)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, _, err := s.Channel(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if over := Live().Over(base); over.Total() != 0 {
		t.Errorf("left by a closed scope: %v", over)
	}
	if _, err := newScope(t).Port(eval(t, `{postMessage() {}}`)); !errors.Is(err, ErrType) {
		t.Errorf("an object passed for a port: %v", err)
	}
}

func TestPortFloodEnds(t *testing.T) {
	s := newScope(t)
	near, far := pair(t, s)
	q, err := far.Receive(QueueOptions[Message]{Max: 10, Full: CloseFull})
	if err != nil {
		t.Fatal(err)
	}
	for range 11 {
		if err := near.Post("x"); err != nil {
			t.Fatal(err)
		}
	}
	until.True(t, "a flooded port is closed", far.Closed)
	for range 10 {
		if _, err := q.Recv(soon(t)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := q.Recv(soon(t)); !errors.Is(err, ErrQueueFull) {
		t.Error(err)
	}
}

func TestPortMessageError(t *testing.T) {
	s := newScope(t)
	_, far := pair(t, s)
	q, err := far.Receive(QueueOptions[Message]{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Invoke(eval(t, `p => p.dispatchEvent(new MessageEvent("messageerror"))`), far.Value()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Recv(soon(t)); !errors.Is(err, ErrDataClone) {
		t.Error(err)
	}
}

func TestPortAsk(t *testing.T) {
	base := Live()
	s := newScope(t)
	near, far := pair(t, s)
	err := far.OnMessage(func(m Message) {
		ports, err := m.Ports()
		if err != nil || len(ports) != 1 {
			t.Error(ports, err)
			return
		}
		if n, _ := Int(m.Data); n > 0 {
			if err := PostTo(ports[0], "", n*2); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	held := Live()
	if m, err := near.Ask(soon(t), 21); err != nil || num(t, m.Data) != 42 {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := near.Ask(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if over := Live().Over(held); over.Total() != 0 {
		t.Errorf("Ask leaves %v", over)
	}
	s.Close()
	if over := Live().Over(base); over.Total() != 0 {
		t.Error(over)
	}
}

func TestPostTo(t *testing.T) {
	s := newScope(t)
	got := Unbounded[Value]()
	if _, err := s.Listen(Global(), "message", func(ev Value) {
		if data, err := Get(ev, "data"); err == nil {
			got.Push(data)
		}
	}); err != nil {
		t.Fatal(err)
	}
	origin, _ := Lookup(Global(), "location.origin")
	o, _ := String(origin, 100)
	if err := PostTo(Global(), o, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	if err := PostTo(Global(), "https://elsewhere.example", "lost"); err != nil {
		t.Fatal(err)
	}
	v, err := got.Recv(soon(t))
	if b, _ := Bytes(v, 10); string(b) != "mine" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	for range 5 {
		_ = Yield(t.Context())
	}
	if got.Len() != 0 {
		t.Error("a message for another origin arrived")
	}
}
