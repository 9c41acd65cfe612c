//go:build js && wasm

// Assistant is the smallest useful page with an agent: a model works in a folder, asks before it
// changes a file, streams its answer, and the user can undo each change. Copy this folder to begin a
// page of your own.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/panel"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/ui"
)

//go:embed notes hours.csv
var sample embed.FS

func main() {
	status("The page could not start: " + run(context.Background()).Error()) // run returns only if it fails
	os.Exit(1)
}

// page is the state.
type page struct {
	ctx     context.Context
	view    *iframe.Document  // the conversation, behind two frames
	sheet   *ui.Sheet         // the questions of consent
	work    *fsaccess.Journal // the open folder, with an undo
	box     *sandbox.Box
	session *sandbox.Session
	dev     panel.Panel // for developers: off, except at the address with ?panel
	working bool        // the model runs
	n       int         // number of sections of the conversation
}

func run(ctx context.Context) error {
	element("paper").Call("replaceChildren") // after an exit the program is started again in the same page
	p, err := &page{ctx: ctx}, error(nil)
	p.sheet, err = ui.New(iframe.ElementOf(element("ask")), ui.Options{OnStop: p.stop, OnAsk: func(title string) { status("Waiting for your answer: " + title) }})
	if err != nil {
		return err
	}
	p.view, err = iframe.NewDocument(ctx, iframe.ElementOf(element("paper")), iframe.DocumentOptions{
		MaxHeight: 200_000,
		Theme:     iframe.Theme{Variables: map[string]string{"--bailey-background": "light-dark(#ffffff, #1a1e23)"}},
	})
	if err != nil {
		return err
	}
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	err = fsaccess.Copy(ctx, dir, ".", fsaccess.FromFS(sample), ".", fsaccess.CopyOptions{})
	if js.Global().Get("location").Get("search").String() == "?panel" {
		err = errors.Join(err, p.dev.Open(iframe.ElementOf(element("panel"))))
	}
	if err = errors.Join(err, p.open(dir, "Sample folder, in memory only")); err != nil {
		return err
	}
	on("pick", "click", func(js.Value) { p.failed(p.pick()) })
	on("stop", "click", func(js.Value) { p.stop() })
	on("undo", "click", func(js.Value) { p.failed(p.undo()) })
	on("try", "click", func(e js.Value) { p.send(e.Get("target").Get("value").String()) })
	on("composer", "submit", func(js.Value) { p.send(value("text")) })
	listenForModel()
	element("pick").Set("disabled", false)
	element("send").Set("disabled", false)
	showProtection()
	status("Ready")
	select {}
}

// pick opens a folder of the user's.
func (p *page) pick() error {
	if p.working {
		return errors.New("the assistant is at work: stop it first")
	}
	dir, err := fsaccess.Pick(p.ctx, fsaccess.ReadWrite, fsaccess.PickOptions{})
	if err != nil {
		return err
	}
	return p.open(dir, dir.Name())
}

// open makes a box over a folder, and begins a conversation. The undo lasts until the page is closed.
// A store in the origin private file system makes it last longer.
func (p *page) open(dir fsaccess.FS, name string) (err error) {
	p.work = fsaccess.NewJournal(dir, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	p.box, err = sandbox.New(sandbox.Options{
		FS:           p.work,
		Policy:       policy.AskBeforeChanges(),
		Ask:          p.sheet,
		OnTrace:      p.dev.Trace,
		SystemPrompt: "You work on the folder of the user, in their browser. Use the tools; say briefly what you did.",
	})
	if err != nil {
		return err
	}
	p.dev.Box(p.box)
	if p.session != nil {
		p.session.Close()
	}
	if p.session, err = p.box.NewSession(p.ctx, sandbox.SessionOptions{}); err != nil {
		return err
	}
	for _, s := range p.view.Sections() {
		_ = s.Remove()
	}
	element("welcome").Set("hidden", false)
	element("folder").Set("textContent", name)
	return p.changed()
}

// send sends a message of the user's, and shows the answer as it streams.
func (p *page) send(text string) {
	text = strings.TrimSpace(text)
	if text == "" || p.working {
		return
	}
	element("text").Set("value", "")
	p.say("You", "> "+escape(text))
	p.working = true
	element("stop").Set("hidden", false)
	element("welcome").Set("hidden", true)
	status("At work")
	if !p.failed(errors.Join(p.answer(text), p.changed())) {
		status("Done")
	}
	p.working = false
	element("stop").Set("hidden", true)
}

// answer runs the model until it has answered a message.
func (p *page) answer(text string) error {
	if _, err := p.session.Say(p.ctx, text); err != nil {
		return err
	}
	var section *iframe.Section
	for chunk, err := range p.dev.Chunks(p.box.Run(p.ctx, p.session, chosenModel(), sandbox.RunOptions{})) {
		if err != nil {
			p.say("Assistant", "**That did not work.** "+escape(err.Error()))
			return err
		}
		switch chunk.Type {
		case "text-start":
			section = p.section("Assistant")
		case "text-delta":
			_, _ = section.WriteString(chunk.Delta)
		case "text-end":
			_ = section.Close()
		case "tool-input-available":
			args, _ := chunk.Input.(map[string]any)
			subject, _ := args["path"].(string)
			p.say("Step", "*"+escape(chunk.ToolName+" "+subject)+"*")
		case "tool-output-denied":
			p.say("Step", "*You did not allow it.*")
		case "tool-output-error", "tool-input-error":
			p.say("Step", "*"+escape(chunk.ErrorText)+"*")
		case "abort":
			p.say("Assistant", "*Stopped.*")
		}
	}
	return nil
}

// stop ends the run and all its calls, also during a question.
func (p *page) stop() {
	p.session.Interrupt("the user pressed stop")
	p.sheet.Dismiss(p.session.ID())
}

// undo undoes the last change.
func (p *page) undo() error {
	if err := p.work.Undo(p.ctx); err != nil {
		return err
	}
	status("The last change is undone.")
	return p.changed()
}

// changed names the change that the undo button undoes.
func (p *page) changed() error {
	list, err := p.work.History(p.ctx)
	if err != nil {
		return err
	}
	last := ""
	for _, c := range list { // newest first
		if !c.Undone && !strings.HasPrefix(c.Op, "undo") {
			last = c.Op + " " + strings.Join(c.Paths, ", ")
			break
		}
	}
	element("last").Set("textContent", last)
	element("undo").Set("disabled", last == "")
	return nil
}

// section begins a section of the conversation.
func (p *page) section(who string) *iframe.Section {
	p.n++
	s := p.view.Section(fmt.Sprint(p.n))
	_ = s.SetLabel(fmt.Sprint(who, ", ", p.n)) // for screen readers
	return s
}

// say adds a section with a whole text in Markdown.
func (p *page) say(who, text string) {
	s := p.section(who)
	_, _ = s.WriteString(text)
	_ = s.Close()
}

// failed shows an error in the status line, and reports whether there is one. A dialogue that the
// user closed is none.
func (p *page) failed(err error) bool {
	if err == nil || errors.Is(err, fsaccess.ErrCancelled) {
		return false
	}
	status(err.Error())
	return true
}
