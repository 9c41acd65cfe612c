package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// InSessions returns a store in a store of sessions, such as a database or a bucket, which several machines share. A job
// is a session of it, an entry a message, and a content a file. The lock of a job is the session's lease, and what comes
// after the loss of a lease is refused. Another session for each group lists its jobs.
func InSessions(s sandbox.Store) Store { return &inSessions{s: s, held: map[string]bool{}} }

type inSessions struct {
	s       sandbox.Store
	stripes [64]sync.Mutex // by job, for entries

	mu   sync.Mutex
	held map[string]bool // the jobs whose lock this store has
}

func (i *inSessions) stripe(job string) *sync.Mutex {
	h := sha256.Sum256([]byte(job))
	return &i.stripes[int(h[0])%len(i.stripes)]
}

// index is the name of the session that lists a group. No job has it, because it has a dot.
func index(group string) string { return "index." + group }

// empty is the sum of no bytes. They are not stored, because some servers of buckets take no file without a length.
const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func record(id string) sandbox.SessionRecord {
	now := time.Now().UTC()
	return sandbox.SessionRecord{ID: id, Agent: "job", CreatedAt: now, UpdatedAt: now}
}

// refused translates an error of a change: whoever lost the lease was overtaken.
func refused(err error) error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Code == protocol.ErrSession && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

// listed notes a job in its group, or that it was deleted.
func (i *inSessions) listed(ctx context.Context, job string, gone bool) error {
	id := index(groupOf(job))
	rec := record(id)
	m := sandbox.MessageRecord{ID: job, SessionID: id, Role: sandbox.RoleUser, CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt}
	if gone {
		m.Metadata.HiddenAt = rec.CreatedAt
	}
	return i.s.Put(ctx, rec, []sandbox.MessageRecord{m}, nil)
}

// Put implements [Store].
func (i *inSessions) Put(ctx context.Context, job string, data []byte) (string, error) {
	if err := checkName(job); err != nil {
		return "", err
	}
	h := sha256.Sum256(data)
	sum := hex.EncodeToString(h[:])
	if sum == empty {
		return sum, nil
	}
	err := i.s.PutFile(ctx, job, sum, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = i.listed(ctx, job, false); err == nil {
			err = i.s.Put(ctx, record(job), nil, nil)
		}
		if err == nil {
			err = i.s.PutFile(ctx, job, sum, data)
		}
	}
	return sum, refused(err)
}

// Get implements [Store].
func (i *inSessions) Get(ctx context.Context, job, sum string) ([]byte, error) {
	if err := checkName(job); err != nil {
		return nil, err
	}
	if !sumName.MatchString(sum) {
		return nil, fmt.Errorf("jobs: %q is no SHA-256 in hex", sum)
	}
	if sum == empty {
		return nil, nil
	}
	data, err := i.s.File(ctx, job, sum)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	if h := sha256.Sum256(data); hex.EncodeToString(h[:]) != sum {
		return nil, fmt.Errorf("jobs: the content %s is damaged", sum)
	}
	return data, nil
}

// Append implements [Store].
func (i *inSessions) Append(ctx context.Context, job string, e Entry) error {
	if err := checkEntry(job, e); err != nil {
		return err
	}
	m := i.stripe(job)
	m.Lock()
	defer m.Unlock()
	i.mu.Lock()
	held := i.held[job]
	i.mu.Unlock()
	if !held {
		unlock, err := i.s.Lock(ctx, job)
		if err != nil {
			return refused(err)
		}
		defer unlock()
	}
	list, err := i.Entries(ctx, job)
	if err != nil {
		return err
	}
	switch {
	case e.N <= len(list):
		return fmt.Errorf("%w (entry %d of %s)", ErrConflict, e.N, job)
	case e.N > len(list)+1:
		return fmt.Errorf("jobs: entry %d of %s: the one before it is missing", e.N, job)
	case e.N == 1:
		if err := i.listed(ctx, job, false); err != nil {
			return err
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	rec, id := record(job), strconv.Itoa(e.N)
	return refused(i.s.Put(ctx, rec,
		[]sandbox.MessageRecord{{ID: id, SessionID: job, Role: sandbox.RoleUser, CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt}},
		[]sandbox.PartRecord{{ID: id, MessageID: id, SessionID: job, Type: "data-entry", Data: string(text), CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt}}))
}

// Entries implements [Store].
func (i *inSessions) Entries(ctx context.Context, job string) ([]Entry, error) {
	if err := checkName(job); err != nil {
		return nil, err
	}
	_, parts, err := i.s.Messages(ctx, job)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Entry
	for n, p := range parts {
		text, _ := p.Data.(string)
		var e Entry
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.N != n+1 {
			return nil, fmt.Errorf("jobs: entry %d of %s is damaged: %v", n+1, job, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// Lock implements [Store].
func (i *inSessions) Lock(ctx context.Context, job string) (func(), error) {
	if err := checkName(job); err != nil {
		return nil, err
	}
	unlock, err := i.s.Lock(ctx, job)
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Code == protocol.ErrSession {
		return nil, fmt.Errorf("%w (%s)", ErrHeld, job)
	}
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	i.held[job] = true
	i.mu.Unlock()
	return sync.OnceFunc(func() {
		i.mu.Lock()
		delete(i.held, job)
		i.mu.Unlock()
		unlock()
	}), nil
}

// Jobs implements [Store].
func (i *inSessions) Jobs(ctx context.Context, group string) (out []string, err error) {
	list, _, err := i.s.Messages(ctx, index(group))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, m := range list {
		if m.Metadata.HiddenAt.IsZero() && jobName.MatchString(m.ID) {
			out = append(out, m.ID)
		}
	}
	slices.Sort(out)
	return out, err
}

// Delete implements [Store]. The note in the list of the group stays, as one of a deleted job.
func (i *inSessions) Delete(ctx context.Context, job string) error {
	if err := checkName(job); err != nil {
		return err
	}
	if err := i.s.Delete(ctx, job); err != nil {
		return refused(err)
	}
	return i.listed(ctx, job, true)
}
