package fsaccess

import (
	"context"
	"slices"
	"sync"
	"time"
)

// shared is the state that all users of one source share: locks and own writes. A view of a
// sub-folder has the same state with a prefix.
type shared struct {
	*sharedState
	prefix string
}

type sharedState struct {
	locks lockTable
	own   ownWrites
	// across, if set, takes the same locks across tabs.
	across func(ctx context.Context, want []lockWant) (release func(), err error)
}

func newShared() *shared {
	return &shared{&sharedState{}, "."}
}

func (s *shared) below(dir string) *shared {
	return &shared{s.sharedState, join(s.prefix, dir)}
}

// lock takes an exclusive lock on each path and a shared lock on the folders above it. So
// two files of a folder can change at once, but a folder is moved only while nothing below
// it changes.
func (s *shared) lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	full := make([]string, len(paths))
	for i, p := range paths {
		full[i] = join(s.prefix, p)
	}
	want := lockWants(full)
	release, err := s.locks.acquire(ctx, want)
	if err != nil {
		return nil, err
	}
	if s.across == nil {
		return release, nil
	}
	far, err := s.across(ctx, want)
	if err != nil {
		release()
		return nil, err
	}
	return func() { far(); release() }, nil
}

func (s *shared) note(name string) { s.own.note(join(s.prefix, name), time.Now()) }

// changing marks a path as changing until end is called. A browser reports a new file when
// it is made, and the file may be complete only later.
func (s *shared) changing(name string) (end func()) {
	full := join(s.prefix, name)
	s.own.change(full, 1)
	return func() {
		s.own.change(full, -1)
		s.own.note(full, time.Now())
	}
}

type lockWant struct {
	name      string
	exclusive bool
}

// lockWants returns the locks for some paths in one global order, so that two callers never
// wait for each other. Names are folded: on a file system that ignores case, two spellings
// are one file, and on others it costs little.
func lockWants(paths []string) []lockWant {
	m := make(map[string]bool)
	for _, p := range paths {
		p = foldName(p)
		m[p] = true
		for p != "." {
			p = parentOf(p)
			if !m[p] {
				m[p] = false
			}
		}
	}
	want := make([]lockWant, 0, len(m))
	for name, ex := range m {
		want = append(want, lockWant{name, ex})
	}
	slices.SortFunc(want, func(a, b lockWant) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return want
}

// lockTable grants whole sets of locks, in the order of the requests.
type lockTable struct {
	mu      sync.Mutex
	held    map[string]int // number of shared holders, or -1 for an exclusive one
	waiters []*lockWaiter
}

type lockWaiter struct {
	want    []lockWant
	granted chan struct{}
}

func (t *lockTable) acquire(ctx context.Context, want []lockWant) (func(), error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	w := &lockWaiter{want, make(chan struct{})}
	t.mu.Lock()
	if t.held == nil {
		t.held = make(map[string]int)
	}
	t.waiters = append(t.waiters, w)
	t.grant()
	t.mu.Unlock()
	select {
	case <-w.granted:
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		select {
		case <-w.granted:
			t.free(want)
		default:
			t.waiters = slices.DeleteFunc(t.waiters, func(x *lockWaiter) bool { return x == w })
			t.grant()
		}
		return nil, context.Cause(ctx)
	}
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.free(want)
	}), nil
}

func (t *lockTable) free(want []lockWant) {
	for _, l := range want {
		if l.exclusive {
			delete(t.held, l.name)
		} else if t.held[l.name]--; t.held[l.name] <= 0 {
			delete(t.held, l.name)
		}
	}
	t.grant()
}

// grant serves waiters in order. A waiter that must wait holds back later ones that want
// the same names, so that no waiter starves.
func (t *lockTable) grant() {
	ahead := make(map[string]bool) // name -> whether a waiter wants it exclusively
	rest := t.waiters[:0]
	for _, w := range t.waiters {
		ok := true
		for _, l := range w.want {
			n := t.held[l.name]
			ex, before := ahead[l.name]
			if n < 0 || l.exclusive && (n > 0 || before) || before && ex {
				ok = false
				break
			}
		}
		if !ok {
			for _, l := range w.want {
				ahead[l.name] = ahead[l.name] || l.exclusive
			}
			rest = append(rest, w)
			continue
		}
		for _, l := range w.want {
			if l.exclusive {
				t.held[l.name] = -1
			} else {
				t.held[l.name]++
			}
		}
		close(w.granted)
	}
	clear(t.waiters[len(rest):])
	t.waiters = rest
}

// ownWrites stores for a while which paths this program changed, so that a watch can
// distinguish them from changes by other programs.
type ownWrites struct {
	mu   sync.Mutex
	when map[string]time.Time
	busy map[string]int // running changes
}

func (o *ownWrites) change(name string, by int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy == nil {
		o.busy = make(map[string]int)
	}
	if o.busy[name] += by; o.busy[name] == 0 {
		delete(o.busy, name)
	}
}

const ownWindow = time.Minute

func (o *ownWrites) note(name string, t time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.when == nil {
		o.when = make(map[string]time.Time)
	}
	if len(o.when) > 4096 {
		for k, v := range o.when {
			if t.Sub(v) > ownWindow {
				delete(o.when, k)
			}
		}
		if len(o.when) > 65536 { // a bulk change within the window: forget, do not grow
			clear(o.when)
		}
	}
	o.when[name] = t
}

// last returns when this program changed name, or a folder above it, if that was not before
// t.
func (o *ownWrites) last(name string, t time.Time) (when time.Time, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if o.busy[name] > 0 {
			return time.Now(), true
		}
		if w, ok := o.when[name]; ok && !w.Before(t) {
			return w, true
		}
		if name == "." {
			return when, false
		}
		name = parentOf(name)
	}
}
