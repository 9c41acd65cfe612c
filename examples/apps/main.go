//go:build js && wasm

// Apps shows pages of tools (MCP Apps): a chart, a form that calls a tool back, and a page that tries to
// send data away. Each runs behind walls, and everything that it wants is a call that the user can see.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/ui"
)

// A page reads without a question, and what it changes is asked about.
const rules = `{"capabilities": {"fs.read": ["sales.csv"], "fs.write": ["orders/**"]},
	"rules": [{"permission": "fs.read", "action": "allow"}]}`

func main() {
	err := run(context.Background()) // run returns only if it fails
	fmt.Fprintln(os.Stderr, err)
	dom.Status("This page could not start: " + err.Error())
	os.Exit(1)
}

// page is the state.
type page struct {
	opening sync.Mutex
	ctx     context.Context
	box     *sandbox.Box
	session *sandbox.Session
	sheet   *ui.Sheet
	app     *iframe.App // the one that is shown
	tool    string      // whose page it is
	asks    int
}

func run(ctx context.Context) error {
	dom.Empty("stage", "log") // after an exit the program is started again in the same page
	p := &page{ctx: ctx}
	var err error
	p.sheet, err = ui.New(iframe.ElementOf(dom.Element("ask")), ui.Options{OnStop: func() { p.sheet.Dismiss(p.session.ID()) }, OnAsk: func(title string) { dom.Status("A question: " + title) }})
	if err != nil {
		return err
	}
	pol, err := policy.Parse(rules, policy.Options{})
	if err != nil {
		return err
	}
	work := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	if err := errors.Join(work.WriteFile("sales.csv", []byte(sales), 0o644), work.MkdirAll("orders", 0o755)); err != nil {
		return err
	}
	p.box, err = sandbox.New(sandbox.Options{FS: work, Policy: pol, Ask: p.sheet, Tools: tools()})
	if err != nil {
		return err
	}
	if p.session, err = p.box.NewSession(ctx, sandbox.SessionOptions{}); err != nil {
		return err
	}
	for _, id := range []string{"chart", "order", "thief"} {
		dom.Locked(&p.opening, id, func() error { return p.open(id) })
		dom.Enable(id, true)
	}
	dom.On(dark(), "change", func(js.Value) {
		if p.app != nil {
			_ = p.app.SetScheme(scheme())
		}
	})
	dom.Status("Ready")
	select {}
}

// open calls a tool, as a model would, and shows its page with the input and the result.
func (p *page) open(tool string) error {
	if p.app != nil {
		_ = p.app.Close()
	}
	dom.Empty("stage", "log")
	dom.Hide("hint", true)
	args := map[string]any{}
	if tool == "thief" {
		args["to"] = dom.Value("to")
	}
	res := p.box.Call(p.session.Context(p.ctx), tool, args)
	if err := res.Err(); err != nil {
		return err
	}
	parent, err := iframe.ElementByID("stage")
	if err != nil {
		return err
	}
	of, _ := p.box.AppOf(tool)
	app, err := iframe.NewApp(p.ctx, parent, *of, iframe.AppOptions{
		Label:     "The page of the tool " + tool,
		Scheme:    scheme(),
		MaxHeight: 1000,
		Proxy:     proxy(),
		Ask:       p.ask,
		OnMessage: func(_ context.Context, text string) error { p.say("message", "sent in your name: "+text); return nil },
		OnContext: func(text string) { p.say("context", text) },
		OnCall: func(ctx context.Context, name string, args map[string]any) (any, error) {
			res := p.box.CallForApp(p.session.Context(ctx), tool, name, args)
			outcome := "done"
			if err := res.Err(); err != nil {
				outcome = res.ErrorText
			}
			p.say("call", fmt.Sprintf("%s %v: %s", name, args, outcome))
			return res.ForApp(), nil
		},
		OnLog: func(level, text string) { p.say(level, text) },
		OnEnd: func(err error) {
			if err != nil {
				dom.Status(err.Error())
			}
		},
	})
	if err != nil {
		return err
	}
	p.app, p.tool = app, tool
	dom.Status("Open: the page of " + tool)
	return errors.Join(app.Input(args, true), app.Result(res.ForApp()))
}

// ask shows a wish of the page that is no call of a tool: a message in the user's name, a link or a file.
func (p *page) ask(ctx context.Context, kind, text string) bool {
	p.asks++
	what := map[string]string{"message": "send a message in your name", "link": "open an address", "download": "save a file"}[kind]
	if what == "" {
		return false
	}
	replies, err := p.sheet.Ask(ctx, sandbox.Prompt{Requests: []sandbox.Request{{
		Call: fmt.Sprint("page-", p.asks), Tool: p.tool, App: p.tool, Session: p.session.ID(), Title: what, Diff: text, Risk: protocol.RiskMedium, Untrusted: true, Once: true,
		Effects: []sandbox.Effect{{Text: what, Risk: protocol.RiskMedium, InTitle: true}},
	}}})
	yes := err == nil && len(replies) == 1 && replies[0].Answer == policy.AnswerOnce
	p.say(kind, fmt.Sprintf("%s: %v", text, map[bool]string{true: "you agreed", false: "refused"}[yes]))
	return yes
}

// say adds a line to the list of what the page did.
func (p *page) say(kind, text string) {
	item := dom.Create("li", "")
	item.Call("append", dom.Create("b", kind), " ", dom.Create("span", dom.Cut(text, 300)))
	dom.Element("log").Call("append", item)
}

// proxy is the address of a sandbox proxy (wasm_exec serve -apps), which chooses the conforming mode of the
// pages: apps/?proxy=http://localhost:8081/apps/. The headers say which proxies there are.
func proxy() string {
	search := js.Global().Get("location").Get("search")
	if v := js.Global().Get("URLSearchParams").New(search).Call("get", "proxy"); !v.IsNull() {
		return v.String()
	}
	return ""
}

func dark() js.Value { return js.Global().Call("matchMedia", "(prefers-color-scheme: dark)") }

func scheme() string {
	if dark().Get("matches").Bool() {
		return "dark"
	}
	return "light"
}
