//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
)

const rowHeight = 28

// tree shows as many rows as there is room for, however many files there are.
type tree struct {
	app    *app
	below  map[string][]fsaccess.Entry // of folders that are unfolded
	open   map[string]bool
	fresh  map[string]bool // changed just now
	sizes  map[string]int64
	asking bool // sizes are being asked for
	rows   []node
	at     int // the selected row
	picked string
}

type node struct {
	fsaccess.Entry
	depth int
}

func newTree(a *app) *tree {
	t := &tree{app: a, open: map[string]bool{}, below: map[string][]fsaccess.Entry{}, fresh: map[string]bool{}, sizes: map[string]int64{}}
	box := element("tree")
	box.Call("addEventListener", "scroll", js.FuncOf(func(js.Value, []js.Value) any { t.draw(); return nil }))
	on(js.Global(), "resize", func(js.Value) { t.draw() })
	onKey(box, t.key)
	on(box, "click", func(e js.Value) {
		if row := e.Get("target").Call("closest", ".row"); !row.IsNull() {
			t.choose(row.Get("dataset").Get("i").String(), true)
		}
	})
	return t
}

// load reads the folders that are unfolded, and shows them. It reads names alone: a
// browser opens each file to tell its size, which takes half a minute for 50,000.
func (t *tree) load() error {
	t.below, t.sizes = map[string][]fsaccess.Entry{}, map[string]int64{}
	for _, dir := range append([]string{"."}, t.unfolded()...) {
		names, err := t.app.work.ReadDir(dir)
		if err != nil {
			delete(t.open, dir)
			if dir == "." {
				return err
			}
			continue
		}
		list := make([]fsaccess.Entry, len(names))
		for i, n := range names {
			list[i] = fsaccess.Entry{Path: path.Join(dir, n.Name()), Dir: n.IsDir()}
		}
		slices.SortStableFunc(list, func(x, y fsaccess.Entry) int {
			if x.Dir != y.Dir {
				return map[bool]int{true: -1, false: 1}[x.Dir]
			}
			return 0
		})
		t.below[dir] = list
	}
	t.flatten()
	return nil
}

func (t *tree) unfolded() []string {
	var list []string
	for dir, open := range t.open {
		if open {
			list = append(list, dir)
		}
	}
	slices.Sort(list)
	return list
}

func (t *tree) flatten() {
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
	t.at = max(0, slices.IndexFunc(t.rows, func(n node) bool { return n.Path == t.picked }))
	hide("nothing", len(t.rows) > 0)
	element("rows").Get("style").Set("height", fmt.Sprintf("%dpx", len(t.rows)*rowHeight))
	t.draw()
}

// draw makes the rows that are in view.
func (t *tree) draw() {
	box := element("tree")
	first := max(0, box.Get("scrollTop").Int()/rowHeight-5)
	last := min(len(t.rows), first+box.Get("clientHeight").Int()/rowHeight+12)
	part := document().Call("createDocumentFragment")
	for i := first; i < last; i++ {
		part.Call("append", t.row(i))
	}
	element("rows").Call("replaceChildren", part)
	if len(t.rows) > 0 {
		box.Call("setAttribute", "aria-activedescendant", fmt.Sprintf("row-%d", t.at))
	}
	clear(t.fresh)
	if !t.asking {
		t.asking = true
		go t.measure()
	}
}

// measure asks for the sizes of the files that are in view.
func (t *tree) measure() {
	defer func() { t.asking = false }()
	for {
		rows := document().Call("querySelectorAll", "#tree small:empty")
		asked := false
		for _, el := range each(rows) {
			name := el.Get("parentNode").Get("dataset").Get("path").String()
			if bytes, known := t.sizes[name]; known {
				if bytes >= 0 { // drawn anew meanwhile
					el.Set("textContent", size(bytes))
				}
				continue
			}
			t.sizes[name], asked = -1, true
			if fi, err := t.app.work.Stat(name); err == nil {
				t.sizes[name] = fi.Size()
				el.Set("textContent", size(fi.Size()))
			}
		}
		if !asked {
			return
		}
	}
}

const (
	folderIcon = "M3 6h6l2 2h10v11H3z"
	fileIcon   = "M6 3h8l4 4v14H6z"
)

func (t *tree) row(i int) js.Value {
	n := t.rows[i]
	el, label := create("div", ""), create("span", path.Base(n.Path))
	el.Set("id", fmt.Sprintf("row-%d", i))
	el.Set("className", "row")
	if t.fresh[n.Path] {
		el.Set("className", "row fresh")
	}
	el.Get("dataset").Set("i", fmt.Sprint(i))
	el.Get("dataset").Set("path", n.Path)
	el.Get("style").Set("top", fmt.Sprintf("%dpx", i*rowHeight))
	el.Get("style").Set("paddingInlineStart", fmt.Sprintf("%dpx", 6+n.depth*14))
	for k, v := range map[string]string{"role": "treeitem", "aria-level": fmt.Sprint(n.depth + 1), "aria-selected": fmt.Sprint(i == t.at)} {
		el.Call("setAttribute", k, v)
	}
	icon := fileIcon
	if n.Dir {
		icon = folderIcon
		el.Call("setAttribute", "aria-expanded", fmt.Sprint(t.open[n.Path]))
	}
	label.Set("className", "label")
	el.Call("append", draw(icon), label)
	if !n.Dir {
		small := create("small", "")
		if bytes, known := t.sizes[n.Path]; known && bytes >= 0 {
			small.Set("textContent", size(bytes))
		}
		el.Call("append", small)
	}
	return el
}

// draw makes an icon.
func draw(d string) js.Value {
	const ns = "http://www.w3.org/2000/svg"
	svg, line := document().Call("createElementNS", ns, "svg"), document().Call("createElementNS", ns, "path")
	for k, v := range map[string]string{"viewBox": "0 0 24 24", "width": "15", "height": "15", "aria-hidden": "true", "fill": "none", "stroke": "currentColor", "stroke-width": "1.8", "stroke-linejoin": "round"} {
		svg.Call("setAttribute", k, v)
	}
	line.Call("setAttribute", "d", d)
	svg.Call("append", line)
	return svg
}

// key moves through the tree, as trees do.
func (t *tree) key(e js.Value) bool {
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
		} else if up := slices.IndexFunc(t.rows, func(o node) bool { return o.Path == path.Dir(n.Path) }); up >= 0 {
			t.move(up)
		}
	case "Enter", " ":
		go t.choose(fmt.Sprint(t.at), true)
	default:
		return false
	}
	return true
}

// selected is the row that is selected, if there is one.
func (t *tree) selected() (node, bool) {
	if t.at >= len(t.rows) {
		return node{}, false
	}
	return t.rows[t.at], true
}

// reveal unfolds what a path is in, and selects it.
func (t *tree) reveal(name string) {
	t.app.mu.Lock()
	defer t.app.mu.Unlock()
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		t.open[dir] = true
	}
	t.picked = name
	if !failed(t.load()) && len(t.rows) > 0 {
		t.move(t.at)
	}
}

func (t *tree) move(to int) {
	t.at = min(max(0, to), len(t.rows)-1)
	t.picked = t.rows[t.at].Path
	box := element("tree")
	top := box.Get("scrollTop").Int()
	if y := t.at * rowHeight; y < top {
		box.Set("scrollTop", y)
	} else if over := y + rowHeight - top - box.Get("clientHeight").Int(); over > 0 {
		box.Set("scrollTop", top+over)
	}
	t.draw()
}

// choose folds a folder, and puts a file's name into what is being written.
func (t *tree) choose(index string, act bool) {
	t.app.mu.Lock()
	defer t.app.mu.Unlock()
	var i int
	if _, err := fmt.Sscan(index, &i); err != nil || i >= len(t.rows) {
		return
	}
	t.move(i)
	n := t.rows[i]
	switch {
	case !act:
	case n.Dir:
		t.foldLocked(n.Path, !t.open[n.Path])
	default:
		name := n.Path
		if slices.ContainsFunc([]rune(name), func(r rune) bool { return r == ' ' }) {
			name = `"` + name + `"`
		}
		text := value("text")
		if text == "" {
			text = "show"
		}
		element("text").Set("value", text+" "+name)
		element("text").Call("focus")
	}
}

func (t *tree) fold(dir string, open bool) {
	t.app.mu.Lock()
	defer t.app.mu.Unlock()
	t.foldLocked(dir, open)
}

func (t *tree) foldLocked(dir string, open bool) {
	t.open[dir] = open
	failed(t.load())
}

// watch shows what changes, whoever changes it.
func (t *tree) watch(ctx context.Context, f *fsaccess.Folder) {
	for e, err := range fsaccess.Watch(ctx, f, ".", fsaccess.WatchOptions{Interval: time.Second}) {
		if ctx.Err() != nil {
			return
		}
		if failed(err) {
			continue
		}
		t.app.mu.Lock()
		t.fresh[e.Path] = true
		_, shown := t.below[path.Dir(e.Path)]
		if shown && ctx.Err() == nil {
			failed(t.load())
		}
		if !e.Own {
			status("From outside: " + e.Path + " was " + string(e.Kind))
		}
		t.app.mu.Unlock()
	}
}
