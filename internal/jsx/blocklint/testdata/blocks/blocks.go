// Every line that may block says so in a comment, which the test compares.
package blocks

import (
	"context"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	safe "github.com/hack-pad/safejs"
)

type frame struct{ ch chan int }

func (f *frame) onMessage(jsx.Message) {
	f.ch <- 1 // want channel send
}

func named([]jsx.Value) {
	time.Sleep(1) // want time.Sleep
}

func all(ctx context.Context, s *jsx.Scope, p *jsx.Port, q *jsx.Queue[int], ch chan int, wg *sync.WaitGroup, f *frame) {
	_, _, _ = s.Func(func(args []jsx.Value) {
		ch <- 1   // want channel send
		<-ch      // want channel receive
		x := <-ch // want channel receive
		_ = x
		wg.Wait() // want wg.Wait
	})
	_, _, _ = s.Function(func(args []jsx.Value) any {
		if len(args) > 0 {
			for range ch { // want range over a channel
			}
		}
		return <-ch // want channel receive
	})
	_, _ = s.Listen(jsx.Global(), "click", func(jsx.Value) {
		select { // want select without default
		case <-ch:
			ch <- 2 // want channel send
		case <-ctx.Done():
		}
	})
	_ = p.OnMessage(func(jsx.Message) {
		_, _ = q.Recv(ctx)             // want q.Recv
		_, _ = jsx.Await(ctx, f.v())   // want jsx.Await
		_, _ = p.Ask(ctx, 1)           // want p.Ask
		func() { time.Sleep(1) }()     // want time.Sleep
		defer func() { <-ch }()        // want channel receive
		go func(int) { ch <- 1 }(<-ch) // want channel receive
		select {
		case ch <- 1:
			<-ch // want channel receive
		default:
		}
	})
	_ = p.OnMessage(f.onMessage)
	_ = p.OnMessageError((func() { <-ch }))       // want channel receive
	_, _ = s.Animation(func() { jsx.Yield(ctx) }) // want jsx.Yield
	_, _, _ = s.Func(named)
	_ = js.FuncOf(func(this js.Value, args []js.Value) any { return <-ch })          // want channel receive
	_, _ = safe.FuncOf(func(this safe.Value, args []safe.Value) any { return <-ch }) // want channel receive
	room, none := make(chan int, 1), make(chan int, 0)
	_ = js.FuncOf(func(this js.Value, args []js.Value) any { none <- 1; return nil }) // want channel send
	_, _, _ = s.Func(func(args []jsx.Value) { room <- 1 })                            // want channel send
	_, _, _ = s.Func(func(args []jsx.Value) {
		ch <- 1 /* no reason, no excuse */ //blocklint:ok
	})
	close(ch) //blocklint:ok nothing blocks here
}
