package jsx_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/internal/jsx"
)

// A callback appends, and a goroutine receives.
func ExampleQueue() {
	q := jsx.Unbounded[string]()
	onMessage := func(text string) { q.Push(text) } // never blocks

	onMessage("one")
	onMessage("two")
	q.Close()
	for text, err := range q.All(context.Background()) {
		fmt.Println(text, err)
	}
	// Output:
	// one <nil>
	// two <nil>
}

// Closing a scope releases its resources, the last first.
func ExampleScope() {
	s := jsx.NewScope(jsx.ScopeOptions{})
	s.Add(func() { fmt.Println("frame removed") })
	closePort, _ := s.Add(func() { fmt.Println("port closed") })
	s.Add(func() { fmt.Println("listener removed") })

	closePort() // earlier than the rest
	s.Close()
	s.Close()
	// Output:
	// port closed
	// listener removed
	// frame removed
}

// Many values in one buffer, instead of many crossings.
func ExampleUnpack() {
	var p jsx.Packer // in JavaScript: new Packer, from PackedJS
	p.U32(2)
	for _, name := range []string{"a.txt", "b.txt"} {
		p.String(name)
		p.F64(1024)
	}

	u := jsx.Unpack(p.Packed())
	for range u.Count(4 + 8) {
		fmt.Println(u.String(), u.Int())
	}
	fmt.Println(u.Close())
	// Output:
	// a.txt 1024
	// b.txt 1024
	// <nil>
}
