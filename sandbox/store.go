package sandbox

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"

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

// grow makes room for what is about to be put.
func (k *kept) grow(messages, parts int) {
	k.messages, k.parts = make([]protocol.MessageRecord, 0, messages), make([]protocol.PartRecord, 0, parts)
	k.atMsg, k.atPart = make(map[string]int, messages), make(map[string]int, parts)
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
