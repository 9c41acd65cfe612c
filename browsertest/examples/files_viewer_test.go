package examples

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// pixels is a PNG of a size.
func pixels(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))))
	return b.String()
}

// row clicks a file or a folder in the tree, once its row rests at its place: a bar above the tree, such as
// the one about changes, moves all rows when it comes.
func (f *filesPage) row(name string) {
	f.t.Helper()
	poll.Until(f.t, name+" rests in the tree", func() bool {
		ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
		defer cancel()
		raw, err := f.Eval(ctx, `new Promise((rested) => {
			const at = () => document.querySelector(`+js(`#tree [data-path="`+name+`"]`)+`)?.getBoundingClientRect().y, y = at();
			requestAnimationFrame(() => requestAnimationFrame(() => rested(y !== undefined && at() === y)));
		})`)
		return err == nil && string(raw) == "true"
	})
	f.click(`#tree [data-path="` + name + `"] .label`)
}

// opens clicks a file, and waits until the viewer shows it.
func (f *filesPage) opens(name string) {
	f.t.Helper()
	f.row(name)
	f.wait(name+" is in the viewer", `document.getElementById("viewer").checkVisibility() && document.querySelector("#viewer .v-name").textContent.endsWith(`+js(name)+`) && document.querySelector("#viewer .v-about").textContent !== ""`)
}

// button presses a button by its text.
func (f *filesPage) button(in, text string) {
	f.t.Helper()
	find := `[...document.querySelectorAll(` + js(in+" button") + `)].find((b) => (b.firstChild?.textContent ?? "") === ` + js(text) + ` && !b.disabled)`
	f.wait("the button "+text, `!!`+find)
	f.check(find + `.click()`)
}

const viewed = `document.querySelector("#viewer .v-body")`

// Each kind of file is shown as what it is. The page stays without violations, and fits into its window.
func TestFilesViewer(t *testing.T) {
	t.Parallel()
	b := withDisk(t)
	f, p := filesIn(t, b)
	lines, length := 40_000, 1_000_000
	if testing.Short() {
		lines, length = 11_000, 500_000 // make e2e shows them all
	}
	long := strings.Repeat("0123456789", length/10)
	big := ""
	for i := range lines {
		big += fmt.Sprintf("line %d of a log ü\n", i+1)
	}
	d := newDisk(t, "things", map[string]string{
		"code.go": "package main\n\nfunc main() {\n\tprintln(\"hi\") // said\n}\n", "notes/plan.md": "# The plan\n\nSee [the table](data.csv) and ![a chart](chart.png).\n", "notes/data.csv": "name,hours\n\"Anna, B.\",3\nBen,\"4\n5\"\n", "notes/chart.png": pixels(t, 60, 40),
		"pic.png": pixels(t, 300, 200), "paper.pdf": "%PDF-1.7\nnothing", "bytes.bin": "\x00asm\x01\x00\x00\x00<b>", "empty.txt": "", "big.log": big, "long.txt": "first\n" + long + "\nlast\n", "latin.txt": "gr\xfc\xdfe\n",
		"bomb.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x06\x00\x00\x00\x00\x00\x00\x00", "broken.png": pixels(t, 9, 9)[:40],
	})
	f.drop(p, d)
	if got := f.check(`[...document.querySelectorAll("#tree [aria-selected=true]")].length + "/" + document.getElementById("text").value`); got != "0/" {
		t.Errorf("at the start: %s", got)
	}
	shot := func(name string) {
		t.Helper()
		if dir := os.Getenv("VIEWER_SHOTS"); dir != "" {
			for _, look := range []struct {
				dark  bool
				width int
			}{{false, 1400}, {true, 1400}, {false, 1024}, {true, 768}, {false, 390}, {true, 320}} {
				must(t, p.Viewport(testContext(t), look.width, 860, 1))
				must(t, p.Dark(testContext(t), look.dark))
				f.check(`document.getElementById("viewer").scrollIntoView()`)
				_, err := p.Screenshot(testContext(t), e2e.Shot{File: filepath.Join(dir, fmt.Sprintf("%s-%d-%v.png", name, look.width, look.dark))})
				must(t, err)
				if wide := eval[int](t, p, `document.documentElement.scrollWidth`); wide > look.width+20 {
					t.Errorf("%s: the page is %d px wide in a window of %d", name, wide, look.width)
				}
			}
			must(t, p.Viewport(testContext(t), 1280, 800, 1))
			must(t, p.Dark(testContext(t), false))
		}
		noViolations(t, p)
	}

	f.opens("code.go")
	f.wait("lines with numbers", viewed+`.querySelectorAll(".ln").length === 5 && `+viewed+`.querySelectorAll(".ln")[3].dataset.n === "4"`)
	f.wait("colours by a guest", `!!`+viewed+`.querySelector(".hl-keyword")`)
	if got := f.check(viewed + `.innerText.replaceAll("\n\n", "\n")`); !strings.Contains(got, `println("hi") // said`) {
		t.Errorf("the text is %q", got)
	}
	if got := f.check(`document.getElementById("text").value`); got != "" {
		t.Errorf("a click wrote %q into the message", got)
	}
	shot("code")

	f.row("notes")
	f.opens("notes/plan.md")
	f.wait("a preview in a frame", `!!document.querySelector("#viewer-paper iframe") && document.querySelector("#viewer-paper iframe").getBoundingClientRect().height > 60`)
	shot("markdown")
	f.button("#viewer", "Text")
	f.wait("its text", viewed+`.innerText.includes("[the table](data.csv)")`)
	f.button("#viewer", "Preview")
	f.wait("the preview again", `document.getElementById("viewer-paper").checkVisibility()`)

	f.opens("notes/data.csv")
	f.wait("a table", `[...`+viewed+`.querySelectorAll("th, td")].map((c) => c.textContent).join("|") === "name|hours|Anna, B.|3|Ben|4\n5"`)
	if got := f.check(`getComputedStyle(` + viewed + `.querySelector("th")).position`); got != "sticky" {
		t.Errorf("the head is %s", got)
	}
	shot("table")
	f.opens("pic.png")
	f.wait("the picture", viewed+`.querySelector("img")?.naturalWidth === 300`)
	shot("picture")
	for name, words := range map[string]string{"bomb.png": "too large to show", "broken.png": "damaged", "paper.pdf": "does not show PDFs", "empty.txt": "is empty"} {
		f.opens(name)
		f.wait("the page says why", viewed+`.innerText.includes(`+js(words)+`)`)
	}
	f.opens("bytes.bin")
	f.wait("bytes", viewed+`.innerText.includes("00 61 73 6d 01") && document.querySelector("#viewer .v-about").textContent.includes("WebAssembly")`)
	shot("bytes")
	f.opens("latin.txt")
	f.button("#viewer", "Text")
	f.wait("bytes that are no text are marks", viewed+`.querySelectorAll(".v-hidden").length === 1 && `+viewed+`.innerText.includes("not UTF-8")`)

	// A large file comes in pieces, and no line is lost or doubled between them.
	f.opens("big.log")
	f.wait("the first lines", viewed+`.querySelectorAll(".ln").length === 5000`)
	for n := 5000; n < lines; {
		f.button("#viewer .v-more", "Show more")
		f.wait("more lines", fmt.Sprintf(viewed+`.querySelectorAll(".ln").length > %d`, n))
		f.wait("all lines of the piece", fmt.Sprintf(`!!`+viewed+`.querySelector(".v-more") || `+viewed+`.querySelectorAll(".ln").length === %d`, lines))
		n = eval[int](t, p, viewed+`.querySelectorAll(".ln").length`)
	}
	if got := f.check(`[...` + viewed + `.querySelectorAll(".ln")].findIndex((l, i) => l.textContent !== "line " + (i + 1) + " of a log ü" || l.dataset.n !== String(i + 1))`); got != "-1" {
		t.Errorf("line %s is wrong: %s", got, f.check(viewed+`.querySelectorAll(".ln")[`+got+`].outerHTML`))
	}
	f.opens("long.txt")
	f.wait("a long line is readable", viewed+`.querySelectorAll(".ln").length === 2 && `+viewed+`.scrollWidth <= `+viewed+`.clientWidth`)
	for i := 0; (i+1)*262_000 < length; i++ {
		f.button("#viewer .v-more", "Show more")
		f.wait("it goes on", fmt.Sprintf(viewed+`.querySelectorAll(".ln")[1].textContent.length >= %d`, min(length, (i+2)*262_000)))
	}
	f.wait("to its end", fmt.Sprintf(viewed+`.querySelectorAll(".ln").length === 3 && `+viewed+`.querySelectorAll(".ln")[1].textContent.length === %d && `+viewed+`.querySelectorAll(".ln")[2].textContent === "last"`, length))

	// What another program does to the file in view is shown.
	f.opens("code.go")
	must(t, os.WriteFile(filepath.Join(d.dir, "code.go"), []byte("package other\n"), 0o644))
	f.wait("the new text", viewed+`.innerText.trim() === "package other"`)
	must(t, os.Remove(filepath.Join(d.dir, "code.go")))
	f.wait("the page says that it is gone", `document.querySelector("#viewer .v-note").textContent.includes("no longer there")`)
	noErrors(t, p)
}

// A hostile file has no effect, whatever its name and its kind. Each of them has one where a page shows it as a document.
func TestFilesHostileFiles(t *testing.T) {
	t.Parallel()
	b := withDisk(t)
	f, p := filesIn(t, b)
	script := `try { top.hit = (top.hit || 0) + 1; } catch { } try { globalThis.hit = 1 } catch { }`
	svg := `<svg xmlns="http://www.w3.org/2000/svg" onload="` + script + `"><script>` + script + `</script><foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="x:y" onerror="` + script + `"/></foreignObject></svg>`
	html := `<script>` + script + `</script><img src=x:y onerror="` + script + `"><iframe srcdoc="<script>` + script + `</script>"></iframe>`
	files := map[string]string{
		"a.html": html, "b.svg": svg, "c.png": svg, "d.md": html + "\n\n[x](javascript:hit=1) <a href=\"javascript:hit=1\">y</a> ![z](https://collect.example/?z=1)\n\n" + svg, "e.csv": html + ",=HYPERLINK(\"https://collect.example\")\n" + html + ",2\n",
		"f.gif": "GIF89a/*" + html + "*/=1", "g.txt": "%PDF-1.7\n" + html, "h&lt;'onerror=hit=1'.txt": html, "photo.js": "x = 1 \u202e// \u2066evil\u2069\n", "i.json": `{"__proto__": "</pre>` + strings.ReplaceAll(html, `"`, `'`) + `"}`,
	}
	d := newDisk(t, "hostile", files)
	control, err := b.Page(testContext(t), "about:blank")
	must(t, err)
	for _, name := range []string{"a.html", "b.svg", "e.csv", "d.md"} {
		must(t, control.Eval(testContext(t), `void (globalThis.hit = 0, document.open(), document.write(`+js(files[name])+`), document.close())`, nil))
		if err := control.WaitFor(testContext(t), `globalThis.hit > 0`); err != nil {
			t.Errorf("%s has no effect anywhere: %v", name, err)
		}
	}
	f.drop(p, d)
	for name := range files {
		if got := f.check(`(() => { const row = [...document.querySelectorAll("#tree .row")].find((r) => r.dataset.path === ` + js(name) + `); row.querySelector(".label").click(); })()`); got != "undefined" {
			t.Errorf("%s is not in the tree: %s", name, got)
			continue
		}
		f.wait(name+" is shown", `(document.querySelector("#viewer .v-about").textContent || document.querySelector("#viewer .v-note").textContent) !== "" && (document.querySelector("#viewer .v-name").title === `+js(name)+` || document.querySelector("#viewer .v-name").title.includes("U+202E"))`)
		for _, mode := range []string{"Text", "Preview", "Table", "Bytes"} {
			f.check(`[...document.querySelectorAll("#viewer .v-bar button")].find((b) => b.textContent === ` + js(mode) + `)?.click()`)
			f.wait("it rests", `["#viewer .v-body", "#viewer-paper", "#viewer .v-note"].some((s) => document.querySelector(s).checkVisibility())`)
		}
		if got := f.check(`document.querySelectorAll("#viewer .v-body i.v-hidden").length`); name == "photo.js" && got != "3" {
			t.Errorf("%s marks of characters that turn a line around", got)
		}
		if got := f.check(`document.querySelectorAll("#viewer script, #viewer svg, #viewer .v-body iframe, #viewer object, #viewer embed, #viewer [onerror], #viewer [onload], #viewer a").length`); got != "0" {
			t.Errorf("%s became elements: %s", name, f.check(`document.querySelector("#viewer .v-body").innerHTML.slice(0, 500)`))
		}
		f.check(`[...document.querySelectorAll("#viewer .v-bar button")].find((b) => b.textContent === "Edit")?.click()`)
	}
	if got := f.check(`String(globalThis.hit)`); got != "undefined" {
		t.Errorf("a file has run code %s times", got)
	}
	for _, r := range p.Requests() {
		if strings.Contains(r.URL, "collect.example") {
			t.Errorf("request for %s", r.URL)
		}
	}
}

// A text is edited and saved with its line ends and its encoding, by keys alone. What was not saved is asked for, and a change
// by another program is never overwritten without a question.
func TestFilesEditor(t *testing.T) {
	t.Parallel()
	b := withDisk(t)
	f, p := filesIn(t, b)
	d := newDisk(t, "letters", map[string]string{"dear.txt": "\ufeffDear all,\r\nsee you.\r\n", "other.txt": "other\n", "large.txt": strings.Repeat("x", 1<<20+1), "limit.txt": strings.Repeat("x", 1<<20), "latin.txt": "gr\xfc\xdfe, a text\n"})
	f.drop(p, d)
	f.opens("dear.txt")
	holds(t, "the format", f.check(`document.querySelector("#viewer .v-about").textContent`), "UTF-8 with BOM", "Windows line ends")
	f.button("#viewer", "Edit")
	f.wait("the editor has the focus", `document.activeElement.className === "v-edit"`)
	area := `document.querySelector(".v-edit")`
	f.check(area + `.setSelectionRange(5, 8)`)
	must(t, p.Type(testContext(t), "", "friends"))
	f.wait("a mark", area+`.value === "Dear friends,\nsee you.\n" && !!document.querySelector("#viewer .v-dot")`)
	f.button("#viewer", "Show what changes")
	f.wait("the difference", `document.querySelector(".v-editing .diff .add")?.textContent.includes("Dear friends,")`)
	noViolations(t, p)
	f.check(area + `.focus()`)
	f.keys("Control+s")
	f.wait("it is saved", `document.getElementById("status").textContent === "Saved dear.txt." && !document.querySelector("#viewer .v-dot")`)
	d.holds("dear.txt", "\ufeffDear friends,\r\nsee you.\r\n")
	f.click("#tab-undo")
	f.click("#undo")
	f.wait("undone", `document.getElementById("status").textContent.startsWith("Took back")`)
	d.holds("dear.txt", "\ufeffDear all,\r\nsee you.\r\n")
	f.check(`document.getElementById("tab-file").click()`)

	// The file under the editor is another one now, as undo has changed it.
	f.wait("the page says so", `document.querySelector("#viewer .v-note").textContent.includes("changed meanwhile") && `+area+`.checkVisibility()`)
	f.check(`void (` + area + `.focus(), ` + area + `.setSelectionRange(0, 0))`)
	f.wait("the focus", `document.activeElement.className === "v-edit"`)
	must(t, p.Type(testContext(t), "", "Mine. "))
	f.button("#viewer", "Save")
	holds(t, "it asks", dialogue(t, p), "has changed since you opened it", "Mine.")
	noViolations(t, p)
	choose(t, p, "Keep editing")
	d.holds("dear.txt", "\ufeffDear all,\r\nsee you.\r\n")
	f.wait("nothing is lost", area+`.value.startsWith("Mine. ")`)

	// Another file is chosen: it asks, and "Keep editing" keeps.
	f.row("other.txt")
	holds(t, "it asks", dialogue(t, p), "Save your changes to dear.txt?")
	choose(t, p, "Keep editing")
	f.wait("nothing is lost", area+`.value.startsWith("Mine. ")`)
	if got := f.check(`!window.dispatchEvent(new Event("beforeunload", {cancelable: true}))`); got != "true" {
		t.Error("closing the page asks nothing")
	}
	f.button("#viewer", "Save")
	dialogue(t, p)
	choose(t, p, "Save mine")
	f.wait("it is saved", `document.getElementById("status").textContent === "Saved dear.txt."`)
	d.holds("dear.txt", "\ufeffMine. Dear friends,\r\nsee you.\r\n")

	// Limits.
	f.opens("large.txt")
	f.button("#viewer", "Edit")
	f.wait("too large", `document.querySelector("#viewer .v-note").textContent.includes("texts of up to") && !document.querySelector(".v-edit")`)
	f.opens("limit.txt")
	f.button("#viewer", "Edit")
	f.wait("at the limit", area+`?.value.length === 1048576`)
	f.button("#viewer", "Cancel")
	f.opens("latin.txt")
	if got := f.check(`[...document.querySelectorAll("#viewer button")].some((b) => b.textContent === "Edit")`); got != "false" {
		t.Error("a text that is no UTF-8 can be edited")
	}
	noErrors(t, p)
}

// The tree: natural order, filter, type-ahead, several at once, the menu, dragging, marks, and one step of undo for each.
func TestFilesTreeWork(t *testing.T) {
	t.Parallel()
	b := withDisk(t)
	f, p := filesIn(t, b)
	ctx := testContext(t)
	d := newDisk(t, "work", map[string]string{"file10.txt": "10", "file2.txt": "2", "Zebra.txt": "z", "apple.txt": "a", "d10/x.txt": "x", "d2/deep/needle.txt": "n"})
	f.drop(p, d)
	order := func(want string) { f.t.Helper(); f.wait("the rows "+want, paths+`.join() === `+js(want)) }
	order("d2,d10,apple.txt,file2.txt,file10.txt,Zebra.txt")
	selected := `[...document.querySelectorAll("#tree [aria-selected=true]")].map((r) => r.dataset.path).join()`
	if got := f.check(selected); got != "" {
		t.Errorf("%s is selected at the start", got)
	}
	f.click("#remove")
	f.wait("nothing to delete", `document.getElementById("status").textContent.startsWith("Select what to delete") && !document.getElementById("dialog").open`)

	f.check(`document.getElementById("tree").focus()`)
	f.keys("f")
	f.wait("type-ahead", selected+` === "file2.txt"`)
	f.keys("f")
	f.wait("the next one", selected+` === "file10.txt"`)
	f.keys("Shift+ArrowUp", "Shift+ArrowUp")
	f.wait("a range", selected+` === "apple.txt,file2.txt,file10.txt"`)
	f.keys("Control+ArrowDown", "Control+ArrowDown", "Control+ArrowDown", "Control+ ")
	f.wait("one more", selected+` === "apple.txt,file2.txt,file10.txt,Zebra.txt"`)
	noViolations(t, p)

	// The menu, by the keyboard.
	f.keys("Shift+F10")
	f.wait("the menu", `document.activeElement.role === "menuitem"`)
	noViolations(t, p)
	if dir := os.Getenv("VIEWER_SHOTS"); dir != "" {
		_, err := p.Screenshot(ctx, e2e.Shot{File: filepath.Join(dir, "menu.png")})
		must(t, err)
	}
	f.keys("Escape")
	f.wait("it is closed, and the tree has the focus", `document.getElementById("tree-menu").hidden && document.activeElement.id === "tree"`)
	f.keys("Delete")
	holds(t, "it asks", dialogue(t, p), "Delete 4 things?", "apple.txt", "Zebra.txt")
	choose(t, p, "Delete")
	order("d2,d10")
	f.click("#tab-undo")
	f.click("#undo")
	order("d2,d10,apple.txt,file2.txt,file10.txt,Zebra.txt")
	d.holds("Zebra.txt", "z")

	// The filter finds names in folders that were never unfolded.
	f.check(`(() => { const e = document.getElementById("tree-filter"); e.focus(); e.value = "deep NEED"; e.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	order("d2/deep/needle.txt")
	noViolations(t, p)
	f.keys("Enter")
	f.wait("it is opened", `document.querySelector("#viewer .v-name").textContent === "d2/deep/needle.txt"`)
	f.check(`document.getElementById("tree-filter").focus()`)
	f.keys("Escape")
	order("d2,d10,apple.txt,file2.txt,file10.txt,Zebra.txt")

	// Cut and paste, and dragging.
	f.row("apple.txt")
	f.check(`document.getElementById("tree").focus()`)
	f.keys("Control+x")
	f.keys("Home")
	f.keys("Control+v")
	f.wait("it is moved", `document.getElementById("status").textContent === "Moved apple.txt to d2."`)
	d.holds("d2/apple.txt", "a")
	d.holds("apple.txt", "-")
	f.check(`(() => { const row = (n) => document.querySelector('#tree [data-path="' + n + '"]'), data = new DataTransfer(), e = (k, on) => on.dispatchEvent(new DragEvent(k, {bubbles: true, cancelable: true, dataTransfer: data}));
		e("dragstart", row("file2.txt")); e("dragover", row("d10")); e("drop", row("d10")); })()`)
	f.wait("it is moved", `document.getElementById("status").textContent === "Moved file2.txt to d10."`)
	d.holds("d10/file2.txt", "2")
	f.wait("it has a mark, and so has its folder", `document.querySelector('#tree [data-path="d10/file2.txt"]').dataset.mark === "new" && document.querySelector('#tree [data-path="d10"]').dataset.mark !== ""`)
	f.click("#tab-undo")
	f.click("#undo")
	f.wait("one step takes it back", `!!document.querySelector('#tree [data-path="file2.txt"]')`)
	d.holds("file2.txt", "2")

	// By the pointer: the menu's "Duplicate".
	f.check(`document.querySelector('#tree [data-path="Zebra.txt"]').dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 100, clientY: 300}))`)
	f.button("#tree-menu", "Duplicate")
	f.wait("the copy", `!!document.querySelector('#tree [data-path="Zebra copy.txt"][aria-selected=true]')`)
	d.holds("Zebra copy.txt", "z")
	f.check(`document.querySelector('#tree [data-path="Zebra.txt"]').dispatchEvent(new MouseEvent("contextmenu", {bubbles: true, cancelable: true, clientX: 100, clientY: 300}))`)
	f.button("#tree-menu", "Mention in the chat")
	f.wait("it is mentioned", `document.getElementById("text").value.trim() === "Zebra.txt"`)

	// A file in a new folder is one step.
	f.click("#newfile")
	dialogue(t, p)
	f.check(`document.getElementById("dialog-field").value = "reports/may/one.txt"`)
	f.keys("Enter")
	f.wait("it is there, and open", `!!document.querySelector('#tree [data-path="reports/may/one.txt"]') && document.querySelector("#viewer .v-name").textContent.endsWith("one.txt")`)
	f.click("#tab-undo")
	f.click("#undo")
	f.wait("all of it is gone", `!document.querySelector('#tree [data-path="reports"]')`)

	// Errors in words of people.
	f.click("#newfile")
	dialogue(t, p)
	f.check(`document.getElementById("dialog-field").value = ".."`)
	f.keys("Enter")
	f.wait("why not", `document.getElementById("status").textContent.includes("can't be a name in this folder")`)
	must(t, os.RemoveAll(d.dir))
	f.click("#newfolder")
	dialogue(t, p)
	f.check(`document.getElementById("dialog-field").value = "x"`)
	f.keys("Enter")
	f.wait("the folder is gone, and the page says so", `document.getElementById("nothing").checkVisibility() && document.getElementById("nothing").textContent.includes("no longer there")`)
}

// What the assistant has changed is reviewed by file and by place: one place is taken back, and the others stay.
func TestFilesReview(t *testing.T) {
	t.Parallel()
	b := withDisk(t)
	f, p := filesIn(t, b)
	lines := func(first, last string) string {
		s := first + "\n"
		for i := range 40 {
			s += fmt.Sprintf("line %d\n", i)
		}
		return s + last + "\n"
	}
	d := newDisk(t, "book", map[string]string{"story.txt": lines("beginning", "end")})
	f.drop(p, d)
	f.one("", "read", "path", "story.txt") // a file is overwritten only by a model that has read it
	f.one(once, "write", "path", "story.txt", "content", lines("BEGINNING", "end"))
	f.one(once, "write", "path", "story.txt", "content", lines("BEGINNING", "END"))
	f.one(once, "write", "path", "new.txt", "content", "new\n")
	f.click("#tab-undo")
	f.wait("the button", `document.getElementById("review").textContent === "Review 2 changed files"`)
	f.click("#review")
	f.wait("two files", `document.querySelectorAll(".v-file").length === 2 && document.querySelectorAll(".v-hunk").length === 3`)
	noViolations(t, p)
	if dir := os.Getenv("VIEWER_SHOTS"); dir != "" {
		for _, width := range []int{1400, 390} {
			must(t, p.Viewport(testContext(t), width, 860, 1))
			f.check(`document.getElementById("viewer").scrollIntoView()`)
			_, err := p.Screenshot(testContext(t), e2e.Shot{File: filepath.Join(dir, fmt.Sprintf("review-%d.png", width))})
			must(t, err)
		}
		must(t, p.Viewport(testContext(t), 1280, 800, 1))
	}
	f.check(`[...document.querySelectorAll(".v-hunk button")].find((b) => b.ariaLabel.startsWith("Undo: story.txt, line 1")).click()`)
	f.wait("one place less", `document.querySelectorAll(".v-hunk").length === 2`)
	d.holds("story.txt", lines("beginning", "END"))
	f.check(`[...document.querySelectorAll(".v-file button")].find((b) => b.ariaLabel === "Undo file: new.txt").click()`)
	f.wait("one file less", `document.querySelectorAll(".v-file").length === 1`)
	d.holds("new.txt", "-")
	f.button("#viewer .v-bar", "Keep all")
	f.wait("nothing is left", `document.querySelector("#viewer .v-body").textContent.startsWith("There is nothing to review") && document.getElementById("review").hidden`)
	d.holds("story.txt", lines("beginning", "END"))

	// Going back strikes out what it has undone, and undoing that takes the strike away.
	f.click("#tab-undo")
	f.check(`[...document.querySelectorAll("#history [name=restore]")].at(-1).click()`)
	f.wait("all is as it was", `document.getElementById("status").textContent.startsWith("Restored to before")`)
	d.holds("story.txt", lines("beginning", "end"))
	f.wait("struck out", undone+` === document.querySelectorAll("#history li").length - 1`)
	noViolations(t, p)
	f.click("#undo")
	f.wait("not any more", undone+` < document.querySelectorAll("#history li").length - 2`)
	d.holds("story.txt", lines("beginning", "END"))
	noErrors(t, p)
}

// An upload has its name, and it and its changes survive a reload, until the user forgets it.
func TestFilesUploadSurvives(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	f, p := filesIn(t, b)
	d := newDisk(t, "letters", map[string]string{"dear.txt": "Dear all\n", "deep/one.txt": "1\n"})
	must(t, p.Eval(testContext(t), `HTMLInputElement.prototype.click = function () { this.id = "chooser"; document.body.append(this); }`, nil))
	f.click("#upload")
	must(t, p.Wait(testContext(t), "#chooser"))
	must(t, p.SetFiles(testContext(t), "#chooser", d.dir))
	f.wait("its name", `document.getElementById("name").textContent === "letters (uploaded)"`)
	f.wait("it is stored", `document.getElementById("pending-text").textContent.includes("stored in this browser, with your changes")`)
	if got := f.check(`document.getElementById("discard").checkVisibility()`); got != "false" {
		t.Error("there is nothing to discard, and a button for it")
	}
	f.one("", "read", "path", "dear.txt")
	f.one(once, "write", "path", "dear.txt", "content", "Dear friends\n")
	f.wait("the change", `document.getElementById("pending-text").textContent.includes("changed dear.txt") && document.getElementById("discard").checkVisibility()`)
	f.reload()
	f.wait("the folder is open again", `document.getElementById("name").textContent === "letters (uploaded)" && document.getElementById("pending-text").textContent.includes("changed dear.txt")`)
	f.opens("dear.txt")
	f.wait("with its change", viewed+`.innerText.trim() === "Dear friends"`)
	noViolations(t, p)
	f.click("#sample")
	f.wait("the sample", `document.getElementById("name").textContent === "Sample folder"`)
	f.wait("the way back", `[...document.querySelectorAll("#kept button")].some((b) => b.textContent === "Open letters (uploaded) again")`)
	f.check(`[...document.querySelectorAll("#kept button")].find((b) => b.ariaLabel === "Forget letters (uploaded)").click()`)
	holds(t, "it asks", dialogue(t, p), "Forget letters (uploaded)?")
	choose(t, p, "Forget")
	f.wait("it is off the list", `document.getElementById("kept").childElementCount === 0`)
	if got := eval[string](t, p, `(async () => { const root = await navigator.storage.getDirectory(); let out = ""; for (const dir of ["files-uploads", "files-copy"]) for await (const k of (await root.getDirectoryHandle(dir)).keys()) out += k + " "; return out; })()`); got != "" {
		t.Errorf("it is still stored: %s", got)
	}
	noErrors(t, p)
}
