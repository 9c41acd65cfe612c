package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

func openFolder(t *testing.T, b *e2e.Browser) *e2e.Page {
	t.Helper()
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"folder/")
	must(t, err)
	must(t, p.WaitFor(ctx, `document.querySelector("#tree [data-path='README.md'][aria-current]")`))
	return p
}

// says waits until an element's text contains words.
func says(t *testing.T, p *e2e.Page, selector, words string) {
	t.Helper()
	if err := p.WaitFor(testContext(t), `document.querySelector(`+js(selector)+`)?.innerText.includes(`+js(words)+`)`); err != nil {
		text, _ := p.Text(testContext(t), selector)
		status, _ := p.Text(testContext(t), "#status")
		t.Fatalf("%s never said %q, but %q; the page's status is %q", selector, words, text, status)
	}
}

func js(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// write replaces the text of the editor as a user does.
func write(t *testing.T, p *e2e.Page, text string) {
	t.Helper()
	must(t, p.Eval(testContext(t), `(() => { const e = document.getElementById("text"); e.focus(); e.select(); document.execCommand("insertText", false, `+js(text)+`); })()`, nil))
	must(t, p.WaitFor(testContext(t), `!document.getElementById("save").disabled`))
}

func pressTree(t *testing.T, p *e2e.Page, path string) {
	t.Helper()
	at := `#tree [data-path='` + path + `']`
	must(t, p.Wait(testContext(t), at))
	must(t, p.Click(testContext(t), at))
}

func TestFolderLooks(t *testing.T) {
	t.Parallel()
	changed := func(word string) func(t *testing.T, p *e2e.Page) {
		return func(t *testing.T, p *e2e.Page) {
			ctx := testContext(t)
			pressTree(t, p, "notes")
			pressTree(t, p, "notes/list.txt")
			must(t, p.WaitFor(ctx, `document.getElementById("path").textContent === "notes/list.txt"`))
			write(t, p, "screws 4x40\nsandpaper "+word+"\nlinseed oil\na new blade\n")
			must(t, p.Click(ctx, "#compare"))
			says(t, p, "#diff", "+sandpaper "+word)
			must(t, p.Click(ctx, "#save"))
			says(t, p, "#history", "Wrote notes/list.txt")
			write(t, p, "screws 4x40 and 5x60\nsandpaper 180\nlinseed oil\n")
			must(t, p.Click(ctx, "#compare"))
			must(t, p.Eval(ctx, `scrollTo(0, 0)`, nil))
		}
	}
	looks(t, "folder", openFolder, []look{
		{name: "light", width: 1280, height: 900},
		{name: "dark", dark: true, width: 1280, height: 900, show: changed("dark")},
		{name: "narrow", width: 390, height: 844, show: changed("narrow")},
	})
}

func TestFolderUndo(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openFolder(t, b)
	tables := ""
	poll.Until(t, "the preview of README.md has a table", func() bool {
		tables = inFrame(t, p, `document.querySelectorAll("#root table").length`)
		return tables == "1"
	}, func() string { return "it has " + tables })
	pressTree(t, p, "hours.csv")
	must(t, p.WaitFor(ctx, `document.getElementById("path").textContent === "hours.csv"`))
	before := eval[string](t, p, `document.getElementById("text").value`)
	write(t, p, "day,hours\nSunday,1\n")
	must(t, p.Click(ctx, "#save"))
	says(t, p, "#history", "Wrote hours.csv")

	// Undo, redo, and both again after a reload.
	press(t, p, "#undo")
	must(t, p.WaitFor(ctx, `document.getElementById("text").value === `+js(before)))
	press(t, p, "#redo")
	must(t, p.WaitFor(ctx, `document.getElementById("text").value.includes("Sunday")`))
	must(t, p.Reload(ctx))
	must(t, p.WaitFor(ctx, `document.querySelector("#tree [data-path='README.md'][aria-current]")`))
	pressTree(t, p, "hours.csv")
	must(t, p.WaitFor(ctx, `document.getElementById("text").value.includes("Sunday")`))
	press(t, p, "#undo")
	must(t, p.WaitFor(ctx, `document.getElementById("text").value === `+js(before)))

	// A deleted file comes back.
	must(t, p.Click(ctx, "#remove"))
	must(t, p.WaitFor(ctx, `!document.querySelector("#tree [data-path='hours.csv']")`))
	press(t, p, "#undo")
	must(t, p.Wait(ctx, "#tree [data-path='hours.csv']"))

	// Renaming, by keyboard.
	pressTree(t, p, "hours.csv")
	must(t, p.WaitFor(ctx, `document.getElementById("path").textContent === "hours.csv"`))
	must(t, p.Eval(ctx, `document.getElementById("rename").focus()`, nil))
	must(t, p.Press(ctx, "Enter"))
	must(t, p.WaitFor(ctx, `document.getElementById("ask").open && document.activeElement.id === "ask-input"`))
	must(t, p.Eval(ctx, `document.execCommand("insertText", false, "week/hours.csv")`, nil))
	must(t, p.Press(ctx, "Enter"))
	says(t, p, "#status", "week/hours.csv") // the folder is missing: the page reports it, and nothing is lost
	must(t, p.Wait(ctx, "#tree [data-path='hours.csv']"))
	must(t, p.Eval(ctx, `document.getElementById("rename").focus()`, nil))
	must(t, p.Press(ctx, "Enter"))
	must(t, p.WaitFor(ctx, `document.getElementById("ask").open && document.activeElement.id === "ask-input"`))
	must(t, p.Eval(ctx, `document.execCommand("insertText", false, "notes/hours.csv")`, nil))
	must(t, p.Press(ctx, "Enter"))
	says(t, p, "#history", "Renamed hours.csv to notes/hours.csv")
	must(t, p.WaitFor(ctx, `document.getElementById("path").textContent === "notes/hours.csv"`))

	// All of it, in one step.
	must(t, p.Eval(ctx, `[...document.querySelectorAll("#history button")].filter((b) => b.textContent.startsWith("Back")).at(-1).click()`, nil))
	must(t, p.Wait(ctx, "#tree [data-path='hours.csv']"))
	noErrors(t, p)
}

// Before a harmful kind of file is written, the page asks. Enter refuses.
func TestFolderGuardAsks(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openFolder(t, b)
	for _, c := range []struct {
		answer string
		there  bool
	}{{"", false}, {"Write it", true}} {
		must(t, p.Click(ctx, "#newfile"))
		must(t, p.WaitFor(ctx, `document.getElementById("ask").open && document.activeElement.id === "ask-input"`))
		must(t, p.Eval(ctx, `document.execCommand("insertText", false, "start.sh")`, nil))
		must(t, p.Press(ctx, "Enter"))
		says(t, p, "#ask-title", "Write start.sh?")
		noViolations(t, p)
		if c.answer == "" {
			must(t, p.Press(ctx, "Enter"))
			says(t, p, "#status", "consent")
		} else {
			must(t, p.Click(ctx, `#ask-answers [value="Write it"]`))
			must(t, p.Wait(ctx, "#tree [data-path='start.sh']"))
		}
	}
	noErrors(t, p)
}

// A real folder of this machine, dropped on the page, is written and undone on the disk. A change
// by another program is shown, and never overwritten without a question.
func TestFolderOnDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "letters")
	must(t, os.Mkdir(dir, 0o755))
	file := filepath.Join(dir, "dear.txt")
	must(t, os.WriteFile(file, []byte("Dear all\n"), 0o644))
	disk := func(want string) {
		t.Helper()
		got, err := os.ReadFile(file)
		if err != nil || string(got) != want {
			t.Errorf("on the disk: %q, %v; want %q", got, err, want)
		}
	}
	b := launch(t, e2e.Options{WriteGrants: []string{strings.TrimSuffix(site, "/")}})
	ctx := testContext(t)
	p := openFolder(t, b)
	must(t, p.Wait(ctx, "iframe"))
	must(t, p.Drop(ctx, "iframe", dir)) // on the preview, which is a frame of another origin
	if err := p.WaitFor(ctx, `document.getElementById("name").textContent === "letters"`); err != nil {
		t.Fatalf("%v; the page says %q, and shows %q", err, eval[string](t, p, `document.getElementById("status").textContent`), eval[string](t, p, `document.getElementById("name").textContent`))
	}
	pressTree(t, p, "dear.txt")
	must(t, p.WaitFor(ctx, `document.getElementById("text").value === "Dear all\n"`))
	write(t, p, "Dear friends\n")
	must(t, p.Click(ctx, "#save"))
	says(t, p, "#history", "Wrote dear.txt")
	disk("Dear friends\n")
	press(t, p, "#undo")
	must(t, p.WaitFor(ctx, `document.getElementById("text").value === "Dear all\n"`))
	disk("Dear all\n")

	write(t, p, "Mine\n")
	must(t, os.WriteFile(file, []byte("Theirs\n"), 0o644))
	says(t, p, "#outside", "changed by another program")
	must(t, p.Click(ctx, "#save"))
	says(t, p, "#ask-diff", "+Mine")
	noViolations(t, p)
	if *shots {
		_, err := p.Screenshot(ctx, e2e.Shot{File: filepath.Join(root, "examples/folder/screenshots/conflict.png")})
		must(t, err)
	}
	must(t, p.Click(ctx, `#ask-answers [value="Take theirs"]`))
	must(t, p.WaitFor(ctx, `document.getElementById("text").value === "Theirs\n"`))
	disk("Theirs\n")
	must(t, os.WriteFile(filepath.Join(dir, "new.txt"), []byte("x"), 0o644))
	must(t, p.Wait(ctx, "#tree .fresh [data-path='new.txt']"))
	noErrors(t, p)
}

// An upload can't be written: changes are kept beside it.
func TestFolderUpload(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "letters")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "dear.txt"), []byte("Dear all\n"), 0o644))
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openFolder(t, b)
	must(t, p.Eval(ctx, `HTMLInputElement.prototype.click = function () { this.id = "chooser"; document.body.append(this); }`, nil))
	must(t, p.Click(ctx, "#upload"))
	must(t, p.Wait(ctx, "#chooser"))
	must(t, p.SetFiles(ctx, "#chooser", dir))
	pressTree(t, p, "dear.txt")
	must(t, p.WaitFor(ctx, `document.getElementById("text").value === "Dear all\n"`))
	write(t, p, "Dear friends\n")
	must(t, p.Click(ctx, "#save"))
	says(t, p, "#pending", "changed dear.txt")
	must(t, p.Click(ctx, "#discard"))
	must(t, p.WaitFor(ctx, `document.getElementById("text").value === "Dear all\n" && document.getElementById("pending").childElementCount === 0`))
	noErrors(t, p)
}
