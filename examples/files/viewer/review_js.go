package viewer

import (
	"fmt"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/unseen"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent"
)

// review is the list of what the assistant has changed, by file and by place.
type review struct {
	on    bool
	since int64 // the last step that is not reviewed, because it was there before, or all of it was kept
}

// Arrival are changes of a box elsewhere, which are not in the folder. They are in review until the user decides.
type Arrival struct {
	Work    *fsaccess.Journal // a copy of the folder with them
	From    string            // such as "this computer"
	Notes   []string          // about single files
	Apply   func() error      // makes in the folder what is left of them
	Discard func()
}

// Arrived begins a review of changes that are not in the folder, or ends it with nil.
func (v *Viewer) Arrived(a *Arrival) {
	v.arrival = a
	if v.review.on {
		v.nothing()
	}
}

// work returns the folder that a review is about.
func (v *Viewer) work() *fsaccess.Journal {
	if v.arrival != nil {
		return v.arrival.Work
	}
	return v.Work()
}

// hunkLines is the number of lines that are shown of one place.
const hunkLines = 1000

// Reviewed returns the paths that the assistant has changed and the user has not kept yet, of a history
// with the newest step first.
func (v *Viewer) Reviewed(list []fsaccess.Change) (paths []string) {
	for _, c := range list {
		if !mine(c, v.review.since) {
			continue
		}
		for _, name := range c.Paths {
			if !slices.Contains(paths, name) && !v.marks[name] {
				paths = append(paths, name)
			}
		}
	}
	return paths
}

// mine reports whether a step is in review, which begins behind the step since.
func mine(c fsaccess.Change, since int64) bool {
	return c.ID > since && c.Cause != "" && !c.Undone && !strings.HasPrefix(c.Op, "undo") && c.Op != "redo"
}

// since returns the last step that is not in review.
func (v *Viewer) since() int64 {
	if v.arrival != nil {
		return 0
	}
	return v.review.since
}

// kept reports whether the user has kept a file or a place of the folder.
func (v *Viewer) kept(key string) bool { return v.arrival == nil && v.marks[key] }

// Since begins the review behind a step, because a folder was opened.
func (v *Viewer) Since(id int64) { v.review.since, v.marks = id, map[string]bool{} }

// Review shows what the assistant has changed since the folder was opened.
func (v *Viewer) Review() {
	if !v.Leave() {
		return
	}
	if tab := dom.Element("tab-file"); !tab.IsNull() {
		tab.Call("click")
	}
	v.clear()
	v.file = file{}
	v.review.on = true
	v.head.Set("textContent", "Changes to review")
	v.body.Call("setAttribute", "aria-label", "Changes to review")
	v.body.Set("className", "v-body v-review")
	gen := v.gen
	list, last, err := v.changes()
	if gen != v.gen {
		return
	}
	if err != nil {
		v.say("The changes can't be listed: " + err.Error())
		return
	}
	shownFiles := 0
	for _, p := range list {
		if v.kept(p.path) {
			continue
		}
		if el, some := v.part(p); some {
			v.body.Call("append", el)
			shownFiles++
		}
	}
	end := dom.Create("span", "")
	end.Set("className", "bar end tight")
	v.about.Set("textContent", map[bool]string{true: "1 file", false: fmt.Sprintf("%d files", shownFiles)}[shownFiles == 1]+" changed by the assistant since this folder was opened")
	if a := v.arrival; a != nil {
		v.about.Set("textContent", consent.Count(shownFiles, "file")+" changed on "+a.From+". Your folder has none of it yet: leave out what you don't want, then apply the rest.")
		for _, text := range a.Notes {
			v.body.Call("prepend", dom.Create("p", text))
		}
		if shownFiles > 0 {
			v.of.Button(v.bar, "Apply", "small primary", func() {
				v.Lock.Lock()
				defer v.Lock.Unlock()
				if err := a.Apply(); dom.Failed(err) {
					v.say(err.Error())
				}
			})
		}
		v.of.Button(v.bar, map[bool]string{true: "Discard all", false: "Done"}[shownFiles > 0], "small stop", func() {
			v.Lock.Lock()
			defer v.Lock.Unlock()
			a.Discard()
		})
	} else if shownFiles == 0 {
		v.about.Set("textContent", "")
		v.body.Call("append", dom.Create("p", "There is nothing to review. What the assistant changes in this folder is listed here, place by place."))
	} else {
		v.of.Button(v.bar, "Keep all", "small primary", func() {
			v.Since(last)
			dom.Failed(v.Took("Kept all changes.", nil))
			v.Review()
		})
		v.of.Button(v.bar, "Undo all", "small stop", func() {
			v.act("Undid all changes of the assistant.", func() error {
				var steps []int64
				for _, p := range list {
					steps = append(steps, p.steps...)
				}
				return v.revert(steps)
			})
		})
	}
	v.of.Button(end, "Close", "small", func() { v.nothing() })
	v.bar.Call("append", end)
}

// revert takes back whole steps, the last one first.
func (v *Viewer) revert(steps []int64) error {
	slices.Sort(steps)
	for _, id := range slices.Backward(slices.Compact(steps)) {
		if err := v.work().Revert(v.ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// act makes a change of the user's, and lists the changes again.
func (v *Viewer) act(said string, change func() error) {
	v.Lock.Lock()
	err := v.Took(said, change())
	v.Lock.Unlock()
	if dom.Failed(err) {
		v.say(err.Error())
		return
	}
	v.Review()
}

// changes returns the files to review, and the last step of the history.
func (v *Viewer) changes() ([]*part, int64, error) {
	list, err := v.work().History(v.ctx)
	if err != nil || len(list) == 0 {
		return nil, 0, err
	}
	var steps []step
	for _, c := range list {
		if c.ID <= v.since() {
			break
		}
		diff, err := v.work().Diff(v.ctx, c.ID)
		if err != nil {
			return nil, 0, err
		}
		steps = append(steps, step{c.ID, mine(c, v.since()), diff})
	}
	return parts(steps, func(name string) (string, bool) {
		data, err := v.work().ReadFile(name)
		return string(data), err == nil
	}), list[0].ID, nil
}

// part returns the element of a file, and whether there is something to review in it.
func (v *Viewer) part(p *part) (el js.Value, some bool) {
	el = dom.Create("section", "")
	el.Set("className", "v-file")
	bar, name := dom.Create("div", ""), dom.Create("h3", "")
	bar.Set("className", "bar")
	data, err := v.work().ReadFile(p.path)
	there := err == nil
	what := map[bool]string{true: "Edited ", false: "Created "}[p.there]
	if !there && p.why == "" {
		what = "Deleted "
	}
	if p.why != "" {
		what = p.what + " "
	}
	name.Set("textContent", what)
	v.put(name, p.path, "")
	bar.Call("append", name)
	tail := dom.Create("span", "")
	tail.Set("className", "bar end tight")
	label := func(b js.Value) {
		b.Call("setAttribute", "aria-label", b.Get("textContent").String()+": "+unseen.Text(p.path))
	}
	if there && v.arrival == nil {
		label(v.of.Button(tail, "Open", "small", func() { v.Open(p.path) }))
	}
	undo, undid := "Undo file", "Undid the changes of "
	if v.arrival != nil {
		undo, undid = "Leave out", "Left out "
	} else {
		label(v.of.Button(tail, "Keep", "small", func() {
			v.marks[p.path] = true
			dom.Failed(v.Took("Kept the changes of "+p.path+".", nil))
			v.Review()
		}))
	}
	label(v.of.Button(tail, undo, "small", func() {
		v.act(undid+p.path+".", func() error {
			switch {
			case p.why != "":
				return v.revert(p.steps)
			case !p.there:
				return v.work().Remove(p.path)
			}
			return v.work().WriteFile(p.path, []byte(p.was), 0o644)
		})
	}))
	bar.Call("append", tail)
	el.Call("append", bar)
	if p.why != "" {
		el.Call("append", dom.Create("p", p.why))
		return el, true
	}
	diff, err := fsaccess.UnifiedDiff(v.ctx, "a/x", "b/x", []byte(p.was), data)
	if err != nil || p.was == string(data) && p.there == there {
		return el, false
	}
	files := parse(diff)
	if len(files) == 0 {
		return el, !p.there || !there // an empty file was created or deleted
	}
	if files[0].note != "" {
		el.Call("append", dom.Create("p", files[0].note))
		return el, true
	}
	places := 0
	for _, h := range files[0].hunks {
		key := p.path + "\x00" + h.head + strings.Join(h.lines, "")
		if v.kept(key) {
			continue
		}
		places++
		el.Call("append", v.hunk(p, h, key, len(files[0].hunks) > 1 && there))
	}
	return el, places > 0
}

// hunk returns the element of one place. A place of a file with several can be kept or undone alone.
func (v *Viewer) hunk(p *part, h hunk, key string, alone bool) js.Value {
	box := dom.Create("div", "")
	box.Set("className", "v-hunk")
	if alone {
		bar := dom.Create("div", "")
		bar.Set("className", "bar tight")
		where := fmt.Sprintf("Line %d", max(h.now, 1))
		place := dom.Create("span", where)
		place.Set("className", "small")
		bar.Call("append", place)
		tail := dom.Create("span", "")
		tail.Set("className", "bar end tight")
		label := func(b js.Value) {
			b.Call("setAttribute", "aria-label", b.Get("textContent").String()+": "+unseen.Text(p.path)+", "+strings.ToLower(where))
		}
		undo, undid := "Undo", "Undid this part of "
		if v.arrival != nil {
			undo, undid = "Leave out", "Left out this part of "
		} else {
			label(v.of.Button(tail, "Keep", "small", func() { v.marks[key] = true; v.Review() }))
		}
		label(v.of.Button(tail, undo, "small", func() {
			v.act(undid+p.path+".", func() error {
				data, version, err := v.work().ReadVersion(p.path)
				if err != nil {
					return err
				}
				text, err := h.revert(string(data))
				if err != nil {
					return err
				}
				_, err = v.work().WriteVersion(p.path, []byte(text), 0o644, version)
				return err
			})
		}))
		bar.Call("append", tail)
		box.Call("append", bar)
	}
	lines := dom.Create("div", "")
	lines.Set("className", "v-lines")
	old, now := h.old, h.now
	for i, l := range h.lines {
		if i == hunkLines {
			lines.Call("append", dom.Create("p", fmt.Sprintf("%d more lines", len(h.lines)-i)))
			break
		}
		row := dom.Create("div", "")
		class, n := "ln", ""
		switch l[0] {
		case '+':
			class, n = "ln add", itoa(now)
			now++
		case '-':
			class, n = "ln del", itoa(old)
			old++
		default:
			n = itoa(now)
			old, now = old+1, now+1
		}
		row.Set("className", class)
		row.Get("dataset").Set("n", n)
		if l[0] != ' ' {
			row.Call("append", dom.Away(map[byte]string{'+': "added: ", '-': "removed: "}[l[0]]))
		}
		v.put(row, strings.TrimRight(l[1:], "\r\n"), "")
		if strings.TrimRight(l[1:], "\r\n") == "" {
			row.Call("append", "\n")
		}
		lines.Call("append", row)
	}
	box.Call("append", lines)
	return box
}
