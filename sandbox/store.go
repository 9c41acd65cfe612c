package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// Store keeps sessions. Each Put is whole or not at all; records of the same id are
// replaced. A session that is not there is an error that is [fs.ErrNotExist].
type Store interface {
	Sessions(ctx context.Context) ([]protocol.SessionRecord, error)
	Session(ctx context.Context, id string) (protocol.SessionRecord, error)
	// Messages returns what a session holds, messages in the order of their first Put,
	// the parts of each in the order of their index.
	Messages(ctx context.Context, session string) ([]protocol.MessageRecord, []protocol.PartRecord, error)
	// Put stores records of one session together.
	Put(ctx context.Context, session protocol.SessionRecord, messages []protocol.MessageRecord, parts []protocol.PartRecord) error
	// Delete removes a session. One that is not there is no error.
	Delete(ctx context.Context, id string) error
	// Lock holds a session against other tabs, programs and goroutines that use the
	// same store, or fails with [protocol.ErrSession] if another holds it.
	Lock(ctx context.Context, id string) (unlock func(), err error)
}

// kept is a session as a store holds it in memory.
type kept struct {
	rec      protocol.SessionRecord
	messages []protocol.MessageRecord
	parts    []protocol.PartRecord
	atMsg    map[string]int
	atPart   map[string]int
}

func (k *kept) put(messages []protocol.MessageRecord, parts []protocol.PartRecord) {
	if k.atMsg == nil {
		k.atMsg, k.atPart = map[string]int{}, map[string]int{}
	}
	for _, m := range messages {
		if i, ok := k.atMsg[m.ID]; ok {
			k.messages[i] = m
			continue
		}
		k.atMsg[m.ID] = len(k.messages)
		k.messages = append(k.messages, m)
	}
	for _, p := range parts {
		if i, ok := k.atPart[p.ID]; ok {
			k.parts[i] = p
			continue
		}
		k.atPart[p.ID] = len(k.parts)
		k.parts = append(k.parts, p)
	}
}

// MemoryStore keeps sessions until the program ends.
type MemoryStore struct {
	mu       sync.Mutex
	sessions map[string]*kept
	held     map[string]bool
}

// NewMemoryStore makes an empty store.
func NewMemoryStore() *MemoryStore {
	return &MemoryStore{sessions: map[string]*kept{}, held: map[string]bool{}}
}

func noSession(id string) error {
	return protocol.Errorf(protocol.ErrSession, "session", id, "%w", fs.ErrNotExist).WithReason(protocol.ReasonNotFound)
}

// Sessions is part of [Store].
func (m *MemoryStore) Sessions(context.Context) ([]protocol.SessionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []protocol.SessionRecord
	for _, k := range m.sessions {
		out = append(out, k.rec)
	}
	sortSessions(out)
	return out, nil
}

// sortSessions puts the last changed first.
func sortSessions(list []protocol.SessionRecord) {
	slices.SortFunc(list, func(a, b protocol.SessionRecord) int {
		if c := b.UpdatedAt.Compare(a.UpdatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// Session is part of [Store].
func (m *MemoryStore) Session(_ context.Context, id string) (protocol.SessionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.sessions[id]; ok {
		return k.rec, nil
	}
	return protocol.SessionRecord{}, noSession(id)
}

// Messages is part of [Store].
func (m *MemoryStore) Messages(_ context.Context, id string) ([]protocol.MessageRecord, []protocol.PartRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.sessions[id]
	if !ok {
		return nil, nil, noSession(id)
	}
	return slices.Clone(k.messages), slices.Clone(k.parts), nil
}

// Put is part of [Store].
func (m *MemoryStore) Put(_ context.Context, s protocol.SessionRecord, messages []protocol.MessageRecord, parts []protocol.PartRecord) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[s.ID]
	if k == nil {
		k = &kept{}
		m.sessions[s.ID] = k
	}
	k.rec = s
	k.put(messages, parts)
	return nil
}

// Delete is part of [Store].
func (m *MemoryStore) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, id)
	return nil
}

// Lock is part of [Store].
func (m *MemoryStore) Lock(_ context.Context, id string) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return hold(m.held, &m.mu, id)
}

// hold takes an id; mu is held.
func hold(held map[string]bool, mu *sync.Mutex, id string) (func(), error) {
	if held[id] {
		return nil, protocol.Errorf(protocol.ErrSession, "session", id, "the session is open elsewhere; close it there, or fork it")
	}
	held[id] = true
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		delete(held, id)
	}), nil
}

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
	k, segs := &kept{}, map[string]int{}
	bound := fsaccess.WithContext(ctx, s.fs)
	for n := 0; ; n++ {
		data, err := bound.ReadFile(segmentName(id, n))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		in := bufio.NewScanner(bytes.NewReader(data))
		in.Buffer(make([]byte, 0, 64<<10), 64<<20)
		for in.Scan() {
			var l line
			if err := json.Unmarshal(in.Bytes(), &l); err != nil {
				return nil, protocol.Errorf(protocol.ErrSession, "session", id, "%s is damaged: %v", segmentName(id, n), err)
			}
			switch {
			case l.Message != nil:
				segs[l.Message.ID] = n
				k.put([]protocol.MessageRecord{*l.Message}, nil)
			case l.Part != nil:
				k.put(nil, []protocol.PartRecord{*l.Part})
			}
		}
		if err := in.Err(); err != nil {
			return nil, err
		}
	}
	s.cache[id], s.segs[id] = k, segs
	return k, nil
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
