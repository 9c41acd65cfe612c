package viewer

import (
	"fmt"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/unseen"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

// review is the list of what the assistant has changed, by file and by place.
type review struct {
	on    bool
	since int64 // the last step that is not reviewed, because it was there before, or all of it was kept
}

// hunkLines is the number of lines that are shown of one place.
const hunkLines = 1000

// Reviewed returns the paths that the assistant has changed and the user has not kept yet, of a history
// with the newest step first.
func (v *Viewer) Reviewed(list []fsaccess.Change) (paths []string) {
	for _, c := range list {
		if !v.mine(c) {
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

// mine reports whether a step is in review.
func (v *Viewer) mine(c fsaccess.Change) bool {
	return c.ID > v.review.since && c.Cause != "" && !c.Undone && !strings.HasPrefix(c.Op, "undo") && c.Op != "redo"
}

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
		if v.marks[p.path] {
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
	if shownFiles == 0 {
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
		if err := v.Work().Revert(v.ctx, id); err != nil {
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
	list, err := v.Work().History(v.ctx)
	if err != nil || len(list) == 0 {
		return nil, 0, err
	}
	var steps []step
	for _, c := range list {
		if c.ID <= v.review.since {
			break
		}
		diff, err := v.Work().Diff(v.ctx, c.ID)
		if err != nil {
			return nil, 0, err
		}
		steps = append(steps, step{c.ID, v.mine(c), diff})
	}
	return parts(steps, func(name string) (string, bool) {
		data, err := v.Work().ReadFile(name)
		return string(data), err == nil
	}), list[0].ID, nil
}

// part returns the element of a file, and whether there is something to review in it.
func (v *Viewer) part(p *part) (el js.Value, some bool) {
	el = dom.Create("section", "")
	el.Set("className", "v-file")
	bar, name := dom.Create("div", ""), dom.Create("h3", "")
	bar.Set("className", "bar")
	data, err := v.Work().ReadFile(p.path)
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
	if there {
		label(v.of.Button(tail, "Open", "small", func() { v.Open(p.path) }))
	}
	label(v.of.Button(tail, "Keep", "small", func() {
		v.marks[p.path] = true
		dom.Failed(v.Took("Kept the changes of "+p.path+".", nil))
		v.Review()
	}))
	label(v.of.Button(tail, "Undo file", "small", func() {
		v.act("Undid the changes of "+p.path+".", func() error {
			switch {
			case p.why != "":
				return v.revert(p.steps)
			case !p.there:
				return v.Work().Remove(p.path)
			}
			return v.Work().WriteFile(p.path, []byte(p.was), 0o644)
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
		if v.marks[key] {
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
		for _, b := range []js.Value{
			v.of.Button(tail, "Keep", "small", func() { v.marks[key] = true; v.Review() }),
			v.of.Button(tail, "Undo", "small", func() {
				v.act("Undid this part of "+p.path+".", func() error {
					data, version, err := v.Work().ReadVersion(p.path)
					if err != nil {
						return err
					}
					text, err := h.revert(string(data))
					if err != nil {
						return err
					}
					_, err = v.Work().WriteVersion(p.path, []byte(text), 0o644, version)
					return err
				})
			}),
		} {
			b.Call("setAttribute", "aria-label", b.Get("textContent").String()+": "+unseen.Text(p.path)+", "+strings.ToLower(where))
		}
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
