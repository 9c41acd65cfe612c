package fsaccess

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// Event is one change that a watch has found.
type Event struct {
	Path string
	Kind ChangeKind // [Added], [Changed] or [Removed]; a rename is a removal and an addition
	Dir  bool
	// Own reports whether this program made the change through this source.
	Own bool
}

// WatchOptions configures a watch. The zero value watches everything.
type WatchOptions struct {
	WalkOptions
	// Interval is the minimum time between two scans, 1 s by default. Without platform
	// notifications Watch waits max(Interval, 10 × scan time). With them it waits
	// max(3 × Interval, 20 × scan time). A scan lists the whole tree, which takes some
	// seconds for 50,000 files.
	Interval time.Duration
	// Ready, if set, is called once, after the first scan. Every change after that is
	// reported.
	Ready func()
}

// settleTime is the time to wait for more notifications after the first one.
const settleTime = 30 * time.Millisecond

// clockSlack is the tolerance for comparing a file's time with the end of our own write. A
// file with a time up to clockSlack later still counts as our change.
const clockSlack = 2 * time.Millisecond

// Watch returns the changes below root until ctx ends or the loop breaks. If the platform
// reports changes ([Features].Watch), Watch looks at the reported paths, and from time to
// time at everything. Otherwise it compares a listing with the last one at each interval.
// It also does so until the platform has confirmed the observation. Chromium 156 may never
// confirm it for a folder on a Linux disk.
//
// Events of one scan are sorted by path, a folder before its entries, but removals come
// first. An error is yielded, and the watch continues with the next scan. If root is gone,
// the watch ends.
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
		var poll, sweep time.Time // when to scan everything: without notifications, and with them
		rest := func(took time.Duration) {
			now := time.Now()
			sweep = now.Add(max(3*o.Interval, 20*took))
			if poll = now; 10*took > o.Interval {
				poll = now.Add(10*took - o.Interval) // and then until the next tick
			}
		}
		rest(time.Since(w.started))
		for {
			var names []string // nil: scan everything
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
			if err != nil && (!yield(Event{Path: root}, err) || core.NotExist(err)) {
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
	started time.Time // of the last scan
	pushed  atomic.Bool
}

// listen starts the platform's notifications. The watch polls until the platform confirms
// them, which Chromium 156 may never do for a folder on the disk. stop ends the
// notifications after ctx is done.
func (w *watch) listen(ctx context.Context, told chan []string) (stop func()) {
	p, ok := w.f.c.(core.Pusher)
	at, err := w.f.enter(w.root)
	if !ok || err != nil {
		return func() {}
	}
	ended := make(chan func(), 1)
	go func() {
		end, err := p.Push(ctx, at, told)
		if err != nil {
			end = func() {}
		} else {
			w.pushed.Store(true)
			select {
			case told <- nil: // changes from before the observation began
			default:
			}
		}
		ended <- end
	}()
	return func() { (<-ended)() }
}

// gather waits for a moment and joins all notifications. It returns nil if one of them is
// empty, which means: no names, scan everything.
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
			continue // the folder was removed during the listing
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
	own := w.f.c.Base()
	for i := range events {
		// A listing may show changes that were made a moment before it began.
		p := core.Join(own.Prefix, core.Join(w.f.dir, events[i].Path))
		when, ours := own.Own.Last(p, since.Add(-settleTime))
		// A change by another program after ours has a later time.
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

// only scans the named paths and, where a folder was added or removed, its entries.
func (w *watch) only(ctx context.Context, names []string) ([]Event, error) {
	var events []Event
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		p := core.Relative(w.f.dir, name)
		if !core.Within(w.root, p) || p == w.root || w.o.Skip != nil && w.o.Skip(Entry{Path: p}) {
			continue
		}
		now := make(map[string]Entry)
		fi, err := w.f.Stat(p)
		switch {
		case err == nil && fi.IsDir():
			if now, err = w.list(ctx, p); err != nil && !core.NotExist(err) {
				return events, err
			}
			if now == nil {
				now = make(map[string]Entry)
			}
			now[p] = Entry(core.EntryOf(p, fi))
		case err == nil:
			now[p] = Entry(core.EntryOf(p, fi))
		case !core.NotExist(err):
			return events, err
		}
		for q, e := range now {
			events = w.compare(events, q, e)
		}
		for q, old := range w.seen {
			if _, ok := now[q]; !ok && core.Within(p, q) {
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
