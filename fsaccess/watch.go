package fsaccess

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Event is one change that a watch saw.
type Event struct {
	Path string
	Kind ChangeKind // [Added], [Changed] or [Removed]; a rename is one of each
	Dir  bool
	// Own: the change was made through this source, in this program.
	Own bool
}

// WatchOptions shapes a watch.
type WatchOptions struct {
	WalkOptions
	// Interval is the time between two looks where the platform does not tell, or ten
	// times what a look takes; where it does it is three times that, or twenty times what
	// a look takes. The default is one second. A look costs a listing of the tree: of
	// 50,000 files some seconds.
	Interval time.Duration
	// Ready, if set, is called once, when the first look is done: what changes from then
	// on is told.
	Ready func()
}

// settleTime is how long to wait for more when a platform tells of a change.
const settleTime = 30 * time.Millisecond

// clockSlack is how much later a file may claim to be changed than our write of it was
// done, and the change still be ours.
const clockSlack = 2 * time.Millisecond

// Watch tells what changes below root, until ctx ends or the loop breaks. Where
// the platform tells ([Features.Watch]) what it names is looked at, and, now and
// then, everything. Elsewhere, and until the platform has said that it will tell
// (Chromium 156 may never say so of a folder on a Linux disk), a listing is compared
// with the last one at each interval. Events come by path, a
// folder before what is in it, removals first. An error is yielded and the
// watch goes on with the next look; when root is gone it ends.
func Watch(ctx context.Context, fsys FS, root string, o WatchOptions) iter.Seq2[Event, error] {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		w := &watch{f: folderOf(ctx, fsys), root: root, o: o}
		told := make(chan []string, 64)
		stop := w.listen(ctx, told)
		defer func() { cancel(); stop() }()
		w.started = time.Now()
		if err := w.snapshot(ctx); err != nil {
			yield(Event{Path: root}, err)
			return
		}
		tick := time.NewTicker(o.Interval)
		defer tick.Stop()
		if o.Ready != nil {
			o.Ready()
		}
		var poll, sweep time.Time // when to look at everything: in any case, and although the platform tells
		rest := func(took time.Duration) {
			now := time.Now()
			sweep = now.Add(max(3*o.Interval, 20*took))
			if poll = now; 10*took > o.Interval {
				poll = now.Add(10*took - o.Interval) // and to the next tick
			}
		}
		rest(time.Since(w.started))
		for {
			var names []string // nil: look at everything
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if now := time.Now(); now.Before(poll) || w.pushed.Load() && now.Before(sweep) {
					continue
				}
			case names = <-told:
				names = w.gather(ctx, told, names)
			}
			events, err := w.look(ctx, names)
			if ctx.Err() != nil {
				return
			}
			if names == nil {
				rest(time.Since(w.started))
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil && (!yield(Event{Path: root}, err) || notExist(err)) {
				return
			}
		}
	}
}

type watch struct {
	f       *Folder
	root    string
	o       WatchOptions
	seen    map[string]Entry
	started time.Time // of the last look
	pushed  atomic.Bool
}

// listen asks the platform to tell. Until it says that it will, which in Chromium 156
// may be never for a folder on the disk, the watch polls. stop ends it once ctx is done.
func (w *watch) listen(ctx context.Context, told chan []string) (stop func()) {
	p, ok := w.f.c.(pusher)
	at, err := w.f.enter(w.root)
	if !ok || err != nil {
		return func() {}
	}
	ended := make(chan func(), 1)
	go func() {
		end, err := p.push(ctx, at, told)
		if err != nil {
			end = func() {}
		} else {
			w.pushed.Store(true)
			select {
			case told <- nil: // what came before it listened
			default:
			}
		}
		ended <- end
	}()
	return func() { (<-ended)() }
}

// gather waits a moment for what belongs together. An empty list among what was
// told means: no names, look at everything.
func (w *watch) gather(ctx context.Context, told chan []string, first []string) []string {
	all := first
	everything := len(first) == 0
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	for {
		select {
		case more := <-told:
			everything = everything || len(more) == 0
			all = append(all, more...)
		case <-timer.C:
			if everything {
				return nil
			}
			return all
		case <-ctx.Done():
			return nil
		}
	}
}

func (w *watch) list(ctx context.Context, root string) (map[string]Entry, error) {
	m := make(map[string]Entry)
	for e, err := range Walk(ctx, w.f, root, w.o.WalkOptions) {
		if err != nil {
			if e.Path == root {
				return nil, err
			}
			continue // a folder that went away while it was listed
		}
		m[e.Path] = e
	}
	return m, nil
}

func (w *watch) snapshot(ctx context.Context) (err error) {
	w.seen, err = w.list(ctx, w.root)
	return err
}

func (w *watch) look(ctx context.Context, names []string) ([]Event, error) {
	since := w.started
	started := time.Now()
	var events []Event
	var err error
	if names == nil {
		events, err = w.everything(ctx)
	} else {
		events, err = w.only(ctx, names)
	}
	if err != nil {
		return events, err
	}
	own := w.f.c.base()
	for i := range events {
		// What a listing saw may have been done a moment before it began.
		p := join(own.prefix, join(w.f.dir, events[i].Path))
		when, ours := own.own.last(p, since.Add(-settleTime))
		// Somebody else's change behind ours has a later time.
		events[i].Own = ours && !w.seen[events[i].Path].ModTime.After(when.Add(clockSlack))
	}
	w.started = started
	slices.SortFunc(events, func(a, b Event) int {
		if (a.Kind == Removed) != (b.Kind == Removed) {
			if a.Kind == Removed {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	return events, nil
}

func (w *watch) everything(ctx context.Context) ([]Event, error) {
	now, err := w.list(ctx, w.root)
	if err != nil {
		return nil, err
	}
	var events []Event
	for p, e := range now {
		events = w.compare(events, p, e)
	}
	for p, old := range w.seen {
		if _, ok := now[p]; !ok {
			events = append(events, Event{Path: p, Kind: Removed, Dir: old.Dir})
		}
	}
	w.seen = now
	return events, nil
}

func (w *watch) compare(events []Event, p string, e Entry) []Event {
	old, was := w.seen[p]
	switch {
	case !was:
		return append(events, Event{Path: p, Kind: Added, Dir: e.Dir})
	case old.Dir != e.Dir:
		return append(events, Event{Path: p, Kind: Removed, Dir: old.Dir}, Event{Path: p, Kind: Added, Dir: e.Dir})
	case !e.Dir && (old.Size != e.Size || !old.ModTime.Equal(e.ModTime)):
		return append(events, Event{Path: p, Kind: Changed})
	}
	return events
}

// only looks at the named paths and, where a folder came or went, below them.
func (w *watch) only(ctx context.Context, names []string) ([]Event, error) {
	var events []Event
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		p := relative(w.f.dir, name)
		if !within(w.root, p) || p == w.root || w.o.Skip != nil && w.o.Skip(Entry{Path: p}) {
			continue
		}
		now := make(map[string]Entry)
		fi, err := w.f.Stat(p)
		switch {
		case err == nil && fi.IsDir():
			if now, err = w.list(ctx, p); err != nil && !notExist(err) {
				return events, err
			}
			if now == nil {
				now = make(map[string]Entry)
			}
			now[p] = entryOf(p, fi)
		case err == nil:
			now[p] = entryOf(p, fi)
		case !notExist(err):
			return events, err
		}
		for q, e := range now {
			events = w.compare(events, q, e)
		}
		for q, old := range w.seen {
			if _, ok := now[q]; !ok && within(p, q) {
				events = append(events, Event{Path: q, Kind: Removed, Dir: old.Dir})
				delete(w.seen, q)
			}
		}
		for q, e := range now {
			w.seen[q] = e
		}
	}
	return events, nil
}
