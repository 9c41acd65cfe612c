package jsx

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

func newQueue[T any](t *testing.T, opts QueueOptions[T]) *Queue[T] {
	t.Helper()
	q, err := NewQueue(opts)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func push[T any](t *testing.T, q *Queue[T], want error, xs ...T) {
	t.Helper()
	for _, x := range xs {
		if err := q.Push(x); !errors.Is(err, want) {
			t.Fatalf("Push(%v) = %v, want %v", x, err, want)
		}
	}
}

func drain[T any](t *testing.T, q *Queue[T]) []T {
	t.Helper()
	var all []T
	for {
		x, ok, _ := q.TryRecv()
		if !ok {
			return all
		}
		all = append(all, x)
	}
}

func TestQueueKeepsOrder(t *testing.T) {
	q := Unbounded[int]()
	want := []int{}
	for i := range 10_000 {
		push(t, q, nil, i)
		if i%3 == 2 { // so that the head moves and the memory is used again
			x, err := q.Recv(t.Context())
			if err != nil || x != len(want) {
				t.Fatalf("Recv = %d, %v; want %d", x, err, len(want))
			}
			want = append(want, x)
		}
	}
	for _, x := range drain(t, q) {
		if x != len(want) {
			t.Fatalf("got %d, want %d", x, len(want))
		}
		want = append(want, x)
	}
	if len(want) != 10_000 || q.Len() != 0 {
		t.Fatalf("%d items, %d left", len(want), q.Len())
	}
}

func TestQueueLimits(t *testing.T) {
	size := func(b []byte) int { return len(b) }
	b := func(n int) []byte { return make([]byte, n) }
	t.Run("items", func(t *testing.T) {
		q := newQueue(t, QueueOptions[int]{Max: 2})
		push(t, q, nil, 1, 2)
		push(t, q, ErrQueueFull, 3)
		if got := drain(t, q); !slices.Equal(got, []int{1, 2}) || q.Dropped() != 1 {
			t.Errorf("%v, dropped %d", got, q.Dropped())
		}
		push(t, q, nil, 4)
	})
	t.Run("weight", func(t *testing.T) {
		q := newQueue(t, QueueOptions[[]byte]{MaxWeight: 10, Weigh: size})
		push(t, q, nil, b(4), b(6)) // at the limit
		push(t, q, ErrQueueFull, b(1))
		q.TryRecv()
		push(t, q, ErrQueueFull, b(5)) // one over
		push(t, q, nil, b(4))          // at
		push(t, q, nil, b(0))
		drain(t, q)
		push(t, q, ErrQueueFull, b(11))
		push(t, q, nil, b(10))
	})
	t.Run("drop oldest", func(t *testing.T) {
		q := newQueue(t, QueueOptions[[]byte]{MaxWeight: 10, Weigh: size, Full: DropOldest})
		push(t, q, nil, b(4), b(5), b(6)) // 4 and 5 make room
		push(t, q, ErrQueueFull, b(11))   // never fits, and all is gone
		if q.Dropped() != 4 || q.Len() != 0 {
			t.Errorf("dropped %d, %d left", q.Dropped(), q.Len())
		}
	})
	t.Run("close full", func(t *testing.T) {
		q := newQueue(t, QueueOptions[int]{Max: 1, Full: CloseFull})
		push(t, q, nil, 1)
		push(t, q, ErrQueueFull, 2)
		push(t, q, ErrClosed, 3)
		if x, err := q.Recv(t.Context()); x != 1 || err != nil {
			t.Error(x, err)
		}
		if _, err := q.Recv(t.Context()); !errors.Is(err, ErrQueueFull) {
			t.Error(err)
		}
	})
	t.Run("wrong", func(t *testing.T) {
		for _, o := range []QueueOptions[int]{{Max: -1}, {MaxWeight: -1}, {MaxWeight: 1}, {Full: CloseFull + 1}} {
			if _, err := NewQueue(o); err == nil {
				t.Errorf("NewQueue(%+v) succeeded", o)
			}
		}
	})
}

func TestQueueWaits(t *testing.T) {
	q := Unbounded[string]()
	time.AfterFunc(5*time.Millisecond, func() { q.Push("late") })
	if x, err := q.Recv(t.Context()); x != "late" || err != nil {
		t.Fatal(x, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := q.Recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	push(t, q, nil, "there")
	if x, err := q.Recv(ctx); x != "there" || err != nil {
		t.Errorf("what is there is not received under a context that is done: %q, %v", x, err)
	}
	time.AfterFunc(5*time.Millisecond, func() { q.Close() })
	if _, err := q.Recv(t.Context()); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	push(t, q, ErrClosed, "more")
	q.Fail(errors.New("later"))
	if _, err := q.Recv(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the first end does not stay: %v", err)
	}
}

func TestQueueEndsForEveryReceiver(t *testing.T) {
	q, lost := Unbounded[int](), errors.New("lost")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = q.Recv(context.Background()) })
	}
	until.Turns(2) // most of them wait by now; the outcome is the same if not
	push(t, q, nil, 1)
	q.Fail(lost)
	wg.Wait()
	got := 0
	for _, err := range errs {
		if err == nil {
			got++
		} else if !errors.Is(err, lost) {
			t.Error(err)
		}
	}
	if got != 1 {
		t.Errorf("%d received, want 1", got)
	}
}

func TestQueueManySendersAndReceivers(t *testing.T) {
	q := Unbounded[int]()
	const senders, each = 8, 500
	var send, recv sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]int{}
	for range 4 {
		recv.Go(func() {
			for x, err := range q.All(context.Background()) {
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				seen[x]++
				mu.Unlock()
			}
		})
	}
	for s := range senders {
		send.Go(func() {
			for i := range each {
				q.Push(s*each + i)
			}
		})
	}
	send.Wait()
	q.Close()
	recv.Wait()
	for i := range senders * each {
		if seen[i] != 1 {
			t.Fatalf("%d was received %d times", i, seen[i])
		}
	}
}

func TestQueueAllAndRecvAll(t *testing.T) {
	q := Unbounded[int]()
	push(t, q, nil, 1, 2, 3)
	if all, err := q.RecvAll(t.Context()); !slices.Equal(all, []int{1, 2, 3}) || err != nil {
		t.Fatal(all, err)
	}
	push(t, q, nil, 4, 5)
	lost := errors.New("lost")
	q.Fail(lost)
	var got []int
	var last error
	for x, err := range q.All(t.Context()) {
		if err != nil {
			last = err
			break
		}
		got = append(got, x)
	}
	if !slices.Equal(got, []int{4, 5}) || !errors.Is(last, lost) {
		t.Errorf("%v, %v", got, last)
	}
	if _, err := q.RecvAll(t.Context()); !errors.Is(err, lost) {
		t.Error(err)
	}
	for range Unbounded[int]().All(closed()) {
		break // the one pair of an ended context; leaving early is fine
	}
}

func closed() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func BenchmarkQueue(b *testing.B) {
	q := Unbounded[int]()
	for b.Loop() {
		q.Push(1)
		q.TryRecv()
	}
}
