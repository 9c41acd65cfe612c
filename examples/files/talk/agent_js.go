package talk

import (
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// agent is a subagent on the card of the call that started it: its name, its calls as a short list with
// their states, and its texts.
type agent struct {
	session string // its id
	box     js.Value
	list    js.Value
	drawn   []ran // what list shows
}

// ran is a call or a text of a subagent.
type ran struct {
	kind  string // "text", "reasoning", or the name of the tool
	text  string // the text, or the most telling argument of the call
	state string // a class: "done", "running", "failed", "denied" or "stopped"
	why   string // the error
	below *below // of a call that started another subagent
}

// below is a subagent of a subagent.
type below struct {
	name string
	list []ran
}

// mostOfAgent is the number of bytes of each text of a subagent that a card shows. Its session has all of it.
const mostOfAgent = 4000

// agentOf returns the subagent of an output of the tool task, or nil.
func (c *card) agentOf(output any) *agent {
	m, _ := output.(map[string]any)
	name, _ := m["agent"].(string)
	session, _ := m["session_id"].(string)
	if name == "" || c.name != "task" {
		return nil
	}
	if c.agent == nil {
		c.agent = &agent{box: dom.Create("div", ""), list: dom.Create("ol", "")}
		c.agent.box.Set("className", "agent")
		c.agent.list.Set("tabIndex", 0)
		c.agent.list.Call("setAttribute", "aria-label", "Steps of the subagent "+name)
		c.agent.box.Call("append", dom.Create("b", "Subagent "+name), c.agent.list)
	}
	c.agent.session = session
	return c.agent
}

// show shows what the subagent has done. Its end stays in view while it works.
func (a *agent) show(list []ran) {
	if slices.EqualFunc(a.drawn, list, func(x, y ran) bool { return x.below == nil && y.below == nil && x == y }) {
		return
	}
	a.drawn = list
	end := a.list.Get("scrollHeight").Int()-a.list.Get("scrollTop").Int()-a.list.Get("clientHeight").Int() < 8
	a.list.Call("replaceChildren")
	draw(a.list, list)
	if end {
		a.list.Set("scrollTop", a.list.Get("scrollHeight"))
	}
}

func draw(into js.Value, list []ran) {
	for _, r := range list {
		row := dom.Create("li", "")
		row.Set("className", r.state)
		switch r.kind {
		case "text":
			row.Call("append", dom.Create("p", r.text))
		case "reasoning":
			row.Call("append", dom.Create("em", "Thoughts: "+dom.Cut(strings.Join(strings.Fields(r.text), " "), 160)))
		default:
			state := r.state
			if state == "denied" {
				state = "not allowed"
			}
			row.Call("append", dom.Create("b", r.kind), " ")
			if r.text != "" {
				row.Call("append", dom.Create("code", r.text), " ")
			}
			row.Call("append", dom.Create("span", state))
			if r.why != "" {
				row.Call("append", dom.Create("small", dom.Cut(r.why, 300)))
			}
		}
		if r.below != nil {
			inner := dom.Create("ol", "")
			draw(inner, r.below.list)
			row.Call("append", dom.Create("b", "Subagent "+r.below.name), inner)
		}
		into.Call("append", row)
	}
}

// partsOf reads the parts of a subagent in an output of the tool task, in the form of AI SDK's messages.
func partsOf(output any) (out []ran) {
	m, _ := output.(map[string]any)
	parts, _ := m["parts"].([]any)
	for _, p := range parts {
		p, _ := p.(map[string]any)
		kind, _ := p["type"].(string)
		text, _ := p["text"].(string)
		if kind == "text" || kind == "reasoning" {
			if text != "" {
				out = append(out, ran{kind: kind, text: text, state: "done"})
			}
			continue
		}
		tool, ok := strings.CutPrefix(kind, "tool-")
		if !ok {
			continue
		}
		input, _ := p["input"].(map[string]any)
		r := ran{kind: tool, text: about(input), state: "running"}
		r.why, _ = p["errorText"].(string)
		switch p["state"] {
		case "output-error":
			r.state = "failed"
			if r.why == "stopped" {
				r.state, r.why = "stopped", ""
			}
		case "output-denied":
			r.state, r.why = "denied", ""
		case "output-available":
			r.state = "done"
		}
		if o, _ := p["output"].(map[string]any); o["parts"] != nil {
			name, _ := o["agent"].(string)
			r.below = &below{name, partsOf(o)}
			if p["preliminary"] == true {
				r.state = "running"
			}
		}
		out = append(out, r)
	}
	return out
}

// recorded reads the parts of a subagent's session. of returns those of a session, for agents below.
func recorded(parts []sandbox.PartRecord, of func(session string) []sandbox.PartRecord) (out []ran) {
	for _, p := range parts {
		d, _ := p.Data.(map[string]any)
		text, _ := d["text"].(string)
		switch {
		case (p.Type == "text" || p.Type == "reasoning") && text != "":
			if len(text) > mostOfAgent {
				text = "…" + strings.ToValidUTF8(text[len(text)-mostOfAgent:], "")
			}
			out = append(out, ran{kind: p.Type, text: text, state: "done"})
		case p.ToolCallID != "":
			r := ran{state: "done"}
			r.kind, _ = d["tool"].(string)
			input, _ := d["input"].(map[string]any)
			r.text = about(input)
			if p.ToolState != sandbox.ToolOutputAvailable {
				r.state = "failed"
				r.why, _ = d["error"].(string)
				switch {
				case d["reason"] == string(protocol.ReasonRejected):
					r.state, r.why = "denied", ""
				case !p.ToolState.Final(), r.why == "stopped", d["code"] == string(protocol.ErrAborted):
					r.state, r.why = "stopped", ""
				}
			}
			o, _ := d["output"].(map[string]any)
			if name, _ := o["agent"].(string); name != "" && r.kind == "task" && of != nil {
				id, _ := o["session_id"].(string)
				r.below = &below{name, recorded(of(id), of)}
			}
			out = append(out, r)
		}
	}
	return out
}
