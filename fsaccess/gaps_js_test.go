package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"

	"github.com/bailey-go/bailey/fsaccess/internal/web"
)

// TestQuotaInBrowser fills the origin's real quota in the middle of a write. The old
// content is intact, the error is ErrQuota, and earlier journaled changes can still be
// undone.
func TestQuotaInBrowser(t *testing.T) {
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		if testpage.Has(testpage.NoDebuggerCommands) {
			t.Skip("only Chromium's driver sets a quota")
		}
		ctx := context.Background()
		f := opfs(t)
		store, err := OPFS(ctx, fmt.Sprintf("test-%d-undo", opfsCount.Load()))
		must(t, err)
		w := NewJournal(f, store, JournalOptions{})
		old := bytes.Repeat([]byte("old "), 1000)
		must(t, w.WriteFile("a", old, 0o644))
		s, err := StorageEstimate(ctx)
		must(t, err)
		location, err := jsx.Lookup(jsx.Global(), "location")
		must(t, err)
		origin, err := web.StringOf(location, "origin")
		must(t, err)
		quota := func(bytes int64) {
			p := map[string]any{"origin": origin}
			if bytes > 0 {
				p["quotaSize"] = bytes
			}
			must(t, testpage.CDP(ctx, "Storage.overrideQuotaForOrigin", p, nil))
		}
		quota(s.Usage + 4<<20)
		defer quota(0)
		large := bytes.Repeat([]byte("new "), 5<<20)
		for name, write := range map[string]func(f FS) error{
			"WriteFile": func(f FS) error { return f.WriteFile("a", large, 0o644) },
			"new file":  func(f FS) error { return f.WriteFile("b", large, 0o644) },
			"handle": func(f FS) error {
				h, err := f.OpenFile("a", os.O_WRONLY|os.O_TRUNC, 0)
				if err != nil {
					return err
				}
				_, err = io.Copy(h.(core.File), bytes.NewReader(large))
				return errors.Join(err, h.Close())
			},
			"copy": func(f FS) error {
				m := NewMemory(MemoryOptions{})
				return errors.Join(m.WriteFile("x", large, 0o644), Copy(ctx, f, "c", m, "x", CopyOptions{}))
			},
		} {
			for layer, fs := range map[string]FS{"folder": f, "journal": w} {
				if err := write(fs); !errors.Is(err, ErrQuota) || !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%s, %s: %v", layer, name, err)
				}
				if g, want := tree(t, f), fmt.Sprintf("./\na \"4000 bytes, %s\"\n", VersionOf(old)); g != want {
					t.Errorf("%s, %s: there is\n%s", layer, name, g)
				}
			}
		}
		must(t, w.Undo(ctx))
		if g := tree(t, f); g != "./\n" {
			t.Errorf("after an undo on a full disk:\n%s", g)
		}
	})
}

// TestRealFolderGoesAway: if another program removes or changes files and folders while
// they are in use here, the result is a clear error, and no invented content.
func TestRealFolderGoesAway(t *testing.T) {
	f, dir := realFolder(t)
	must(t, f.MkdirAll("d/e", 0o755))
	large := bytes.Repeat([]byte("x"), 3<<20)
	for _, n := range []string{"gone", "changed", "d/e/below"} {
		must(t, f.WriteFile(n, large, 0o644))
	}
	open := func(n string) core.File {
		h, err := f.Open(n)
		must(t, err)
		t.Cleanup(func() { h.Close() })
		if _, err := io.ReadFull(h, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		return h.(core.File)
	}
	gone, changed, below := open("gone"), open("changed"), open("d/e/below")
	must(t, os.Remove(filepath.Join(dir, "gone")))
	must(t, os.WriteFile(filepath.Join(dir, "changed"), []byte("theirs"), 0o644))
	must(t, os.RemoveAll(filepath.Join(dir, "d")))
	for name, h := range map[string]core.File{"gone": gone, "changed": changed, "below": below} {
		_, err := h.ReadAt(make([]byte, 1<<20), 2<<20)
		if !errors.Is(err, ErrConflict) && !core.NotExist(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"read":   second(f.ReadFile("gone")),
		"stat":   second(f.Stat("d/e/below")),
		"write":  f.WriteFile("d/e/new", nil, 0o644),
		"list":   second(f.ReadDir("d")),
		"rename": f.Rename("gone", "x"),
		"remove": f.Remove("gone"),
	} {
		if !core.NotExist(err) {
			t.Errorf("%s of what is gone: %v", name, err)
		}
	}
	must(t, os.RemoveAll(dir))
	if _, err := f.ReadDir("."); err == nil {
		t.Error("the folder itself is gone, and it is listed")
	}
}

// TestSaveAs checks the file that the browser gets to save.
func TestSaveAs(t *testing.T) {
	if !jsx.Supported("document") {
		t.Skip("saving needs a page")
	}
	defer plain(t, "", `HTMLAnchorElement.prototype.click = globalThis.anchorClick; delete globalThis.saved;`)()
	plain(t, "", `
		globalThis.anchorClick ??= HTMLAnchorElement.prototype.click;
		HTMLAnchorElement.prototype.click = function () {
			globalThis.saved = fetch(this.href).then(async (r) => this.download + " " + r.headers.get("Content-Type") + " " + await r.text());
		};`)()
	for name, f := range sources(t) {
		fsys := f(t)
		must(t, fsys.WriteFile("page.html", []byte("<script>"), 0o644))
		must(t, SaveAs(context.Background(), fsys, "page.html", "mine.html"))
		saved, err := jsx.Lookup(jsx.Global(), "saved")
		must(t, err)
		v, err := jsx.Await(context.Background(), saved)
		must(t, err)
		text, err := jsx.String(v, 1000)
		must(t, err)
		if !strings.HasPrefix(text, "mine.html ") || !strings.HasSuffix(text, " <script>") || strings.Contains(text, "svg") {
			t.Errorf("%s: %q", name, text)
		}
	}
	if err := SaveAs(context.Background(), NewMemory(MemoryOptions{}), "none", "x"); !core.NotExist(err) {
		t.Errorf("nothing: %v", err)
	}
}
