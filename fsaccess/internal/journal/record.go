package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// record is one change in the journal. For each path it contains the state before and after
// the change. So a look at the folder shows whether the change happened, and an undo is the
// record read backwards.
type record struct {
	Seq     int64     `json:"seq"`
	Group   int64     `json:"group"` // Seq of the first record of the group
	Time    time.Time `json:"time"`
	Op      string    `json:"op"`
	Label   string    `json:"label,omitempty"`
	Cause   string    `json:"cause,omitempty"`
	Of      int64     `json:"of,omitempty"`   // for undo and redo, the group that it reverts
	To      int64     `json:"to,omitempty"`   // for an undo to a snapshot, the last Seq that stays
	Left    int       `json:"left,omitempty"` // for undo and redo, the number of records of the group still to come
	Effects []effect  `json:"effects"`
	Inline  []inline  `json:"inline,omitempty"`

	before map[string][]byte // contents that are known already, by hash
	ahead  *core.Pending     // the record's file, if it was begun already
	size   int64             // bytes of the stored record
	offset map[string]int64  // offset of each inline content in the record's file, by hash
}

// effect is the change of one path. A move takes everything below From along.
type effect struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"`
	Before state  `json:"before,omitzero"`
	After  state  `json:"after,omitzero"`
}

// state is the state of a path: nothing, a folder, or a file with a content.
type state struct {
	Kind string `json:"kind,omitempty"` // "", "dir", "file", "link", whose content is its target
	Hash string `json:"hash,omitempty"`
	Size int64  `json:"size,omitempty"`
	Perm uint32 `json:"perm,omitempty"`
}

func (s state) file() bool { return s.Kind == "file" || s.link() }

func (s state) link() bool { return s.Kind == "link" }

func (s state) dir() bool { return s.Kind == "dir" }

func (s state) none() bool { return s.Kind == "" }

func (s state) perm(otherwise fs.FileMode) fs.FileMode {
	if s.Perm == 0 {
		return otherwise
	}
	return fs.FileMode(s.Perm)
}

// same compares without the permission bits. They are restored, but a platform without
// permission bits causes no conflict.
func (s state) same(t state) bool { return s.Kind == t.Kind && s.Hash == t.Hash }

// inline is a small before-image that is stored in the record's file.
type inline struct {
	Hash string `json:"hash"`
	Size int64  `json:"size"`
}

// Invert returns the effects that undo the given effects.
func Invert(effects []effect) []effect {
	out := make([]effect, 0, len(effects))
	for i := len(effects) - 1; i >= 0; i-- {
		e := effects[i]
		if e.From != "" {
			e.From, e.Path = e.Path, e.From
		}
		e.Before, e.After = e.After, e.Before
		out = append(out, e)
	}
	return out
}

func (r *record) paths() []string {
	var out []string
	seen := make(map[string]bool)
	for _, e := range r.Effects {
		for _, p := range []string{e.From, e.Path} {
			if p != "" && !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// The file of a record consists of a line, the JSON and the small before-images one after
// the other. The line contains the checksum of everything after it and the length of the
// JSON. A file that a crash has cut off fails its checksum.
const recordMagic = "bailey-journal-1"

func (r *record) encode(blobs map[string][]byte) ([]byte, error) {
	r.Inline = r.Inline[:0]
	for h, b := range blobs {
		r.Inline = append(r.Inline, inline{h, int64(len(b))})
	}
	head, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	body.Write(head)
	for _, in := range r.Inline {
		body.Write(blobs[in.Hash])
	}
	line := fmt.Sprintf("%s %s %d\n", recordMagic, core.HashOf(body.Bytes()), len(head))
	out := append([]byte(line), body.Bytes()...)
	r.index(int64(len(line)+len(head)), int64(len(out)))
	return out, nil
}

func (r *record) index(start, size int64) {
	r.offset = make(map[string]int64, len(r.Inline))
	for _, in := range r.Inline {
		r.offset[in.Hash] = start
		start += in.Size
	}
	r.size = size
}

func decodeRecord(data []byte) (*record, error) {
	line, body, ok := bytes.Cut(data, []byte("\n"))
	f := strings.Fields(string(line))
	if !ok || len(f) != 3 || f[0] != recordMagic || f[1] != core.HashOf(body) {
		return nil, core.ErrCorrupt
	}
	n, err := strconv.Atoi(f[2])
	if err != nil || n < 0 || n > len(body) {
		return nil, core.ErrCorrupt
	}
	r := new(record)
	if err := json.Unmarshal(body[:n], r); err != nil {
		return nil, core.ErrCorrupt
	}
	rest := int64(len(body) - n)
	for _, in := range r.Inline {
		if rest -= in.Size; in.Size < 0 || rest < 0 {
			return nil, core.ErrCorrupt
		}
	}
	for _, e := range r.Effects {
		// Only this package writes records. A record from elsewhere must not lead to a name
		// that Folder would not accept.
		if core.CleanName(e.Path) != nil || e.From != "" && core.CleanName(e.From) != nil {
			return nil, core.ErrCorrupt
		}
	}
	r.index(int64(len(line)+1+n), int64(len(data)))
	return r, nil
}
