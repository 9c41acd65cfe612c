package jsx

import (
	"context"
	"sync"
	"syscall/js"
)

// yielder is the only MessageChannel for yielding in the program. A posted message is a task of its
// own. It is neither delayed to 4 ms like nested timers, nor put before other tasks like
// scheduler.yield.
type yielder struct {
	post, port, nothing js.Value
	mu                  sync.Mutex
	waiting             []chan struct{}
}

var yields = sync.OnceValues(func() (*yielder, error) {
	p, y := prim(), &yielder{}
	class, err := Constructor("MessageChannel")
	if err != nil {
		return nil, err
	}
	ch, err := construct(raw(class))
	if err != nil {
		return nil, err
	}
	here := ch.Get("port1")
	y.port, y.nothing = ch.Get("port2"), js.Null()
	if y.post, err = invoke(p.uncurry, y.port.Get("postMessage")); err != nil {
		return nil, err
	}
	f, _, err := dispatch().register(func([]js.Value) any {
		y.mu.Lock()
		defer y.mu.Unlock()
		if len(y.waiting) > 0 {
			close(y.waiting[0])
			y.waiting[0] = nil
			y.waiting = y.waiting[1:]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	here.Set("onmessage", f)
	return y, nil
})

func yield(ctx context.Context) error {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	y, err := yields()
	if err != nil {
		return err
	}
	// The wait does not end early for ctx: it is one task long, and each message has its waiter.
	done := make(chan struct{})
	y.mu.Lock()
	y.waiting = append(y.waiting, done)
	y.mu.Unlock()
	if _, err := invoke(y.post, y.port, y.nothing); err != nil {
		return err
	}
	<-done
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	return nil
}
