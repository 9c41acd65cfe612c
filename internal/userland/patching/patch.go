package patching

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// outcome is the result of a patch for one file. Files are written only after all outcomes are
// known.
type outcome struct {
	name, said string
	data       []byte
	remove     string
	write      bool
}

func patch(e *tool.Env) error {
	o, err := e.Options("p:Ri:o:d:1slfNEtu", "strip=p reverse=R input=i output=o directory=d dry-run=1 quiet=s silent=s forward=N force=f unified=u")
	if err != nil {
		return err
	}
	source := "-"
	if o.Has('i') {
		source = o.Value('i')
	} else if len(o.Args) > 1 {
		source = o.Args[1]
	}
	text, err := e.ReadAll(source)
	if err != nil {
		return err
	}
	files, err := parse(text)
	if err != nil {
		return fmt.Errorf("the patch can't be read: %w", err)
	}
	if len(files) == 0 {
		return errors.New("there is no unified difference in the input")
	}
	if len(o.Args) > 0 && len(files) > 1 {
		return errors.New("the patch is for several files: name none")
	}
	if o.Has('d') {
		if err := e.World.Chdir(o.Value('d')); err != nil {
			return err
		}
	}
	var all []outcome
	seen := map[string]bool{}
	for _, f := range files {
		out, err := patched(e, o, f)
		if err != nil {
			e.SetFailed()
			fmt.Fprintf(e.Stderr, "%s: %v\n", e.Name, err)
			continue
		}
		if seen[out.name] && out.name != "-" { // each part is applied to the file as it is now
			e.SetFailed()
			fmt.Fprintf(e.Stderr, "%s: the patch has two parts for %s; make them one\n", e.Name, out.name)
			continue
		}
		seen[out.name] = true
		all = append(all, out)
	}
	if e.Failed() {
		return &tool.Exit{Code: 1, Text: "no file was changed"}
	}
	for _, out := range all {
		if !o.Has('s') {
			fmt.Fprintln(e.Stdout, out.said)
		}
		if o.Has('1') {
			continue
		}
		if err := out.apply(e); err != nil {
			return err
		}
	}
	return nil
}

func (out outcome) apply(e *tool.Env) error {
	if out.name == "-" {
		_, err := e.Stdout.Write(out.data)
		return err
	}
	if out.write {
		if dir := filepath.Dir(out.name); dir != "." {
			if err := e.World.Mkdir(dir, true); err != nil {
				return err
			}
		}
		if err := e.Replace(out.name, out.data); err != nil {
			return err
		}
	}
	if out.remove != "" {
		return e.World.Remove(out.remove, false)
	}
	return nil
}

// shorter reports whether a name has fewer folders than another one, or as many and a shorter end, as patch chooses between two files.
func shorter(a, b string) bool {
	folders, end := strings.Count(a, "/")-strings.Count(b, "/"), len(path.Base(a))-len(path.Base(b))
	return folders < 0 || folders == 0 && (end < 0 || end == 0 && len(a) < len(b))
}

// patched applies the part about one file in memory.
func patched(e *tool.Env, o *tool.Opts, f *filePatch) (outcome, error) {
	if f.binary {
		return outcome{}, fmt.Errorf("%s: binary patches are not supported", f.newName)
	}
	oldName, newName := f.oldName, f.newName
	if o.Has('R') {
		oldName, newName = newName, oldName
		for _, h := range f.hunks {
			h.reverse()
		}
	}
	isNew, isDelete := oldName == "", newName == ""
	if isNew && isDelete {
		return outcome{}, errors.New("the patch has a part without a name")
	}
	strip, err := e.Int(o, 'p', -1)
	if err != nil {
		return outcome{}, err
	}
	oldName, newName = stripped(oldName, strip), stripped(newName, strip)
	if !f.rename && !isNew && !isDelete && exists(e, oldName) && exists(e, newName) && shorter(newName, oldName) {
		oldName = newName // of two files the one with the shorter name is meant
	}
	from, to := oldName, newName
	if from == "" || isNew {
		from = to
	}
	if to == "" || isDelete {
		to = from
	}
	if !f.rename && !exists(e, from) && exists(e, to) {
		from = to
	}
	if !f.rename {
		to = from
	}
	if len(o.Args) > 0 {
		from, to = o.Args[0], o.Args[0]
	}
	for _, name := range []string{from, to} {
		if len(o.Args) == 0 && !filepath.IsLocal(name) {
			return outcome{}, fmt.Errorf("%q leads out of the folder", name)
		}
	}
	var data []byte
	if !isNew || exists(e, from) {
		if data, err = e.ReadAll(from); err != nil && !(isNew && errors.Is(err, fs.ErrNotExist)) {
			return outcome{}, fmt.Errorf("%s: %s", from, tool.Reason(err))
		}
	}
	if isNew && len(data) > 0 {
		return outcome{}, fmt.Errorf("%s: is to be made, but is there already", from)
	}
	rows, said, err := applyAll(lines(string(data)), f.hunks, from)
	if err != nil {
		return outcome{}, err
	}
	doing := "patching"
	if o.Has('1') {
		doing = "checking"
	}
	out := outcome{name: to, data: []byte(strings.Join(rows, "")), write: true, said: doing + " file " + to + said}
	if o.Has('o') {
		out.name = o.Value('o')
		return out, nil
	}
	switch {
	case isDelete:
		if len(rows) > 0 {
			return outcome{}, fmt.Errorf("%s: is to be removed, but has more than the patch knows", from)
		}
		out.write, out.remove = false, from
	case f.rename && from != to:
		out.remove = from
	}
	return out, nil
}

func exists(e *tool.Env, name string) bool {
	_, err := e.World.Stat(name)
	return err == nil
}

// stripped returns name without its first n folders. With n < 0 it removes the a/ or b/ of git.
func stripped(name string, n int) string {
	if name == "/dev/null" {
		return ""
	}
	if n < 0 {
		for _, front := range []string{"a/", "b/"} {
			if rest, ok := strings.CutPrefix(name, front); ok {
				return rest
			}
		}
		return name
	}
	parts := strings.Split(name, "/")
	return strings.Join(parts[min(n, len(parts)-1):], "/")
}

func (h *hunk) reverse() {
	h.oldAt, h.newAt, h.oldN, h.newN = h.newAt, h.oldAt, h.newN, h.oldN
	for i, op := range h.ops {
		switch op {
		case '+':
			h.ops[i] = '-'
		case '-':
			h.ops[i] = '+'
		}
	}
}

// applyAll applies the hunks in order, each with the offset at which the hunk before it was found.
func applyAll(rows []string, hunks []*hunk, name string) ([]string, string, error) {
	said := ""
	shift, least := 0, 0
	for i, h := range hunks {
		var old, now []string
		for j, row := range h.rows {
			if h.ops[j] != '+' {
				old = append(old, row)
			}
			if h.ops[j] != '-' {
				now = append(now, row)
			}
		}
		want := h.oldAt - 1 + shift
		if h.oldN == 0 {
			want++
		}
		at, fuzz, skip := place(rows, h, old, want, least)
		if at < 0 {
			return nil, "", fmt.Errorf("%s: hunk %d (line %d) does not fit", name, i+1, h.oldAt)
		}
		if at != want || fuzz > 0 {
			said += fmt.Sprintf("\nHunk #%d succeeded at %d", i+1, at+1)
			if fuzz > 0 {
				said += fmt.Sprintf(" with fuzz %d", fuzz)
			}
			if at != want {
				said += fmt.Sprintf(" (offset %d lines)", at-want)
			}
			said += "."
		}
		// Context lines that differ in the file are kept as they are in the file.
		_, tail := h.fuzzy(fuzz)
		from, to := at+skip, at+len(old)-tail
		rows = slices.Concat(rows[:from], now[skip:len(now)-tail], rows[to:])
		shift += at - want + len(now) - len(old)
		least = from + len(now) - skip - tail
	}
	return rows, said, nil
}

// fuzzy returns how many context lines at the beginning and at the end may differ.
func (h *hunk) fuzzy(fuzz int) (head, tail int) {
	head, tail = h.context()
	return min(fuzz, head), min(fuzz, tail)
}

// place finds the old lines of a hunk. It tries the nearest position first, and then the same with
// fewer context lines.
func place(rows []string, h *hunk, old []string, want, least int) (at, fuzz, skip int) {
	for fuzz = 0; fuzz <= 2; fuzz++ {
		head, tail := h.fuzzy(fuzz)
		if fuzz > 0 && head+tail < 1 {
			break
		}
		core := old[head : len(old)-tail]
		if fuzz > 0 && len(core) == 0 {
			break // only context would be left
		}
		for d := 0; d <= len(rows); d++ {
			for _, at := range []int{want - d, want + d} {
				p := at + head
				if p >= least && p >= 0 && p+len(core) <= len(rows) && slices.Equal(rows[p:p+len(core)], core) {
					return at, fuzz, head
				}
			}
			if len(core) == 0 {
				break
			}
		}
	}
	return -1, 0, 0
}
