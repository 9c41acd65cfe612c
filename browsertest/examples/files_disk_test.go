package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// disk is a folder of this machine with its expected files.
type disk struct {
	t   *testing.T
	dir string
}

func newDisk(t *testing.T, name string, files map[string]string) disk {
	t.Helper()
	d := disk{t, filepath.Join(t.TempDir(), name)}
	for file, text := range files {
		at := filepath.Join(d.dir, filepath.FromSlash(file))
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, os.WriteFile(at, []byte(text), 0o644))
	}
	return d
}

// holds reports an error unless a file has these bytes. For "-" the file must be missing.
func (d disk) holds(file, want string) {
	d.t.Helper()
	got, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(file)))
	switch {
	case want == "-" && !os.IsNotExist(err):
		d.t.Errorf("%s is on the disk, %v: %q", file, err, got)
	case want != "-" && (err != nil || string(got) != want):
		d.t.Errorf("%s on the disk: %q, %v; want %q", file, got, err, want)
	}
}

// files returns all names and bytes below the folder.
func (d disk) files() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	must(d.t, filepath.WalkDir(d.dir, func(at string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(d.dir, at)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(at)
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}

// drop drops a folder of this machine on the page and waits until it is open.
func (f *filesPage) drop(p *e2e.Page, d disk) {
	f.t.Helper()
	must(f.t, p.Drop(testContext(f.t), "body", d.dir))
	f.wait("the dropped folder is open", `document.getElementById("name").textContent === `+js(filepath.Base(d.dir))+` && document.getElementById("status").textContent === `+js("Open: "+filepath.Base(d.dir)))
}

// again waits until a folder of an earlier visit is open. A reloaded page opens that of the last visit by itself where the
// browser still grants it.
func (f *filesPage) again(name string) {
	f.t.Helper()
	f.wait("it is open again", `document.getElementById("name").textContent === `+js(name)+` && document.getElementById("status").textContent === `+js("Open: "+name))
}

func withDisk(t *testing.T) *e2e.Browser {
	return launch(t, e2e.Options{WriteGrants: []string{strings.TrimSuffix(site, "/")}})
}

const undone = `document.querySelectorAll("#history .undone").length`

const winter = "name,day,hours\nAnna,1,3\nBen,2,4\n"

// A real folder: a model's tools, the reader's commands and code change the bytes on the disk, and
// undo restores them.
func TestFilesOnDisk(t *testing.T) {
	t.Parallel()
	b := withDisk(t)
	f, p := filesIn(t, b)
	d := newDisk(t, "winter", map[string]string{"hours.csv": winter, "notes/plan.md": "# Plan\r\n\r\nTODO: \xff\xfe\n", "data/bytes.bin": "\x00\x01\x02\xff"})
	was := d.files()
	f.drop(p, d)

	f.one(once, "write", "path", "new/a.txt", "content", "one\n")
	d.holds("new/a.txt", "one\n")
	f.one("", "read", "path", "hours.csv")
	f.one(once, "edit", "path", "hours.csv", "old_string", "Ben,2,4", "new_string", "Ben,2,5")
	d.holds("hours.csv", strings.Replace(winter, "Ben,2,4", "Ben,2,5", 1))
	f.one(once, "move", "from", "data/bytes.bin", "to", "moved.bin")
	d.holds("data/bytes.bin", "-")
	d.holds("moved.bin", was["data/bytes.bin"])
	f.one(once, "delete", "path", "notes/plan.md")
	d.holds("notes/plan.md", "-")
	f.one(once, "bash", "command", "sort hours.csv > sorted.csv")
	f.one(once, "code_run", "code", `return await callTool("write", {path: "by-code.txt", content: "42"})`)
	d.holds("by-code.txt", "42")
	f.one(reject, "write", "path", "never.txt", "content", "x")
	d.holds("never.txt", "-")

	// A change by another program is shown, and not overwritten.
	must(t, os.WriteFile(filepath.Join(d.dir, "hours.csv"), []byte("theirs\n"), 0o644))
	f.wait("the page says so", `document.getElementById("status").textContent.includes("hours.csv")`)
	holds(t, "a stale edit", f.one("", "edit", "path", "hours.csv", "old_string", "Anna", "new_string", "Eve"), "stale")
	d.holds("hours.csv", "theirs\n")
	must(t, os.WriteFile(filepath.Join(d.dir, "hours.csv"), []byte(strings.Replace(winter, "Ben,2,4", "Ben,2,5", 1)), 0o644))

	// Undo, step by step, back to the first bytes.
	f.check(`document.getElementById("tab-undo").click()`)
	for range 20 {
		f.rested()
		if f.check(`document.getElementById("undo").disabled`) == "true" {
			break
		}
		left := f.check(undone)
		f.click("#undo")
		f.wait("a step is taken back", undone+` !== `+left)
	}
	now := d.files()
	for name, text := range was {
		if now[name] != text {
			t.Errorf("after undo %s is %q, want %q", name, now[name], text)
		}
		delete(now, name)
	}
	if len(now) > 0 {
		t.Errorf("after undo there is more: %v", now)
	}

	// The folder of the last visit opens by itself, and one of an earlier visit by one click.
	f.reload()
	f.again("winter")
	press(t, p, "#sample")
	f.wait("the sample is open", `document.getElementById("name").textContent === "Sample folder"`)
	press(t, p, "#kept button")
	f.again("winter")
	f.one(once, "write", "path", "later.txt", "content", "later\n")
	d.holds("later.txt", "later\n")
}

// The guided task works in the sample folder, and leaves one of the user's with the same files as it is. One click leads
// back to that.
func TestFilesTourOnDisk(t *testing.T) {
	t.Parallel()
	long(t)
	b := withDisk(t)
	p, err := b.Page(testContext(t), site+"files/")
	must(t, err)
	f := &filesPage{anyPage: anyPage{p.Chrome(), t}}
	f.ready()
	files := map[string]string{}
	for _, name := range []string{"README.md", "hours.csv", "notes/plan.md", "notes/from-a-stranger.md", "trip/packing.txt"} {
		text, err := os.ReadFile(filepath.Join(root, "examples/files/sample", name))
		must(t, err)
		files[name] = string(text)
	}
	d := newDisk(t, "mine", files)
	f.drop(p, d)
	f.click("#tour")
	holds(t, "it asks", f.asks(), "notes/plan.md")
	f.answer(once)
	f.asks() // for the undo
	if name := f.check(`document.getElementById("name").textContent`); name != "Sample folder" {
		t.Errorf("it works in %s", name)
	}
	d.holds("notes/plan.md", files["notes/plan.md"])
	f.answer(once)
	f.ready()
	f.rested()
	f.click("#kept button")
	f.again("mine")
	for name, text := range files {
		d.holds(name, text)
	}
	if n := len(d.files()); n != len(files) {
		t.Errorf("%d files are left, want %d", n, len(files))
	}
}
