//go:build js && wasm

package main

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// conversations sets up the buttons above the conversations.
func (a *app) conversations() {
	a.on("new", func() error { return a.open("") })
	a.on("fork", func() error {
		if len(a.cur.session.Messages()) == 0 {
			status("There is nothing to fork yet: say something first.")
			return nil
		}
		s, err := a.cur.session.Fork(a.ctx, "")
		if err != nil {
			return err
		}
		return a.adopt(s)
	})
	a.on("save", func() error {
		var b strings.Builder
		if err := a.cur.session.Export(&b); err != nil {
			return err
		}
		return a.download("conversation.json", b.String())
	})
	a.on("archive", func() error {
		id := a.cur.session.ID()
		if err := a.cur.session.Archive(a.ctx, true); err != nil {
			return err
		}
		toast("Put away. All conversations brings it back.")
		a.drop(id)
		return a.resume()
	})
	on(element("rename"), "click", func(js.Value) { a.rename() })
	on(element("rewind"), "click", func(js.Value) { a.rewind() })
	on(element("all"), "click", func(js.Value) { a.all() })
	on(element("load"), "click", func(js.Value) { element("load-file").Call("click") })
	on(element("load-file"), "change", func(js.Value) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, f := range files("load-file") {
			text, err := await(a.ctx, f.Call("text"))
			if failed(err) {
				return
			}
			s, err := a.box.ImportSession(a.ctx, strings.NewReader(text.String()))
			if failed(err) || failed(a.adopt(s)) {
				return
			}
			toast("Read in. Its files did not come with it, and nothing is granted in it.")
		}
	})
	on(element("sessions"), "click", func(e js.Value) {
		tab := e.Get("target").Call("closest", "[role=tab]")
		if tab.IsNull() {
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		failed(a.open(tab.Get("dataset").Get("id").String()))
	})
	on(document(), "visibilitychange", func(js.Value) { // another tab may have changed the list
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.cur != nil && document().Get("visibilityState").String() == "visible" {
			failed(a.list())
		}
	})
	a.cardButtons()
	onKey(element("sessions"), func(e js.Value) bool {
		step := map[string]int{"ArrowRight": 1, "ArrowLeft": -1}[e.Get("key").String()]
		tabs := each(element("sessions").Get("children"))
		at := slices.IndexFunc(tabs, func(b js.Value) bool { return b.Equal(document().Get("activeElement")) })
		if step == 0 || at < 0 {
			return false
		}
		next := tabs[(at+step+len(tabs))%len(tabs)]
		next.Call("focus")
		next.Call("click")
		return true
	})
}

// resume opens the folder's last conversation that no other tab holds, or a new one.
func (a *app) resume() error {
	list, err := a.box.Sessions(a.ctx)
	if err != nil {
		return err
	}
	a.trim(slices.Clone(list))
	for _, s := range list {
		if mine(s) {
			if err := a.open(s.ID); !errors.Is(err, protocol.ErrSession) { // another tab holds it
				return err
			}
		}
	}
	return a.open("")
}

// mine reports whether a session is shown: it is not archived, and not a subagent's. A fork is
// shown.
func mine(s protocol.SessionRecord) bool {
	return s.ArchivedAt.IsZero() && (s.ParentID == "" || s.ParentMessageID != "")
}

// open shows the conversation with the id, or begins one if id is empty.
func (a *app) open(id string) error {
	if t := a.talks[id]; t != nil {
		return a.show(t)
	}
	var s *sandbox.Session
	var err error
	if id == "" {
		s, err = a.box.NewSession(a.ctx, sandbox.SessionOptions{Workspace: a.name})
	} else {
		s, err = a.box.OpenSession(a.ctx, id)
	}
	if err != nil {
		return err
	}
	return a.adopt(s)
}

func (a *app) adopt(s *sandbox.Session) error {
	t, err := a.newTalk(s)
	if err != nil {
		s.Close()
		return err
	}
	a.talks[s.ID()] = t
	return a.show(t)
}

// drop closes an open conversation. It stays stored.
func (a *app) drop(id string) {
	if t := a.talks[id]; t != nil {
		delete(a.talks, id)
		for i := range a.records {
			if a.records[i].ID == id {
				a.records[i] = t.session.Record()
			}
		}
		t.close()
		if a.cur == t {
			a.cur = nil
		}
	}
}

// rest closes idle conversations, those viewed longest ago first, so that openTalks stay open. They
// are stored, and can be opened again. Conversations at work, or with news, stay open.
func (a *app) rest() {
	idle := slices.DeleteFunc(slices.Collect(maps.Values(a.talks)), func(t *talk) bool { return t == a.cur || t.cancel != nil || t.news })
	slices.SortFunc(idle, func(x, y *talk) int { return y.look - x.look })
	for i, t := range idle {
		if i >= openTalks-1 {
			a.drop(t.session.ID())
		}
	}
}

// show puts a conversation in view. The others continue their work.
func (a *app) show(t *talk) error {
	for _, o := range a.talks {
		o.box.Get("classList").Call("toggle", "behind", o != t)
	}
	a.looks++
	a.cur, t.news, t.look = t, false, a.looks
	a.rest()
	cards := element("cards")
	cards.Call("replaceChildren")
	for _, item := range t.items {
		cards.Call("append", item)
	}
	hide("quiet", len(t.items) > 0)
	hide("trouble", true)
	hide("welcome", len(t.session.Messages()) > 0)
	for _, id := range []string{"new", "fork", "rename", "rewind", "save", "load", "archive", "all", "send"} {
		enable(id, true)
	}
	a.shown(t)
	a.recorded(t.session)
	if of := a.prompts.of; of != "" { // a question stays, whichever conversation is in view
		a.whose(of)
	}
	return nil
}

// shown updates the buttons and tabs to the state of a conversation.
func (a *app) shown(t *talk) {
	if a.cur == t {
		hide("stop", t.cancel == nil)
		if t.cancel != nil {
			hide("welcome", true)
		}
	}
	a.strip()
}

// title names a conversation by its first message, if it has no name.
func (a *app) title(s *sandbox.Session, text string) {
	if s.Record().Metadata["title"] == nil {
		failed(s.Rename(a.ctx, cut(strings.Join(strings.Fields(text), " "), 40)))
		a.recorded(s)
	}
}

func (a *app) rename() {
	s := a.cur.session
	title, _ := s.Record().Metadata["title"].(string)
	answer, text := ask(asking{title: "Name of this conversation", label: "Name", value: title, answers: []string{"Cancel", "Rename"}})
	if text = strings.TrimSpace(text); answer != "Rename" || text == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !failed(s.Rename(a.ctx, text)) {
		a.recorded(s)
	}
}

// rewind removes a message of the user's and everything after it, and undoes the changes made
// since, if the user wants that.
func (a *app) rewind() {
	t := a.cur
	list, said := create("div", ""), map[string]string{}
	list.Set("className", "options")
	messages := t.session.Messages()
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i]; m.Role == protocol.RoleUser && len(m.Parts) > 0 {
			d, _ := m.Parts[0].Data.(map[string]any)
			said[m.ID], _ = d["text"].(string)
			option(list, "message", m.ID, cut(said[m.ID], 90), m.CreatedAt.Local().Format("Jan 2, 15:04"))
		}
	}
	if len(said) == 0 {
		toast("There is nothing to take back.")
		return
	}
	files, label := create("input", ""), create("label", "")
	files.Set("type", "checkbox")
	files.Set("id", "rewind-files")
	files.Set("checked", true)
	label.Set("className", "option")
	label.Call("append", files, create("span", "Bring the files back to how they were then"))
	answer, _ := ask(asking{title: "Back to before which message?", text: "It and all behind it are taken back. What you wrote is put into the field again.", body: []js.Value{list, label}, answers: []string{"Cancel", "Take back"}})
	id := chosenOf(list)
	if answer != "Take back" || id == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if failed(t.session.Rewind(a.ctx, id, files.Get("checked").Bool())) {
		return
	}
	if value("text") == "" {
		element("text").Set("value", said[id])
	}
	t.messages()
	if !failed(a.show(t)) && !failed(a.refresh()) {
		toast("Took back what was said, and what was changed since.")
	}
}

// all lists every conversation of this folder, the archived ones too.
func (a *app) all() {
	records, err := a.box.Sessions(a.ctx)
	if failed(err) {
		return
	}
	var of listeners
	defer of.release()
	list := create("ul", "")
	list.Set("className", "rows")
	for _, s := range records {
		if s.ParentID != "" && s.ParentMessageID == "" {
			continue
		}
		row, name := create("li", ""), create("span", titleOf(s))
		state := s.UpdatedAt.Local().Format("Jan 2, 15:04")
		if !s.ArchivedAt.IsZero() {
			state += " · put away"
		}
		name.Call("append", create("small", " "+state))
		row.Call("append", name)
		of.button(row, "Open", "", func() { element("dialog").Call("close", "open "+s.ID) }).Call("setAttribute", "aria-label", "Open "+titleOf(s))
		of.button(row, "Delete", "stop", func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.drop(s.ID)
			if !failed(a.sessions.Delete(a.ctx, s.ID)) {
				row.Call("remove")
			}
		}).Call("setAttribute", "aria-label", "Delete "+titleOf(s))
		list.Call("append", row)
	}
	answer, _ := ask(asking{title: "All conversations of this folder", body: []js.Value{list}, answers: []string{"Close"}})
	a.mu.Lock()
	defer a.mu.Unlock()
	id, found := strings.CutPrefix(answer, "open ")
	if found {
		if failed(a.open(id)) || failed(a.cur.session.Archive(a.ctx, false)) {
			return
		}
	} else if a.cur == nil {
		failed(a.resume())
		return
	}
	failed(a.list())
}

// download saves a text by the browser's downloads.
func (a *app) download(name, text string) error {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	if err := dir.WriteFile(name, []byte(text), 0o644); err != nil {
		return err
	}
	return fsaccess.SaveAs(a.ctx, dir, name, name)
}

// closeTalks closes all conversations, for another folder or a new box.
func (a *app) closeTalks() {
	for _, id := range slices.Collect(maps.Keys(a.talks)) {
		a.drop(id)
	}
	a.records = nil
}
