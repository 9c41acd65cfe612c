package sessions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// The limits of conversations. An open one has two frames, some megabytes in all.
const (
	openTalks  = 4  // conversations that stay open while they are idle
	chatsShown = 20 // conversations in the list without a search: the ones changed last
)

// chats makes the list of conversations work with the mouse and the keyboard.
func (m *Sessions) chats() {
	dom.On(dom.Element("sessions"), "click", func(e js.Value) {
		b := e.Get("target").Call("closest", "button")
		if b.IsNull() {
			return
		}
		id := b.Call("closest", "li").Get("dataset").Get("id").String()
		if b.Get("className").String() != "chat" { // the menu of the conversation, which the browser opens
			m.of = id
			return
		}
		m.Lock.Lock()
		defer m.Lock.Unlock()
		dom.Failed(m.open(id))
	})
	dom.On(dom.Element("find-chat"), "input", func(js.Value) {
		m.Lock.Lock()
		defer m.Lock.Unlock()
		m.find = strings.ToLower(strings.TrimSpace(dom.Value("find-chat")))
		dom.Failed(m.list())
	})
	dom.On(dom.Document(), "visibilitychange", func(js.Value) { // another tab may have changed the list
		m.Lock.Lock()
		defer m.Lock.Unlock()
		if m.cur != nil && dom.Document().Get("visibilityState").String() == "visible" {
			dom.Failed(m.list())
		}
	})
	dom.OnKey(dom.Element("sessions"), func(e js.Value) bool {
		step := map[string]int{"ArrowDown": 1, "ArrowUp": -1}[e.Get("key").String()]
		list := dom.Each(dom.Element("sessions").Call("querySelectorAll", ".chat"))
		at := slices.IndexFunc(list, func(b js.Value) bool { return b.Equal(dom.Focused()) })
		if step == 0 || at < 0 {
			return false
		}
		next := list[(at+step+len(list))%len(list)]
		next.Call("focus")
		next.Call("click")
		return true
	})
}

// list reads the stored conversations for the list. The dialogue All chats lists the archived ones, too.
func (m *Sessions) list() error {
	if m.box == nil {
		return nil
	}
	all, err := m.box.Sessions(m.ctx)
	if err != nil {
		return err
	}
	m.trim(all)
	return nil
}

// recorded updates the row of a conversation. It does not ask the store, which would read every
// stored conversation.
func (m *Sessions) recorded(s *sandbox.Session) {
	rec := s.Record()
	i := slices.IndexFunc(m.records, func(r sandbox.SessionRecord) bool { return r.ID == rec.ID })
	if i < 0 {
		m.records = append(m.records, rec)
	}
	m.trim(m.records)
}

// trim keeps the records of the conversations in the list, and shows them: the chatsShown conversations
// that changed last, and all open ones, or those whose title has the text that the user looks for.
func (m *Sessions) trim(all []sandbox.SessionRecord) {
	for i, s := range all {
		if t := m.talks[s.ID]; t != nil {
			all[i] = t.Session.Record()
		}
	}
	slices.SortStableFunc(all, func(x, y sandbox.SessionRecord) int { return y.UpdatedAt.Compare(x.UpdatedAt) })
	n := 0
	m.records = slices.DeleteFunc(all, func(s sandbox.SessionRecord) bool {
		if !mine(s) || m.gone[s.ID] {
			return true
		}
		if m.find != "" {
			return !strings.Contains(strings.ToLower(titleOf(s)), m.find)
		}
		n++
		return n > chatsShown && m.talks[s.ID] == nil
	})
	// A row keeps its place while conversations are at work.
	slices.SortFunc(m.records, func(x, y sandbox.SessionRecord) int { return y.CreatedAt.Compare(x.CreatedAt) })
	m.strip()
}

// strip shows the conversations, the newest first.
func (m *Sessions) strip() {
	box := dom.Element("sessions")
	focused := func() bool { return !dom.Focused().IsNull() && !dom.Focused().Call("closest", "#sessions").IsNull() }
	had, at := focused(), -1
	var keys []string
	works := ""
	for _, t := range m.talks {
		if t.Cancel != nil {
			works = "yes"
		}
	}
	dom.Document().Get("body").Get("dataset").Set("works", works) // closing the page asks then
	for i, s := range m.records {
		here := m.cur != nil && m.cur.Session.ID() == s.ID
		if here {
			at = i
		}
		keys = append(keys, fmt.Sprintf("%s %t %s %s %s", s.ID, here, m.does(s), day(s.UpdatedAt), titleOf(s)))
	}
	put := false
	m.rows = m.rows.Show(box, keys, func(i int) js.Value {
		put = put || i == at
		return m.row(m.records[i], i == at)
	})
	dom.Hide("no-chats", len(keys) > 0)
	if at < 0 {
		return
	}
	row := m.rows[keys[at]]
	if put {
		row.Call("scrollIntoView", map[string]any{"block": "nearest"})
	}
	if had && !focused() {
		row.Get("firstChild").Call("focus") // the focused row was rebuilt, or is gone
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

func (m *Sessions) row(s sandbox.SessionRecord, here bool) js.Value {
	row, chat, title, more := dom.Create("li", ""), dom.Button("", "chat"), dom.Create("span", titleOf(s)), dom.Button("⋯", "icon more")
	row.Get("dataset").Set("id", s.ID)
	title.Set("className", "title")
	chat.Set("title", fullTitle(s))
	chat.Call("append", title)
	if does := m.does(s); does != "" {
		row.Set("className", does)
		chat.Call("append", dom.Away(map[string]string{"works": ", at work", "news": ", something new"}[does]))
	}
	chat.Call("append", dom.Create("small", day(s.UpdatedAt)))
	more.Call("setAttribute", "popovertarget", "chat-menu")
	more.Call("setAttribute", "aria-label", "More about "+titleOf(s))
	if here {
		chat.Call("setAttribute", "aria-current", "true")
	} else {
		chat.Set("tabIndex", -1)
		more.Set("tabIndex", -1)
	}
	row.Call("append", chat, more)
	return row
}

// day returns a time as a list of conversations shows it: the time of today, or the date.
func day(t time.Time) string {
	t = t.Local()
	if t.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("Jan 2")
}

func fullTitle(s sandbox.SessionRecord) string {
	title, _ := s.Metadata["title"].(string)
	if title == "" {
		title = "New chat"
	}
	if s.ParentMessageID != "" && !strings.HasSuffix(title, "(fork)") {
		title += " (fork)"
	}
	return title
}

func titleOf(s sandbox.SessionRecord) string { return dom.Cut(fullTitle(s), 60) }

// with calls do with the session that the menu is about. It need not be open.
func (m *Sessions) with(do func(*sandbox.Session) error) error {
	id := m.of
	if id == "" && m.cur != nil {
		id = m.cur.Session.ID()
	}
	if t := m.talks[id]; t != nil {
		return do(t.Session)
	}
	s, err := m.box.OpenSession(m.ctx, id)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// doomed is the key in localStorage of the deleted conversations that can still be brought back, by the
// folder's name. What is left there when a folder is opened is deleted then.
func (m *Sessions) doomed() string { return "bailey-files-deleted " + m.folder }

func (m *Sessions) keepDoomed() {
	var list []string
	for id := range m.gone {
		list = append(list, id)
	}
	text, _ := json.Marshal(list)
	js.Global().Get("localStorage").Call("setItem", m.doomed(), string(text))
}

// sweep deletes the conversations that an earlier visit left to be deleted.
func (m *Sessions) sweep() {
	m.gone = map[string]bool{}
	v := js.Global().Get("localStorage").Call("getItem", m.doomed())
	var list []string
	if v.Type() != js.TypeString || json.Unmarshal([]byte(v.String()), &list) != nil {
		return
	}
	for _, id := range list {
		if rec, err := m.store.Session(m.ctx, id); err == nil {
			go places{m}.end(rec)
		}
		_ = m.store.Delete(m.ctx, id)
	}
	js.Global().Get("localStorage").Call("removeItem", m.doomed())
}

// remove deletes a conversation. Until the offer to bring it back ends, it is only hidden. The lock must be
// held.
func (m *Sessions) remove(id string) error {
	if t := m.talks[id]; t != nil && t.Cancel != nil {
		return protocol.Errorf(protocol.ErrSession, "delete", id, "this chat is at work: stop it first")
	}
	m.gone[id] = true
	m.keepDoomed()
	m.drop(id)
	gone, store, key := m.gone, m.store, m.doomed()
	dialog.Offer("Deleted.", "Undo", func(undo bool) {
		m.Lock.Lock()
		defer m.Lock.Unlock()
		if !gone[id] || key != m.doomed() { // another folder is open: its next opening deletes the rest
			return
		}
		delete(gone, id)
		m.keepDoomed()
		if undo {
			dom.Failed(m.open(id))
		} else {
			if rec, err := store.Session(m.ctx, id); err == nil {
				go places{m}.end(rec)
			}
			dom.Failed(store.Delete(m.ctx, id))
			js.Global().Get("localStorage").Call("removeItem", draftOf+id)
		}
		dom.Failed(m.list())
	})
	if m.cur == nil {
		return m.resume()
	}
	return m.list()
}
