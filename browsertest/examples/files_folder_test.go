package examples

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"io"
	"path/filepath"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// drag sends one event of a drag from outside of the browser, at the middle of an element.
func drag(t *testing.T, p *e2e.Page, kind, selector, file string) {
	t.Helper()
	at := eval[[]float64](t, p, `(() => { const r = document.querySelector(`+js(selector)+`).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	must(t, p.CDP(testContext(t), "Input.dispatchDragEvent", map[string]any{"type": kind, "x": at[0], "y": at[1],
		"data": map[string]any{"items": []any{}, "files": []string{file}, "dragOperationsMask": 1}}, nil))
}

// zipped returns the names and bytes of the folder, from the ZIP that the page saves.
func zipped(t *testing.T, p driver) map[string]string {
	t.Helper()
	must(t, p.Eval(testContext(t), `void (globalThis.saved = new Promise((done) => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => {
		URL.createObjectURL = make; const r = new FileReader(); r.onload = () => done(r.result.split(",")[1]); r.readAsDataURL(blob); return make.call(URL, blob); }; }))`, nil))
	press(t, p, "#zip")
	data, err := base64.StdEncoding.DecodeString(eval[string](t, p, `globalThis.saved`))
	must(t, err)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	got := map[string]string{}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		r, err := f.Open()
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		got[filepath.ToSlash(f.Name)] = string(text)
	}
	return got
}

// A folder of this machine is dragged over the conversation, whose frame would take the drop. The
// page shows the drop's effect during the drag. After a reload the folder is open, one click leads
// back to it from another one, and the ZIP contains the bytes on the disk.
func TestFilesDropAgainZip(t *testing.T) {
	long(t)
	t.Parallel()
	b := withDisk(t)
	ctx := testContext(t)
	p := openFiles(t, b)
	say(t, p, "list the files") // so that there is a frame to drop on
	rested(t, p)
	must(t, p.WaitFor(ctx, `document.querySelector("#talk iframe").getBoundingClientRect().height > 100`))
	const picture = `(() => {
		const e = new DragEvent("dragstart", {bubbles: true, cancelable: true}), i = new Image();
		document.getElementById("root").append(i);
		i.dispatchEvent(e);
		i.remove();
		return e.defaultPrevented;
	})()`
	if inFrame(t, p, picture) != "true" {
		t.Error("a picture of an answer can be dragged, as a file to the page's eyes")
	}
	d := newDisk(t, "winter", map[string]string{"hours.csv": winter, "deep/er/ünï.txt": "gr\xfc\xdfe\r\n", "bytes.bin": "\x00\x01\x80\xff\xfe\x00"})
	drag(t, p, "dragEnter", "#talk iframe", d.dir)
	must(t, p.WaitFor(ctx, `getComputedStyle(document.querySelector("#talk iframe")).pointerEvents === "none"`))
	const says = `"drop" in document.body.dataset && getComputedStyle(document.body, "::after").content.includes("Drop a folder")`
	poll.Until(t, "the page says what a drop does", func() bool {
		drag(t, p, "dragEnter", "#talk iframe", d.dir) // the developer tools send no change of frame by themselves
		drag(t, p, "dragOver", "#talk iframe", d.dir)
		return eval[bool](t, p, says)
	})
	must(t, p.Drop(ctx, "#talk iframe", d.dir))
	saysStatus(t, p, "Open: winter")
	must(t, p.WaitFor(ctx, `!("drop" in document.body.dataset)`))
	there := func() {
		t.Helper()
		must(t, p.WaitFor(ctx, `document.getElementById("name").textContent === "winter" && [...document.querySelectorAll("#tree [data-path]")].map((r) => r.dataset.path).join() === "deep,bytes.bin,hours.csv"`))
	}
	there()
	if eval[bool](t, p, `document.getElementById("kept").childElementCount > 0`) {
		t.Error("the folder that is open is offered to be opened again")
	}

	must(t, p.Reload(ctx))
	filesReady(t, p)
	there()
	press(t, p, "#sample")
	must(t, p.WaitFor(ctx, `document.querySelector("#kept button")?.textContent === "Open winter again"`))
	must(t, p.Click(ctx, "#folder"))
	must(t, p.WaitFor(ctx, `document.querySelector("#kept button").checkVisibility()`))
	noViolations(t, p)
	must(t, p.Click(ctx, "#kept button"))
	saysStatus(t, p, "Open: winter")
	there()

	got, want := zipped(t, p), d.files()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s in the ZIP is %q, on the disk %q", name, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the ZIP has %d files, the disk %d", len(got), len(want))
	}
	noErrors(t, p)
}
