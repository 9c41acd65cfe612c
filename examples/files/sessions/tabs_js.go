package sessions

import (
	"fmt"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/sandbox"
)

// The limits of conversations. An open one has two frames, some megabytes in all.
const (
	openTalks = 4  // conversations that stay open while they are idle
	tabsShown = 20 // conversations with a tab: the ones changed last
)

// tabKeys makes the tabs work with the mouse and the keyboard.
func (m *Sessions) tabKeys() {
	dom.On(dom.Element("sessions"), "click", func(e js.Value) {
		tab := e.Get("target").Call("closest", "[role=tab]")
		if tab.IsNull() {
			return
		}
		m.Lock.Lock()
		defer m.Lock.Unlock()
		dom.Failed(m.open(tab.Get("dataset").Get("id").String()))
	})
	dom.On(dom.Document(), "visibilitychange", func(js.Value) { // another tab may have changed the list
		m.Lock.Lock()
		defer m.Lock.Unlock()
		if m.cur != nil && dom.Document().Get("visibilityState").String() == "visible" {
			dom.Failed(m.list())
		}
	})
	dom.OnKey(dom.Element("sessions"), func(e js.Value) bool {
		step := map[string]int{"ArrowRight": 1, "ArrowLeft": -1}[e.Get("key").String()]
		tabs := dom.Each(dom.Element("sessions").Get("children"))
		at := slices.IndexFunc(tabs, func(b js.Value) bool { return b.Equal(dom.Focused()) })
		if step == 0 || at < 0 {
			return false
		}
		next := tabs[(at+step+len(tabs))%len(tabs)]
		next.Call("focus")
		next.Call("click")
		return true
	})
}

// list reads the stored conversations for the tabs. The dialogue All conversations lists all of
// them.
func (m *Sessions) list() error {
	all, err := m.box.Sessions(m.ctx)
	if err != nil {
		return err
	}
	m.trim(all)
	return nil
}

// recorded updates the tab of a conversation. It does not ask the store, which would read every
// stored conversation.
func (m *Sessions) recorded(s *sandbox.Session) {
	rec := s.Record()
	i := slices.IndexFunc(m.records, func(r sandbox.SessionRecord) bool { return r.ID == rec.ID })
	if i < 0 {
		m.records = append(m.records, rec)
	}
	m.trim(m.records)
}

// trim keeps the records of the conversations with a tab, and shows the tabs: the tabsShown
// conversations that changed last, and all open ones.
func (m *Sessions) trim(all []sandbox.SessionRecord) {
	for i, s := range all {
		if t := m.talks[s.ID]; t != nil {
			all[i] = t.Session.Record()
		}
	}
	slices.SortStableFunc(all, func(x, y sandbox.SessionRecord) int { return y.UpdatedAt.Compare(x.UpdatedAt) })
	n := 0
	m.records = slices.DeleteFunc(all, func(s sandbox.SessionRecord) bool {
		if !mine(s) {
			return true
		}
		n++
		return n > tabsShown && m.talks[s.ID] == nil
	})
	slices.SortFunc(m.records, func(x, y sandbox.SessionRecord) int { return x.CreatedAt.Compare(y.CreatedAt) })
	m.strip()
}

// strip shows the conversations as tabs.
func (m *Sessions) strip() {
	box := dom.Element("sessions")
	focused := func() bool { return !dom.Focused().Call("closest", "#sessions").IsNull() }
	had, at := focused(), -1
	var keys []string
	for i, s := range m.records {
		here := m.cur != nil && m.cur.Session.ID() == s.ID
		if here {
			at = i
		}
		keys = append(keys, fmt.Sprintf("%s %t %s %s", s.ID, here, m.does(s), titleOf(s)))
	}
	put := false
	m.tabs = m.tabs.Show(box, keys, func(i int) js.Value {
		put = put || i == at
		return m.tab(m.records[i], i == at)
	})
	if at < 0 {
		return
	}
	tab := m.tabs[keys[at]]
	if put {
		tab.Call("scrollIntoView", map[string]any{"block": "nearest", "inline": "nearest"})
	}
	if had && !focused() {
		tab.Call("focus") // the focused tab was rebuilt, or is gone
	}
}

// does returns the state of a conversation: "works", "news" or "".
func (m *Sessions) does(s sandbox.SessionRecord) string {
	switch t := m.talks[s.ID]; {
	case t == nil:
		return ""
	case t.Cancel != nil:
		return "works"
	case t.News:
		return "news"
	}
	return ""
}

func (m *Sessions) tab(s sandbox.SessionRecord, here bool) js.Value {
	tab := dom.Create("button", titleOf(s))
	for k, v := range map[string]string{"type": "button", "role": "tab", "aria-controls": "talk", "aria-selected": fmt.Sprint(here)} {
		tab.Call("setAttribute", k, v)
	}
	tab.Set("tabIndex", map[bool]int{true: 0, false: -1}[here])
	if does := m.does(s); does != "" {
		tab.Set("className", does)
		tab.Call("append", dom.Away(map[string]string{"works": ", at work", "news": ", something new"}[does]))
	}
	tab.Get("dataset").Set("id", s.ID)
	return tab
}

func titleOf(s sandbox.SessionRecord) string {
	title, _ := s.Metadata["title"].(string)
	if title == "" {
		title = "New conversation"
	}
	if s.ParentMessageID != "" && !strings.HasSuffix(title, "(fork)") {
		title += " (fork)"
	}
	return dom.Cut(title, 28)
}
