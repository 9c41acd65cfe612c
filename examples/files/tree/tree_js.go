package tree

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/unseen"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

const rowHeight = 28

// Options are the parts of the page that the tree talks with. All are required.
type Options struct {
	Lock sync.Locker       // held during one action of the user's
	Show func(name string) // a file was chosen
	// Take moves, or copies, entries into a folder: they were dropped on it, or pasted.
	Take    func(list []fsaccess.Entry, to string, moves bool)
	Menu    []Item // the actions of the context menu
	Changed func() // something in the folder has changed, whoever did it
}

// Tree shows the open folder. However many files there are, the page has only the rows that fit.
type Tree struct {
	Options
	ctx    context.Context             // ends with the open folder
	of     fsaccess.FS                 // the open folder
	below  map[string][]fsaccess.Entry // the entries of each unfolded folder
	lists  map[string]*Listing         // the listings under way, by folder
	open   map[string]bool
	fresh  map[string]bool   // changed just now
	marks  map[string]string // "new" or "changed" since the folder was opened, by path
	sizes  map[string]int64  // by path, -1 before a size is read and if it cannot be
	asking bool              // measure runs
	rows   []node
	drawn  map[string]*row     // the rows in the document, by path
	blank  map[string]js.Value // rows to copy, by kind of icon
	box    js.Value
	at     int             // index of the row with the cursor, -1 for none
	picked string          // its path
	wanted string          // the path to select as soon as it has a row, "" if none
	chosen map[string]bool // the selected paths
	from   string          // where a range begins
	clip   []fsaccess.Entry
	moves  bool // clip is moved, and not copied

	typed   string // the letters of the type-ahead
	typedAt time.Time
	dragged []fsaccess.Entry

	changed map[string][]string // names to update, by folder
	due     bool                // an update of changed is scheduled

	empty  string // the words for an empty folder
	filter filter
	menu   menu
}

type node struct {
	fsaccess.Entry
	depth int
}

// row is the element of a node in the document.
type row struct {
	el, size       js.Value
	dir            bool
	i              int
	chosen, cursor bool
	open           bool
	mark           string
}

// New returns the tree of the page, which shows no folder yet.
func New(o Options) *Tree {
	t := &Tree{Options: o, box: dom.Element("tree"), at: -1, open: map[string]bool{}, below: map[string][]fsaccess.Entry{}, fresh: map[string]bool{}, sizes: map[string]int64{},
		drawn: map[string]*row{}, changed: map[string][]string{}, chosen: map[string]bool{}, blank: map[string]js.Value{"folder": blankRow("folder", folderIcon), "file": blankRow("file", fileIcon)}}
	for _, k := range kinds {
		t.blank[k.name] = blankRow(k.name, k.draw)
	}
	t.empty = dom.Element("nothing").Get("textContent").String()
	t.box.Call("setAttribute", "aria-multiselectable", "true")
	t.box.Call("addEventListener", "scroll", js.FuncOf(func(js.Value, []js.Value) any { t.draw(); return nil }))
	dom.On(js.Global(), "resize", func(js.Value) { t.draw() })
	dom.OnKey(t.box, t.key)
	dom.On(t.box, "click", t.click)
	t.drags()
	t.filters()
	t.menus()
	return t
}

// click chooses a row, or selects several: with Ctrl one more, with Shift a range.
func (t *Tree) click(e js.Value) {
	target := e.Get("target")
	el := target.Call("closest", ".row")
	if el.IsNull() {
		return
	}
	name := el.Get("dataset").Get("path").String()
	i := t.index(name)
	switch {
	case i < 0:
	case !target.Call("closest", ".more").IsNull():
		if !t.chosen[name] {
			t.move(i)
		}
		t.showMenu(el)
	case e.Get("shiftKey").Bool():
		t.extend(i)
	case e.Get("ctrlKey").Bool() || e.Get("metaKey").Bool():
		t.toggle(i)
	case !target.Call("closest", ".fold").IsNull():
		t.move(i)
		t.fold(name, !t.open[name])
	default:
		t.choose(name)
	}
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
// Without one, the row with the cursor or the scroll position stays.
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
	if t.filter.on() {
		for _, e := range t.filter.found {
			t.rows = append(t.rows, node{e, 0})
		}
	} else {
		add(".", 0)
	}
	if t.wanted != "" && t.index(t.wanted) >= 0 {
		t.picked, t.wanted, t.chosen = t.wanted, "", map[string]bool{t.wanted: true}
	}
	t.at = t.index(t.picked)
	dom.Hide("nothing", len(t.rows) > 0 || t.lists["."] != nil || t.filter.on())
	dom.Element("rows").Get("style").Set("height", fmt.Sprintf("%dpx", len(t.rows)*rowHeight))
	if now := t.index(fixed); now >= 0 && now != was {
		t.box.Set("scrollTop", t.box.Get("scrollTop").Int()+(now-was)*rowHeight)
	}
	t.draw()
}

// anchor returns the path and the index of the row that must not move, "" if there is none.
func (t *Tree) anchor() (name string, at int) {
	top := t.box.Get("scrollTop").Int()
	in := func(i int) bool {
		return i >= 0 && i < len(t.rows) && i*rowHeight >= top-rowHeight && i*rowHeight < top+t.box.Get("clientHeight").Int()
	}
	if over := t.box.Call("querySelector", ".row:hover"); !over.IsNull() {
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

// index returns the index of the row with a path, -1 without one.
func (t *Tree) index(name string) int {
	if name == "" {
		return -1
	}
	return slices.IndexFunc(t.rows, func(n node) bool { return n.Path == name })
}

// draw adds the rows in view to the document. A row that is there already is kept, because a press
// and its release are a click only on the same element.
func (t *Tree) draw() {
	first := max(0, t.box.Get("scrollTop").Int()/rowHeight-5)
	last := min(len(t.rows), first+t.box.Get("clientHeight").Int()/rowHeight+12)
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
	if t.at >= 0 {
		t.box.Call("setAttribute", "aria-activedescendant", fmt.Sprintf("row-%d", t.at))
	} else {
		t.box.Call("removeAttribute", "aria-activedescendant")
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
	foldIcon   = "M9 6l6 6-6 6"
	moreIcon   = "M5 12h.5M12 12h.5M19 12h.5"
)

// The children of a row, in order.
const (
	rowIcon = iota + 1
	rowLabel
	rowSize
)

func (t *Tree) row(i int) *row {
	n := t.rows[i]
	kind := "folder"
	if !n.Dir {
		kind = icon(n.Path)
	}
	el := t.blank[kind].Call("cloneNode", true) // one call instead of thirty
	if t.fresh[n.Path] {
		el.Set("className", "row fresh")
	}
	el.Get("dataset").Set("path", n.Path)
	if n.depth > 0 {
		el.Get("style").Set("paddingInlineStart", fmt.Sprintf("%dpx", 2+n.depth*14))
		el.Call("setAttribute", "aria-level", fmt.Sprint(n.depth+1))
	}
	label := el.Get("children").Index(rowLabel)
	base := unseen.Text(path.Base(n.Path))
	label.Set("textContent", base)
	if dir := path.Dir(n.Path); t.filter.on() && dir != "." {
		where := dom.Create("span", unseen.Text(dir))
		where.Set("className", "where")
		label.Call("append", " ", where)
		base = unseen.Text(n.Path)
	}
	label.Set("title", base)
	r := &row{el: el, dir: n.Dir, i: -1, size: el.Get("children").Index(rowSize)}
	if bytes, known := t.sizes[n.Path]; known && bytes >= 0 && !n.Dir {
		r.size.Set("textContent", dom.Size(bytes))
	}
	return r
}

// blankRow returns a row of the top folder without a name.
func blankRow(kind, d string) js.Value {
	el, label := dom.Create("div", ""), dom.Create("span", "")
	el.Set("className", "row")
	el.Set("draggable", true)
	el.Get("dataset").Set("kind", kind)
	for k, v := range map[string]string{"role": "treeitem", "aria-level": "1", "aria-selected": "false"} {
		el.Call("setAttribute", k, v)
	}
	label.Set("className", "label")
	label.Call("setAttribute", "dir", "auto")
	fold := dom.Create("span", "")
	if kind == "folder" {
		el.Call("setAttribute", "aria-expanded", "false")
		fold = draw(foldIcon)
	}
	fold.Call("setAttribute", "class", "fold")
	more := dom.Create("span", "")
	more.Set("className", "more")
	more.Call("append", draw(moreIcon))
	el.Call("append", fold, draw(d), label, dom.Create("small", ""), more)
	return el
}

// place updates a row to index i, the selection, the mark and the fold state.
func (t *Tree) place(r *row, i int) {
	name := t.rows[i].Path
	if r.i != i {
		r.i = i
		r.el.Set("id", fmt.Sprintf("row-%d", i))
		r.el.Get("dataset").Set("i", fmt.Sprint(i))
		r.el.Get("style").Set("top", fmt.Sprintf("%dpx", i*rowHeight))
	}
	if chosen := t.chosen[name]; r.chosen != chosen {
		r.chosen = chosen
		r.el.Call("setAttribute", "aria-selected", fmt.Sprint(chosen))
	}
	if cursor := i == t.at; r.cursor != cursor {
		r.cursor = cursor
		r.el.Get("classList").Call("toggle", "cursor", cursor)
	}
	if open := t.open[name] && !t.filter.on(); r.dir && r.open != open {
		r.open = open
		r.el.Call("setAttribute", "aria-expanded", fmt.Sprint(open))
	}
	if mark := t.marks[name]; r.mark != mark {
		r.mark = mark
		r.el.Get("dataset").Set("mark", mark)
		label := r.el.Get("children").Index(rowLabel)
		if old := label.Call("querySelector", ".away"); !old.IsNull() {
			old.Call("remove")
		}
		if mark != "" {
			label.Call("append", dom.Away(", "+mark))
		}
	}
}

// draw returns an icon with the path d.
func draw(d string) js.Value {
	const ns = "http://www.w3.org/2000/svg"
	svg, line := dom.Document().Call("createElementNS", ns, "svg"), dom.Document().Call("createElementNS", ns, "path")
	for k, v := range map[string]string{"viewBox": "0 0 24 24", "width": "15", "height": "15", "aria-hidden": "true", "fill": "none", "stroke": "currentColor", "stroke-width": "1.8", "stroke-linejoin": "round", "stroke-linecap": "round"} {
		svg.Call("setAttribute", k, v)
	}
	line.Call("setAttribute", "d", d)
	svg.Call("append", line)
	return svg
}

// key handles the keys of a tree, and reports whether the key was one of them.
func (t *Tree) key(e js.Value) bool {
	key := e.Get("key").String()
	ctrl := e.Get("ctrlKey").Bool() || e.Get("metaKey").Bool()
	if ctrl {
		return t.keyWithCtrl(strings.ToLower(key))
	}
	if key == "ContextMenu" || key == "F10" && e.Get("shiftKey").Bool() {
		at := t.box
		if r := t.drawn[t.picked]; r != nil {
			at = r.el
		}
		t.showMenu(at)
		return true
	}
	if len(t.rows) == 0 || e.Get("altKey").Bool() {
		return false
	}
	to := t.move
	if e.Get("shiftKey").Bool() {
		to = t.extend
	}
	var n node
	if t.at >= 0 {
		n = t.rows[t.at]
	}
	page := max(1, t.box.Get("clientHeight").Int()/rowHeight-1)
	switch key {
	case "ArrowDown":
		to(t.at + 1)
	case "ArrowUp":
		to(t.at - 1)
	case "PageDown":
		to(t.at + page)
	case "PageUp":
		to(t.at - page)
	case "Home":
		to(0)
	case "End":
		to(len(t.rows) - 1)
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
	case "Enter":
		if t.at >= 0 {
			go t.choose(n.Path)
		}
	case " ":
		if t.typed != "" && time.Since(t.typedAt) < pauseOfTyping {
			t.ahead(key)
		} else if t.at >= 0 {
			go t.choose(n.Path)
		}
	case "Escape":
		if len(t.chosen) < 2 && t.clip == nil {
			return false
		}
		t.clip = nil
		t.move(t.at)
	default:
		if len([]rune(key)) != 1 { // the name of a key
			return false
		}
		t.ahead(key)
	}
	return true
}

func (t *Tree) keyWithCtrl(key string) bool {
	switch key {
	case "a":
		for _, n := range t.rows {
			t.chosen[n.Path] = true
		}
		t.draw()
	case "arrowdown", "arrowup":
		if to := t.at + map[string]int{"arrowdown": 1, "arrowup": -1}[key]; to >= 0 && to < len(t.rows) {
			t.cursor(to)
			t.draw()
		}
	case " ":
		if t.at >= 0 {
			t.toggle(t.at)
		}
	case "c", "x":
		if t.clip, t.moves = t.Chosen(), key == "x"; len(t.clip) > 0 {
			dom.Status(fmt.Sprintf("%s: choose a folder, and press Ctrl+V to %s it there.", entries(t.clip), map[bool]string{true: "move", false: "copy"}[t.moves]))
		}
	case "v":
		if t.clip == nil {
			return false
		}
		to := "."
		if t.at >= 0 {
			if to = t.rows[t.at].Path; !t.rows[t.at].Dir {
				to = path.Dir(to)
			}
		}
		list := t.clip
		if t.moves {
			t.clip = nil
		}
		go t.Take(list, to, t.moves)
	default:
		return false
	}
	return true
}

// pauseOfTyping ends a word of the type-ahead.
const pauseOfTyping = time.Second

// ahead moves to the next row whose name begins with the letters that were typed.
func (t *Tree) ahead(key string) {
	if time.Since(t.typedAt) > pauseOfTyping {
		t.typed = ""
	}
	t.typed, t.typedAt = t.typed+strings.ToLower(key), time.Now()
	word, from := t.typed, max(t.at, 0)
	if strings.Trim(word, word[:1]) == "" { // the same letter again goes on to the next name
		word, from = word[:1], t.at+1
	}
	for k := range t.rows {
		if i := (from + k) % len(t.rows); strings.HasPrefix(strings.ToLower(path.Base(t.rows[i].Path)), word) {
			t.move(i)
			return
		}
	}
}

// entries returns a list of entries as words, such as "a.txt" or "3 files".
func entries(list []fsaccess.Entry) string {
	if len(list) == 1 {
		return path.Base(list[0].Path)
	}
	return fmt.Sprintf("%d things", len(list))
}

// Selected returns the entry with the cursor, and reports whether there is one.
func (t *Tree) Selected() (fsaccess.Entry, bool) {
	if t.at < 0 || t.at >= len(t.rows) {
		return fsaccess.Entry{}, false
	}
	return t.rows[t.at].Entry, true
}

// Chosen returns the selected entries, without those that are inside another one.
func (t *Tree) Chosen() (list []fsaccess.Entry) {
	for _, n := range t.rows {
		if t.chosen[n.Path] {
			list = append(list, n.Entry)
		}
	}
	return topmost(list)
}

// Mark sets the marks of the paths that have changed, "new" or "changed". Folders that contain one
// are marked, too.
func (t *Tree) Mark(marks map[string]string) {
	t.marks = map[string]string{}
	for name, mark := range marks {
		t.marks[name] = mark
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if t.marks[dir] == "" {
				t.marks[dir] = "changed inside"
			}
		}
	}
	t.draw()
}

// Expect selects a path as soon as it has a row. Without it, an action between the new row and Reveal
// would go to the path that was selected before. A choice of the user's, or "", ends the wait.
func (t *Tree) Expect(name string) { t.wanted = name }

// Reveal unfolds the folders above a path, and selects it.
func (t *Tree) Reveal(name string) {
	t.Lock.Lock()
	defer t.Lock.Unlock()
	t.reveal(name)
}

func (t *Tree) reveal(name string) {
	t.filter.end()
	for i := range name {
		if name[i] == '/' {
			t.touch(name[:i])
			t.open[name[:i]] = true
			dom.Failed(t.list(name[:i]).Wait())
		}
	}
	t.touch(name)
	t.wanted = name
	t.flatten()
	if t.at >= 0 {
		t.move(t.at)
	}
}

// cursor moves the cursor, and scrolls it into view.
func (t *Tree) cursor(to int) {
	t.at = min(max(0, to), len(t.rows)-1)
	t.picked, t.wanted = t.rows[t.at].Path, ""
	top := t.box.Get("scrollTop").Int()
	if y := t.at * rowHeight; y < top {
		t.box.Set("scrollTop", y)
	} else if over := y + rowHeight - top - t.box.Get("clientHeight").Int(); over > 0 {
		t.box.Set("scrollTop", top+over)
	}
}

// move selects one row.
func (t *Tree) move(to int) {
	if len(t.rows) == 0 {
		return
	}
	t.cursor(to)
	t.from, t.chosen = t.picked, map[string]bool{t.picked: true}
	t.draw()
}

// extend selects all rows from the first one of the range to a row.
func (t *Tree) extend(to int) {
	from := t.index(t.from)
	if from < 0 {
		t.move(to)
		return
	}
	t.cursor(to)
	t.chosen = map[string]bool{}
	for i := min(from, t.at); i <= max(from, t.at); i++ {
		t.chosen[t.rows[i].Path] = true
	}
	t.draw()
}

// toggle adds a row to the selection, or takes it out.
func (t *Tree) toggle(i int) {
	t.cursor(i)
	t.from = t.picked
	if t.chosen[t.picked] {
		delete(t.chosen, t.picked)
	} else {
		t.chosen[t.picked] = true
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
	switch {
	case !t.rows[i].Dir:
		t.Show(name)
	case t.filter.on():
		t.Reveal(name)
		t.fold(name, true)
	default:
		t.fold(name, !t.open[name])
	}
}

func (t *Tree) fold(dir string, open bool) {
	t.Lock.Lock()
	defer t.Lock.Unlock()
	t.foldLocked(dir, open)
}

func (t *Tree) foldLocked(dir string, open bool) {
	t.open[dir] = open
	t.flatten()
	if open {
		dom.Failed(t.list(dir).Wait())
	}
}
