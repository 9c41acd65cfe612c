package examples

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// heldListing stops the listing of a folder called many after its first 256 names (four times 64
// are requested together, and the fifth request is not answered), until the test releases it.
const heldListing = `if (self === top) globalThis.gate = (() => {
	const gate = { lists: 0 }, values = FileSystemDirectoryHandle.prototype.values;
	const held = new Promise((done, fail) => { gate.goOn = done; gate.fail = () => fail(new DOMException("unreadable", "NotReadableError")); });
	held.catch(() => {});
	FileSystemDirectoryHandle.prototype.values = function () {
		const all = values.call(this);
		if (this.name !== "many") return all;
		gate.lists++;
		let n = 0;
		return { next: () => ++n > 300 ? held.then(() => all.next()) : all.next(), [Symbol.asyncIterator]() { return this; } };
	};
	return gate;
})()`

const (
	listingNow = `!document.getElementById("listing").hidden`
	paths      = `[...document.querySelectorAll("#tree .row")].map((r) => r.dataset.path)`
)

// held drops a folder whose listing stops in the middle, and waits for its first rows.
func (f *filesPage) held(p *e2e.Page, d disk) {
	f.t.Helper()
	f.reload()
	must(f.t, p.Drop(testContext(f.t), "body", d.dir))
	f.wait("rows while it is listed", listingNow+` && !!document.querySelector("#tree .row[data-path^=file-]")`)
	if n := f.check(`gate.lists`); n != "1" { // the browser lists the whole folder each time, and the tree waits for it
		f.t.Errorf("the folder is listed %s times", n)
	}
	if said := f.check(`document.getElementById("listing").textContent`); said != "Listing… 256" {
		f.t.Errorf("the page says %q", said)
	}
	if busy := f.check(`document.getElementById("tree").getAttribute("aria-busy")`); busy != "true" {
		f.t.Errorf("aria-busy is %s", busy)
	}
	f.wait("the page goes on", `document.getElementById("status").textContent.startsWith("Open: many (")`)
}

// Rows are shown in order, and can be used by keys and by the pointer, while the browser is still
// listing. The row under the pointer stays there when more come.
func TestFilesRowsWhileListing(t *testing.T) {
	long(t)
	t.Parallel()
	b := withDisk(t)
	f, p := filesIn(t, b)
	ctx := testContext(t)
	must(t, p.CDP(ctx, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": heldListing}, nil))
	d := manyFiles(t, "many", 600, false)
	must(t, os.Mkdir(filepath.Join(d.dir, "zz"), 0o755))

	f.held(p, d)
	if got := f.check(`JSON.stringify(` + paths + `) === JSON.stringify(` + paths + `.sort((a, b) => (b === "zz") - (a === "zz") || (a < b ? -1 : 1)))`); got != "true" {
		t.Error("rows are in no order: " + f.check(`JSON.stringify(`+paths+`)`))
	}
	f.check(`document.getElementById("tree").focus()`)
	for range 3 {
		must(t, p.Press(ctx, "ArrowDown"))
	}
	f.wait("a row is selected by keys", `document.querySelector("#tree [aria-selected=true]")?.dataset.i === "2"`)
	pointed := f.check(`(globalThis.pointed = document.querySelector("#tree [data-i='6']")).dataset.path`)
	must(t, p.Click(ctx, `#tree [data-path="`+pointed+`"]`))
	f.wait("a row is chosen by the pointer", `document.querySelector("#viewer .v-name").textContent === "`+pointed+`"`)
	at := f.check(`Math.round(pointed.getBoundingClientRect().top)`)
	if f.check(listingNow) != "true" {
		t.Error("the listing was at its end before the rows were used")
	}

	f.check(`gate.goOn()`)
	f.wait("the folder is listed", `document.getElementById("status").textContent === "Open: many" && !(`+listingNow+`)`)
	if now := f.check(`pointed.isConnected && pointed.dataset.path === ` + js(pointed) + ` && Math.round(pointed.getBoundingClientRect().top)`); now != at {
		t.Errorf("the row under the pointer was at %s and is at %s", at, now)
	}
	if f.check(`document.querySelector("#tree [aria-selected=true]").dataset.path`) != pointed {
		t.Error("another row is selected")
	}
	if busy := f.check(`document.getElementById("tree").getAttribute("aria-busy")`); busy != "false" {
		t.Errorf("aria-busy is %s in the end", busy)
	}
	f.check(`document.getElementById("tree").scrollTop = 0`)
	f.wait("all, in order", paths+`.slice(0, 4).join() === "zz,file-00000.txt,file-00001.txt,file-00002.txt"`)
	if _, height := f.treeRows(); height != 601 {
		t.Errorf("room for %d rows", height)
	}
	f.wait("sizes", `document.querySelector("#tree [data-path='file-00000.txt'] small").textContent === "7 B"`)

	// An error in the middle is shown, and the rows found so far stay. (A folder that is gone has none: [TestFilesTreeWork].)
	f.held(p, d)
	f.check(`gate.fail()`)
	f.wait("the failure", `document.getElementById("status").className === "bad" && !(`+listingNow+`)`)
	f.wait("the rows are left", `document.querySelectorAll("#tree .row").length >= 5 && document.getElementById("rows").getBoundingClientRect().height / 28 > 199`)

	// Another folder is opened meanwhile, and no more rows of the first come.
	f.held(p, d)
	// It has a file of its own name, as a dropped file would come.
	other := newDisk(t, "other", map[string]string{"a.txt": "a", "b/c.txt": "c", "other": "o"})
	f.drop(p, other)
	if f.check(listingNow) == "true" {
		t.Error("the page still says that it lists")
	}
	f.check(`gate.goOn()`)
	f.click("#sample")
	f.wait("the sample", `document.getElementById("status").textContent === "Open: Sample folder"`)
	f.drop(p, other)
	f.wait("the other folder alone", paths+`.join() === "b,a.txt,other"`)
	// A folder with the sample's name is a different one, with its own undo.
	same := newDisk(t, "Sample folder", map[string]string{"mine.txt": "mine"})
	must(t, p.Drop(testContext(t), "body", same.dir))
	f.wait("the folder of that name", `document.getElementById("status").textContent === "Open: Sample folder on this machine" && `+paths+`.join() === "mine.txt"`)
	f.one(once, "write", "path", "new.txt", "content", "changed")
	f.click("#sample")
	f.wait("the sample", `document.getElementById("status").textContent === "Open: Sample folder" && document.getElementById("undo").disabled`)
	same.holds("new.txt", "changed")
}
