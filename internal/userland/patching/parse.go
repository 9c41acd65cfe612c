package patching

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// filePatch is the part of a difference about one file.
type filePatch struct {
	oldName, newName string // "" is /dev/null
	rename, binary   bool
	hunks            []*hunk
}

// hunk is a run of lines. Each op is ' ' for both texts, '-' for the old text or '+' for the new
// one.
type hunk struct {
	oldAt, oldN, newAt, newN int
	ops                      []byte
	rows                     []string
}

// context returns the number of lines at the hunk's beginning and end that are in both texts.
func (h *hunk) context() (head, tail int) {
	for head < len(h.ops) && h.ops[head] == ' ' {
		head++
	}
	for tail < len(h.ops)-head && h.ops[len(h.ops)-1-tail] == ' ' {
		tail++
	}
	return head, tail
}

// parse parses a unified difference as written by diff or git. Other text between the parts is
// ignored.
func parse(text []byte) (files []*filePatch, err error) {
	rows := lines(string(text))
	var f *filePatch
	for i := 0; i < len(rows); i++ {
		row := strings.TrimRight(rows[i], "\r\n")
		switch {
		case strings.HasPrefix(row, "diff --git "):
			f = &filePatch{}
			files = append(files, f)
		case strings.HasPrefix(row, "rename from ") && f != nil:
			f.oldName, f.rename = "a/"+row[len("rename from "):], true
		case strings.HasPrefix(row, "rename to ") && f != nil:
			f.newName = "b/" + row[len("rename to "):]
		case strings.HasPrefix(row, "GIT binary patch") || strings.HasPrefix(row, "Binary files "):
			if f == nil {
				f = &filePatch{}
				files = append(files, f)
			}
			f.binary = true
		case strings.HasPrefix(row, "--- ") && i+1 < len(rows) && strings.HasPrefix(rows[i+1], "+++ "):
			if f == nil || f.hunks != nil || !strings.HasPrefix(previous(rows, i), "diff --git ") {
				f = &filePatch{}
				files = append(files, f)
			}
			f.oldName, f.newName = fileName(row[4:]), fileName(strings.TrimRight(rows[i+1], "\r\n")[4:])
			i++
		case strings.HasPrefix(row, "@@ -"):
			if f == nil {
				return nil, fmt.Errorf("line %d: a hunk without a file", i+1)
			}
			h, next, err := parseHunk(rows, i)
			if err != nil {
				return nil, err
			}
			f.hunks = append(f.hunks, h)
			i = next - 1
		}
	}
	return files, nil
}

// previous returns the last line before i that begins a part or a hunk, skipping git's other
// headers.
func previous(rows []string, i int) string {
	for i--; i >= 0; i-- {
		if strings.HasPrefix(rows[i], "diff --git ") || strings.HasPrefix(rows[i], "@@ ") || strings.HasPrefix(rows[i], "+++ ") {
			return rows[i]
		}
	}
	return ""
}

// fileName returns a file name without the time that diff writes after a tab and without git's
// quotes. It returns "" for /dev/null.
func fileName(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if strings.HasPrefix(s, `"`) {
		if u, err := strconv.Unquote(s); err == nil {
			s = u
		}
	}
	if s = strings.TrimRight(s, " "); s == "/dev/null" {
		return ""
	}
	return s
}

func parseHunk(rows []string, i int) (*hunk, int, error) {
	bad := func(text string) error { return fmt.Errorf("line %d: %s", i+1, text) }
	h := &hunk{oldN: 1, newN: 1}
	head, _, ok := strings.Cut(strings.TrimPrefix(rows[i], "@@ -"), " @@")
	from, to, ok2 := strings.Cut(head, " +")
	if !ok || !ok2 || !span(from, &h.oldAt, &h.oldN) || !span(to, &h.newAt, &h.newN) {
		return nil, 0, bad("this is no head of a hunk: " + strings.TrimSpace(rows[i]))
	}
	oldN, newN := h.oldN, h.newN
	for i++; i < len(rows) && (oldN > 0 || newN > 0 || strings.HasPrefix(rows[i], `\`)); i++ {
		row := rows[i]
		op := row[0]
		if op == '\n' || op == '\r' { // an empty context line that lost its blank
			op, row = ' ', " "+row
		}
		switch op {
		case '\\': // No newline at end of file
			if n := len(h.rows); n > 0 {
				h.rows[n-1] = strings.TrimSuffix(h.rows[n-1], "\n")
			}
			continue
		case ' ':
			oldN, newN = oldN-1, newN-1
		case '-':
			oldN--
		case '+':
			newN--
		default:
			return nil, 0, bad("a line of a hunk begins with a blank, + or -")
		}
		h.ops, h.rows = append(h.ops, op), append(h.rows, row[1:])
	}
	if oldN != 0 || newN != 0 {
		return nil, 0, bad("the hunk has fewer or more lines than its head says")
	}
	return h, i, nil
}

func span(s string, at, n *int) bool {
	a, b, has := strings.Cut(s, ",")
	var err, err2 error
	*at, err = strconv.Atoi(a)
	if has {
		*n, err2 = strconv.Atoi(b)
	}
	return errors.Join(err, err2) == nil && *at >= 0 && *n >= 0
}
