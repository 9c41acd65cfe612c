package viewer

import (
	"errors"
	"strconv"
	"strings"
)

// file is the part of a unified diff about one file.
type fileDiff struct {
	path, from string // from is the old name of a renamed file, "" otherwise
	what       string // "Edited", "New", "Deleted", "Renamed", "New folder", "Deleted folder"
	note       string // why there are no hunks, such as the sizes of files that are no text
	hunks      []hunk
}

// hunk is one place of a change. A line begins with a space, + or -, and has its line end, unless it is
// the last one of a text without.
type hunk struct {
	head     string
	old, now int // the first lines
	lines    []string
}

// parse returns the files of a unified diff as [fsaccess.Journal.Diff] writes it. The numbers in the head
// of a hunk decide where it ends, so no line of a file is taken for a head.
func parse(diff string) (out []fileDiff) {
	lines := strings.SplitAfter(diff, "\n")
	var f *fileDiff
	begin := func(path, what string) *fileDiff {
		out = append(out, fileDiff{path: path, what: what})
		return &out[len(out)-1]
	}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\n")
		switch {
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ "):
			a, b := side(line[4:]), side(strings.TrimSuffix(lines[i+1], "\n")[4:])
			i++
			switch {
			case a == "/dev/null":
				f = begin(b, "New")
			case b == "/dev/null":
				f = begin(a, "Deleted")
			default:
				f = begin(b, "Edited")
			}
		case strings.HasPrefix(line, "rename from ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "rename to "):
			f = begin(strings.TrimSuffix(strings.TrimPrefix(lines[i+1], "rename to "), "\n"), "Renamed")
			f.from = strings.TrimPrefix(line, "rename from ")
			i++
		case strings.HasPrefix(line, "new folder "):
			f = begin(strings.TrimPrefix(line, "new folder "), "New folder")
		case strings.HasPrefix(line, "deleted folder "):
			f = begin(strings.TrimPrefix(line, "deleted folder "), "Deleted folder")
		case strings.HasPrefix(line, "@@ -") && f != nil:
			h, n, ok := parseHunk(lines[i:])
			if ok {
				f.hunks = append(f.hunks, h)
				i += n - 1
			}
		case line != "" && f != nil && len(f.hunks) == 0:
			f.note = line
		case line != "" && f == nil:
			f = begin("", "Changed")
			f.note = line
			f = nil
		}
	}
	return out
}

// side returns a name of a diff without the a/ or b/ before it.
func side(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if u, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
		s = u
	}
	if len(s) > 2 && (s[:2] == "a/" || s[:2] == "b/") {
		return s[2:]
	}
	return s
}

// parseHunk returns the hunk at the beginning of lines, and its number of lines there.
func parseHunk(lines []string) (h hunk, n int, ok bool) {
	h.head = strings.TrimSuffix(lines[0], "\n")
	fields := strings.Fields(h.head)
	if len(fields) < 4 {
		return h, 0, false
	}
	var left, right int
	h.old, left = span(fields[1])
	h.now, right = span(fields[2])
	for n = 1; n < len(lines) && (left > 0 || right > 0 || strings.HasPrefix(lines[n], `\`)); n++ {
		l := lines[n]
		switch {
		case strings.HasPrefix(l, `\`): // no line end
			if k := len(h.lines) - 1; k >= 0 {
				h.lines[k] = strings.TrimSuffix(h.lines[k], "\n")
			}
			continue
		case strings.HasPrefix(l, "+"):
			right--
		case strings.HasPrefix(l, "-"):
			left--
		case strings.HasPrefix(l, " "):
			left--
			right--
		case l == "\n": // a context line whose space was removed
			l = " \n"
			left--
			right--
		default:
			return h, n, false
		}
		h.lines = append(h.lines, l)
	}
	return h, n, left == 0 && right == 0
}

// span returns the line and the count of "-12,3".
func span(s string) (line, count int) {
	if s == "" {
		return 0, 0
	}
	a, b, two := strings.Cut(s[1:], ",")
	line, _ = strconv.Atoi(a)
	if count = 1; two {
		count, _ = strconv.Atoi(b)
	}
	return line, count
}

// sides returns the lines of the hunk before and after the change.
func (h hunk) sides() (old, now []string) {
	for _, l := range h.lines {
		if l[0] != '+' {
			old = append(old, l[1:])
		}
		if l[0] != '-' {
			now = append(now, l[1:])
		}
	}
	return old, now
}

var errMoved = errors.New("this place has changed since then, so it was left as it is: undo the whole step, or edit the file")

// revert returns a text without the change of a hunk. The lines of the hunk must still be there. Lines
// may have come or gone above them: the nearest such place counts. If two places are equally near, the
// error is errMoved, as for none.
func (h hunk) revert(text string) (string, error) {
	old, now := h.sides()
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	want := max(h.now-1, 0)
	if len(now) == 0 { // the head names the line before the place
		want = h.now
	}
	fits := func(at int) bool {
		if at < 0 || at+len(now) > len(lines) {
			return false
		}
		for i, l := range now {
			if lines[at+i] != l {
				return false
			}
		}
		return true
	}
	at := -1
	for d := 0; d <= len(lines) && at < 0; d++ {
		up, down := fits(want-d), fits(want+d)
		switch {
		case d > 0 && up && down, d > 0 && len(now) == 0:
			return "", errMoved
		case up:
			at = want - d
		case down:
			at = want + d
		}
	}
	if at < 0 {
		return "", errMoved
	}
	var b strings.Builder
	for _, part := range [][]string{lines[:at], old, lines[at+len(now):]} {
		for _, l := range part {
			if s := b.Len(); s > 0 && !strings.HasSuffix(b.String(), "\n") {
				return "", errMoved // a line without an end would join the next one
			}
			b.WriteString(l)
		}
	}
	return b.String(), nil
}
