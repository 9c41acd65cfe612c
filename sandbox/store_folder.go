package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// FolderStore keeps sessions in a folder: of the operating system natively, or the
// origin-private file system in a page, which a browser may clear under pressure
// unless [fsaccess.Persist] was granted. A session is a folder; its messages lie in
// files of 200 each, one record a line, of which a change rewrites one. What a crash
// cut short is the whole of a change, never half of one.
type FolderStore struct {
	fs fsaccess.FS

	mu    sync.Mutex
	cache map[string]*kept
	segs  map[string]map[string]int // message id → segment, by session
	held  map[string]bool
}

// NewFolderStore keeps sessions in a folder that serves nothing else.
func NewFolderStore(fsys fsaccess.FS) *FolderStore {
	return &FolderStore{fs: fsys, cache: map[string]*kept{}, segs: map[string]map[string]int{}, held: map[string]bool{}}
}

const segmentSize = 200

// line is a record in a file of messages.
type line struct {
	Message *protocol.MessageRecord `json:"m,omitempty"`
	Part    *protocol.PartRecord    `json:"p,omitempty"`
}

// Sessions is part of [Store]. A session that can't be read is left out.
func (s *FolderStore) Sessions(ctx context.Context) ([]protocol.SessionRecord, error) {
	list, err := fsaccess.WithContext(ctx, s.fs).ReadDir(".")
	if err != nil {
		return nil, err
	}
	var out []protocol.SessionRecord
	for _, e := range list {
		if rec, err := s.Session(ctx, e.Name()); err == nil {
			out = append(out, rec)
		}
	}
	sortSessions(out)
	return out, nil
}

// Session is part of [Store].
func (s *FolderStore) Session(ctx context.Context, id string) (rec protocol.SessionRecord, err error) {
	if !fs.ValidPath(id) || strings.Contains(id, "/") {
		return rec, noSession(id)
	}
	data, err := fsaccess.WithContext(ctx, s.fs).ReadFile(id + "/session.json")
	if errors.Is(err, fs.ErrNotExist) {
		return rec, noSession(id)
	}
	if err != nil {
		return rec, err
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		return rec, protocol.Errorf(protocol.ErrSession, "session", id, "the record is damaged: %v", err)
	}
	if err := rec.Validate(); err != nil {
		return rec, err
	}
	if rec.ID != id {
		return rec, protocol.Errorf(protocol.ErrSession, "session", id, "the record is another session's")
	}
	return rec, nil
}

// Messages is part of [Store].
func (s *FolderStore) Messages(ctx context.Context, id string) ([]protocol.MessageRecord, []protocol.PartRecord, error) {
	if _, err := s.Session(ctx, id); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.load(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return slices.Clone(k.messages), slices.Clone(k.parts), nil
}

func segmentName(id string, n int) string {
	digits, _ := json.Marshal(1_000_000 + n)
	return id + "/" + string(digits[1:]) + ".jsonl"
}

// load reads a session's messages once; mu is held.
func (s *FolderStore) load(ctx context.Context, id string) (*kept, error) {
	if k, ok := s.cache[id]; ok && s.held[id] {
		return k, nil // nobody else changes it
	}
	files, err := s.segmentsOf(ctx, id)
	if err != nil {
		return nil, err
	}
	decoded := decodeAll(files)
	k, segs := &kept{}, map[string]int{}
	messages, parts := 0, 0
	for n, d := range decoded {
		if d.err != nil {
			return nil, protocol.Errorf(protocol.ErrSession, "session", id, "%s is damaged: %v", segmentName(id, n), d.err)
		}
		messages, parts = messages+len(d.messages), parts+len(d.parts)
	}
	k.grow(messages, parts)
	for n, d := range decoded {
		for i := range d.messages {
			segs[d.messages[i].ID] = n
		}
		k.put(d.messages, d.parts)
	}
	s.cache[id], s.segs[id] = k, segs
	return k, nil
}

func (s *FolderStore) segmentsOf(ctx context.Context, id string) (files [][]byte, err error) {
	bound := fsaccess.WithContext(ctx, s.fs)
	for {
		data, err := bound.ReadFile(segmentName(id, len(files)))
		if errors.Is(err, fs.ErrNotExist) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		files = append(files, data)
	}
}

// segment is what one file holds.
type segment struct {
	messages []protocol.MessageRecord
	parts    []protocol.PartRecord
	err      error
}

// decodeAll decodes the files, on as many processors as there are: it is what opening a
// long session takes.
func decodeAll(files [][]byte) []segment {
	out := make([]segment, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(files), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				out[i].decode(files[i])
			}
		})
	}
	wg.Wait()
	return out
}

func (d *segment) decode(data []byte) {
	d.messages = make([]protocol.MessageRecord, 0, segmentSize)
	d.parts = make([]protocol.PartRecord, 0, max(0, bytes.Count(data, []byte{'\n'})-segmentSize))
	for text := range bytes.Lines(data) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			d.err = err
			return
		}
		switch {
		case l.Message != nil:
			d.messages = append(d.messages, *l.Message)
		case l.Part != nil:
			d.parts = append(d.parts, *l.Part)
		}
	}
}

// Put is part of [Store].
func (s *FolderStore) Put(ctx context.Context, rec protocol.SessionRecord, messages []protocol.MessageRecord, parts []protocol.PartRecord) error {
	if err := rec.Validate(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	bound := fsaccess.WithContext(ctx, s.fs)
	if err := bound.MkdirAll(rec.ID, 0o755); err != nil {
		return err
	}
	k, err := s.load(ctx, rec.ID)
	if err != nil {
		return err
	}
	k.put(messages, parts)
	segs, dirty := s.segs[rec.ID], map[int]bool{}
	for _, m := range messages {
		n, known := segs[m.ID]
		if !known {
			n = len(segs) / segmentSize
			segs[m.ID] = n
		}
		dirty[n] = true
	}
	for _, p := range parts {
		dirty[segs[p.MessageID]] = true
	}
	for n := range dirty {
		if err := s.writeSegment(bound, rec.ID, n, k, segs); err != nil {
			delete(s.cache, rec.ID) // what is in the folder counts
			return err
		}
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return bound.WriteFile(rec.ID+"/session.json", data, 0o600)
}

func (s *FolderStore) writeSegment(bound fsaccess.FS, id string, n int, k *kept, segs map[string]int) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	first := min(n*segmentSize, len(k.messages))
	for i := range k.messages[first:min(first+segmentSize, len(k.messages))] {
		if err := enc.Encode(line{Message: &k.messages[first+i]}); err != nil {
			return err
		}
	}
	for i := range k.parts {
		if segs[k.parts[i].MessageID] != n {
			continue
		}
		if err := enc.Encode(line{Part: &k.parts[i]}); err != nil {
			return err
		}
	}
	return bound.WriteFile(segmentName(id, n), b.Bytes(), 0o600)
}

// Delete is part of [Store].
func (s *FolderStore) Delete(ctx context.Context, id string) error {
	if !fs.ValidPath(id) || id == "." || strings.Contains(id, "/") {
		return noSession(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cache, id)
	delete(s.segs, id)
	return fsaccess.WithContext(ctx, s.fs).RemoveAll(id)
}

// Lock is part of [Store]. Between tabs of one origin the browser's locks hold a
// session; between programs over one folder nothing does.
func (s *FolderStore) Lock(ctx context.Context, id string) (func(), error) {
	s.mu.Lock()
	free, err := hold(s.held, &s.mu, id)
	if err == nil {
		delete(s.cache, id) // another tab may have written since
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	unlock, err := lockAcross(ctx, "bailey-session-"+id)
	if err != nil {
		free()
		return nil, err
	}
	return sync.OnceFunc(func() { unlock(); free() }), nil
}
