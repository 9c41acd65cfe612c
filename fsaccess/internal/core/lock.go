package core

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Locked holds the locks of all paths while it calls do with the first path.
func Locked(ctx context.Context, c Core, do func(p string) error, paths ...string) error {
	unlock, err := c.Base().Lock(ctx, paths...)
	if err != nil {
		return err
	}
	defer unlock()
	for _, p := range paths {
		defer c.Base().Changing(p)()
	}
	return do(paths[0])
}

// Shared is the state that all users of one source share: locks and own writes. A view of a
// sub-folder has the same state with a prefix.
type Shared struct {
	*sharedState
	Prefix string
}

type sharedState struct {
	locks lockTable
	Own   ownWrites
	// Across, if set, takes the same locks across tabs.
	Across func(ctx context.Context, want []LockWant) (release func(), err error)
}

func NewShared() *Shared {
	return &Shared{&sharedState{}, "."}
}

func (s *Shared) Below(dir string) *Shared {
	return &Shared{s.sharedState, Join(s.Prefix, dir)}
}

// Lock takes an exclusive lock on each path and a shared lock on the folders above it. So
// two files of a folder can change at once, but a folder is moved only while nothing below
// it changes.
func (s *Shared) Lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	full := make([]string, len(paths))
	for i, p := range paths {
		full[i] = Join(s.Prefix, p)
	}
	want := lockWants(full)
	release, err := s.locks.acquire(ctx, want)
	if err != nil {
		return nil, err
	}
	if s.Across == nil {
		return release, nil
	}
	far, err := s.Across(ctx, want)
	if err != nil {
		release()
		return nil, err
	}
	return func() { far(); release() }, nil
}

func (s *Shared) Note(name string) { s.Own.note(Join(s.Prefix, name), time.Now()) }

// Changing marks a path as changing until end is called. A browser reports a new file when
// it is made, and the file may be complete only later.
func (s *Shared) Changing(name string) (end func()) {
	full := Join(s.Prefix, name)
	s.Own.change(full, 1)
	return func() {
		s.Own.change(full, -1)
		s.Own.note(full, time.Now())
	}
}

type LockWant struct {
	Name      string
	Exclusive bool
}

// lockWants returns the locks for some paths in one global order, so that two callers never
// wait for each other. Names are folded: on a file system that ignores case, two spellings
// are one file, and on others it costs little.
func lockWants(paths []string) []LockWant {
	m := make(map[string]bool)
	for _, p := range paths {
		p = FoldName(p)
		m[p] = true
		for p != "." {
			p = ParentOf(p)
			if !m[p] {
				m[p] = false
			}
		}
	}
	want := make([]LockWant, 0, len(m))
	for name, ex := range m {
		want = append(want, LockWant{name, ex})
	}
	slices.SortFunc(want, func(a, b LockWant) int {
		if a.Name < b.Name {
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
	want    []LockWant
	granted chan struct{}
}

func (t *lockTable) acquire(ctx context.Context, want []LockWant) (func(), error) {
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

func (t *lockTable) free(want []LockWant) {
	for _, l := range want {
		if l.Exclusive {
			delete(t.held, l.Name)
		} else if t.held[l.Name]--; t.held[l.Name] <= 0 {
			delete(t.held, l.Name)
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
			n := t.held[l.Name]
			ex, before := ahead[l.Name]
			if n < 0 || l.Exclusive && (n > 0 || before) || before && ex {
				ok = false
				break
			}
		}
		if !ok {
			for _, l := range w.want {
				ahead[l.Name] = ahead[l.Name] || l.Exclusive
			}
			rest = append(rest, w)
			continue
		}
		for _, l := range w.want {
			if l.Exclusive {
				t.held[l.Name] = -1
			} else {
				t.held[l.Name]++
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
	Busy map[string]int // running changes
}

func (o *ownWrites) change(name string, by int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Busy == nil {
		o.Busy = make(map[string]int)
	}
	if o.Busy[name] += by; o.Busy[name] == 0 {
		delete(o.Busy, name)
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

// Last returns when this program changed name, or a folder above it, if that was not before
// t.
func (o *ownWrites) Last(name string, t time.Time) (when time.Time, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if o.Busy[name] > 0 {
			return time.Now(), true
		}
		if w, ok := o.when[name]; ok && !w.Before(t) {
			return w, true
		}
		if name == "." {
			return when, false
		}
		name = ParentOf(name)
	}
}
