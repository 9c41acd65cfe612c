package sandbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// stores opens each kind of store, again with the same content each time, like a new program.
func stores(t testing.TB) map[string]func() sandbox.Store {
	mem := sandbox.MemoryStore()
	folder := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	out := map[string]func() sandbox.Store{
		"memory": func() sandbox.Store { return mem },
		"folder": func() sandbox.Store { return sandbox.FolderStore(folder) },
	}
	name := fmt.Sprint("test-", t.Name(), time.Now().UnixNano())
	if _, err := sandbox.IndexedStore(t.Context(), name); !errors.Is(err, errors.ErrUnsupported) {
		out["IndexedDB"] = func() sandbox.Store {
			s, err := sandbox.IndexedStore(context.Background(), name)
			must(t, err)
			return s
		}
	}
	return out
}

var storedAt = time.Unix(1000, 0).UTC()

func storedSession(id string, at time.Time) sandbox.SessionRecord {
	return sandbox.SessionRecord{ID: id, Agent: "main", CreatedAt: storedAt, UpdatedAt: at}
}

func storedMessage(session string, n int) (sandbox.MessageRecord, sandbox.PartRecord) {
	m := sandbox.MessageRecord{ID: fmt.Sprint("m", n), SessionID: session, Role: sandbox.RoleUser, CreatedAt: storedAt, UpdatedAt: storedAt}
	p := sandbox.PartRecord{ID: fmt.Sprint("p", n), MessageID: m.ID, SessionID: session, Type: "text", Data: args{"text": fmt.Sprint("text ", n, " <é\u2028>")}, CreatedAt: storedAt, UpdatedAt: storedAt}
	return m, p
}

// The behaviour of every store.
func TestStores(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Run("nothing", func(t *testing.T) { storeOfNothing(t, open()) })
			t.Run("records", func(t *testing.T) { storeRecords(t, open) })
			t.Run("replace", func(t *testing.T) { storeReplaces(t, open) })
			t.Run("locks", func(t *testing.T) { storeLocks(t, open) })
			if name != "memory" { // it stores any value
				t.Run("whole", func(t *testing.T) { storeWhole(t, open) })
			}
		})
	}
}

func storeOfNothing(t *testing.T, s sandbox.Store) {
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

// The numbers are around the segment size of 200.
func storeRecords(t *testing.T, open func() sandbox.Store) {
	ctx := context.Background()
	for i, n := range []int{0, 1, 199, 200, 201, 401} {
		rec := storedSession(fmt.Sprint("ses-", n), storedAt.Add(time.Duration(i)*time.Second))
		rec.Metadata = args{"title": "a name"}
		must(t, open().Put(ctx, rec, nil, nil))
		for at := 0; at < n; at += 100 { // a part at a time, each from a new program
			var ms []sandbox.MessageRecord
			var ps []sandbox.PartRecord
			for k := at; k < min(n, at+100); k++ {
				m, p := storedMessage(rec.ID, k)
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
			m, p := storedMessage(rec.ID, k)
			if ms[k].ID != m.ID || ps[k].ID != p.ID || fmt.Sprint(ps[k].Data) != fmt.Sprint(p.Data) {
				t.Fatalf("%d: at %d %+v %+v", n, k, ms[k], ps[k])
			}
		}
	}
	list, err := open().Sessions(ctx)
	if err != nil || len(list) != 6 || list[0].ID != "ses-401" || list[5].ID != "ses-0" {
		t.Errorf("%v %v", list, err)
	}
	must(t, open().Delete(ctx, "ses-401"))
	if _, _, err := open().Messages(ctx, "ses-401"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleted: %v", err)
	}
	if ms, _, err := open().Messages(ctx, "ses-201"); err != nil || len(ms) != 201 {
		t.Errorf("another one: %d %v", len(ms), err)
	}
	must(t, open().Put(ctx, storedSession("ses-401", storedAt), nil, nil))
	if ms, _, err := open().Messages(ctx, "ses-401"); err != nil || len(ms) != 0 {
		t.Errorf("made again: %d %v", len(ms), err)
	}
}

func storeReplaces(t *testing.T, open func() sandbox.Store) {
	ctx := context.Background()
	rec := storedSession("ses-r", storedAt)
	for n := range 3 {
		m, p := storedMessage(rec.ID, n)
		must(t, open().Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}))
	}
	m, p := storedMessage(rec.ID, 1)
	m.Metadata.HiddenAt, p.Data, rec.InputTokens = storedAt, args{"text": "anew"}, 7
	must(t, open().Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}))
	ms, ps, err := open().Messages(ctx, rec.ID)
	if err != nil || len(ms) != 3 || len(ps) != 3 || ms[1].Metadata.HiddenAt.IsZero() || fmt.Sprint(ps[1].Data) != "map[text:anew]" || ms[2].ID != "m2" {
		t.Errorf("%v %v %v", ms, ps, err)
	}
	if got, err := open().Session(ctx, rec.ID); err != nil || got.InputTokens != 7 {
		t.Errorf("%+v %v", got, err)
	}
}

func storeLocks(t *testing.T, open func() sandbox.Store) {
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

// A Put that fails changes nothing, including the store's cache.
func storeWhole(t *testing.T, open func() sandbox.Store) {
	ctx := context.Background()
	s := open()
	rec := storedSession("ses-w", storedAt)
	unlock, err := s.Lock(ctx, rec.ID)
	must(t, err)
	defer unlock()
	m, p := storedMessage(rec.ID, 0)
	must(t, s.Put(ctx, rec, []sandbox.MessageRecord{m}, []sandbox.PartRecord{p}))
	bad, badPart := storedMessage(rec.ID, 1)
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

// A content that was damaged in the folder is whole again when the user sends the file once more. A
// whole one is not written again.
func TestFolderStoreRepairsFiles(t *testing.T) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Sessions = sandbox.FolderStore(mem) })
	s := h.session(t)
	image := png("a.png", 100)
	sum := sha256.Sum256(image.Data)
	at := s.ID() + "/files/" + hex.EncodeToString(sum[:])
	for name, damaged := range map[string][]byte{"of the same size": make([]byte, 100), "shorter": make([]byte, 99), "empty": {}} {
		_, err := s.Say(t.Context(), "", image)
		must(t, err)
		must(t, mem.WriteFile(at, damaged, 0o600))
		id, err := s.Say(t.Context(), "once more", image)
		must(t, err)
		all := s.Messages()
		list, err := s.Files(t.Context(), all[len(all)-1].Parts[0])
		if err != nil || all[len(all)-1].ID != id || !bytes.Equal(list[0].Data, image.Data) {
			t.Errorf("%s: %v", name, err)
		}
	}
	before, err := mem.Stat(at)
	must(t, err)
	_, err = s.Say(t.Context(), "again", image)
	must(t, err)
	if after, err := mem.Stat(at); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("written again: %v", err)
	}
}

// A file by another program is read as any JSON. Damaged records are errors.
func TestFolderStoreReadsOthersFiles(t *testing.T) {
	ctx := context.Background()
	m, p := `{"id":"m1","session_id":"ses-o","role":"user","created_at":"1970-01-01T00:16:40Z","updated_at":"1970-01-01T00:16:40Z"}`,
		`{"id":"p1","message_id":"m1","session_id":"ses-o","index":0,"type":"text","created_at":"1970-01-01T00:16:40Z","updated_at":"1970-01-01T00:16:40Z"}`
	for text, good := range map[string]bool{
		`{"m":` + m + "}\n" + `{"p":` + p + "}\n":           true,
		` { "m" : ` + m + " }\r\n" + `{"p" :` + p + "}":     true,
		`{"m":` + m + "}\n" + `{"p":` + p[:len(p)-1] + "\n": false,
		`{"m":` + m + "}}\n":                                false,
		`{"m":` + m + "\n":                                  false,
		"nonsense\n":                                        false,
	} {
		mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		must(t, sandbox.FolderStore(mem).Put(ctx, storedSession("ses-o", storedAt), nil, nil))
		must(t, mem.WriteFile("ses-o/000000.jsonl", []byte(text), 0o600))
		ms, ps, err := sandbox.FolderStore(mem).Messages(ctx, "ses-o")
		if good && (err != nil || len(ms) != 1 || len(ps) != 1 || ms[0].ID != "m1") || !good && !errors.Is(err, protocol.ErrSession) {
			t.Errorf("%s: %v %v %v", text, ms, ps, err)
		}
	}
}
