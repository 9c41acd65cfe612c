package jsx

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
)

// A FullPolicy is the behaviour of a full [Queue].
type FullPolicy uint8

const (
	RejectNew  FullPolicy = iota // Push returns ErrQueueFull and the item counts as dropped
	DropOldest                   // the oldest items are dropped to make room
	CloseFull                    // the queue fails: the receiver gets the items in it, then ErrQueueFull
)

// ErrQueueFull is returned by Push when there is no room, and then by Recv of a queue with
// [CloseFull].
var ErrQueueFull = errors.New("jsx: queue is full")

// QueueOptions limit a queue. The zero value has no limit.
type QueueOptions[T any] struct {
	Max       int         // items, 0 for no limit
	MaxWeight int         // sum of Weigh over the items, 0 for no limit
	Weigh     func(T) int // returns the weight of an item, such as its bytes, for MaxWeight; must not block
	Full      FullPolicy  // the behaviour for an item that does not fit
}

// A Queue passes items from callbacks to goroutines. Push never blocks, so a callback may call it.
// A goroutine receives under a context. A Queue is safe for concurrent use. Create one with
// [NewQueue].
type Queue[T any] struct {
	opts   QueueOptions[T]
	signal chan struct{} // holds a token if there may be something to receive

	mu      sync.Mutex
	items   []queued[T]
	head    int
	weight  int
	dropped int
	closed  bool
	err     error // the error of Recv after the last item, or nil for ErrClosed
}

// queued is an item with its weight, so that Weigh is called only once.
type queued[T any] struct {
	x T
	w int
}

// NewQueue returns an empty queue. Negative limits, an unknown policy, or MaxWeight without Weigh
// are an error.
func NewQueue[T any](opts QueueOptions[T]) (*Queue[T], error) {
	if opts.Max < 0 || opts.MaxWeight < 0 || opts.Full > CloseFull {
		return nil, fmt.Errorf("jsx: queue: limits must not be negative and the policy must be a known one: %+v", opts)
	}
	if opts.MaxWeight > 0 && opts.Weigh == nil {
		return nil, errors.New("jsx: queue: MaxWeight needs a Weigh function")
	}
	return &Queue[T]{opts: opts, signal: make(chan struct{}, 1)}, nil
}

// Unbounded returns an empty queue without a limit, for items whose sender limits them.
func Unbounded[T any]() *Queue[T] {
	return &Queue[T]{signal: make(chan struct{}, 1)}
}

// Push appends x. It never blocks. The error is ErrClosed or ErrQueueFull.
func (q *Queue[T]) Push(x T) error {
	q.mu.Lock()
	err := q.push(x)
	q.mu.Unlock()
	q.wake()
	return err
}

func (q *Queue[T]) push(x T) error {
	if q.closed {
		return ErrClosed
	}
	w := q.weigh(x)
	for !q.fits(w) {
		if q.opts.Full == DropOldest && q.len() > 0 {
			q.pop()
			q.dropped++
			continue
		}
		q.dropped++
		if q.opts.Full == CloseFull {
			q.closed, q.err = true, ErrQueueFull
		}
		return ErrQueueFull
	}
	q.items = append(q.items, queued[T]{x, w})
	q.weight += w
	return nil
}

func (q *Queue[T]) weigh(x T) int {
	if q.opts.Weigh == nil {
		return 0
	}
	return max(0, q.opts.Weigh(x))
}

func (q *Queue[T]) fits(w int) bool {
	if q.opts.Max > 0 && q.len() >= q.opts.Max {
		return false
	}
	return q.opts.MaxWeight == 0 || w <= q.opts.MaxWeight-q.weight
}

func (q *Queue[T]) len() int { return len(q.items) - q.head }

func (q *Queue[T]) pop() T {
	it := q.items[q.head]
	q.items[q.head] = queued[T]{}
	q.head++
	q.weight -= it.w
	switch {
	case q.head == len(q.items):
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > 1024 {
			q.items = nil // release the memory of a burst
		}
	case q.head >= 64 && q.head*2 >= len(q.items):
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	return it.x
}

// wake leaves a token. One is enough, because each receiver leaves the next.
func (q *Queue[T]) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// TryRecv returns the oldest item if there is one. ok reports whether there is. The error is that
// of Recv for a closed and empty queue.
func (q *Queue[T]) TryRecv() (x T, ok bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.len() > 0 {
		return q.pop(), true, nil
	}
	if q.closed {
		if q.err != nil {
			return x, false, q.err
		}
		return x, false, ErrClosed
	}
	return x, false, nil
}

// Recv returns the oldest item. It waits for one until ctx is done or the queue is closed and
// empty. An item that is in the queue is returned even if ctx is done.
func (q *Queue[T]) Recv(ctx context.Context) (T, error) {
	for {
		x, ok, err := q.TryRecv()
		if ok || err != nil {
			q.wake() // there may be more items, or other receivers waiting for the end
			return x, err
		}
		select {
		case <-q.signal:
		case <-ctx.Done():
			return x, contextError(ctx)
		}
	}
}

// RecvAll returns all items in the queue. It waits for the first like Recv. One call for a burst of
// callbacks saves wake-ups.
func (q *Queue[T]) RecvAll(ctx context.Context) ([]T, error) {
	first, err := q.Recv(ctx)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]T, 1, 1+q.len())
	all[0] = first
	for _, it := range q.items[q.head:] {
		all = append(all, it.x)
	}
	clear(q.items)
	q.items, q.head, q.weight = q.items[:0], 0, 0
	return all, nil
}

// All returns an iterator over the items until ctx is done or the queue is closed and empty. The
// last pair has the error, except after a plain Close.
func (q *Queue[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			x, err := q.Recv(ctx)
			if err != nil {
				if !errors.Is(err, ErrClosed) {
					yield(x, err)
				}
				return
			}
			if !yield(x, nil) {
				return
			}
		}
	}
}

// Len returns the number of items in the queue.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.len()
}

// Dropped returns the number of items that did not fit.
func (q *Queue[T]) Dropped() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// Close ends the queue. Push then fails. Recv returns the items in the queue and then ErrClosed.
// Close is idempotent.
func (q *Queue[T]) Close() error { q.Fail(nil); return nil }

// Fail is Close with an error for the receiver. Only the first call has an effect.
func (q *Queue[T]) Fail(err error) {
	q.mu.Lock()
	if !q.closed {
		q.closed, q.err = true, err
	}
	q.mu.Unlock()
	q.wake()
}
