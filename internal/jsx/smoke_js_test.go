package jsx

import (
	"context"
	"testing"
)

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	r, err := Call(Global(), "parseInt", "12")
	if n, _ := Int(r); err != nil || n != 12 {
		t.Fatal(r, err)
	}
	p, _ := Lookup(Global(), "Promise")
	p, _ = Call(p, "resolve", 5)
	v, err := Await(ctx, p)
	if n, _ := Int(v); err != nil || n != 5 {
		t.Fatal(v, err)
	}
	s := NewScope(ScopeOptions{})
	port, far, err := s.Channel()
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Port(far)
	if err != nil {
		t.Fatal(err)
	}
	q, err := other.Receive(QueueOptions[Message]{})
	if err != nil {
		t.Fatal(err)
	}
	if err := port.Post([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	m, err := q.Recv(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Bytes(m.Data, 5)
	if err != nil || string(b) != "hello" {
		t.Fatal(b, err)
	}
	if err := Yield(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = Call(Global(), "nosuch")
	t.Log(err, Live())
	s.Close()
	t.Log(Live())
	if Live().Total() != 0 {
		t.Fatal(Live())
	}
}
