package fsaccess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/jsx"

	"github.com/bailey-go/bailey/fsaccess/internal/web"
)

// Chromium's own treatment of symbolic links in a dropped folder: a link that is the last
// element of a path is not listed, and cannot be found, overwritten, moved onto, or
// removed. Our own defence covers the rest, see TestAttackLinksInAPickedFolder. If a line
// of this test changes, our defence must change too.
func TestBrowserHidesLinks(t *testing.T) {
	f, dir := realFolder(t)
	linkedFolder(t, dir, map[string]string{"file": "private/key", "folder": "private", "self": ".", "gone": "private/new", "out": "../outside", "two": "file", "loop": "loop"})
	must(t, os.WriteFile(filepath.Join(dir, "root/a long name.txt"), []byte("long"), 0o600))
	before := closed(t, filepath.Join(dir, "root"))
	fn := function(t, `async (top) => {
		const d = await top.getDirectoryHandle("root"), out = []
		const say = async (what, fn) => { try { out.push(what + ": " + await fn()) } catch (e) { if (e.name !== "NotFoundError") out.push(what + ": " + e.name) } }
		const all = []
		for await (const h of d.values()) all.push(h.name)
		out.push("listed: " + all.sort().join(", "))
		for (const n of ["file", "two", "gone", "folder", "self", "out", "loop"]) for (const create of [false, true]) {
			await say("file " + n, async () => (await (await d.getFileHandle(n, {create})).getFile()).text())
			await say("folder " + n, async () => { for await (const k of (await d.getDirectoryHandle(n, {create})).keys()) return k })
			await say("remove " + n, () => d.removeEntry(n, {recursive: create}))
			if (create) continue
			await say("move onto " + n, async () => { const x = await d.getFileHandle("mine", {create: true}); await x.move(n) })
			await say("move to " + n, async () => { const x = await d.getFileHandle("mine", {create: true}); await x.move(d, n) })
		}
		for (const n of ["ALONGN~1.TXT", "PRIVATE", "Private", "private.", "private "]) { // other spellings, where the disk tells them apart
			await say("file " + n, async () => (await (await d.getFileHandle(n)).getFile()).text())
			await say("folder " + n, async () => { await d.getDirectoryHandle(n); return "there" })
		}
		return out.join("\n")
	}`)
	v, err := web.AwaitCall(t.Context(), fn, f.c.(*web.Handles).Root)
	must(t, err)
	got, err := jsx.String(v, 1<<16)
	must(t, err)
	want := []string{"listed: .git, a, a long name.txt, private, pub"}
	// A name that ends in a dot or a space is no name for Chromium.
	var other []string
	for _, line := range strings.Split(got, "\n") {
		if !slices.Contains(want, line) && !strings.HasSuffix(line, ": TypeError") {
			other = append(other, line)
		}
	}
	if len(other) > 0 || !strings.HasPrefix(got, want[0]) {
		t.Errorf("Chromium does otherwise now:\n%s", got)
	}
	if now := closed(t, filepath.Join(dir, "root")); now != before {
		t.Errorf("changed:\n%s\nwas\n%s", now, before)
	}
}

func function(t testing.TB, text string) jsx.Value {
	t.Helper()
	maker, err := jsx.NewGlobal("Function", "return "+text)
	must(t, err)
	fn, err := jsx.Invoke(maker)
	must(t, err)
	return fn
}

// The links of the native tests, in a folder that was dropped.
func TestAttackLinksInAPickedFolder(t *testing.T) {
	f, dir := realFolder(t)
	count := attack.Start(t, "01")
	count.NoSwitch("the browser hides links; TestAttackLinkSwappedInAPickedFolder has the switch for ours")
	for i, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range linkCases() {
			if !yield(n) {
				return
			}
		}
	}) {
		if testing.Short() && i%8 > 0 {
			continue
		}
		c := linkCases()[name]
		sub := fmt.Sprint("case", i)
		must(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
		root := linkedFolder(t, filepath.Join(dir, sub), c.links)
		before := closed(t, root)
		s, err := f.Sub(sub + "/root")
		must(t, err)
		g := linkStacks(t)["guard"](s.(*Folder))
		reached := ""
		for op, do := range linkOperations(g, c.name) {
			if out, _ := do(); strings.Contains(out, "SECRET") {
				reached += op + " "
			}
		}
		count.Try(name+": "+reached, reached != "" || closed(t, root) != before)
	}
}

// A link takes the place of a folder whose handle is known already, as a checkout of another
// branch does it: the browser would follow it.
func TestAttackLinkSwappedInAPickedFolder(t *testing.T) {
	f, dir := realFolder(t)
	count := attack.Start(t, "01")
	ctx := context.Background()
	h := f.c.(*web.Handles)
	read := func(b []byte, err error) string { return string(b) }
	ops := map[string]func() string{
		"read":     func() string { return read(f.ReadFile("root/pub/deep/key")) },
		"handle":   func() string { b, _, _ := WithContext(ctx, f).ReadVersion("root/pub/deep/key"); return string(b) },
		"write":    func() string { _ = f.WriteFile("root/pub/deep/key", []byte("written"), 0o600); return "" },
		"new file": func() string { _ = f.WriteFile("root/pub/deep/new", []byte("written"), 0o600); return "" },
		"folder":   func() string { _ = f.MkdirAll("root/pub/deep/sub/deeper", 0o700); return "" },
		"remove":   func() string { _ = f.Remove("root/pub/deep/key"); return "" },
		"all":      func() string { _ = f.RemoveAll("root/pub/deep/key"); return "" },
		"rename": func() string {
			_ = f.Rename("root/pub/deep/key", "root/a/stolen")
			return read(f.ReadFile("root/a/stolen"))
		},
		"onto": func() string { _ = f.Rename("root/a/file", "root/pub/deep/key"); return "" },
		"copy": func() string {
			_ = Copy(ctx, f, "root/a/copy", f, "root/pub/deep/key", CopyOptions{})
			return read(f.ReadFile("root/a/copy"))
		},
	}
	for _, swap := range [][2]string{{"pub", "private"}, {"pub/deep", "../private/deep"}} {
		for name, do := range ops {
			if testing.Short() && name != "read" && name != "new file" {
				continue // a look at the whole disk after each is slow from a page
			}
			for _, blind := range []bool{false, true} {
				if testing.Short() && blind && name != "read" {
					continue
				}
				must(t, os.RemoveAll(filepath.Join(dir, "root")))
				must(t, os.RemoveAll(filepath.Join(dir, "outside")))
				root := linkedFolder(t, dir, nil)
				for _, d := range []string{"private/deep", "pub/deep"} {
					must(t, os.Mkdir(filepath.Join(root, d), 0o755))
				}
				must(t, os.WriteFile(filepath.Join(root, "private/deep/key"), []byte("SECRET"), 0o600))
				must(t, os.WriteFile(filepath.Join(root, "pub/deep/key"), []byte("open"), 0o600))
				h.Forget("root")
				if _, err := f.ReadFile("root/pub/deep/key"); err != nil { // now the handles are known
					t.Fatal(err)
				}
				before := closed(t, root)
				must(t, os.Rename(filepath.Join(root, swap[0]), filepath.Join(root, "aside")))
				must(t, os.Symlink(swap[1], filepath.Join(root, swap[0])))
				h.Blind = blind
				out := do()
				h.Blind = false
				did := strings.Contains(out, "SECRET") || closed(t, root) != before
				if blind {
					count.Off(name, did)
				} else {
					count.Try(fmt.Sprint(name, " after ", swap[0]), did)
				}
			}
		}
	}
}

// A folder that is chosen for an upload is read by the browser: its links are left out.
func TestAttackLinksInAnUpload(t *testing.T) {
	needReal(t)
	count := attack.Start(t, "01")
	count.NoSwitch("the browser leaves links out")
	dir, err := os.MkdirTemp("", "upload-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	root := linkedFolder(t, dir, map[string]string{"pub/file": "../private/key", "pub/folder": "../private", "pub/outside": "../../outside", "pub/outfile": "../../outside/key", "pub/two": "file"})
	f, err := uploaded(t, Upload, filepath.Join(root, "pub"))
	must(t, err)
	text := tree(t, f)
	for _, name := range []string{"file", "folder", "outside", "outfile", "two"} {
		count.Try(name+" in "+text, strings.Contains(text, name) || strings.Contains(text, "SECRET"))
	}
}
