package jsx_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/bailey-go/bailey/internal/jsx"
)

// A promise under a context, and its rejection as a Go error.
func ExampleAwait() {
	ctx := context.Background()
	blob, err := jsx.NewGlobal("Blob", []any{"hello"})
	if err != nil {
		fmt.Println(err)
		return
	}
	buffer, err := jsx.CallAwait(ctx, blob, "arrayBuffer")
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := jsx.Bytes(buffer, 1<<10)
	fmt.Printf("%s %v\n", b, err)

	promise, _ := jsx.Lookup(jsx.Global(), "Promise")
	rejected, _ := jsx.Call(promise, "reject", jsx.ToError(fs.ErrNotExist))
	_, err = jsx.Await(ctx, rejected)
	fmt.Println(errors.Is(err, fs.ErrNotExist), errors.Is(err, jsx.ErrNotFound))
	// Output:
	// hello <nil>
	// true true
}

// A port's messages in a queue, until the scope is closed.
func ExampleScope_Channel() {
	ctx := context.Background()
	s := jsx.NewScope(jsx.ScopeOptions{})
	defer s.Close()

	here, there, err := s.Channel() // there is for a frame or worker
	if err != nil {
		fmt.Println(err)
		return
	}
	other, _ := s.Port(there) // as if received
	q, _ := other.Receive(jsx.QueueOptions[jsx.Message]{Max: 1000, Full: jsx.CloseFull})
	if err := here.Post([]byte("hello")); err != nil {
		fmt.Println(err)
	}
	m, err := q.Recv(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := jsx.Bytes(m.Data, 1<<20)
	fmt.Printf("%s %v\n", b, err)
	// Output: hello <nil>
}
