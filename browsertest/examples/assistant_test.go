package examples

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// assistantIn opens the page of the assistant in a running Chromium, with a model that has a script of
// its own. The page has the same field, question and stop button as that of the files example.
func assistantIn(t *testing.T, b *e2e.Browser) (*filesPage, *e2e.Page) {
	t.Helper()
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"assistant-models/style.css")
	must(t, err)
	f := &filesPage{anyPage: anyPage{p.Chrome(), t}, in: &opened{driver: p, engine: browser.Chromium, page: p.Chrome()}}
	f.model = strings.ReplaceAll(t.Name(), "/", "-")
	f.script = models.add(f.model)
	f.check(`(localStorage.setItem("assistant-url", ` + js(models.URL+"/v1") + `), localStorage.setItem("assistant-model", ` + js(f.model) + `))`)
	must(t, p.Goto(ctx, site+"assistant-models/"))
	assistantReady(f)
	return f, p
}

func assistantReady(f *filesPage) {
	f.t.Helper()
	f.wait("the page is ready", `document.getElementById("send")?.disabled === false`)
}

// The page streams an answer, changes a file after a yes, and undoes the change.
func TestAssistant(t *testing.T) {
	t.Parallel()
	f, p := assistantIn(t, launch(t, e2e.Options{}))
	hold := make(chan struct{})
	f.then(turn{text: "This is the beginning, and this is the end.", hold: hold})
	f.say("tell me")
	shows(t, p, "This is the beginn")
	close(hold)
	shows(t, p, "this is the end.")
	f.rested()

	f.one("", "read", "path", "notes/plan.md") // a file that the model has not read cannot be edited
	if got := f.one(once, "edit", "path", "notes/plan.md", "old_string", "find a room", "new_string", "take a tent"); !strings.Contains(got, "take a tent") {
		t.Errorf("the model receives %q", got)
	}
	f.wait("the undo names the change", `document.getElementById("last").textContent.includes("notes/plan.md") && !document.getElementById("undo").disabled`)
	f.click("#undo")
	f.wait("the change is undone", `document.getElementById("undo").disabled && document.getElementById("status").textContent === "The last change is undone."`)
	if got := f.one("", "read", "path", "notes/plan.md"); !strings.Contains(got, "find a room") || strings.Contains(got, "take a tent") {
		t.Errorf("after the undo the file holds %q", got)
	}
	noErrors(t, p)

	// The developer's panel is there at an address of its own alone. It lists calls and chunks, and explains a call.
	const shadow = `document.getElementById("panel").shadowRoot`
	if got := f.check(`document.getElementById("panel").hidden && !` + shadow); got != "true" {
		t.Error("the panel is open without its parameter")
	}
	must(t, p.Goto(testContext(t), site+"assistant-models/?panel"))
	assistantReady(f)
	f.one(reject, "write", "path", "notes/new.md", "content", "x")
	f.wait("the trace has the call", shadow+`.getElementById("page0").textContent.includes("fs.write on notes/new.md")`)
	f.check(shadow + `.querySelector("details").setAttribute("open", "")`)
	f.wait("the row is open", `!!`+shadow+`.querySelector(".explain")`)
	noViolations(t, p)
	f.check(shadow + `.querySelector(".explain").click()`)
	f.wait("the call is explained", shadow+`.getElementById("why").textContent.includes("so: ask")`)
	f.check(shadow + `.getElementById("tab1").click()`)
	f.wait("the chunks are listed", shadow+`.getElementById("page1").textContent.includes("tool-output-denied")`)
	f.check(shadow + `.getElementById("tab4").click()`)
	f.wait("the headers hold", shadow+`.getElementById("page4").textContent.includes("Connection-Allowlist")`)
	noViolations(t, p)
	noErrors(t, p)
}

// A refusal changes nothing. Stop ends an answer, and a question.
func TestAssistantRefusedAndStopped(t *testing.T) {
	t.Parallel()
	f, p := assistantIn(t, launch(t, e2e.Options{}))
	f.one("", "read", "path", "notes/plan.md") // a file that the model has not read cannot be replaced
	if got := f.one(reject, "write", "path", "notes/plan.md", "content", "nothing\n"); !strings.Contains(got, "rejected") {
		t.Errorf("the model receives %q", got)
	}
	shows(t, p, "You did not allow it.")
	if got := f.one("", "read", "path", "notes/plan.md"); !strings.Contains(got, "find a room") {
		t.Errorf("after a refusal the file holds %q", got)
	}

	hold := make(chan struct{})
	f.then(turn{text: "a beginning without an end", hold: hold})
	f.say("go on")
	shows(t, p, "a beginning")
	f.click("#stop")
	f.rested()
	close(hold)
	shows(t, p, "Stopped.")

	f.one("", "read", "path", "hours.csv")
	f.then(turn{calls: []call{tc("delete", "path", "hours.csv")}})
	f.say("delete it")
	f.asks()
	f.click(stopButton(t, p))
	f.rested()
	if got := f.one("", "read", "path", "hours.csv"); !strings.Contains(got, "day,who,hours") {
		t.Errorf("after a stop the file holds %q", got)
	}
	noErrors(t, p)
}

// A model that fails leaves a text, and the next message works.
func TestAssistantModelFails(t *testing.T) {
	t.Parallel()
	f, p := assistantIn(t, launch(t, e2e.Options{}))
	f.then(turn{status: 401, text: "no such key"})
	f.say("hello")
	shows(t, p, "That did not work.")
	shows(t, p, "no such key") // the reason that the server gives
	f.rested()
	f.then(turn{text: "hello again"})
	f.say("hello?")
	shows(t, p, "hello again")
	f.rested()
}

// In each engine the page works from a server without headers, and shows that they are missing. The
// reader of commands needs no network.
func TestAssistantStaticHost(t *testing.T) {
	t.Parallel()
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			server := staticHost(t, "assistant", false)
			o := open(t, engine, server+"/", e2e.Options{})
			f := &filesPage{anyPage: anyPage{o.page, t}, in: o}
			assistantReady(f)
			f.wait("the notice is there", `document.getElementById("bare").checkVisibility() && document.getElementById("bare").textContent.includes("no protecting headers")`)
			f.say(`add "one more" to notes/plan.md`)
			f.asks()
			f.answer(once)
			f.rested()
			f.wait("the undo names the change", `document.getElementById("last").textContent.includes("notes/plan.md")`)
			noErrors(t, o)
		})
	}
	t.Run("with headers", func(t *testing.T) {
		f, _ := assistantIn(t, launch(t, e2e.Options{}))
		f.one("", "read", "path", "hours.csv")
		if got := f.check(`document.getElementById("bare").hidden`); got != "true" {
			t.Error("the page says that its headers are missing")
		}
	})
}

func TestAssistantLooks(t *testing.T) {
	long(t)
	t.Parallel()
	const answer = "# Three things\n\nYour plan has **one** open point:\n\n- find a room for *Thursday*\n- then book the train\n\n```go\nfmt.Println(\"a block of code, which is long enough to be wider than a small window is\")\n```\n\nand this text goes on for a while, so that it takes more than one line in every window."
	var f *filesPage
	start := func(t *testing.T, b *e2e.Browser) *e2e.Page {
		var p *e2e.Page
		f, p = assistantIn(t, b)
		return p
	}
	states := []struct {
		name        string
		show, after func(t *testing.T, p *e2e.Page)
	}{
		{"rest", nil, nil},
		{"streaming", func(t *testing.T, p *e2e.Page) {
			f.then(turn{text: strings.Repeat(answer+"\n\n", 4), hold: make(chan struct{})})
			f.say("what does my plan say?")
			shows(t, p, "goes on for a while")
		}, nil},
		{"asking", func(t *testing.T, p *e2e.Page) {
			f.then(turn{calls: []call{tc("read", "path", "notes/plan.md")}}, turn{calls: []call{tc("edit", "path", "notes/plan.md", "old_string", "- [ ] TODO find a room", "new_string", "- [x] find a room\n- [ ] TODO take the umbrella")}})
			f.say("tick the room off, and add the umbrella")
			f.asks()
		}, func(t *testing.T, p *e2e.Page) {
			f.answer(reject)
			f.rested()
		}},
		{"failed", func(t *testing.T, p *e2e.Page) {
			f.then(turn{status: 401, text: "no such key"})
			f.say("what does my plan say?")
			shows(t, p, "That did not work.")
			f.rested()
		}, nil},
	}
	kept := map[string]bool{"asking-1400": true, "streaming-1024-dark": true, "rest-390": true, "asking-390-dark": true}
	var list []look
	for _, state := range states {
		for _, size := range [][2]int{{1920, 1080}, {1400, 860}, {1024, 768}, {768, 1024}, {390, 844}, {320, 640}} {
			for _, dark := range []bool{false, true} {
				name := fmt.Sprintf("%s-%d", state.name, size[0])
				if dark {
					name += "-dark"
				}
				if testing.Short() && !kept[name] {
					continue // make e2e looks at all of them
				}
				list = append(list, look{name: name, dark: dark, width: size[0], height: size[1], show: state.show, after: state.after, loud: state.name == "failed", bare: !kept[name]})
			}
		}
	}
	looks(t, "assistant", start, list)
}

// The assistant is meant to be copied: it has at most 300 lines of Go in one folder, and imports
// nothing that another module cannot.
func TestAssistantIsSmall(t *testing.T) {
	list, err := filepath.Glob(filepath.Join(root, "examples/assistant/*.go"))
	must(t, err)
	lines := 0
	for _, name := range list {
		text, err := os.ReadFile(name)
		must(t, err)
		lines += strings.Count(string(text), "\n")
		if found := regexp.MustCompile(`"github.com/bailey-go/bailey/.*internal.*"`).FindString(string(text)); found != "" {
			t.Errorf("%s imports %s", name, found)
		}
	}
	if lines == 0 || lines > 300 {
		t.Errorf("%d lines of Go, want 1 to 300", lines)
	}
}
