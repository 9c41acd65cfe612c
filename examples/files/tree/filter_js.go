package tree

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent"
)

// maxFound is the number of names that a filter finds.
const maxFound = 1000

// filter is the box above the tree. It finds names in the whole folder, by all words in it.
type filter struct {
	box   js.Value
	text  string
	found []fsaccess.Entry
	stop  context.CancelFunc // ends the search
}

func (f *filter) on() bool { return f.text != "" }

// end empties the box.
func (f *filter) end() {
	if f.stop != nil {
		f.stop()
	}
	f.box.Set("value", "")
	f.text, f.found = "", nil
}

// filters sets up the box.
func (t *Tree) filters() {
	if old := dom.Element("tree-filter"); !old.IsNull() {
		old.Call("remove") // of a program before this one
	}
	in := dom.Create("input", "")
	for k, v := range map[string]string{"id": "tree-filter", "type": "search", "placeholder": "Filter files", "aria-label": "Filter files by name", "autocomplete": "off", "spellcheck": "false", "aria-controls": "tree"} {
		in.Call("setAttribute", k, v)
	}
	t.box.Call("before", in)
	t.filter.box = in
	dom.On(in, "input", func(js.Value) { t.find(in.Get("value").String()) })
	dom.OnKey(in, func(e js.Value) bool {
		switch e.Get("key").String() {
		case "ArrowDown":
			t.box.Call("focus")
			t.move(0)
		case "Enter":
			if len(t.rows) > 0 {
				go t.choose(t.rows[0].Path)
			}
		case "Escape":
			if !t.filter.on() {
				return false
			}
			t.find("")
		default:
			return false
		}
		return true
	})
}

// find shows the names that have all words of text, or the tree again without any.
func (t *Tree) find(text string) {
	at := t.picked
	words := strings.Fields(strings.ToLower(text))
	t.filter.end()
	t.filter.box.Set("value", text)
	t.filter.text = strings.Join(words, " ")
	for _, r := range t.drawn { // a row shows another label
		r.el.Call("remove")
	}
	t.drawn = map[string]*row{}
	dom.Hide("listing", true)
	if len(words) == 0 {
		t.flatten()
		if i := t.index(at); i >= 0 {
			t.move(i)
		}
		return
	}
	t.box.Set("scrollTop", 0)
	t.flatten()
	if t.ctx == nil {
		return
	}
	var ctx context.Context
	ctx, t.filter.stop = context.WithCancel(t.ctx)
	go t.search(ctx, words)
}

// search looks through the names of all folders, those near the top first.
func (t *Tree) search(ctx context.Context, words []string) {
	painted, seen := time.Now(), 0
	paint := func(said string) {
		if ctx.Err() != nil {
			return
		}
		t.flatten()
		dom.SetText("listing", said)
		dom.Hide("listing", said == "")
	}
	for dirs := []string{"."}; len(dirs) > 0 && len(t.filter.found) < maxFound; {
		dir := dirs[0]
		dirs = dirs[1:]
		_ = names(ctx, fsaccess.WithContext(ctx, t.of), dir, func(page []fsaccess.Entry) error { // a folder that can't be read has no names
			slices.SortFunc(page, shownFirst)
			for _, e := range page {
				seen++
				if e.Dir {
					dirs = append(dirs, e.Path)
				}
				if fits(e.Path, words) && len(t.filter.found) < maxFound && ctx.Err() == nil {
					t.filter.found = append(t.filter.found, e)
				}
			}
			if time.Since(painted) > paintPause {
				paint(fmt.Sprintf("Looking through %s names…", consent.Thousands(seen)))
				painted = time.Now()
				return dom.Yield(ctx)
			}
			return context.Cause(ctx)
		})
		if ctx.Err() != nil {
			return
		}
	}
	switch n := len(t.filter.found); {
	case n == 0:
		paint("No name has " + strings.Join(words, " and ") + ".")
	case n >= maxFound:
		paint(fmt.Sprintf("The first %s names. More words find fewer.", consent.Thousands(n)))
	default:
		paint("")
	}
}
