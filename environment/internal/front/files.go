package front

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/internal/textdiff"
)

// Limits of the diffs of one answer.
const (
	maxDiffed = 256 << 10 // bytes of a file
	maxDiffs  = 4 << 20   // bytes of all diffs
)

// change is a file that differs between two entries.
type change struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, modified or removed
	Mode   string `json:"mode,omitempty"`
	Sum    string `json:"sha256,omitempty"` // of the new content
	Old    string `json:"old,omitempty"`    // that of the old one
	Diff   string `json:"diff,omitempty"`   // unified, if both are texts of up to 256 KiB and the answer has room
}

// number reads the number of an entry in a query.
func number(text string, usual, most int) (int, error) {
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, refusal{http.StatusBadRequest, "entry", "from, to and at are numbers of entries, from 1 to " + strconv.Itoa(most), 0}
	}
	return n, nil
}

// changes answers with what differs between the folder of an entry, the first by default, and that of a later one, the
// last by default. A page reviews them before it takes them over.
func (f *Front) changes(q *request) {
	name, entries, err := f.entries(q)
	var from, to int
	if err == nil {
		from, err = number(q.r.URL.Query().Get("from"), 1, len(entries))
	}
	if err == nil {
		to, err = number(q.r.URL.Query().Get("to"), len(entries), len(entries))
	}
	var list []change
	if err == nil {
		list, err = f.compare(q.r.Context(), name, entries[from-1].Tree, entries[to-1].Tree)
	}
	if err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	send(q.w, http.StatusOK, map[string]any{"from": from, "to": to, "files": list})
}

func (f *Front) compare(ctx context.Context, name, from, to string) ([]change, error) {
	list := []change{}
	old, err := jobs.Files(ctx, f.o.Jobs.Store, name, from)
	if err != nil {
		return nil, err
	}
	now, err := jobs.Files(ctx, f.o.Jobs.Store, name, to)
	if err != nil {
		return nil, err
	}
	before := map[string]jobs.File{}
	for _, file := range old {
		before[file.Path] = file
	}
	for _, file := range now {
		b, there := before[file.Path]
		delete(before, file.Path)
		switch {
		case !there:
			list = append(list, change{Path: file.Path, Change: "added", Mode: file.Mode.String(), Sum: file.Sum})
		case b != file:
			list = append(list, change{Path: file.Path, Change: "modified", Mode: file.Mode.String(), Sum: file.Sum, Old: b.Sum})
		}
	}
	for _, file := range before {
		list = append(list, change{Path: file.Path, Change: "removed", Old: file.Sum})
	}
	slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.Path, b.Path) })
	room := maxDiffs
	for i := range list {
		c := &list[i]
		var sides [2][]byte
		for k, sum := range []string{c.Old, c.Sum} {
			if sum != "" && room > 0 {
				if sides[k], err = f.o.Jobs.Store.Get(ctx, name, sum); err != nil {
					return nil, err
				}
			}
		}
		if room <= 0 || len(sides[0]) > maxDiffed || len(sides[1]) > maxDiffed {
			continue
		}
		names := [2]string{"a/" + c.Path, "b/" + c.Path}
		if c.Old == "" {
			names[0] = "/dev/null"
		}
		if c.Sum == "" {
			names[1] = "/dev/null"
		}
		text, err := textdiff.Unified(ctx, names[0], names[1], sides[0], sides[1])
		if err != nil {
			return nil, err
		}
		if room -= len(text); room > 0 {
			c.Diff = text
		}
	}
	return list, nil
}

// file answers with the content of a file of a snapshot. The path is a name in a list and leads to no folder.
func (f *Front) file(q *request) {
	data, sum, err := f.content(q)
	if err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	h := q.w.Header()
	// A browser that opens the address saves it: it is a model's content at the address of the operator.
	if !f.o.off.files {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(q.r.PathValue("path"))}))
	} else {
		h.Del("X-Content-Type-Options")
		h.Del("Content-Security-Policy")
	}
	h.Set("ETag", `"`+sum+`"`)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = q.w.Write(data)
}

func (f *Front) content(q *request) ([]byte, string, error) {
	name, entries, err := f.entries(q)
	if err != nil {
		return nil, "", err
	}
	at, err := number(q.r.URL.Query().Get("at"), len(entries), len(entries))
	if err != nil {
		return nil, "", err
	}
	list, err := jobs.Files(q.r.Context(), f.o.Jobs.Store, name, entries[at-1].Tree)
	if err != nil {
		return nil, "", err
	}
	i, ok := slices.BinarySearchFunc(list, q.r.PathValue("path"), func(file jobs.File, want string) int { return strings.Compare(file.Path, want) })
	if !ok {
		return nil, "", refusal{http.StatusNotFound, "file", "the snapshot has no file of this path", 0}
	}
	data, err := f.o.Jobs.Store.Get(q.r.Context(), name, list[i].Sum)
	if errors.Is(err, fs.ErrNotExist) { // it was deleted meanwhile
		err = errNone
	}
	return data, list[i].Sum, err
}
