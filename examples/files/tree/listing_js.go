package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent"
)

const (
	// large and patience limit the wait for a folder's listing, in names and in time. The rest of a
	// larger folder is listed while the user goes on.
	large    = 2000
	patience = time.Second
	// paintPause is the least time between two updates of the tree while a folder is being listed.
	paintPause = 100 * time.Millisecond
)

// A Listing is one reading of one folder. It reads names only, because a browser opens each file
// for its size, which takes half a minute for 50,000.
type Listing struct {
	dir   string
	Stop  context.CancelFunc    // ends the reading
	pages chan []fsaccess.Entry // in no order, closed at the end
	err   error                 // valid once pages is closed

	found   int
	settled chan struct{} // closed at the end of the listing, or once the folder has turned out to be large
	late    bool          // settled was closed before the end
	Ended   chan struct{} // closed at the end of the listing
	next    *Listing      // follows this one, because the folder has changed meanwhile
	shows   bool          // the folder was unknown: its rows are shown as they come
}

func newListing(dir string) *Listing {
	return &Listing{dir: dir, pages: make(chan []fsaccess.Entry, 64), settled: make(chan struct{}), Ended: make(chan struct{})}
}

// List begins to list the top of a folder that need not be in the tree yet.
func List(ctx context.Context, f fsaccess.FS) *Listing {
	l := newListing(".")
	l.begin(ctx, f)
	return l
}

// begin starts to read the folder, up to 64 pages ahead of follow.
func (l *Listing) begin(ctx context.Context, f fsaccess.FS) {
	ctx, l.Stop = context.WithCancel(ctx)
	go func() {
		defer close(l.pages)
		l.err = l.read(ctx, fsaccess.WithContext(ctx, f))
	}()
}

func (l *Listing) read(ctx context.Context, f fsaccess.FS) error {
	return names(ctx, f, l.dir, func(page []fsaccess.Entry) error {
		select {
		case l.pages <- page:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// names reads the names of one folder, page by page.
func names(ctx context.Context, f fsaccess.FS, dir string, more func(page []fsaccess.Entry) error) error {
	file, err := f.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	folder, ok := file.(fs.ReadDirFile)
	if !ok {
		return fmt.Errorf("%s: %w", dir, errors.ErrUnsupported)
	}
	for ctx.Err() == nil {
		list, err := folder.ReadDir(large)
		page := make([]fsaccess.Entry, len(list))
		for i, e := range list {
			page[i] = fsaccess.Entry{Path: path.Join(dir, e.Name()), Dir: e.IsDir()}
		}
		if err := more(page); err != nil {
			return err
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// settle ends the wait of all callers of Wait, although the listing goes on.
func (l *Listing) settle() {
	if !l.late {
		l.late = true
		close(l.settled)
	}
}

func (l *Listing) end() {
	close(l.Ended)
	if !l.late {
		close(l.settled)
	}
}

// Wait waits until the folder is listed, or has turned out to be large. It returns the error of the
// listing. An error in the rest of a large folder is shown when it happens.
func (l *Listing) Wait() error {
	<-l.settled
	select {
	case <-l.Ended:
		return l.err
	default:
		return nil
	}
}

// Open replaces the tree by another folder, with the listing of its top. The caller has stopped
// the previous folder's listings.
func (t *Tree) Open(ctx context.Context, of fsaccess.FS, top *Listing) {
	t.ctx, t.of = ctx, of
	context.AfterFunc(ctx, top.Stop)
	t.below, t.open, t.sizes = map[string][]fsaccess.Entry{}, map[string]bool{}, map[string]int64{}
	t.lists, t.picked, t.wanted, t.from = map[string]*Listing{}, "", "", ""
	t.chosen, t.marks, t.clip = map[string]bool{}, nil, nil
	t.filter.end()
	top.shows = true
	t.lists["."] = top
	t.flatten()
	dom.Element("tree").Set("scrollTop", 0)
	go t.follow(ctx, top)
}

// Load lists the top and all unfolded folders again. It returns the error of the top.
func (t *Tree) Load() error {
	t.sizes = map[string]int64{}
	var all []*Listing
	for _, dir := range append([]string{"."}, t.unfolded()...) {
		all = append(all, t.list(dir))
	}
	for _, l := range all[1:] {
		_ = l.Wait() // a folder that is gone is folded
	}
	return all[0].Wait()
}

// list lists a folder, and returns the listing. If one is under way, the new one follows it, to
// find later changes.
func (t *Tree) list(dir string) *Listing {
	l := newListing(dir)
	if now := t.lists[dir]; now != nil {
		if now.next == nil {
			now.next = l
			if now.late {
				l.settle()
			}
		}
		return now.next
	}
	_, known := t.below[dir]
	l.shows = !known
	t.lists[dir] = l
	l.begin(t.ctx, t.of)
	go t.follow(t.ctx, l)
	return l
}

// follow receives the names of a listing. Rows that are shown as they come are sorted at once,
// because unsorted rows would all move at the end. flatten keeps the row under the pointer, or the
// selected one, in its place.
func (t *Tree) follow(ctx context.Context, l *Listing) {
	var come []fsaccess.Entry
	pause, painted := time.Duration(0), time.Time{}
	began := time.Now()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	paint := func(last bool) {
		began := time.Now()
		t.below[l.dir] = merge(t.below[l.dir], come)
		come = nil
		if !last && !painted.IsZero() && l.dir == "." {
			dom.SetText("listing", "Listing… "+consent.Thousands(l.found))
			dom.Hide("listing", false)
		}
		t.flatten()
		painted = time.Now()
		// The pauses grow up to 1 s, or to ten times the duration of an update, because the
		// browser's own work for each update comes on top.
		pause = max(paintPause, min(2*pause, time.Second), 10*time.Since(began))
		timer.Reset(pause)
	}
	if l.shows {
		t.busy(l.dir, true)
	}
	for more := true; more; {
		var page []fsaccess.Entry
		select {
		case page, more = <-l.pages:
			come = append(come, page...)
			l.found += len(page)
		case <-timer.C:
			timer.Reset(max(pause, paintPause))
		}
		if ctx.Err() != nil { // another folder is open
			l.end()
			if l.next != nil {
				l.next.end()
			}
			return
		}
		if l.found >= large || time.Since(began) > patience {
			l.settle()
		}
		if l.shows && more && len(come) > 0 && time.Since(painted) >= pause {
			paint(false)
		}
	}
	t.listed(l, come, func() { paint(true) })
}

// listed ends a listing, and begins the next one of the same folder.
func (t *Tree) listed(l *Listing, come []fsaccess.Entry, paint func()) {
	l.Stop()
	delete(t.lists, l.dir)
	if l.shows {
		t.busy(l.dir, false)
	} else if l.err == nil {
		t.below[l.dir] = nil
	}
	if l.err != nil && l.dir != "." {
		delete(t.open, l.dir)
	}
	if l.dir == "." {
		words := t.empty
		if errors.Is(l.err, fs.ErrNotExist) {
			words = "This folder is no longer there. It may have been renamed, moved or deleted. Open it again where it is now, or open another one."
			t.below["."] = nil
		}
		dom.SetText("nothing", words)
	}
	if l.shows || l.err == nil {
		paint()
	} else {
		t.flatten()
	}
	l.end()
	if l.late { // no caller waits for the error
		dom.Failed(l.err)
	}
	if n := l.next; n != nil {
		t.lists[l.dir] = n
		n.begin(t.ctx, t.of)
		go t.follow(t.ctx, n)
	}
}

// busy marks the tree as busy for screen readers while rows are coming. The visible count is not
// read aloud, because it changes all the time.
func (t *Tree) busy(dir string, yes bool) {
	if dir == "." {
		dom.Element("tree").Call("setAttribute", "aria-busy", strconv.FormatBool(yes))
		if !yes {
			dom.Hide("listing", true)
		}
	}
}

// touch updates one name, because listing a large folder again takes seconds.
func (t *Tree) touch(name string) {
	dir := path.Dir(name)
	if _, shown := t.below[dir]; !shown {
		return
	}
	fi, err := t.of.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		dom.Failed(err)
		return
	}
	delete(t.sizes, name)
	list := slices.DeleteFunc(slices.Clone(t.below[dir]), func(e fsaccess.Entry) bool { return e.Path == name })
	if err == nil {
		list = merge(list, []fsaccess.Entry{{Path: name, Dir: fi.IsDir()}})
	}
	if err != nil || !fi.IsDir() {
		delete(t.open, name)
		delete(t.below, name)
	}
	t.below[dir] = list
	if t.lists[dir] != nil {
		t.list(dir) // that listing may have read the old state
	}
}

// many is the number of changed names of a folder up to which they are updated one by one. For more
// of them the folder is listed again.
const many = 50

// soon updates the names that the watch reports, at most once per paintPause.
func (t *Tree) soon(ctx context.Context, name string) {
	dir := path.Dir(name)
	t.changed[dir] = append(t.changed[dir], name)
	if t.due {
		return
	}
	t.due = true
	time.AfterFunc(paintPause, func() {
		t.Lock.Lock()
		defer t.Lock.Unlock()
		all := t.changed
		t.due, t.changed = false, map[string][]string{}
		if ctx.Err() != nil {
			return
		}
		for dir, names := range all {
			if _, shown := t.below[dir]; shown && len(names) > many {
				t.list(dir)
				continue
			}
			for _, name := range names {
				t.fresh[name] = true
				t.touch(name)
			}
		}
		t.flatten()
		go t.Changed()
	})
}

// Watch shows the changes in the folder, whoever makes them. It begins when the folder is listed
// and open, because its first scan asks for the size of each file and would slow down the listing.
func (t *Tree) Watch(ctx context.Context, f *fsaccess.Folder, top *Listing) {
	<-top.Ended
	o := fsaccess.WatchOptions{Interval: time.Second, Ready: func() {
		go func() { // for changes between the listing and the first scan
			t.Lock.Lock()
			defer t.Lock.Unlock()
			if ctx.Err() == nil {
				dom.Failed(t.Load())
			}
		}()
	}}
	for e, err := range fsaccess.Watch(ctx, f, ".", o) {
		if ctx.Err() != nil {
			return
		}
		if dom.Failed(err) {
			continue
		}
		t.Lock.Lock()
		if ctx.Err() == nil {
			t.soon(ctx, e.Path)
			if !e.Own {
				dom.Status("Another program or tab " + map[fsaccess.ChangeKind]string{fsaccess.Added: "added ", fsaccess.Removed: "deleted "}[e.Kind] + map[bool]string{true: "changed "}[e.Kind == fsaccess.Changed] + e.Path)
			}
		}
		t.Lock.Unlock()
	}
}
