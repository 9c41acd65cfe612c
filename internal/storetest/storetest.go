// Package storetest tests an implementation of [sandbox.Store].
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Run tests what every store does. Each call of open returns the same content, like a new program, and the
// first one's is empty.
func Run(t *testing.T, open func() sandbox.Store) {
	t.Run("nothing", func(t *testing.T) { nothing(t, open()) })
	t.Run("records", func(t *testing.T) { records(t, open) })
	t.Run("replace", func(t *testing.T) { replaces(t, open) })
	t.Run("locks", func(t *testing.T) { locks(t, open) })
	t.Run("files", func(t *testing.T) { files(t, open) })
}

// At is the time of the records that Session and Message return.
var At = time.Unix(1000, 0).UTC()

// Session returns a record of a session.
func Session(id string, at time.Time) sandbox.SessionRecord {
	return sandbox.SessionRecord{ID: id, Agent: "main", CreatedAt: At, UpdatedAt: at}
}

// Message returns the message number n of a session, with a part.
func Message(session string, n int) (sandbox.MessageRecord, sandbox.PartRecord) {
	m := sandbox.MessageRecord{ID: fmt.Sprint("m", n), SessionID: session, Role: sandbox.RoleUser, CreatedAt: At, UpdatedAt: At}
	p := sandbox.PartRecord{ID: fmt.Sprint("p", n), MessageID: m.ID, SessionID: session, Type: "text", Data: map[string]any{"text": fmt.Sprint("text ", n, " <é\u2028>")}, CreatedAt: At, UpdatedAt: At}
	return m, p
}

func nothing(t *testing.T, s sandbox.Store) {
	ctx := context.Background()
	if list, err := s.Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
	for _, id := range []string{"none", "../x", ".", "a/b", ""} {
		if _, err := s.Session(ctx, id); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, protocol.ErrSession) {
			t.Errorf("%q: %v", id, err)
		}
		if _, _, err := s.Messages(ctx, id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := s.Delete(ctx, "none"); err != nil {
		t.Error(err)
	}
}

// The numbers are around those of messages in a text: 50, and 200 in earlier versions.
func records(t *testing.T, open func() sandbox.Store) {
	ctx := context.Background()
	for i, n := range []int{0, 1, 49, 50, 51, 199, 200, 201, 401} {
		rec := Session(fmt.Sprint("ses-", n), At.Add(time.Duration(i)*time.Second))
		rec.Metadata = map[string]any{"title": "a name"}
		must(t, open().Put(ctx, rec, nil, nil))
		for at := 0; at < n; at += 100 { // a part at a time, each from a new program
			var ms []sandbox.MessageRecord
			var ps []sandbox.PartRecord
			for k := at; k < min(n, at+100); k++ {
				m, p := Message(rec.ID, k)
				ms, ps = append(ms, m), append(ps, p)
			}
			must(t, open().Put(ctx, rec, ms, ps))
		}
		got, err := open().Session(ctx, rec.ID)
		if err != nil || got.Metadata["title"] != "a name" || !got.UpdatedAt.Equal(rec.UpdatedAt) {
			t.Errorf("%+v %v", got, err)
		}
		ms, ps, err := open().Messages(ctx, rec.ID)
		must(t, err)
		if len(ms) != n || len(ps) != n {
			t.Fatalf("%d: %d messages and %d parts", n, len(ms), len(ps))
		}
		for k := range ms {
			m, p := Message(rec.ID, k)
			if ms[k].ID != m.ID || ps[k].ID != p.ID || fmt.Sprint(ps[k].Data) != fmt.Sprint(p.Data) {
				t.Fatalf("%d: at %d %+v %+v", n, k, ms[k], ps[k])
			}
		}
	}
	list, err := open().Sessions(ctx)
	if err != nil || len(list) != 9 || list[0].ID != "ses-401" || list[8].ID != "ses-0" {
		t.Errorf("%v %v", list, err)
	}
	must(t, open().Delete(ctx, "ses-401"))
	if _, _, err := open().Messages(ctx, "ses-401"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: %v", err)
	}
	if ms, _, err := open().Messages(ctx, "ses-201"); err != nil || len(ms) != 201 {
		t.Errorf("another one: %d %v", len(ms), err)
	}
	must(t, open().Put(ctx, Session("ses-401", At), nil, nil))
	if ms, _, err := open().Messages(ctx, "ses-401"); err != nil || len(ms) != 0 {
		t.Errorf("made again: %d %v", len(ms), err)
	}
}

func replaces(t *testing.T, open func() sandbox.Store) {
	ctx := context.Background()
	rec := Session("ses-r", At)
	for n := range 3 {
		m, p := Message(rec.ID, n)
		must(t, open().Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}))
	}
	m, p := Message(rec.ID, 1)
	m.Metadata.HiddenAt, p.Data, rec.InputTokens = At, map[string]any{"text": "anew"}, 7
	must(t, open().Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}))
	ms, ps, err := open().Messages(ctx, rec.ID)
	if err != nil || len(ms) != 3 || len(ps) != 3 || ms[1].Metadata.HiddenAt.IsZero() || fmt.Sprint(ps[1].Data) != "map[text:anew]" || ms[2].ID != "m2" {
		t.Errorf("%v %v %v", ms, ps, err)
	}
	if got, err := open().Session(ctx, rec.ID); err != nil || got.InputTokens != 7 {
		t.Errorf("%+v %v", got, err)
	}
}

func locks(t *testing.T, open func() sandbox.Store) {
	ctx := context.Background()
	s := open()
	unlock, err := s.Lock(ctx, "ses-l")
	must(t, err)
	if _, err := s.Lock(ctx, "ses-l"); !errors.Is(err, protocol.ErrSession) {
		t.Errorf("held twice: %v", err)
	}
	other, err := s.Lock(ctx, "ses-other")
	must(t, err)
	other()
	unlock()
	unlock() // twice is fine
	again, err := s.Lock(ctx, "ses-l")
	must(t, err)
	again()
}

// Whole tests that a Put that fails changes nothing, also in a cache of the store. [sandbox.MemoryStore] stores
// any value, so it is not tested with this.
func Whole(t *testing.T, open func() sandbox.Store) {
	ctx := context.Background()
	s := open()
	rec := Session("ses-w", At)
	unlock, err := s.Lock(ctx, rec.ID)
	must(t, err)
	defer unlock()
	m, p := Message(rec.ID, 0)
	must(t, s.Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}))
	bad, badPart := Message(rec.ID, 1)
	badPart.Data = func() {} // no JSON
	if err := s.Put(ctx, rec, []sandbox.MessageRecord{bad}, []sandbox.PartRecord{badPart}); err == nil {
		t.Error("taken")
	}
	for _, s := range []sandbox.Store{s, open()} {
		if ms, ps, err := s.Messages(ctx, rec.ID); err != nil || len(ms) != 1 || len(ps) != 1 {
			t.Errorf("%d messages, %d parts, %v", len(ms), len(ps), err)
		}
	}
}

// Leases tests a store that programs on several machines share. The lock of a session is a lease there, which expire
// ends, as its time does when a program died.
func Leases(t *testing.T, open func() sandbox.Store, expire func(id string)) {
	t.Run("one holder", func(t *testing.T) { oneHolder(t, open) })
	t.Run("takeover", func(t *testing.T) { takeover(t, open, expire) })
}

// Of many that want a session at once one gets it.
func oneHolder(t *testing.T, open func() sandbox.Store) {
	stores := []sandbox.Store{open(), open()}
	var got atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			free, err := stores[i%2].Lock(t.Context(), "ses-one")
			switch {
			case err == nil:
				got.Add(1)
				t.Cleanup(free)
			case !errors.Is(err, protocol.ErrSession):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got.Load() != 1 {
		t.Errorf("%d hold the session", got.Load())
	}
}

// A program that lost its lease to another one changes nothing any more, and does not end the other's lease.
func takeover(t *testing.T, open func() sandbox.Store, expire func(id string)) {
	first, second := open(), open()
	ctx := t.Context()
	rec := Session("ses-t", At)
	unlock, err := first.Lock(ctx, rec.ID)
	must(t, err)
	m, part := Message(rec.ID, 0)
	must(t, first.Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{part}))
	if _, err := second.Lock(ctx, rec.ID); !errors.Is(err, protocol.ErrSession) {
		t.Fatalf("held by two: %v", err)
	}
	expire(rec.ID)
	must(t, first.Put(ctx, rec, nil, nil)) // nobody else has it
	free, err := second.Lock(ctx, rec.ID)
	must(t, err)
	m, part = Message(rec.ID, 1)
	for what, err := range map[string]error{
		"a message":  first.Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{part}),
		"a file":     first.PutFile(ctx, rec.ID, "0000000000000000000000000000000000000000000000000000000000000000", []byte("x")),
		"a deletion": first.Delete(ctx, rec.ID),
	} {
		if !errors.Is(err, protocol.ErrSession) {
			t.Errorf("%s of the first: %v", what, err)
		}
	}
	unlock()
	if _, err := open().Lock(ctx, rec.ID); !errors.Is(err, protocol.ErrSession) {
		t.Errorf("the first ended the second's lease: %v", err)
	}
	must(t, second.Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{part}))
	free()
	if ms, _, err := first.Messages(ctx, rec.ID); err != nil || len(ms) != 2 {
		t.Errorf("%d messages, %v", len(ms), err)
	}
	again, err := first.Lock(ctx, rec.ID)
	must(t, err)
	must(t, first.Put(ctx, rec, nil, nil))
	again()
}

// A file belongs to a session, and another content under its id is replaced.
func files(t *testing.T, open func() sandbox.Store) {
	ctx := context.Background()
	data := []byte("a file\x00\xff of any bytes")
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:])
	if err := open().PutFile(ctx, "ses-f", id, data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no session: %v", err)
	}
	for _, s := range []string{"ses-f", "ses-g"} {
		must(t, open().Put(ctx, Session(s, At), nil, nil))
	}
	must(t, open().PutFile(ctx, "ses-f", id, []byte("damaged")))
	must(t, open().PutFile(ctx, "ses-f", id, data))
	must(t, open().PutFile(ctx, "ses-f", id, data))
	if got, err := open().File(ctx, "ses-f", id); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%q %v", got, err)
	}
	for _, other := range [][2]string{{"ses-g", id}, {"ses-none", id}, {"ses-f", "0" + id[1:]}, {"ses-f", "../ses-f/" + id}, {"", ""}} {
		if _, err := open().File(ctx, other[0], other[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: %v", other, err)
		}
	}
	must(t, open().Delete(ctx, "ses-f"))
	must(t, open().Put(ctx, Session("ses-f", At), nil, nil))
	if _, err := open().File(ctx, "ses-f", id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a deleted session: %v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
