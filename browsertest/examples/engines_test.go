package examples

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// engines returns the engines that this run tests: Chromium, or those in BROWSERTEST_ENGINES.
var engines = browser.Engines

// anyPage is a page of any engine, driven by the methods that all drivers have.
type anyPage struct {
	browser.Page
	t *testing.T
}

// check returns the value of an expression. Between two documents a page does not answer, for which WebKitGTK's
// driver waits.
func (p anyPage) check(expression string) string {
	limit := 10 * time.Second
	if _, ok := p.Page.(*browser.ChromiumPage); ok {
		limit = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	raw, err := p.Eval(ctx, `(() => { try { return String(`+expression+`) } catch (e) { return "" + e } })()`)
	var s string
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return err.Error()
	}
	return s
}

// wait waits until an expression is true.
func (p anyPage) wait(what, expression string) {
	p.t.Helper()
	last := ""
	poll.Until(p.t, what, func() bool { last = p.watch(expression, "true"); return last == "true" }, func() string {
		return fmt.Sprintf("last it was %q, and the page says %q; its question is %.600q; its viewer %.200q", last, p.check(`document.getElementById("status").innerText`), p.check(`(document.getElementById("ask")?.hasAttribute("data-off") ?? "") + " " + (document.getElementById("ask")?.shadowRoot?.getElementById("sheet").innerText ?? document.getElementById("ask")?.innerText ?? "")`), p.check(`document.getElementById("viewer")?.innerText ?? ""`))
	})
}

// watch returns the value of an expression as check does. In Chromium the page evaluates the expression until it has the wanted value,
// for at most a second.
func (p anyPage) watch(expression, want string) string {
	if _, ok := p.Page.(*browser.ChromiumPage); !ok {
		return p.check(expression)
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
	defer cancel()
	last := ""
	raw, err := p.Eval(ctx, `(async () => { let last; await `+browser.Watch(`(last = (() => { try { return String(`+expression+`) } catch (e) { return "" + e } })()) === `+js(want))+`; return last; })()`)
	if err == nil {
		err = json.Unmarshal(raw, &last)
	}
	if err != nil {
		return err.Error()
	}
	return last
}

func (p anyPage) click(selector string) {
	p.t.Helper()
	p.wait(selector, `!!`+find(selector)+` && !`+find(selector)+`.disabled`)
	unfold(p.t, selector, p.check, func(s string) { must(p.t, p.Click(p.t.Context(), s)) },
		func(x, y float64) { must(p.t, p.MoveTo(p.t.Context(), x, y)) })
	must(p.t, p.Click(p.t.Context(), selector))
}

func (p anyPage) open(path string) {
	p.t.Helper()
	p.click(`#tree [data-path='` + path + `']`)
	p.wait(path+" is open", `document.getElementById("path").textContent === `+js(path))
}

// write replaces the text of the editor.
func (p anyPage) write(text string) {
	p.t.Helper()
	p.check(`(() => { const e = document.getElementById("text"); e.focus(); e.select(); document.execCommand("insertText", false, ` + js(text) + `); })()`)
	p.wait("it can be saved", `!document.getElementById("save").disabled`)
}

func (p anyPage) text(want string) {
	p.t.Helper()
	p.wait("the editor has "+want, `document.getElementById("text").value === `+js(want))
}

func (p anyPage) says(selector, words string) {
	p.t.Helper()
	p.wait(selector+" says "+words, `document.querySelector(`+js(selector)+`).innerText.includes(`+js(words)+`)`)
}

// TestFolderInEachEngine: the sample folder and an upload work without a folder dialogue, and the page lists the
// missing features.
func TestFolderInEachEngine(t *testing.T) {
	long(t)
	t.Parallel()
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			b, err := browser.Start(t.Context(), browser.Options{Engine: engine, Dir: t.TempDir()})
			must(t, err)
			defer b.Close()
			page, err := b.Open(t.Context(), site+"folder/", browser.Events{})
			must(t, err)
			p := anyPage{page, t}
			ready := `!!document.querySelector("#tree [data-path='README.md'][aria-current]")`
			p.wait("the sample is there", ready)
			private := p.check(`!!navigator.storage?.getDirectory`) == "true"
			if in := p.check(`document.getElementById("name").innerText.includes("in memory")`); (in == "true") == private {
				t.Errorf("private file system: %v; the page says that the sample is in memory: %s", private, in)
			}
			editAndUndo(p, ready, private)
			refuseScript(p)
			uploadAndDiscard(p)
		})
	}
}

func editAndUndo(p anyPage, ready string, private bool) {
	p.t.Helper()
	p.open("hours.csv")
	before := p.check(`document.getElementById("text").value`)
	const after = "day,hours\nSunday,1\n"
	p.write(after)
	p.click("#save")
	p.says("#history", "Wrote hours.csv")
	p.click("#undo")
	p.text(before)
	p.click("#redo")
	p.text(after)
	if private { // files and undo outlive a reload
		p.check(`globalThis.stale = true, setTimeout(() => location.reload())`)
		p.wait("a new document", `!globalThis.stale && `+ready)
		p.open("hours.csv")
		p.text(after)
	}
	p.click("#undo")
	p.text(before)
	p.click("#remove")
	p.wait("it is gone", `!document.querySelector("#tree [data-path='hours.csv']")`)
	p.click("#undo")
	p.wait("it is back", `!!document.querySelector("#tree [data-path='hours.csv']")`)
}

func refuseScript(p anyPage) {
	p.t.Helper()
	p.click("#newfile")
	p.wait("the question for a name", `document.getElementById("ask").open && document.activeElement.id === "ask-input"`)
	p.check(`document.execCommand("insertText", false, "start.sh")`)
	must(p.t, p.Press(p.t.Context(), "Enter"))
	p.says("#ask-title", "Write start.sh?")
	must(p.t, p.Press(p.t.Context(), "Enter")) // which refuses
	p.says("#status", "consent")
	p.wait("nothing was made", `!document.querySelector("#tree [data-path='start.sh']")`)
}

// uploadAndDiscard chooses a file, because only Chromium's driver can choose a folder.
func uploadAndDiscard(p anyPage) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "dear.txt")
	must(p.t, os.WriteFile(file, []byte("Dear all\n"), 0o644))
	p.check(`HTMLInputElement.prototype.click = function () { this.webkitdirectory = false; this.id = "chooser"; document.body.append(this); }`)
	p.click("#upload")
	p.wait("the input", `!!document.getElementById("chooser")`)
	filer, ok := p.Page.(browser.Filer)
	if !ok {
		p.t.Fatal("this driver chooses no files")
	}
	must(p.t, filer.SetFiles(p.t.Context(), "#chooser", file))
	p.open("dear.txt")
	p.text("Dear all\n")
	p.write("Dear friends\n")
	p.click("#save")
	p.says("#pending", "changed dear.txt")
	p.click("#discard")
	p.text("Dear all\n")
	p.wait("nothing is pending", `document.getElementById("pending").childElementCount === 0`)
}
