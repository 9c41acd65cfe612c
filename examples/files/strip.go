//go:build js && wasm

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// An open conversation has two frames, some megabytes in all.
const (
	openTalks = 4  // conversations that stay open while nothing happens in them
	tabsShown = 20 // conversations that have a tab: those that changed last
)

// list reads which conversations there are. All of them are under All conversations.
func (a *app) list() error {
	all, err := a.box.Sessions(a.ctx)
	if err != nil {
		return err
	}
	a.trim(all)
	return nil
}

// recorded shows a conversation among the tabs as it is now. The store isn't asked: it would
// read each conversation that there ever was.
func (a *app) recorded(s *sandbox.Session) {
	rec := s.Record()
	i := slices.IndexFunc(a.records, func(r protocol.SessionRecord) bool { return r.ID == rec.ID })
	if i < 0 {
		a.records = append(a.records, rec)
	}
	a.trim(a.records)
}

// trim keeps the records of the conversations that have a tab: the last changed, and those
// that are open.
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
	had := document().Get("activeElement").Call("closest", "#sessions")
	box.Call("replaceChildren")
	for _, s := range a.records {
		tab := create("button", titleOf(s))
		here := a.cur != nil && a.cur.session.ID() == s.ID
		for k, v := range map[string]string{"type": "button", "role": "tab", "aria-controls": "talk", "aria-selected": fmt.Sprint(here)} {
			tab.Call("setAttribute", k, v)
		}
		tab.Set("tabIndex", map[bool]int{true: 0, false: -1}[here])
		if t := a.talks[s.ID]; t != nil && (t.cancel != nil || t.news) {
			tab.Set("className", map[bool]string{true: "works", false: "news"}[t.cancel != nil])
			tab.Call("append", away(map[bool]string{true: ", at work", false: ", something new"}[t.cancel != nil]))
		}
		tab.Get("dataset").Set("id", s.ID)
		box.Call("append", tab)
		if here {
			tab.Call("scrollIntoView", map[string]any{"block": "nearest", "inline": "nearest"})
			if !had.IsNull() {
				tab.Call("focus")
			}
		}
	}
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
