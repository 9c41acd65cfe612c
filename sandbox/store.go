package sandbox

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/protocol"
)

// A Store stores sessions, like [MemoryStore], [FolderStore] and [IndexedStore]. Records with an id
// that is stored already replace the older ones. The error of a session that does not exist wraps
// [fs.ErrNotExist]. A Store must be safe for concurrent use.
type Store interface {
	// Sessions returns the records of all sessions, the last changed one first.
	Sessions(ctx context.Context) ([]SessionRecord, error)
	// Session returns the record of one session.
	Session(ctx context.Context, id string) (SessionRecord, error)
	// Messages returns the messages of a session in the order of their first Put, and their parts.
	// The parts of each message are in the order of their index.
	Messages(ctx context.Context, session string) ([]MessageRecord, []PartRecord, error)
	// Put stores records of one session together, all of them or none.
	Put(ctx context.Context, session SessionRecord, messages []MessageRecord, parts []PartRecord) error
	// PutFile stores the content of a file of a session under its id, the SHA-256 of the content in
	// hex. It is called before the Put of the records that name the file. If another content is
	// stored under the id, that one is damaged, and PutFile replaces it.
	PutFile(ctx context.Context, session, id string, data []byte) error
	// File returns the content of a file. The error of a file that is not stored wraps [fs.ErrNotExist].
	File(ctx context.Context, session, id string) ([]byte, error)
	// Delete removes a session and its files. It returns no error if there is none.
	Delete(ctx context.Context, id string) error
	// Lock reserves a session against other tabs, programs and goroutines that use the same store.
	// If another one holds it, Lock returns [protocol.ErrSession].
	Lock(ctx context.Context, id string) (unlock func(), err error)
}

// kept is a session in memory.
type kept struct {
	rec      SessionRecord
	messages []MessageRecord
	parts    []PartRecord
	files    map[string][]byte // of MemoryStore
	atMsg    map[string]int
	atPart   map[string]int
}

// grow allocates room for the given numbers of records.
func (k *kept) grow(messages, parts int) {
	k.messages, k.parts = make([]MessageRecord, 0, messages), make([]PartRecord, 0, parts)
	k.atMsg, k.atPart = make(map[string]int, messages), make(map[string]int, parts)
}

func (k *kept) put(messages []MessageRecord, parts []PartRecord) {
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

// memoryStore is the store of [MemoryStore].
type memoryStore struct {
	mu       sync.Mutex
	sessions map[string]*kept
	held     map[string]bool
}

// MemoryStore returns an empty store that keeps sessions in memory, until the program ends.
func MemoryStore() Store {
	return &memoryStore{sessions: map[string]*kept{}, held: map[string]bool{}}
}

func noSession(id string) error {
	return protocol.Errorf(protocol.ErrSession, "session", id, "%w", fs.ErrNotExist).WithReason(protocol.ReasonNotFound)
}

// Sessions implements [Store].
func (m *memoryStore) Sessions(context.Context) ([]SessionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []SessionRecord
	for _, k := range m.sessions {
		out = append(out, k.rec)
	}
	sortSessions(out)
	return out, nil
}

// sortSessions sorts the last changed session first.
func sortSessions(list []SessionRecord) {
	slices.SortFunc(list, func(a, b SessionRecord) int {
		if c := b.UpdatedAt.Compare(a.UpdatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// Session implements [Store].
func (m *memoryStore) Session(_ context.Context, id string) (SessionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.sessions[id]; ok {
		return k.rec, nil
	}
	return SessionRecord{}, noSession(id)
}

// Messages implements [Store].
func (m *memoryStore) Messages(_ context.Context, id string) ([]MessageRecord, []PartRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.sessions[id]
	if !ok {
		return nil, nil, noSession(id)
	}
	return slices.Clone(k.messages), slices.Clone(k.parts), nil
}

// Put implements [Store].
func (m *memoryStore) Put(_ context.Context, s SessionRecord, messages []MessageRecord, parts []PartRecord) error {
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

// PutFile implements [Store].
func (m *memoryStore) PutFile(_ context.Context, session, id string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.sessions[session]
	if k == nil {
		return noSession(session)
	}
	if k.files == nil {
		k.files = map[string][]byte{}
	}
	k.files[id] = slices.Clone(data)
	return nil
}

// File implements [Store].
func (m *memoryStore) File(_ context.Context, session, id string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.sessions[session]; k != nil && k.files[id] != nil {
		return slices.Clone(k.files[id]), nil
	}
	return nil, noFile(id)
}

// Delete implements [Store].
func (m *memoryStore) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, id)
	return nil
}

// Lock implements [Store].
func (m *memoryStore) Lock(_ context.Context, id string) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return hold(m.held, &m.mu, id)
}

// hold marks an id as held. mu is held.
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
