//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

// most is the number of entries of one folder that are shown. The others are counted.
const most = 500

// refresh shows the tree, the history and the used storage again.
func (a *app) refresh() error {
	if err := a.tree(); err != nil {
		return err
	}
	if err := a.history(); err != nil {
		return err
	}
	if s, err := fsaccess.StorageEstimate(a.ctx); err == nil {
		dom.SetText("room", fmt.Sprintf("Storage of this site: about %s of %s", dom.Size(s.Usage), dom.Size(s.Quota)))
	}
	return nil
}

func (a *app) tree() error {
	root := dom.Document().Call("createDocumentFragment")
	if err := a.branch(root, "."); err != nil {
		return err
	}
	focused := dom.Focused().Get("dataset").Get("path")
	dom.Element("tree").Call("replaceChildren", root)
	a.fresh = map[string]bool{}
	if focused.Type() == js.TypeString {
		for _, b := range dom.Each(dom.Element("tree").Call("querySelectorAll", "[data-path]")) {
			if b.Get("dataset").Get("path").String() == focused.String() {
				b.Call("focus")
			}
		}
	}
	return nil
}

// branch shows the entries of one folder, and those of its unfolded folders.
func (a *app) branch(into js.Value, dir string) error {
	list, err := fsaccess.List(a.ctx, a.work, dir)
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(x, y fsaccess.Entry) int {
		if x.Dir != y.Dir {
			return map[bool]int{true: -1, false: 1}[x.Dir]
		}
		return 0
	})
	for i, e := range list {
		if i == most {
			into.Call("append", dom.Create("li", fmt.Sprintf("and %d more", len(list)-most)))
			break
		}
		item := dom.Create("li", "")
		if a.fresh[e.Path] {
			item.Set("className", "fresh")
		}
		if e.Dir {
			a.folder(item, e)
		} else {
			b := dom.Create("button", e.Name())
			b.Set("type", "button")
			b.Get("dataset").Set("path", e.Path)
			b.Call("append", dom.Create("small", dom.Size(e.Size)))
			if a.file != nil && a.file.path == e.Path {
				b.Call("setAttribute", "aria-current", "true")
			}
			dom.On(b, "click", func(js.Value) {
				a.mu.Lock()
				defer a.mu.Unlock()
				dom.Failed(a.show(e.Path))
			})
			item.Call("append", b)
		}
		into.Call("append", item)
	}
	if len(list) == 0 {
		into.Call("append", dom.Create("li", "empty"))
	}
	return nil
}

func (a *app) folder(item js.Value, e fsaccess.Entry) {
	fold, head, below := dom.Create("details", ""), dom.Create("summary", e.Name()), dom.Create("ul", "")
	head.Get("dataset").Set("path", e.Path)
	fold.Call("append", head, below)
	item.Call("append", fold)
	if a.open[e.Path] {
		fold.Set("open", true)
		dom.Failed(a.branch(below, e.Path))
	}
	dom.On(fold, "toggle", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		open := fold.Get("open").Bool()
		if a.open[e.Path] == open {
			return
		}
		if a.open[e.Path] = open; open {
			below.Call("replaceChildren")
			dom.Failed(a.branch(below, e.Path))
		}
	})
}

// watch shows the changes that others make. It marks the files in the tree, and reloads the open
// file.
func (a *app) watch(ctx context.Context, f *fsaccess.Folder) {
	var paths []string
	for e, err := range fsaccess.Watch(ctx, f, ".", fsaccess.WatchOptions{Interval: time.Second}) {
		if ctx.Err() != nil {
			return
		}
		if dom.Failed(err) {
			continue
		}
		if e.Own {
			continue
		}
		paths = append(paths[:0], e.Path)
		a.mu.Lock()
		if ctx.Err() == nil {
			for _, p := range paths {
				a.fresh[p] = true
			}
			dom.Failed(a.tree())
			dom.Status("From outside: " + e.Path + " was " + string(e.Kind))
			a.changedOutside(e.Path)
		}
		a.mu.Unlock()
	}
}

// make makes a file or a folder. The dialogue suggests a path beside the open file.
func (a *app) make(folder bool) error {
	dir := ""
	if a.file != nil && path.Dir(a.file.path) != "." {
		dir = path.Dir(a.file.path) + "/"
	}
	q := question{title: "New file", label: "Its path in this folder", input: dir + "new.md", answers: []string{"Not now", "Make it"}}
	if folder {
		q.title, q.input = "New folder", dir+"new"
	}
	answer, name := ask(q)
	if answer != "Make it" {
		return nil
	}
	if folder {
		return a.took("Made "+name+".", a.work.MkdirAll(name, 0o755))
	}
	if d := path.Dir(name); d != "." {
		if err := a.work.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	_, err := a.work.WriteVersion(name, nil, 0o644, fsaccess.Absent)
	if errors.Is(err, fsaccess.ErrConflict) {
		err = fmt.Errorf("%s is there already; choose another name", name)
	}
	if err := a.took("Made "+name+".", err); err != nil {
		return err
	}
	return a.show(name)
}

// export saves the folder as a ZIP file by the browser's downloads.
func (a *app) export() error {
	dom.Status("Packing…")
	dir, err := fsaccess.OPFS(a.ctx, "export")
	if errors.Is(err, errors.ErrUnsupported) {
		dir, err = fsaccess.NewMemory(fsaccess.MemoryOptions{}), nil
	}
	if err != nil {
		return err
	}
	defer dir.RemoveAll("folder.zip")
	f, err := dir.Create("folder.zip")
	if err != nil {
		return err
	}
	if err := errors.Join(fsaccess.ExportZIP(a.ctx, a.work, ".", f.(fsaccess.File), fsaccess.ZIPOptions{}), f.Close()); err != nil {
		return err
	}
	name := strings.ReplaceAll(strings.ToLower(a.name), " ", "-") + ".zip"
	if err := fsaccess.SaveAs(a.ctx, dir, "folder.zip", name); err != nil {
		return err
	}
	dom.Status("Saved as " + name)
	return nil
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
