// Nothing here blocks a callback.
package passes

import (
	"reflect"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
)

func all(s *jsx.Scope, p *jsx.Port, q *jsx.Queue[int], ch chan int, mu *sync.Mutex, items []int) {
	_, _, _ = s.Func(func(args []jsx.Value) {
		_ = q.Push(1)
		go func() { ch <- 1 }()
		select {
		case ch <- 1:
		default:
		}
		mu.Lock()
		defer mu.Unlock()
		close(ch)
		for range items {
		}
		time.AfterFunc(1, func() { <-ch })
	})
	<-ch
	time.Sleep(1)
	_ = js.FuncOf(func(this js.Value, args []js.Value) any {
		later := func() { <-ch }
		go later()
		return nil
	})
	_, _, _ = s.Func(func(args []jsx.Value) {
		answer <- 1 //blocklint:ok said once, into a room of one
	})
	answer := make(chan int, 1)
	_ = js.FuncOf(func(this js.Value, args []js.Value) any { answer <- 1; return nil })
	_, _ = s.AfterFunc(1, func() { <-ch }) // on a goroutine of its own
	_ = reflect.TypeFor[int]()
}
