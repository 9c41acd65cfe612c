package examples

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// chart returns a PNG with some bars.
func chart(t *testing.T) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 320, 200))
	for x := range 320 {
		for y := range 200 {
			c := color.RGBA{0xee, 0xf1, 0xf5, 0xff}
			if x%40 > 8 && y > 200-(x/40+1)*22 {
				c = color.RGBA{0x22, 0x67, 0x4a, 0xff}
			}
			m.Set(x, y, c)
		}
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	return b.Bytes()
}

// attachedNames are the files that go with the next message.
const attachedNames = `[...document.querySelectorAll("#attached li:not([hidden]) span")].map(e => e.textContent).join()`

// pasted pastes or drops files that the page makes. Their contents are expressions.
func pasted(event, target string, types, files string) string {
	return `(() => {
		const data = new DataTransfer();
		for (const [type, text] of Object.entries(` + types + `)) data.setData(type, text);
		for (const f of ` + files + `) data.items.add(f);
		const e = "` + event + `" === "paste" ? new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}) : new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
		return String(document.querySelector("` + target + `").dispatchEvent(e));
	})()`
}

// Files are attached by the button, by a drop and by a paste, and the model receives them. The user sees
// them in the conversation, also after a reload, and a message that is taken back gives them back.
func TestFilesAttach(t *testing.T) {
	t.Parallel()
	f, p := filesIn(t, withDisk(t))
	ctx, dir := testContext(t), t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		at := filepath.Join(dir, name)
		must(t, os.WriteFile(at, data, 0o644))
		return at
	}
	f.drop(p, newDisk(t, "attach", map[string]string{"a.txt": "a\n"}))
	data := chart(t)
	must(t, p.SetFiles(ctx, "#attach-file", write("chart.png", data), write("notes.txt", []byte("remember the milk"))))
	f.wait("they are attached", attachedNames+` === "chart.png,notes.txt"`)
	must(t, p.Drop(ctx, "#talk", write("more.csv", []byte("a,b\n1,2\n"))))
	f.wait("the dropped one is too", attachedNames+` === "chart.png,notes.txt,more.csv"`)
	if got := f.check(`document.getElementById("name").textContent`); got != "attach" {
		t.Errorf("a dropped file opened %q", got)
	}
	const file = `[new File(["pasted text"], "pasted.txt", {type: "text/plain"})]`
	if got := f.check(pasted("paste", "#text", `{}`, file)); got != "false" {
		t.Error("a pasted file is pasted as text, too")
	}
	f.wait("the pasted one is too", attachedNames+` === "chart.png,notes.txt,more.csv,pasted.txt"`)
	// A text with a picture of itself is a text.
	if got := f.check(pasted("paste", "#text", `{"text/plain": "cells", "text/html": "<b>cells</b>"}`, file)); got != "true" {
		t.Error("a text is attached as a file")
	}
	must(t, p.Click(ctx, `#attached [aria-label="Remove more.csv"]`))
	f.wait("one is removed", attachedNames+` === "chart.png,notes.txt,pasted.txt"`)
	if *pictures != "" {
		attachPictures(t, p, "composer")
	}
	f.then(turn{text: "A chart."})
	f.say("what is <b>this</b>?")
	shows(t, p, "A chart.")
	f.rested()
	list := f.requests()
	last := list[len(list)-1].Messages
	got := last[len(last)-1]
	if len(got.Files) != 1 || got.Files[0] != "data:image/png;base64,"+base64.StdEncoding.EncodeToString(data) {
		t.Errorf("the model gets %.200v", got.Files)
	}
	holds(t, "the message", got.Content, "what is <b>this</b>?", "remember the milk", "pasted text")
	if n := f.check(`document.querySelectorAll("#attached li").length`); n != "0" {
		t.Errorf("%s files are left", n)
	}
	seen := func() {
		t.Helper()
		f.wait("the picture is loaded", "true")
		shows(t, p, "notes.txt")
		if got := inFrame(t, p, `[...document.querySelectorAll("img")].map(i => i.alt + " " + i.naturalWidth).join()`); got != "chart.png 320" {
			t.Errorf("the conversation shows %q", got)
		}
	}
	seen()
	if *pictures != "" {
		attachPictures(t, p, "sent")
	}
	f.reload()
	f.again("attach")
	shows(t, p, "A chart.")
	seen()
	press(t, p, "#rewind")
	dialogue(t, p)
	must(t, p.Eval(ctx, `document.querySelector("#dialog .options label").click()`, nil))
	choose(t, p, "Rewind")
	saysStatus(t, p, "Rewound.")
	if got := f.check(attachedNames); got != "chart.png,notes.txt,pasted.txt" {
		t.Errorf("given back: %s", got)
	}
	// Files alone are a message, and the next one has none.
	f.then(turn{text: "No words."})
	must(t, p.Eval(ctx, `void (document.getElementById("text").value = "")`, nil))
	press(t, p, "#send")
	shows(t, p, "No words.")
	f.rested()
	noViolations(t, p)
}

// What a message can't take is left out with the reason, and the rest is kept. A large image is made
// smaller.
func TestFilesAttachLimits(t *testing.T) {
	long(t)
	t.Parallel()
	f, p := filesIn(t, withDisk(t))
	ctx := testContext(t)
	f.drop(p, newDisk(t, "limits", map[string]string{"a.txt": "a\n"}))
	add := func(files string) { t.Helper(); f.check(pasted("drop", "#talk", `{}`, files)) }
	for _, c := range []struct {
		bytes int
		says  string
	}{{8<<20 - 1, ""}, {8 << 20, ""}, {8<<20 + 1, "a.bin has 8.4 MB and is left out"}} {
		add(fmt.Sprintf(`[new File([new Uint8Array(%d)], "a.bin")]`, c.bytes))
		if c.says == "" {
			f.wait("it is attached", attachedNames+` === "a.bin"`)
			must(t, p.Click(ctx, "#attached button"))
			f.wait("it is removed", attachedNames+` === ""`)
			continue
		}
		saysStatus(t, p, c.says)
	}
	add(`Array.from({length: 11}, (_, i) => new File(["x" + i], i + ".txt"))`)
	saysStatus(t, p, "10.txt is left out, because a message takes 10 files")
	f.wait("ten are attached", attachedNames+`.split(",").length === 10`)
	for range 10 {
		must(t, p.Click(ctx, "#attached button"))
	}
	f.wait("all are removed", attachedNames+` === ""`)
	// Noise, which no format makes smaller.
	must(t, p.Eval(ctx, `(async () => {
		const c = new OffscreenCanvas(2400, 1200), g = c.getContext("2d"), d = g.createImageData(2400, 1200);
		for (let i = 0; i < d.data.length; i += 65536) crypto.getRandomValues(d.data.subarray(i, i + 65536));
		for (let i = 3; i < d.data.length; i += 4) d.data[i] = 255;
		g.putImageData(d, 0, 0);
		globalThis.noise = await c.convertToBlob({type: "image/png"});
	})()`, nil))
	add(`[new File([noise], "noise.png", {type: "image/png"})]`)
	f.wait("it is smaller", attachedNames+` === "noise.jpg"`)
	f.then(turn{text: "Noise."})
	f.say("what is it?")
	shows(t, p, "Noise.")
	f.rested()
	if got := inFrame(t, p, `[...document.querySelectorAll("img")].map(i => i.alt + " " + i.naturalWidth + " " + i.naturalHeight).join()`); got != "noise.jpg 2000 1000" {
		t.Errorf("the conversation shows %q", got)
	}
	// A file that the box refuses comes back with the text.
	add(`[new File([Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10])], "half.png", {type: "image/png"})]`)
	f.wait("it is attached", attachedNames+` === "half.png"`)
	f.check(`void (document.getElementById("text").value = "and this?")`)
	press(t, p, "#send")
	saysStatus(t, p, "damaged or cut off")
	f.wait("it is given back", attachedNames+` === "half.png" && document.getElementById("text").value === "and this?"`)
	if n := len(f.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	if got := inFrame(t, p, `document.body.innerText`); strings.Contains(got, "and this?") {
		t.Errorf("a message that was not sent is shown: %q", got)
	}
}

func attachPictures(t *testing.T, p *e2e.Page, name string) {
	t.Helper()
	ctx := testContext(t)
	for _, w := range []int{1400, 390, 320} {
		for _, dark := range []bool{false, true} {
			must(t, p.Viewport(ctx, w, 860, 1))
			must(t, p.Dark(ctx, dark))
			_, err := p.Screenshot(ctx, e2e.Shot{File: filepath.Join(*pictures, fmt.Sprintf("attach-%s-%d-%t.png", name, w, dark))})
			must(t, err)
		}
	}
	must(t, p.Viewport(ctx, 0, 0, 0))
}
