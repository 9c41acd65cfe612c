package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// manyFiles makes a folder of n files. If nested, they are in folders of 100.
func manyFiles(t *testing.T, name string, n int, nested bool) disk {
	t.Helper()
	d := disk{t, filepath.Join(t.TempDir(), name)}
	must(t, os.MkdirAll(d.dir, 0o755))
	for i := range n {
		dir := d.dir
		if nested {
			dir = filepath.Join(d.dir, fmt.Sprintf("part-%03d", i/100))
			if i%100 == 0 {
				must(t, os.Mkdir(dir, 0o755))
			}
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%05d.txt", i)), []byte(fmt.Sprintf("file %d\n", i)), 0o644))
	}
	return d
}

// treeRows returns the number of the tree's rows in the document, and the height of all rows.
func (f *filesPage) treeRows() (rows, height int) {
	f.t.Helper()
	rows, _ = strconv.Atoi(f.check(`document.querySelectorAll("#tree .row").length`))
	height, _ = strconv.Atoi(f.check(`Math.round(document.getElementById("rows").getBoundingClientRect().height / 28)`))
	return rows, height
}

// scrolled checks that few rows are in the document at every scroll position, and that the last
// file can be reached.
func (f *filesPage) scrolled(n int, last string) {
	f.t.Helper()
	rows, height := f.treeRows()
	if rows > 80 || rows < 5 || height != n {
		f.t.Errorf("%d rows in the document for %d files, and room for %d", rows, n, height)
	}
	f.check(`document.getElementById("tree").scrollTop = document.getElementById("tree").scrollHeight / 2`)
	f.wait("rows in the middle", `[...document.querySelectorAll("#tree .row")].some((r) => +r.dataset.i > `+fmt.Sprint(n/2-40)+` && +r.dataset.i < `+fmt.Sprint(n/2+40)+`)`)
	f.check(`document.getElementById("tree").focus()`)
	must(f.t, f.Press(f.t.Context(), "End"))
	f.wait("the last file", `!!document.querySelector("#tree [data-path='`+last+`'][aria-selected=true]")`)
	if rows, _ := f.treeRows(); rows > 80 {
		f.t.Errorf("%d rows in the document at the end", rows)
	}
}

// A folder of 5,000 real files is shown in few rows, searched by tools, changed and undone. A
// change from outside is shown.
func TestFilesManyFiles(t *testing.T) {
	t.Parallel()
	long(t)
	b := withDisk(t)
	f, p := filesIn(t, b)
	d := manyFiles(t, "many", 5000, false)
	f.drop(p, d)
	f.scrolled(5000, "file-04999.txt")
	holds(t, "glob", f.one("", "glob", "pattern", "file-0499*.txt"), "file-04990.txt", "file-04999.txt")
	holds(t, "grep", f.one("", "grep", "pattern", "^file 4321$"), "file-04321.txt")
	holds(t, "bash", f.one("", "bash", "command", "ls | wc -l"), "5000")
	f.one(once, "write", "path", "file-99999.txt", "content", "new\n")
	d.holds("file-99999.txt", "new\n")
	f.wait("room for one more", `Math.round(document.getElementById("rows").getBoundingClientRect().height / 28) === 5001`)
	must(t, os.WriteFile(filepath.Join(d.dir, "outside.txt"), []byte("x"), 0o644))
	f.wait("seen from outside", `Math.round(document.getElementById("rows").getBoundingClientRect().height / 28) === 5002`)
	f.click("#tab-undo")
	f.click("#undo")
	f.wait("taken back", `document.getElementById("status").textContent.startsWith("Took back")`)
	d.holds("file-99999.txt", "-")
}

// The same without a dropped folder: in the origin private file system, or uploaded into memory,
// where the page states that it is a copy.
func TestFilesManyFilesElsewhere(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, func(t *testing.T, f *filesPage) {
		const n = 5000
		switch f.in.engine {
		case browser.Chromium:
			t.Skip("TestFilesManyFiles does it on a disk")
		case browser.Firefox:
			inSample(t, f.in, `for await (const name of root.keys()) await root.removeEntry(name, {recursive: true});`)
			for at := 0; at < n; at += 500 {
				inSample(t, f.in, fmt.Sprintf(`await Promise.all(Array.from({length: 500}, (_, k) => put("file-" + String(k + %[1]d).padStart(5, "0") + ".txt", "file " + (k + %[1]d) + "\n")));`, at))
			}
			f.reload()
		default:
			d, list := manyFiles(t, "many", n, false), []string{}
			for name := range d.files() {
				list = append(list, filepath.Join(d.dir, name))
			}
			f.check(`HTMLInputElement.prototype.click = function () { this.webkitdirectory = false; this.id = "chooser"; document.body.append(this); }`)
			f.click("#upload")
			f.wait("the input", `!!document.getElementById("chooser")`)
			must(t, f.in.SetFiles(testContext(t), "#chooser", list...))
			f.says("#status", "It can be read, not written: changes are kept beside it.")
			f.says("#pending-text", "This folder can be read only: you work on a copy.")
		}
		f.wait("all are there", `Math.round(document.getElementById("rows").getBoundingClientRect().height / 28) === 5000`)
		f.scrolled(n, "file-04999.txt")
		holds(t, "glob", f.one("", "glob", "pattern", "file-0499*.txt"), "file-04990.txt", "file-04999.txt")
		holds(t, "grep", f.one("", "grep", "pattern", "^file 4321$", "include", "file-04*.txt"), "file-04321.txt")
		holds(t, "bash", f.one("", "bash", "command", "ls | wc -l"), "5000")
		f.one(once, "write", "path", "file-99999.txt", "content", "new\n")
		f.wait("room for one more", `Math.round(document.getElementById("rows").getBoundingClientRect().height / 28) === 5001`)
		f.click("#tab-undo")
		f.click("#undo")
		f.wait("taken back", `document.getElementById("status").textContent.startsWith("Took back") && Math.round(document.getElementById("rows").getBoundingClientRect().height / 28) === 5000`)
	})
}

// A tree of 50,000 files, all folders unfolded.
func TestFilesHugeTree(t *testing.T) {
	t.Parallel()
	long(t)
	b := withDisk(t)
	f, p := filesIn(t, b)
	d := manyFiles(t, "huge", 50_000, false)
	f.drop(p, d)
	f.scrolled(50_000, "file-49999.txt")
	if n := f.check(`document.querySelectorAll("*").length`); len(n) > 4 || n > "2000" && len(n) == 4 {
		t.Errorf("the page has %s elements", n)
	}
}

// A conversation of 500 messages is answered, shown again after a reload, scrolled and continued.
func TestFilesLongConversation(t *testing.T) {
	t.Parallel()
	long(t)
	eachEngine(t, func(t *testing.T, f *filesPage) {
		f.next = func(r chatRequest) turn { return turn{text: "Answer to **" + r.said() + "**."} }
		const n = 250
		for i := range n {
			f.say(fmt.Sprintf("message %d", i))
			f.wait("answered", fmt.Sprintf(`document.getElementById("stop").hidden && document.getElementById("status").textContent === "Done" || %d < 0`, i))
			f.check(`document.getElementById("status").textContent = ""`)
		}
		if f.in.lasts() {
			f.reload()
		}
		shows(t, f.in, "Answer to message 249.")
		// innerText leaves out what is far from view, which the browser does not lay out.
		if text := inFrame(t, f.in, `document.body.textContent`); !strings.Contains(text, "message 0") || !strings.Contains(text, "Answer to message 0.") {
			t.Errorf("the first message is not there: it says %.500q", text)
		}
		if sections := inFrame(t, f.in, `document.querySelectorAll("section, [role=article], article").length`); sections == "" {
			t.Error("no sections")
		}
		f.say("message 250")
		shows(t, f.in, "Answer to message 250.")
		f.rested()
		all := f.requests()
		if got := len(all[len(all)-1].Messages); got < 3 {
			t.Errorf("the last request has %d messages", got)
		}
	})
}
