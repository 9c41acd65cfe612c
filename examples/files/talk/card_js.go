package talk

import (
	"fmt"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/consent/inview"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// card shows a call: its arguments, its progress, its outcome, and the part of the outcome that the
// model received.
type card struct {
	name  string
	item  js.Value
	head  js.Value
	note  js.Value
	body  js.Value
	kill  js.Value
	offer *time.Timer // shows kill
	asks  int         // number of open questions about the call
	live  js.Value    // its output so far
	lines int
	early bool // live has a preliminary output, and no lines
	past  bool // from an earlier visit
	saw   seen // the outcome for models
	who   any  // the decisions about the call, a line for each step
	cut   bool // the call was stopped, or the page was closed before its end
	began time.Time
	step  *step  // in the conversation
	group *group // of step
	path  string // of the file that the call is about
	args  any    // nil until the model has written them
	app   *app   // the page of the tool, nil without one

	wrote  []byte      // the beginning of args, for app
	parsed int         // bytes of it that app was told
	draft  draft       // of args, while the model writes them
	drawn  *time.Timer // shows draft, nil if it is shown
	shown  bool        // the card shows draft
	agent  *agent      // that the call started, nil without one
}

// seen is the outcome of a call as models receive it: here for a model on this machine, far for one
// elsewhere if that is less. It is the stored text, and exactly that is sent.
type seen struct{ here, far string }

// stored takes the data that a session stores about the call beside its outcome.
func (c *card) stored(p sandbox.PartRecord) {
	d, _ := p.Data.(map[string]any)
	c.saw.here, _ = d["model"].(string)
	c.saw.far, _ = d["far"].(string)
	c.who = d["decided"]
	c.cut = p.ToolState != sandbox.ToolOutputAvailable && d["code"] == string(protocol.ErrAborted)
}

// patience is the time after which the user can end a call. Most calls end before the user could want
// that.
const patience = 700 * time.Millisecond

// card returns the card of a call, and makes it at the first mention of the call.
func (t *Talk) card(id, name string) *card {
	if c := t.cards[id]; c != nil {
		return c
	}
	c := &card{name: name, item: dom.Create("li", ""), head: dom.Create("b", name), note: dom.Create("span", ""), body: dom.Create("div", ""), live: dom.Create("pre", ""), began: time.Now()}
	fold, summary, bar := dom.Create("details", ""), dom.Create("summary", ""), dom.Create("div", "")
	summary.Call("append", c.head, " ", c.note)
	fold.Call("append", summary, c.body)
	bar.Set("className", "live")
	c.live.Set("hidden", true)
	c.live.Set("tabIndex", 0)
	c.live.Call("setAttribute", "aria-label", "Output so far")
	c.kill = dom.Create("button", "Stop this step")
	c.kill.Set("type", "button")
	c.kill.Set("className", "stop small")
	c.kill.Set("hidden", true)
	c.kill.Get("dataset").Set("call", id)
	bar.Call("append", c.kill, c.live)
	c.offer = time.AfterFunc(patience, func() {
		if c.note.Get("textContent").String() == "" {
			c.kill.Set("hidden", false)
		}
	})
	c.item.Call("append", fold, bar)
	c.item.Set("className", "running")
	t.cards[id] = c
	t.items = append(t.items, c.item)
	t.step.cards = append(t.step.cards, id)
	t.stepOf(c)
	if t.options.InView(t) {
		dom.Hide("quiet", true)
		dom.Element("cards").Call("append", c.item)
		c.item.Call("scrollIntoView", map[string]any{"block": "nearest"})
	}
	return c
}

// OnCard sets up the buttons of the cards. All cards in the page belong to the conversation in view,
// which current returns, or nil.
func OnCard(current func() *Talk) {
	dom.On(dom.Element("cards"), "click", func(e js.Value) {
		if all := e.Get("target").Call("closest", "button[name=all]"); !all.IsNull() {
			showAll(all)
			return
		}
		b := e.Get("target").Call("closest", "button[data-call]")
		if t := current(); t != nil && !b.IsNull() {
			t.Session.StopCall(b.Get("dataset").Get("call").String(), "the user stopped this step")
		}
	})
}

// progress shows a line of the running call's output, and the time since its start.
func (c *card) progress(text string) {
	if c.item.Get("className").String() != "running" {
		return
	}
	if c.early {
		c.early = false
		c.live.Call("replaceChildren")
	}
	if c.lines++; c.lines > 100 { // only the last 100 lines are kept
		c.live.Get("firstChild").Call("remove")
	}
	c.live.Set("hidden", false)
	c.kill.Set("hidden", false)
	c.live.Call("append", dom.Cut(text, 300)+"\n")
	c.live.Set("scrollTop", c.live.Get("scrollHeight"))
	if c.asks == 0 {
		c.state(lasted(c.began))
	}
}

// soFar shows the output that the running call has until now. A call that reports lines shows those.
func (c *card) soFar(output any) {
	if c.lines > 0 || c.item.Get("className").String() != "running" {
		return
	}
	if a := c.agentOf(output); a != nil {
		if a.box.Get("parentNode").IsNull() {
			c.kill.Get("parentNode").Call("append", a.box)
		}
		c.kill.Set("hidden", false)
		a.show(partsOf(output))
		if c.asks == 0 {
			c.state(lasted(c.began))
		}
		return
	}
	text := consent.Last(consent.Values(output, ""), 100, 8_000)
	if text == "" {
		return
	}
	c.early = true
	c.live.Set("hidden", false)
	c.kill.Set("hidden", false)
	c.live.Set("textContent", text)
	c.live.Set("scrollTop", c.live.Get("scrollHeight"))
	if c.asks == 0 {
		c.state(lasted(c.began))
	}
}

// draftEvery is the time between two views of a draft.
const draftEvery = 100 * time.Millisecond

// drafts shows the arguments on the card while the model writes them.
func (t *Talk) drafts(c *card, delta string) {
	c.draft.write(delta)
	if c.drawn == nil {
		c.drawn = time.AfterFunc(draftEvery, func() {
			if c.drawn = nil; c.args == nil && c.item.Get("className").String() == "running" {
				t.showDraft(c)
			}
		})
	}
}

func (t *Talk) showDraft(c *card) {
	c.shown = true
	t.head(c, c.draft.arguments())
	c.state("being written, " + dom.Size(int64(c.draft.size)))
	if text := c.draft.end(); text != "" {
		first := c.live.Get("hidden").Bool()
		c.live.Set("hidden", false)
		c.live.Set("textContent", text)
		if first && t.options.InView(t) { // later it stays where the user has it
			c.item.Call("scrollIntoView", map[string]any{"block": "nearest"})
		}
		c.live.Call("setAttribute", "aria-label", "Being written")
		c.live.Set("scrollTop", c.live.Get("scrollHeight"))
	}
}

// whole ends the draft, because the arguments are there, or will not come.
func (c *card) whole() {
	if c.drawn != nil {
		c.drawn.Stop()
		c.drawn = nil
	}
	c.wrote = nil
	c.live.Set("hidden", true)
	c.live.Set("textContent", "")
	c.live.Call("setAttribute", "aria-label", "Output so far")
	if c.shown {
		c.shown = false
		c.state("")
		c.offer.Reset(patience)
	}
}

// asked shows that a question about the call is open.
func (c *card) asked() {
	c.asks++
	c.state("waits for you")
}

// answered shows that the call goes on, once no question about it is open.
func (c *card) answered() {
	if c.asks = max(c.asks-1, 0); c.asks == 0 && c.item.Get("className").String() == "running" {
		c.state("")
		c.offer.Reset(patience)
	}
}

func (c *card) state(text string) { c.note.Set("textContent", text) }

// input shows the arguments, and the most telling one in the head of the card.
func (t *Talk) input(c *card, v any) {
	c.part("Input", v)
	c.args = v
	c.whole()
	m, _ := v.(map[string]any)
	t.head(c, m)
	c.path, _ = m["path"].(string)
	if c.name == "todo" {
		t.todo(v)
	}
}

// head shows the most telling argument in the head of the card, and in the conversation.
func (t *Talk) head(c *card, args map[string]any) {
	s := about(args)
	if s != "" {
		c.head.Call("replaceChildren", c.name+" ", dom.Create("code", s))
	}
	if c.step != nil && c.step.what != s {
		c.step.what = s
		t.showGroup(c.group)
	}
}

// about returns the first line of the argument that describes a call best, such as its path, cut to
// 60 characters. It returns "" if there is none.
func about(args map[string]any) string {
	if agent, ok := args["subagent_type"].(string); ok {
		prompt, _ := args["prompt"].(string)
		prompt, _, _ = strings.Cut(prompt, "\n")
		return dom.Cut(agent+": "+prompt, 60)
	}
	for _, key := range []string{"pattern", "path", "from", "command", "code", "url"} {
		if s, ok := args[key].(string); ok && s != "" {
			s, _, _ = strings.Cut(s, "\n")
			return dom.Cut(s, 60)
		}
	}
	return ""
}

// lasted returns the time since began for the user, such as "350 ms" or "2.1 s".
func lasted(began time.Time) string {
	d := time.Since(began)
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// end shows the outcome of the call, and returns its state.
func (c *card) end(bad, denied bool, why string, output any) string {
	class, note := "done", lasted(c.began)
	switch {
	case denied:
		class, note = "denied", "not allowed"
	case bad && (c.cut || why == "stopped"): // by the user, who can also stop a question by Escape
		class, note = "stopped", "stopped"
	case bad:
		class, note = "failed", "failed"
	case c.past:
		note = ""
	}
	// A run of code whose code failed is a successful call with success: false in its result.
	if m, ok := output.(map[string]any); ok && m["success"] == false {
		class, note = "failed", "the code failed"
	}
	c.item.Set("className", class)
	c.kill.Get("parentNode").Call("remove")
	c.state(note)
	if c.who != nil {
		c.part("Who decided", c.who)
	}
	if why != "" && why != "stopped" { // which the head of the card says
		c.part("Why", why)
	}
	if a := c.agentOf(output); a != nil || c.agent != nil {
		c.body.Call("append", c.agent.box)
	}
	if output != nil {
		c.outcome(output)
	}
	switch {
	case c.saw.far != "":
		c.part("What a model on this computer sees", c.saw.here)
		c.part("What a model elsewhere sees", c.saw.far)
	case c.saw.here != "":
		c.part("What the model saw", c.saw.here)
	}
	return class
}

// outcome shows a result. A change is shown as a diff.
func (c *card) outcome(v any) {
	const title = "Result"
	if m, is := v.(map[string]any); is {
		if diff, has := m["diff"].(string); has && diff != "" {
			box := dom.Create("pre", "")
			box.Set("className", "diff")
			box.Set("tabIndex", 0)
			inview.ShowDiff(box, diff)
			c.body.Call("append", dom.Create("h3", title), box)
			return
		}
	}
	c.part(title, v)
}

// short is the number of bytes of a text that a card shows before the user asks for all of it.
const short = 20_000

func (c *card) part(title string, v any) {
	text, ok := v.(string)
	if !ok {
		text = consent.Values(v, "")
	}
	box := dom.Create("pre", text)
	box.Set("tabIndex", 0)
	box.Call("setAttribute", "aria-label", title)
	c.body.Call("append", dom.Create("h3", title), box)
	if len(text) <= short {
		return
	}
	box.Set("textContent", strings.ToValidUTF8(text[:short], "")+"\n…")
	all := dom.Create("button", "Show all "+dom.Size(int64(len(text))))
	all.Set("type", "button")
	all.Set("name", "all")
	all.Set("className", "small")
	all.Set("whole", text)
	c.body.Call("append", all)
}

// showAll replaces the beginning of a text by all of it.
func showAll(button js.Value) {
	box := button.Get("previousElementSibling")
	box.Set("textContent", button.Get("whole"))
	button.Call("remove")
	box.Call("focus")
}

// storedAgent shows the parts that the store has of the subagent's session, also after a reload of the page.
func (t *Talk) storedAgent(a *agent) {
	if a.session == "" || t.options.Agent == nil {
		return
	}
	go func() {
		if list := recorded(t.options.Agent(a.session), t.options.Agent); len(list) > 0 {
			a.show(list)
		}
	}()
}
