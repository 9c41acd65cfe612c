package panel

import (
	_ "embed"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

//go:embed panel.css
var style string

type impl struct {
	lists atomic.Pointer[lists]
	view  atomic.Pointer[view]
}

// view is the elements of an open panel.
type view struct {
	*lists
	host, root dom.Node
	tabs       []dom.Node
	parts      map[string]dom.Node // the panels of the tabs and what is in them, by id
	shown      int                 // index of the chosen tab
	scope      *jsx.Scope
	draw       *jsx.Animation
	checked    bool // the headers were checked
}

const (
	traceTab = iota
	chunksTab
	explainTab
	countersTab
	headersTab
	tabCount
)

func (p *impl) open(parent iframe.Element) error {
	if p.view.Load() != nil {
		return errors.New("panel: it is open already, or was closed")
	}
	v := &view{lists: &lists{}, host: dom.Of(jsx.FromRaw(parent.Value())), parts: map[string]dom.Node{}}
	if !v.host.OK() {
		return errors.New("panel: the parent is no element: make one with iframe.ElementByID or iframe.ElementOf")
	}
	v.root = v.host.Get("shadowRoot") // of a program that ended, in the same page
	if !v.root.OK() {
		root, err := jsx.Call(v.host.Value(), "attachShadow", map[string]any{"mode": "open"})
		if err != nil {
			return err // a section or a div can have one
		}
		v.root = dom.Of(root)
	}
	css, err := jsx.NewGlobal("CSSStyleSheet")
	if err != nil {
		return err
	}
	dom.Of(css).Call("replaceSync", style)
	v.scope = jsx.NewScope(jsx.ScopeOptions{})
	v.draw, err = v.scope.Animation(v.show)
	err = errors.Join(err, jsx.Set(v.root.Value(), "adoptedStyleSheets", []any{css}), v.build())
	if err == nil {
		_, err = v.scope.Every(time.Second, v.count)
	}
	if err != nil {
		_ = v.scope.Close()
		return err
	}
	request := func() { v.draw.Request() }
	v.trace.changed, v.chunks.changed = request, request
	v.choose(traceTab)
	v.host.Set("hidden", false)
	p.view.Store(v)
	p.lists.Store(v.lists)
	return nil
}

func (p *impl) close() error {
	v := p.view.Load()
	if v == nil || p.lists.Swap(nil) == nil {
		return nil
	}
	v.host.Set("hidden", true)
	v.root.Call("replaceChildren")
	return v.scope.Close()
}

// layout is the elements of a panel, each behind its parent. Attributes have "=" in them and "|" between them. As a
// table it takes less of a page than calls do.
var layout = [...]part{
	{"", "div", "panel", "", "role=region|aria-label=Developer panel"},
	{"panel", "div", "bar", "", ""},
	{"bar", "div", "tabs", "", "role=tablist|aria-label=Developer panel"},
	{"bar", "button", "clear", "Clear", "type=button"},
	{"tabs", "button", "tab0", "Trace", "type=button|role=tab|aria-controls=page0"},
	{"tabs", "button", "tab1", "Chunks", "type=button|role=tab|aria-controls=page1"},
	{"tabs", "button", "tab2", "Explain", "type=button|role=tab|aria-controls=page2"},
	{"tabs", "button", "tab3", "Counters", "type=button|role=tab|aria-controls=page3"},
	{"tabs", "button", "tab4", "Headers", "type=button|role=tab|aria-controls=page4"},
	{"panel", "div", "page0", "", "role=tabpanel|tabindex=0|aria-labelledby=tab0"},
	{"panel", "div", "page1", "", "role=tabpanel|tabindex=0|aria-labelledby=tab1"},
	{"panel", "div", "page2", "", "role=tabpanel|tabindex=0|aria-labelledby=tab2"},
	{"panel", "div", "page3", "", "role=tabpanel|tabindex=0|aria-labelledby=tab3"},
	{"panel", "div", "page4", "", "role=tabpanel|tabindex=0|aria-labelledby=tab4"},
	{"page2", "form", "form", "", ""},
	{"form", "label", "", "Tool", "for=tool"},
	{"form", "select", "tool", "", ""},
	{"form", "label", "", "Arguments (JSON)", "for=args"},
	{"form", "textarea", "args", "", "rows=4|spellcheck=false"},
	{"form", "button", "go", "Explain", ""},
	{"form", "pre", "why", "", "role=status"},
}

type part struct{ in, tag, id, text, attributes string }

func (v *view) make(x *part) {
	n := dom.Create(x.tag, x.text)
	for _, a := range strings.Split(x.attributes, "|") {
		if name, value, ok := strings.Cut(a, "="); ok {
			n.Call("setAttribute", name, value)
		}
	}
	if x.id != "" {
		n.Set("id", x.id)
		v.parts[x.id] = n
	}
	if x.in != "" {
		v.parts[x.in].Call("append", n)
	}
}

func (v *view) build() (err error) {
	for i := range layout {
		v.make(&layout[i])
	}
	on := func(id, event string, fn func(e dom.Node)) { err = errors.Join(err, v.listen(id, event, fn)) }
	for i := range tabCount {
		v.tabs = append(v.tabs, v.parts["tab"+strconv.Itoa(i)])
		on("tab"+strconv.Itoa(i), "click", func(dom.Node) { v.choose(i) })
	}
	on("tabs", "keydown", func(e dom.Node) {
		if step := map[string]int{"ArrowRight": 1, "ArrowLeft": tabCount - 1}[e.Get("key").Text()]; step > 0 {
			v.choose((v.shown + step) % tabCount)
			v.tabs[v.shown].Call("focus")
		}
	})
	on("clear", "click", func(dom.Node) {
		v.list().clear()
		v.parts["page"+strconv.Itoa(v.shown)].Call("replaceChildren")
	})
	// A row's text is made when it is opened.
	for i, list := range []*rows{&v.trace, &v.chunks} {
		on("page"+strconv.Itoa(i), "toggle", func(e dom.Node) { v.openRow(list, e.Get("target")) })
	}
	on("page0", "click", func(e dom.Node) {
		if at := e.Get("target"); at.Get("className").Text() == "explain" {
			if n, ok := v.trace.at(number(at.Call("closest", "details"))); ok {
				v.choose(explainTab)
				v.parts["tool"].Set("value", n.tool)
				v.parts["args"].Set("value", n.args)
				go v.explain()
			}
		}
	})
	on("tool", "change", func(dom.Node) { v.fillArguments() })
	on("form", "submit", func(e dom.Node) {
		e.Call("preventDefault")
		go v.explain()
	})
	v.root.Call("replaceChildren", v.parts["panel"])
	return err
}

// listen calls fn for each event at an element. toggle does not bubble, so it is captured.
func (v *view) listen(id, event string, fn func(e dom.Node)) error {
	_, err := v.scope.Listen(v.parts[id].Value(), event, func(e jsx.Value) { fn(dom.Of(e)) }, jsx.ListenOptions{Capture: event == "toggle"})
	return err
}

// list returns the list of the chosen tab.
func (v *view) list() *rows {
	if v.shown == chunksTab {
		return &v.chunks
	}
	return &v.trace
}

// choose shows a tab.
func (v *view) choose(tab int) {
	v.shown = tab
	for i, t := range v.tabs {
		t.Call("setAttribute", "aria-selected", strconv.FormatBool(i == tab))
		t.Set("tabIndex", map[bool]int{true: 0, false: -1}[i == tab])
		v.parts["page"+strconv.Itoa(i)].Set("hidden", i != tab)
	}
	v.parts["clear"].Set("hidden", tab > chunksTab)
	switch tab {
	case explainTab:
		v.fillTools()
	case countersTab:
		v.count()
	case headersTab:
		if !v.checked {
			v.checked = true
			go v.check()
		}
	default:
		v.draw.Request()
	}
}

// show brings the chosen list up to date. It stays at its end if it was there.
func (v *view) show() {
	if v.shown > chunksTab {
		return
	}
	page := v.parts["page"+strconv.Itoa(v.shown)]
	atEnd := page.Get("scrollHeight").Int()-page.Get("scrollTop").Int()-page.Get("clientHeight").Int() < 24
	changed, from, first := v.list().take()
	for last := page.Get("firstElementChild"); last.OK() && number(last) < first; last = page.Get("firstElementChild") {
		last.Call("remove")
	}
	at := page.Get("lastElementChild")
	for i, n := range changed {
		if at.OK() && number(at) == from+i { // only the last row that was shown can have changed
			v.fill(at, n)
			continue
		}
		el := dom.Create("details", "", "data-row", strconv.Itoa(from+i))
		el.Call("append", dom.Create("summary", ""))
		v.fill(el, n)
		page.Call("append", el)
	}
	if atEnd {
		page.Set("scrollTop", page.Get("scrollHeight"))
	}
}

func number(row dom.Node) int {
	n, err := strconv.Atoi(row.Call("getAttribute", "data-row").Text())
	if err != nil {
		return -1
	}
	return n
}

func (v *view) fill(el dom.Node, n row) {
	el.Set("className", n.state)
	summary := el.Get("firstElementChild")
	summary.Call("replaceChildren", dom.Create("time", n.when), dom.Create("b", n.kind), " "+n.line)
	if text := el.Call("querySelector", "pre"); text.OK() {
		text.Set("textContent", n.text)
	}
}

func (v *view) openRow(list *rows, el dom.Node) {
	n, ok := list.at(number(el))
	if !ok || !el.Get("open").True() || el.Call("querySelector", "pre").OK() {
		return
	}
	if n.tool != "" {
		el.Call("append", dom.Create("button", "Explain this call", "type", "button", "class", "explain"))
	}
	el.Call("append", dom.Create("pre", n.text))
}

func (v *view) fillTools() {
	b, choice := v.theBox(), v.parts["tool"]
	v.parts["go"].Set("disabled", b == nil)
	if b == nil {
		v.parts["why"].Set("textContent", "The program has given the panel no box.")
		return
	}
	chosen := choice.Get("value").Text()
	choice.Call("replaceChildren")
	for _, name := range b.Toolset().Names() {
		choice.Call("append", dom.Create("option", name, "value", name))
	}
	if chosen != "" {
		choice.Set("value", chosen)
	} else {
		v.fillArguments()
	}
}

// fillArguments shows arguments to begin with for the chosen tool.
func (v *view) fillArguments() {
	if b := v.theBox(); b != nil {
		if t, err := b.Toolset().Lookup(v.parts["tool"].Get("value").Text()); err == nil {
			v.parts["args"].Set("value", template(t.Parameters))
		}
	}
}

// explain shows the decision about the call in the form. The call is not made.
func (v *view) explain() {
	b := v.theBox()
	if b == nil {
		return
	}
	text := ""
	args, err := protocol.ParseJSON(v.parts["args"].Get("value").Text(), protocol.JSONLimits{})
	if err == nil {
		var e interface{ String() string }
		if e, err = b.Explain(v.scope.Context(), v.parts["tool"].Get("value").Text(), args); err == nil {
			text = e.String()
		}
	}
	if err != nil {
		text = "This call can't be made: " + err.Error()
	}
	v.parts["why"].Set("textContent", text)
}

// count shows the counters, if their tab is chosen.
func (v *view) count() {
	if v.shown != countersTab || dom.Document().Get("hidden").True() {
		return
	}
	names, tables := v.counters()
	page := v.parts["page3"]
	if len(names) == 0 {
		page.Set("textContent", "The program has given the panel no counters.")
		return
	}
	page.Call("replaceChildren")
	for i, name := range names {
		page.Call("append", table(oneLine(name), nil, tables[i], nil))
	}
}

// check shows which headers hold.
func (v *view) check() {
	page := v.parts["page4"]
	page.Set("textContent", "Checking")
	found, err := headers.Check(v.scope.Context())
	if err != nil {
		page.Set("textContent", err.Error())
		return
	}
	var body [][]string
	var bad []bool
	for _, f := range found {
		holds := "holds"
		if !f.Holds {
			holds = "missing"
		}
		row := []string{f.Name, holds, f.How, "", ""}
		if !f.Holds {
			row[3], row[4] = f.Cost, f.Fix
		}
		body, bad = append(body, row), append(bad, !f.Holds)
	}
	page.Call("replaceChildren", table("Headers of this page", []string{"Header", "State", "Evidence", "Risk", "Header to send"}, body, bad))
}

// table returns a table with a caption and optional heads. Rows that are bad are marked.
func table(caption string, heads []string, body [][]string, bad []bool) dom.Node {
	t := dom.Create("table", "")
	t.Call("append", dom.Create("caption", caption))
	line := func(tag string, cells []string) dom.Node {
		tr := dom.Create("tr", "")
		for _, c := range cells {
			tr.Call("append", dom.Create(tag, c))
		}
		t.Call("append", tr)
		return tr
	}
	if heads != nil {
		line("th", heads)
	}
	for i, cells := range body {
		if tr := line("td", cells); bad != nil && bad[i] {
			tr.Set("className", "deny")
		}
	}
	return t
}
