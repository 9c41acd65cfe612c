package sandbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/storetest"
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

// The behaviour of every store.
func TestStores(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, open)
			if name != "memory" { // it stores any value
				storetest.Whole(t, open)
			}
		})
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
		must(t, sandbox.FolderStore(mem).Put(ctx, storetest.Session("ses-o", storetest.At), nil, nil))
		must(t, mem.WriteFile("ses-o/000000.jsonl", []byte(text), 0o600))
		ms, ps, err := sandbox.FolderStore(mem).Messages(ctx, "ses-o")
		if good && (err != nil || len(ms) != 1 || len(ps) != 1 || ms[0].ID != "m1") || !good && !errors.Is(err, protocol.ErrSession) {
			t.Errorf("%s: %v %v %v", text, ms, ps, err)
		}
	}
}
