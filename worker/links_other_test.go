//go:build !js

package worker

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	wire "github.com/bailey-go/bailey/internal/wire/wasm"
	"github.com/bailey-go/bailey/protocol"
)

// A program sees no links, and a guessed name does not lead through a link. This holds in a folder
// of fsaccess with a guard, and in an os.DirFS.
func TestAttackLinksInAMount(t *testing.T) {
	count := attack.Start(t, "01")
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	for _, d := range []string{"root/private", "root/pub/.git", "outside"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for _, name := range []string{"root/private/key", "outside/key"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("SECRET"), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(root, "pub/plain"), []byte("open"), 0o600))
	for name, to := range map[string]string{"pub/file": "../private/key", "pub/folder": "../private", "pub/out": "../../outside", "pub/outfile": "../../outside/key", "pub/two": "file", "pub/up": "..", "pub/self": "."} {
		must(t, os.Symlink(to, filepath.Join(root, name)))
	}
	names := []string{"file", "folder/key", "out/key", "outfile", "two", "up/private/key", "self/file", "self/self/folder/key", "self/up/private/key"}
	pattern := func(s string) protocol.Pattern {
		p, err := protocol.ParsePattern(s)
		must(t, err)
		return p
	}
	folder, err := fsaccess.OpenDir(filepath.Join(root, "pub"), fsaccess.DirOptions{NoSync: true})
	must(t, err)
	defer folder.Close()
	above, err := fsaccess.OpenDir(root, fsaccess.DirOptions{NoSync: true})
	must(t, err)
	defer above.Close()
	sub, err := fsaccess.Guard(above, protocol.FSPolicy{DenyRead: []protocol.Pattern{pattern("private")}, AllowWrite: []protocol.Pattern{pattern(".")}}, fsaccess.GuardOptions{}).Sub("pub")
	must(t, err)
	for kind, fsys := range map[string]fs.FS{"folder": folder, "guard": sub, "plain": os.DirFS(filepath.Join(root, "pub"))} {
		for _, name := range names {
			f, err := newFiles(fsys, nil, defaultLimits)
			must(t, err)
			data, err := f.read(f.mounts[0], name)
			count.Try(fmt.Sprint(kind, ": ", name), err == nil || strings.Contains(string(data), "SECRET"))
			if d, _, ok := strings.Cut(name, "/"); ok {
				_, err := f.list(f.mounts[0], d)
				count.Try(fmt.Sprint(kind, ": the folder ", d), err == nil)
			}
			if kind == "plain" {
				data, _ := fs.ReadFile(fsys, name) // without the check of links
				count.Off(name, strings.Contains(string(data), "SECRET"))
			}
		}
		f, err := newFiles(fsys, nil, defaultLimits)
		must(t, err)
		packed, err := f.pack(context.Background(), SnapshotFiles, false)
		must(t, err)
		count.Try(kind+": a copy", strings.Contains(string(packed), "SECRET") || strings.Contains(string(packed), "outfile"))
		if kind == "plain" {
			continue // the folder is read-only
		}
		for _, name := range []string{"file", "folder/key", "folder/new", "up/private/key", "out/key", "self/folder/new"} {
			_, _ = writeBack(shown(t, fsys), packRows(row{wire.Write, 0, name, "written"}))
		}
		for _, name := range []string{"root/private/key", "outside/key"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			count.Try(fmt.Sprint(kind, ": ", name, " is written"), err != nil || string(data) != "SECRET")
		}
	}
}
