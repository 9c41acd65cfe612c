package tree

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

const rowHeight = 28

// Tree shows the open folder. However many files there are, the page has only the rows that fit.
type Tree struct {
	lock   sync.Locker                 // held during one action of the user's
	picks  func(name string)           // a file was chosen
	ctx    context.Context             // ends with the open folder
	of     fsaccess.FS                 // the open folder
	below  map[string][]fsaccess.Entry // the entries of each unfolded folder
	lists  map[string]*Listing         // the listings under way, by folder
	open   map[string]bool
	fresh  map[string]bool  // changed just now
	sizes  map[string]int64 // by path, -1 before a size is read and if it cannot be
	asking bool             // measure runs
	rows   []node
	drawn  map[string]*row   // the rows in the document, by path
	blank  map[bool]js.Value // rows to copy: of a folder (true) and of a file
	at     int               // index of the selected row
	picked string            // its path
	wanted string            // the path to select as soon as it has a row, "" if none

	changed map[string][]string // names to update, by folder
	due     bool                // an update of changed is scheduled
}

type node struct {
	fsaccess.Entry
	depth int
}

// row is the element of a node in the document.
type row struct {
	el, size js.Value
	dir      bool
	i        int
	at, open bool
}

// New returns the tree of the page, which shows no folder yet. It locks lock during its own actions.
// It calls picks with the path of each file that the user chooses.
func New(lock sync.Locker, picks func(name string)) *Tree {
	t := &Tree{lock: lock, picks: picks, open: map[string]bool{}, below: map[string][]fsaccess.Entry{}, fresh: map[string]bool{}, sizes: map[string]int64{}, drawn: map[string]*row{}, changed: map[string][]string{},
		blank: map[bool]js.Value{true: blankRow(true), false: blankRow(false)}}
	box := dom.Element("tree")
	box.Call("addEventListener", "scroll", js.FuncOf(func(js.Value, []js.Value) any { t.draw(); return nil }))
	dom.On(js.Global(), "resize", func(js.Value) { t.draw() })
	dom.OnKey(box, t.key)
	dom.On(box, "click", func(e js.Value) {
		if row := e.Get("target").Call("closest", ".row"); !row.IsNull() {
			t.choose(row.Get("dataset").Get("path").String())
		}
	})
	return t
}

func (t *Tree) unfolded() []string {
	var list []string
	for dir, open := range t.open {
		if open {
			list = append(list, dir)
		}
	}
	slices.Sort(list)
	return list
}

// flatten rebuilds the rows. When rows come or go above it, the row under the pointer stays there.
// Without one, the selected row or the scroll position stays.
func (t *Tree) flatten() {
	fixed, was := t.anchor()
	t.rows = t.rows[:0]
	var add func(dir string, depth int)
	add = func(dir string, depth int) {
		for _, e := range t.below[dir] {
			t.rows = append(t.rows, node{e, depth})
			if e.Dir && t.open[e.Path] {
				add(e.Path, depth+1)
			}
		}
	}
	add(".", 0)
	if t.wanted != "" && t.index(t.wanted) >= 0 {
		t.picked, t.wanted = t.wanted, ""
	}
	t.at = max(0, slices.IndexFunc(t.rows, func(n node) bool { return n.Path == t.picked }))
	dom.Hide("nothing", len(t.rows) > 0 || t.lists["."] != nil)
	dom.Element("rows").Get("style").Set("height", fmt.Sprintf("%dpx", len(t.rows)*rowHeight))
	if now := t.index(fixed); now >= 0 && now != was {
		box := dom.Element("tree")
		box.Set("scrollTop", box.Get("scrollTop").Int()+(now-was)*rowHeight)
	}
	t.draw()
}

// anchor returns the path and the index of the row that must not move, "" if there is none.
func (t *Tree) anchor() (name string, at int) {
	box := dom.Element("tree")
	top := box.Get("scrollTop").Int()
	in := func(i int) bool {
		return i >= 0 && i < len(t.rows) && i*rowHeight >= top-rowHeight && i*rowHeight < top+box.Get("clientHeight").Int()
	}
	if over := box.Call("querySelector", ".row:hover"); !over.IsNull() {
		if at = t.index(over.Get("dataset").Get("path").String()); in(at) {
			return t.rows[at].Path, at
		}
	}
	if t.picked != "" && in(t.at) && t.rows[t.at].Path == t.picked {
		return t.picked, t.at
	}
	if at = (top + rowHeight - 1) / rowHeight; top > 0 && in(at) {
		return t.rows[at].Path, at
	}
	return "", 0
}

func (t *Tree) index(name string) int {
	return slices.IndexFunc(t.rows, func(n node) bool { return n.Path == name })
}

// draw adds the rows in view to the document. A row that is there already is kept, because a press
// and its release are a click only on the same element.
func (t *Tree) draw() {
	box := dom.Element("tree")
	first := max(0, box.Get("scrollTop").Int()/rowHeight-5)
	last := min(len(t.rows), first+box.Get("clientHeight").Int()/rowHeight+12)
	keep := map[string]*row{}
	for _, n := range t.rows[min(first, last):last] {
		if r := t.drawn[n.Path]; r != nil && r.dir == n.Dir && !t.fresh[n.Path] {
			keep[n.Path] = r
		}
	}
	for name, r := range t.drawn {
		if keep[name] == nil {
			r.el.Call("remove")
		}
	}
	t.drawn = keep
	rows := dom.Element("rows")
	next := rows.Get("firstElementChild")
	for i := first; i < last; i++ {
		r := keep[t.rows[i].Path]
		if r == nil {
			r = t.row(i)
			keep[t.rows[i].Path] = r
		}
		t.place(r, i)
		if r.el.Equal(next) {
			next = next.Get("nextElementSibling")
		} else {
			rows.Call("insertBefore", r.el, next)
		}
	}
	if len(t.rows) > 0 {
		box.Call("setAttribute", "aria-activedescendant", fmt.Sprintf("row-%d", t.at))
	}
	clear(t.fresh)
	if !t.asking {
		t.asking = true
		go t.measure()
	}
}

// measure reads the sizes of the files in view. It stops while names are coming, because the reads
// would slow down the listing.
func (t *Tree) measure() {
	defer func() { t.asking = false }()
	for {
		var names []string
		for name, r := range t.drawn {
			if _, known := t.sizes[name]; !known && !r.dir {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return
		}
		slices.Sort(names)
		for _, name := range names {
			if top := t.lists["."]; top != nil && top.shows {
				return
			}
			t.sizes[name] = -1
			text := ""
			if fi, err := t.of.Stat(name); err == nil {
				t.sizes[name], text = fi.Size(), dom.Size(fi.Size())
			}
			if r := t.drawn[name]; r != nil {
				r.size.Set("textContent", text)
			}
		}
	}
}

const (
	folderIcon = "M3 6h6l2 2h10v11H3z"
	fileIcon   = "M6 3h8l4 4v14H6z"
)

func (t *Tree) row(i int) *row {
	n := t.rows[i]
	el := t.blank[n.Dir].Call("cloneNode", true) // one call instead of thirty
	if t.fresh[n.Path] {
		el.Set("className", "row fresh")
	}
	el.Get("dataset").Set("path", n.Path)
	if n.depth > 0 {
		el.Get("style").Set("paddingInlineStart", fmt.Sprintf("%dpx", 6+n.depth*14))
		el.Call("setAttribute", "aria-level", fmt.Sprint(n.depth+1))
	}
	label := el.Get("children").Index(1)
	label.Set("textContent", path.Base(n.Path))
	r := &row{el: el, dir: n.Dir, i: -1}
	if !n.Dir {
		r.size = label.Get("nextElementSibling")
		if bytes, known := t.sizes[n.Path]; known && bytes >= 0 {
			r.size.Set("textContent", dom.Size(bytes))
		}
	}
	return r
}

// blankRow returns a row of the top folder without a name.
func blankRow(dir bool) js.Value {
	el, label := dom.Create("div", ""), dom.Create("span", "")
	el.Set("className", "row")
	el.Get("style").Set("paddingInlineStart", "6px")
	for k, v := range map[string]string{"role": "treeitem", "aria-level": "1", "aria-selected": "false"} {
		el.Call("setAttribute", k, v)
	}
	label.Set("className", "label")
	if dir {
		el.Call("setAttribute", "aria-expanded", "false")
		el.Call("append", draw(folderIcon), label)
	} else {
		el.Call("append", draw(fileIcon), label, dom.Create("small", ""))
	}
	return el
}

// place updates a row to index i, the selection and the fold state.
func (t *Tree) place(r *row, i int) {
	if r.i != i {
		r.i = i
		r.el.Set("id", fmt.Sprintf("row-%d", i))
		r.el.Get("dataset").Set("i", fmt.Sprint(i))
		r.el.Get("style").Set("top", fmt.Sprintf("%dpx", i*rowHeight))
	}
	if at := i == t.at; r.at != at {
		r.at = at
		r.el.Call("setAttribute", "aria-selected", fmt.Sprint(at))
	}
	if open := t.open[t.rows[i].Path]; r.dir && r.open != open {
		r.open = open
		r.el.Call("setAttribute", "aria-expanded", fmt.Sprint(open))
	}
}

// draw returns an icon with the path d.
func draw(d string) js.Value {
	const ns = "http://www.w3.org/2000/svg"
	svg, line := dom.Document().Call("createElementNS", ns, "svg"), dom.Document().Call("createElementNS", ns, "path")
	for k, v := range map[string]string{"viewBox": "0 0 24 24", "width": "15", "height": "15", "aria-hidden": "true", "fill": "none", "stroke": "currentColor", "stroke-width": "1.8", "stroke-linejoin": "round"} {
		svg.Call("setAttribute", k, v)
	}
	line.Call("setAttribute", "d", d)
	svg.Call("append", line)
	return svg
}

// key handles the keys of a tree, and reports whether the key was one of them.
func (t *Tree) key(e js.Value) bool {
	if len(t.rows) == 0 {
		return false
	}
	n := t.rows[t.at]
	switch e.Get("key").String() {
	case "ArrowDown":
		t.move(t.at + 1)
	case "ArrowUp":
		t.move(t.at - 1)
	case "Home":
		t.move(0)
	case "End":
		t.move(len(t.rows) - 1)
	case "ArrowRight":
		if n.Dir && !t.open[n.Path] {
			go t.fold(n.Path, true)
		} else {
			t.move(t.at + 1)
		}
	case "ArrowLeft":
		if n.Dir && t.open[n.Path] {
			go t.fold(n.Path, false)
		} else if up := t.index(path.Dir(n.Path)); up >= 0 {
			t.move(up)
		}
	case "Enter", " ":
		go t.choose(n.Path)
	default:
		return false
	}
	return true
}

// Selected returns the selected entry, and reports whether there is one.
func (t *Tree) Selected() (fsaccess.Entry, bool) {
	if t.at >= len(t.rows) {
		return fsaccess.Entry{}, false
	}
	return t.rows[t.at].Entry, true
}

// Expect selects a path as soon as it has a row. Without it, an action between the new row and Reveal
// would go to the path that was selected before. A choice of the user's, or "", ends the wait.
func (t *Tree) Expect(name string) { t.wanted = name }

// Reveal unfolds the folders above a path, and selects it.
func (t *Tree) Reveal(name string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	for i := range name {
		if name[i] == '/' {
			t.touch(name[:i])
			t.open[name[:i]] = true
			dom.Failed(t.list(name[:i]).Wait())
		}
	}
	t.touch(name)
	t.picked, t.wanted = name, ""
	t.flatten()
	if len(t.rows) > 0 {
		t.move(t.at)
	}
}

func (t *Tree) move(to int) {
	t.at = min(max(0, to), len(t.rows)-1)
	t.picked, t.wanted = t.rows[t.at].Path, ""
	box := dom.Element("tree")
	top := box.Get("scrollTop").Int()
	if y := t.at * rowHeight; y < top {
		box.Set("scrollTop", y)
	} else if over := y + rowHeight - top - box.Get("clientHeight").Int(); over > 0 {
		box.Set("scrollTop", top+over)
	}
	t.draw()
}

// choose folds or unfolds a folder, and passes on the path of a file.
func (t *Tree) choose(name string) {
	i := t.index(name)
	if i < 0 {
		return
	}
	t.move(i)
	if t.rows[i].Dir {
		t.fold(name, !t.open[name])
	} else {
		t.picks(name)
	}
}

func (t *Tree) fold(dir string, open bool) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.foldLocked(dir, open)
}

func (t *Tree) foldLocked(dir string, open bool) {
	t.open[dir] = open
	t.flatten()
	if open {
		dom.Failed(t.list(dir).Wait())
	}
}
