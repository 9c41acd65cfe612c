//go:build js && wasm

package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// The limits of conversations. An open one has two frames, some megabytes in all.
const (
	openTalks = 4  // conversations that stay open while they are idle
	tabsShown = 20 // conversations with a tab: the ones changed last
)

// list reads the stored conversations for the tabs. The dialogue All conversations lists all of
// them.
func (a *app) list() error {
	all, err := a.box.Sessions(a.ctx)
	if err != nil {
		return err
	}
	a.trim(all)
	return nil
}

// recorded updates the tab of a conversation. It does not ask the store, which would read every
// stored conversation.
func (a *app) recorded(s *sandbox.Session) {
	rec := s.Record()
	i := slices.IndexFunc(a.records, func(r protocol.SessionRecord) bool { return r.ID == rec.ID })
	if i < 0 {
		a.records = append(a.records, rec)
	}
	a.trim(a.records)
}

// trim keeps the records of the conversations with a tab, and shows the tabs: the tabsShown
// conversations that changed last, and all open ones.
func (a *app) trim(all []protocol.SessionRecord) {
	for i, s := range all {
		if t := a.talks[s.ID]; t != nil {
			all[i] = t.session.Record()
		}
	}
	slices.SortStableFunc(all, func(x, y protocol.SessionRecord) int { return y.UpdatedAt.Compare(x.UpdatedAt) })
	n := 0
	a.records = slices.DeleteFunc(all, func(s protocol.SessionRecord) bool {
		if !mine(s) {
			return true
		}
		n++
		return n > tabsShown && a.talks[s.ID] == nil
	})
	slices.SortFunc(a.records, func(x, y protocol.SessionRecord) int { return x.CreatedAt.Compare(y.CreatedAt) })
	a.strip()
}

// strip shows the conversations as tabs.
func (a *app) strip() {
	box := element("sessions")
	focused := func() bool { return !document().Get("activeElement").Call("closest", "#sessions").IsNull() }
	had, at := focused(), -1
	var keys []string
	for i, s := range a.records {
		here := a.cur != nil && a.cur.session.ID() == s.ID
		if here {
			at = i
		}
		keys = append(keys, fmt.Sprintf("%s %t %s %s", s.ID, here, a.does(s), titleOf(s)))
	}
	put := false
	a.tabs = a.tabs.show(box, keys, func(i int) js.Value {
		put = put || i == at
		return a.tab(a.records[i], i == at)
	})
	if at < 0 {
		return
	}
	tab := a.tabs[keys[at]]
	if put {
		tab.Call("scrollIntoView", map[string]any{"block": "nearest", "inline": "nearest"})
	}
	if had && !focused() {
		tab.Call("focus") // the focused tab was rebuilt, or is gone
	}
}

// does returns the state of a conversation: "works", "news" or "".
func (a *app) does(s protocol.SessionRecord) string {
	switch t := a.talks[s.ID]; {
	case t == nil:
		return ""
	case t.cancel != nil:
		return "works"
	case t.news:
		return "news"
	}
	return ""
}

func (a *app) tab(s protocol.SessionRecord, here bool) js.Value {
	tab := create("button", titleOf(s))
	for k, v := range map[string]string{"type": "button", "role": "tab", "aria-controls": "talk", "aria-selected": fmt.Sprint(here)} {
		tab.Call("setAttribute", k, v)
	}
	tab.Set("tabIndex", map[bool]int{true: 0, false: -1}[here])
	if does := a.does(s); does != "" {
		tab.Set("className", does)
		tab.Call("append", away(map[string]string{"works": ", at work", "news": ", something new"}[does]))
	}
	tab.Get("dataset").Set("id", s.ID)
	return tab
}

func titleOf(s protocol.SessionRecord) string {
	title, _ := s.Metadata["title"].(string)
	if title == "" {
		title = "New conversation"
	}
	if s.ParentMessageID != "" && !strings.HasSuffix(title, "(fork)") {
		title += " (fork)"
	}
	return cut(title, 28)
}
