package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/protocol"
)

// TestKindsNeedConsent uses every way to write: a whole file, a handle, many small writes,
// and renaming a harmless file.
func TestKindsNeedConsent(t *testing.T) {
	var asked []string
	yes := false
	ask := func(_ context.Context, q Question) (bool, error) {
		asked = append(asked, fmt.Sprint(q.Path, " ", q.Kind))
		return yes, nil
	}
	disk := NewMemory(MemoryOptions{})
	g := Guard(disk, everywhere(t), GuardOptions{Ask: ask, Kinds: map[Kind]protocol.Action{KindShortcut: protocol.ActionDeny, KindAutorun: protocol.ActionAllow}})
	must(t, g.WriteFile("plain.txt", []byte("#! not at the start"[3:]), 0o644))
	must(t, disk.WriteFile("old.sh", []byte("#!/bin/sh\n"), 0o644))
	doors := map[string]func() error{
		"whole":  func() error { return g.WriteFile("x.sh", nil, 0o644) },
		"rename": func() error { return g.Rename("plain.txt", "plain.sh") },
		"copy":   func() error { return Copy(context.Background(), g, "y", g, "old.sh", CopyOptions{}) },
		"handle": func() error {
			f, err := g.Create("z")
			if err != nil {
				return err
			}
			for _, c := range "#!/bin/sh" {
				if _, err := f.(core.File).Write([]byte(string(c))); err != nil {
					return err
				}
			}
			return f.Close()
		},
	}
	for name, do := range doors {
		n := len(asked)
		if err := do(); !errors.Is(err, ErrKind) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
		if len(asked) != n+1 {
			t.Errorf("%s: asked %d times", name, len(asked)-n)
		}
	}
	n := len(asked)
	must(t, g.WriteFile("old.sh", []byte("#!/bin/sh\necho edited\n"), 0o644)) // it was one before
	must(t, g.WriteFile("desktop.ini", nil, 0o644))
	if err := g.WriteFile("x.lnk", nil, 0o644); !errors.Is(err, ErrKind) {
		t.Errorf("denied kind: %v", err)
	}
	if len(asked) != n {
		t.Errorf("asked needlessly: %v", asked[n:])
	}
	// The user is asked about a start-up file at each edit, because each edit will be
	// executed.
	must(t, disk.WriteFile(".envrc", []byte("export A=1\n"), 0o644))
	strict := Guard(disk, everywhere(t), GuardOptions{Ask: ask})
	if err := strict.WriteFile(".envrc", []byte("export A=2\n"), 0o644); !errors.Is(err, ErrKind) || len(asked) != n+1 {
		t.Errorf("an edit of .envrc: %v, asked %v", err, asked[n:])
	}
	yes = true
	must(t, g.WriteFile("x.sh", nil, 0o644))
	if got, _ := disk.ReadFile("plain.txt"); string(got) != "not at the start" {
		t.Errorf("the renamed file is gone: %q", got)
	}
}
