package talk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// The limits of apps in a conversation.
const (
	mostLive   = 3 // that run at once
	mostPapers = 8 // documents, between which apps stand. Later apps are at the end
	mostNo     = 3 // refusals of the apps of a server, until the user opens one of them again
	mostTaken  = 3 // times that an app takes the focus. From a question or a secret it does so once
)

// app is the place of the page of a tool (MCP App) in the conversation, below the call. The page runs in it, or a
// button opens it. Only a call that the model makes now opens it by itself: a page may call tools, and a chat that
// is shown again must do nothing that nobody asked for.
type app struct {
	t            *Talk
	tool, server string
	name         string       // for the user
	page         protocol.App // with its address alone, for a tool of a server
	part, args   any          // the arguments as far as they are written, and all of them
	result       func(context.Context) map[string]any
	stopped      string // why, for a call without a result

	end  context.CancelFunc // of the app that runs, or is being opened. Nil without one
	live *iframe.App        // nil unless it runs
	runs int                // number of times that it was closed
	took int                // number of times that it took the focus since it was opened
	told struct{ args, result bool }

	box, stage, note        js.Value
	opens, enlarges, closes js.Value
	of                      dom.Listeners
}

// place makes the place of a call's app at the end of the conversation, or returns nil if the tool has none.
func (t *Talk) place(tool string) *app {
	page, server := t.Box.AppOf(tool)
	if page == nil {
		return nil
	}
	a := &app{t: t, tool: tool, server: server, page: *page, box: dom.Create("section", ""), stage: dom.Create("div", ""), note: dom.Create("p", "")}
	name, from := strings.TrimPrefix(tool, server+"_"), "app of this page"
	if server != "" {
		from = "app of the MCP server " + server
	}
	a.name = dom.Cut(name, 60) + ", " + from
	a.box.Set("className", "app")
	a.box.Call("setAttribute", "aria-label", a.name)
	a.stage.Set("className", "stage")
	a.stage.Set("inert", true) // page.js decides when it may have the focus
	a.note.Set("className", "small")
	a.note.Call("setAttribute", "role", "status")
	bar, right := dom.Create("div", ""), dom.Create("span", "")
	bar.Set("className", "bar tight")
	right.Set("className", "bar tight end")
	a.of.On(a.stage, "taken", func(e js.Value) { // from page.js, which has given it back
		if a.took++; a.end != nil && (a.took >= mostTaken || e.Get("detail").Bool()) {
			a.over("It was closed, because it took the keyboard from you. The keys of that moment may have reached it.")
		}
	})
	a.opens = a.of.Button(right, "Open", "small", func() {
		t.no[server] = 0
		a.open()
	})
	a.enlarges = a.of.Button(right, "", "small enlarge", func() { a.enlarge(!a.large()) })
	a.closes = a.of.Button(right, "Close", "small", func() { a.close("Closed.") })
	a.opens.Call("setAttribute", "aria-label", "Open "+a.name)
	a.closes.Call("setAttribute", "aria-label", "Close "+a.name)
	bar.Call("append", dom.Create("b", dom.Cut(name, 60)), dom.Create("small", dom.Cut(from, 80)), right)
	a.box.Call("append", bar, a.stage, a.note)
	t.box.Call("append", a.box)
	t.apps, t.group, t.split = append(t.apps, a), nil, true
	a.enlarge(false)
	a.say("")
	return a
}

// say shows a line below the app, and the buttons that it has now.
func (a *app) say(text string) {
	a.note.Set("textContent", text)
	a.note.Set("hidden", text == "")
	a.stage.Set("hidden", a.end == nil)
	a.opens.Set("hidden", a.end != nil)
	a.closes.Set("hidden", a.end == nil)
	a.enlarges.Set("hidden", a.live == nil)
}

// open runs the app.
func (a *app) open() {
	if a.end != nil {
		return
	}
	n := 0
	for _, o := range slices.Backward(a.t.apps) {
		if o.end != nil {
			if n++; n >= mostLive {
				o.close("Closed, because others were opened.")
			}
		}
	}
	ctx, end := context.WithCancel(a.t.ctx)
	a.end = end
	a.told.args, a.told.result, a.took = false, false, 0
	a.say("Opening")
	page, err := a.page, error(nil)
	if page.HTML == "" {
		page, err = a.t.options.Page(ctx, a.server, page.URI)
	}
	var live *iframe.App
	if err == nil {
		live, err = iframe.NewApp(ctx, iframe.ElementOf(a.stage), page, a.options(ctx))
	}
	switch {
	case ctx.Err() != nil: // closed meanwhile
		if live != nil {
			_ = live.Close()
		}
		return
	case errors.Is(err, iframe.ErrLeaks):
		a.over("It can't be shown: in this browser, or with the settings of this site, it could send data away by the names that it looks up.")
		return
	case err != nil:
		a.over("It can't be shown: " + dom.Cut(protocol.Public(err).Message, 300))
		return
	}
	a.live = live
	wants := ""
	if list := append(slices.Clone(page.Connect), page.Resources...); len(list) > 0 {
		wants = "It loads nothing from other sites here, and wants to: " + dom.Cut(strings.Join(list, ", "), 200)
	}
	a.say(wants)
	a.tell(ctx)
}

// tell tells the app the input and the result, as soon as there is one.
func (a *app) tell(ctx context.Context) {
	switch {
	case a.live == nil:
		return
	case a.args == nil:
		if a.part != nil {
			_ = a.live.Input(a.part, false)
		}
		return
	}
	if !a.told.args {
		a.told.args = true
		dom.Failed(a.live.Input(a.args, true))
	}
	switch {
	case a.told.result:
	case a.stopped != "":
		a.told.result = true
		dom.Failed(a.live.Cancelled(a.stopped))
	case a.result != nil:
		a.told.result = true
		live := a.live
		if err := live.Result(a.result(ctx)); live.Err() == nil {
			dom.Failed(err)
		}
	}
}

func (a *app) options(ctx context.Context) iframe.AppOptions {
	o, run := a.t.options, a.runs
	free := o.Free(a.server) // asked now, because the page's lock may be held while an app ends
	call := func(ctx context.Context, name string, args any) (sandbox.ToolResult, error) {
		if a.runs != run && !free[a.server+"_"+name] {
			return sandbox.ToolResult{}, protocol.Errorf(protocol.ErrAborted, "call", name, "the app is closed, and the user is not asked any more")
		}
		if a.t.no[a.server] >= mostNo {
			return sandbox.ToolResult{}, protocol.Errorf(protocol.ErrResourceLimit, "call", name, "the user has refused %d wishes of this app", mostNo)
		}
		res := a.t.Box.CallForApp(a.t.Session.Context(ctx), a.tool, name, args)
		if res.Reason == protocol.ReasonRejected {
			a.t.no[a.server]++
		}
		return res, nil
	}
	return iframe.AppOptions{
		Label: a.name, Scheme: scheme(), Locale: js.Global().Get("navigator").Get("language").String(), Modes: []string{"inline", "fullscreen"},
		MaxHeight: min(max(dom.Element("talk").Get("clientHeight").Int()*9/10, 200), 800),
		Ask:       a.ask,
		OnMessage: func(_ context.Context, text string) error { return o.Draft(a.t, text) },
		OnContext: func(text string) { o.Context(a.t, a.name, text) },
		OnCall: func(ctx context.Context, name string, args map[string]any) (any, error) {
			res, err := call(ctx, name, args)
			return res.ForApp(), err
		},
		OnRead: func(ctx context.Context, uri string) (any, error) {
			res, err := call(ctx, "resources/read", map[string]any{"uri": uri})
			if err != nil {
				return nil, err
			}
			return res.Contents(uri)
		},
		OnDisplay: func(mode string) { a.enlarge(mode == "fullscreen") },
		OnEnd: func(err error) {
			text := "It has ended."
			if err != nil {
				text = "It was ended: " + dom.Cut(protocol.Public(err).Message, 300)
			}
			if ctx.Err() == nil {
				a.over(text)
			}
		},
	}
}

// ask asks the user about a wish of the app. An app that the user does not use, or whose chat they don't see, has
// none, and neither has one while another question is open: it could hide that one.
func (a *app) ask(ctx context.Context, kind, text string) bool {
	if !a.stage.Call("contains", dom.Focused()).Bool() || a.stage.Get("inert").Bool() || !a.t.options.InView(a.t) || a.t.no[a.server] >= mostNo || !dom.Element("ask").Get("hidden").Bool() {
		return false
	}
	q := dialog.Question{Text: "From " + a.name + ".", Until: ctx.Done(), Ready: func() bool { return true }, Answers: []string{"No", "Yes"}}
	if kind == "link" {
		return a.said(openable(ctx, iframe.Link{URL: text}, q))
	}
	box := dom.Pre(text, "notices", "The text")
	read := false
	q.Ready = func() bool {
		read = read || box.Get("scrollTop").Float()+box.Get("clientHeight").Float() >= box.Get("scrollHeight").Float()-2
		return read
	}
	switch kind {
	case "message":
		q.Title, q.Answers[1] = "Put this text into the message field?", "Put it there"
		q.Text += " You can change it, and nobody gets it before you send it."
	case "download":
		q.Title, q.Answers[1] = "Save these files on your device?", "Save"
		q.Text += " They can be harmful: open them only if you know what they are."
	case "display":
		q.Title, q.Answers[1] = "Show it in the whole window?", "Show it"
		q.Text += " A button at the top leads back."
		box.Set("hidden", true)
		read = true
	default:
		return false
	}
	q.Body = []js.Value{box}
	answer, _ := dialog.Ask(q)
	return a.said(answer == q.Answers[1])
}

// said counts an answer of the user's.
func (a *app) said(yes bool) bool {
	if !yes {
		a.t.no[a.server]++
	}
	return yes
}

// over shows that no app runs here any more.
func (a *app) over(why string) {
	if a.end != nil {
		a.end()
	}
	a.end, a.live = nil, nil
	a.enlarge(false)
	a.say(why)
}

// close ends the app, which may store its state first. The returned channel is closed when it has.
func (a *app) close(why string) <-chan struct{} {
	done := make(chan struct{})
	live, end := a.live, a.end
	a.end = nil
	a.runs++
	a.enlarge(false)
	a.live = nil
	a.say(why)
	go func() {
		defer close(done)
		if live != nil {
			_ = live.Close()
		}
		if end != nil {
			end()
		}
	}()
	return done
}

// remove closes the app, and removes its place.
func (a *app) remove() <-chan struct{} {
	done := a.close("")
	a.of.Release()
	a.box.Call("remove")
	return done
}

// Rest closes the apps of the conversation. They can be opened again.
func (t *Talk) Rest(why string) {
	var all sync.WaitGroup
	for _, a := range t.apps {
		if a.end != nil {
			all.Go(func() { <-a.close(why) })
		}
	}
	all.Wait()
}

// unplace removes the apps of the conversation.
func (t *Talk) unplace() {
	t.Rest("")
	for _, a := range t.apps {
		a.remove()
	}
	t.apps, t.split = nil, false
}

func (a *app) large() bool { return a.box.Get("classList").Call("contains", "large").Bool() }

// enlarge shows the app in the whole window, or in the conversation. Below it nothing has the focus.
func (a *app) enlarge(yes bool) {
	a.enlarges.Set("textContent", map[bool]string{true: "Back to the chat", false: "Whole window"}[yes])
	if was := a.large(); was == yes {
		return
	}
	a.box.Get("classList").Call("toggle", "large", yes)
	for _, e := range dom.Each(dom.Document().Call("querySelectorAll", ":has(> h1), nav, aside, main > :not(#talk, #ask, #heard, .state), #bottom, .paper > :not(.large)")) {
		e.Set("inert", yes)
	}
	if a.live != nil {
		_ = a.live.SetDisplay(map[bool]string{true: "fullscreen", false: "inline"}[yes])
	}
}

// Inline shows the apps of the conversation in it, because a question needs the window.
func (t *Talk) Inline() {
	for _, a := range t.apps {
		a.enlarge(false)
	}
}

// OnScheme tells the apps of the conversation in view when the page becomes light or dark.
func OnScheme(current func() *Talk) {
	changed := js.FuncOf(func(js.Value, []js.Value) any {
		if t := current(); t != nil {
			for _, a := range t.apps {
				if a.live != nil {
					go a.live.SetScheme(scheme())
				}
			}
		}
		return nil
	})
	js.Global().Call("matchMedia", "(prefers-color-scheme: dark)").Call("addEventListener", "change", changed)
	js.Global().Get("MutationObserver").New(changed).Call("observe", dom.Document().Get("documentElement"), map[string]any{"attributeFilter": []any{"style"}})
}

// scheme returns "dark" or "light".
func scheme() string {
	root := dom.Document().Get("documentElement")
	set := js.Global().Call("getComputedStyle", root).Get("colorScheme").String()
	if set == "dark" || set != "light" && js.Global().Call("matchMedia", "(prefers-color-scheme: dark)").Get("matches").Bool() {
		return "dark"
	}
	return "light"
}

// begun opens the app of a call that the user has agreed to.
func (t *Talk) begun(c *card) {
	if c.app == nil && c.args != nil && t.options.InView(t) {
		if c.app = t.place(c.name); c.app != nil {
			c.app.args = c.args
			go c.app.open()
		}
	}
}

// ran shows the app of a call that has ended.
func (t *Talk) ran(c *card, p sandbox.PartRecord, now bool) {
	d, _ := p.Data.(map[string]any)
	good := p.ToolState == sandbox.ToolOutputAvailable
	if page, _ := t.Box.AppOf(c.name); c.app == nil && good && page != nil {
		if !now && t.older > 0 {
			t.older--
			s := t.section("App")
			s.write(t.links.link("Open the app of "+escape(c.name), func() { t.ran(c, p, true) }) + "\n")
			_ = s.Close()
			return
		}
		c.app = t.place(c.name)
	}
	a := c.app
	if a == nil {
		return
	}
	if a.args = c.args; a.args == nil {
		a.args = map[string]any{}
	}
	why, _ := d["error"].(string)
	switch {
	case good:
		a.result = func(ctx context.Context) map[string]any {
			files, _ := t.Session.Files(ctx, p) // without those that are gone
			return sandbox.ToolResult{Data: d["output"], Files: files}.ForApp()
		}
	case why == "stopped" || d["reason"] == string(protocol.ReasonRejected):
		a.stopped = fmt.Sprintf("The step did not run to its end: %s", dom.Cut(why, 200))
	default:
		a.result = func(context.Context) map[string]any {
			return map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": why}}}
		}
	}
	switch {
	case a.live != nil:
		a.tell(t.ctx)
	case now && good && t.options.InView(t):
		go a.open()
	}
}

// mostWrote is the number of bytes of the arguments that an app is told while the model writes them. Then it waits for
// all of them.
const mostWrote = 256 << 10

// wrote takes a part of the arguments that the model writes. The app is there from the beginning if the user allows
// all calls of the tool. Otherwise it could pass on the arguments of a call that they will refuse.
func (t *Talk) wrote(c *card, delta string) {
	if page, server := t.Box.AppOf(c.name); page != nil && c.app == nil && delta == "" && t.options.InView(t) && t.options.Free(server)[c.name] {
		if c.app = t.place(c.name); c.app != nil {
			go c.app.open()
		}
	}
	if c.args != nil {
		return
	}
	t.drafts(c, delta)
	if c.app == nil || len(c.wrote) > mostWrote {
		return
	}
	c.wrote = append(c.wrote, delta...)
	if len(c.wrote)-c.parsed < 32+c.parsed/8 { // all of it is read each time
		return
	}
	c.parsed = len(c.wrote)
	if args, ok := partial(string(c.wrote)); ok {
		c.app.part = args
		c.app.tell(t.ctx)
	}
}
