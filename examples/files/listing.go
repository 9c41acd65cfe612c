//go:build js && wasm

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
)

const (
	// large and patience are how many names of a folder are waited for, and how long. The
	// rest of a larger one comes while the person goes on.
	large    = 2000
	patience = time.Second
	// paintPause is the least time between two pictures of a folder that is being listed.
	paintPause = 100 * time.Millisecond
)

// A listing is one reading of one folder: names alone, for a browser opens each file to
// tell its size, which takes half a minute for 50,000.
type listing struct {
	dir   string
	stop  context.CancelFunc
	pages chan []fsaccess.Entry // in no order; closed at the end
	err   error                 // once pages is closed

	found   int
	settled chan struct{} // closed at the end, or when the folder has turned out to be large
	late    bool          // it was closed before the end
	ended   chan struct{}
	next    *listing // is to follow, because something has changed meanwhile
	shows   bool     // nothing of the folder was known: its rows are shown as they come
}

func newListing(dir string) *listing {
	return &listing{dir: dir, pages: make(chan []fsaccess.Entry, 64), settled: make(chan struct{}), ended: make(chan struct{})}
}

// listTop begins to read a folder that may not be in the tree yet.
func listTop(ctx context.Context, f fsaccess.FS) *listing {
	l := newListing(".")
	l.begin(ctx, f)
	return l
}

// begin reads, ahead of who takes the pages.
func (l *listing) begin(ctx context.Context, f fsaccess.FS) {
	ctx, l.stop = context.WithCancel(ctx)
	go func() {
		defer close(l.pages)
		l.err = l.read(ctx, fsaccess.WithContext(ctx, f))
	}()
}

func (l *listing) read(ctx context.Context, f fsaccess.FS) error {
	file, err := f.Open(l.dir)
	if err != nil {
		return err
	}
	defer file.Close()
	folder, ok := file.(fs.ReadDirFile)
	if !ok {
		return fmt.Errorf("%s: %w", l.dir, errors.ErrUnsupported)
	}
	for {
		list, err := folder.ReadDir(large)
		page := make([]fsaccess.Entry, len(list))
		for i, e := range list {
			page[i] = fsaccess.Entry{Path: path.Join(l.dir, e.Name()), Dir: e.IsDir()}
		}
		select {
		case l.pages <- page:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// settle lets those go on who wait.
func (l *listing) settle() {
	if !l.late {
		l.late = true
		close(l.settled)
	}
}

func (l *listing) end() {
	close(l.ended)
	if !l.late {
		close(l.settled)
	}
}

// wait waits until the folder was listed, or has turned out to be large: what goes wrong
// with the rest of it is said then.
func (l *listing) wait() error {
	<-l.settled
	select {
	case <-l.ended:
		return l.err
	default:
		return nil
	}
}

// folder begins with another folder, and its listing. What was still being read of the last
// one is given up.
func (t *tree) folder(ctx context.Context, of fsaccess.FS, top *listing) {
	t.ctx, t.of = ctx, of
	context.AfterFunc(ctx, top.stop)
	t.below, t.open, t.sizes = map[string][]fsaccess.Entry{}, map[string]bool{}, map[string]int64{}
	t.lists, t.picked = map[string]*listing{}, ""
	top.shows = true
	t.lists["."] = top
	t.flatten()
	element("tree").Set("scrollTop", 0)
	go t.follow(ctx, top)
}

// load reads the folders that are unfolded anew.
func (t *tree) load() error {
	t.sizes = map[string]int64{}
	var all []*listing
	for _, dir := range append([]string{"."}, t.unfolded()...) {
		all = append(all, t.list(dir))
	}
	for _, l := range all[1:] {
		_ = l.wait() // one that is gone is folded
	}
	return all[0].wait()
}

// list reads a folder. One that is being read is read once more behind that, for what
// changed meanwhile.
func (t *tree) list(dir string) *listing {
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

// follow takes what a listing finds. Rows that are shown as they come are put where they
// belong at once, for rows in the order they are found would all change their place at the
// end; flatten keeps what is pointed at, or selected, where it is.
func (t *tree) follow(ctx context.Context, l *listing) {
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
			element("listing").Set("textContent", "Listing… "+thousands(l.found))
			hide("listing", false)
		}
		t.flatten()
		painted = time.Now()
		// More and more seldom: what the browser does for each picture comes on top.
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

// listed is the end of a listing.
func (t *tree) listed(l *listing, come []fsaccess.Entry, paint func()) {
	l.stop()
	delete(t.lists, l.dir)
	if l.shows {
		t.busy(l.dir, false)
	} else if l.err == nil {
		t.below[l.dir] = nil
	}
	if l.err != nil && l.dir != "." {
		delete(t.open, l.dir)
	}
	if l.shows || l.err == nil {
		paint()
	} else {
		t.flatten()
	}
	l.end()
	if l.late { // nobody waits for it any more
		failed(l.err)
	}
	if n := l.next; n != nil {
		t.lists[l.dir] = n
		n.begin(t.ctx, t.of)
		go t.follow(t.ctx, n)
	}
}

// busy tells those who listen that rows are still coming. The count that is shown is not
// read out: it would go on all the time.
func (t *tree) busy(dir string, yes bool) {
	if dir == "." {
		element("tree").Call("setAttribute", "aria-busy", strconv.FormatBool(yes))
		if !yes {
			hide("listing", true)
		}
	}
}

// shownFirst orders a folder: folders, then files.
func shownFirst(x, y fsaccess.Entry) int {
	if x.Dir != y.Dir {
		return map[bool]int{true: -1, false: 1}[x.Dir]
	}
	return cmp.Compare(x.Path, y.Path)
}

// merge puts what came among what is there, in order.
func merge(have, come []fsaccess.Entry) []fsaccess.Entry {
	slices.SortFunc(come, shownFirst)
	if len(have) == 0 {
		return come
	}
	out := make([]fsaccess.Entry, 0, len(have)+len(come))
	for len(have) > 0 && len(come) > 0 {
		switch c := shownFirst(have[0], come[0]); {
		case c < 0:
			out, have = append(out, have[0]), have[1:]
		case c > 0:
			out, come = append(out, come[0]), come[1:]
		default:
			have = have[1:] // seen by the watch too
		}
	}
	return append(append(out, have...), come...)
}

// touch brings one name up to date: to list a large folder anew takes seconds.
func (t *tree) touch(name string) {
	dir := path.Dir(name)
	if _, shown := t.below[dir]; !shown {
		return
	}
	fi, err := t.of.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		failed(err)
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
		t.list(dir) // which may have seen it as it was
	}
}

// many is how many names of a folder are brought up to date one by one.
const many = 50

// soon brings up to date what the watch names, some times a second.
func (t *tree) soon(ctx context.Context, name string) {
	dir := path.Dir(name)
	t.changed[dir] = append(t.changed[dir], name)
	if t.due {
		return
	}
	t.due = true
	time.AfterFunc(paintPause, func() {
		t.app.mu.Lock()
		defer t.app.mu.Unlock()
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
	})
}

// watch shows what changes, whoever changes it. It begins when the folder was listed and
// is open: its first look asks for the size of each file, and would be in the way.
func (t *tree) watch(ctx context.Context, f *fsaccess.Folder, top *listing) {
	<-top.ended
	o := fsaccess.WatchOptions{Interval: time.Second, Ready: func() {
		go func() { // what changed between the listing and the first look
			t.app.mu.Lock()
			defer t.app.mu.Unlock()
			if ctx.Err() == nil {
				failed(t.load())
			}
		}()
	}}
	for e, err := range fsaccess.Watch(ctx, f, ".", o) {
		if ctx.Err() != nil {
			return
		}
		if failed(err) {
			continue
		}
		t.app.mu.Lock()
		if ctx.Err() == nil {
			t.soon(ctx, e.Path)
			if !e.Own {
				status("From outside: " + e.Path + " was " + string(e.Kind))
			}
		}
		t.app.mu.Unlock()
	}
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
