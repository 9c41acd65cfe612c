package sessions

import (
	"errors"
	"io/fs"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/talk"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/sandbox"
)

// menu sets up the buttons above the conversations.
func (m *Sessions) menu() {
	dom.Locked(m.Lock, "new", func() error { return m.open("") })
	dom.Locked(m.Lock, "fork", func() error {
		if len(m.cur.Session.Messages()) == 0 {
			dom.Status("There is nothing to fork yet: say something first.")
			return nil
		}
		s, err := m.cur.Session.Fork(m.ctx, "")
		if err != nil {
			return err
		}
		return m.adopt(s)
	})
	dom.Locked(m.Lock, "save", func() error {
		var b strings.Builder
		if err := m.cur.Session.Export(&b); err != nil {
			return err
		}
		return dialog.Save(m.ctx, "conversation.json", b.String())
	})
	dom.Locked(m.Lock, "archive", func() error {
		id := m.cur.Session.ID()
		if err := m.cur.Session.Archive(m.ctx, true); err != nil {
			return err
		}
		dialog.Toast("Put away. All conversations brings it back.")
		m.drop(id)
		return m.resume()
	})
	dom.OnClick("rename", func() { m.rename() })
	dom.OnClick("rewind", func() { m.rewind() })
	dom.OnClick("all", func() { m.all() })
	dom.OnClick("load", func() { dom.Element("load-file").Call("click") })
	dom.On(dom.Element("load-file"), "change", func(js.Value) {
		m.Lock.Lock()
		defer m.Lock.Unlock()
		for _, f := range dom.Chosen("load-file") {
			text, err := dom.Await(m.ctx, f.Call("text"))
			if dom.Failed(err) {
				return
			}
			s, err := m.box.ImportSession(m.ctx, strings.NewReader(text.String()))
			if dom.Failed(err) || dom.Failed(m.adopt(s)) {
				return
			}
			dialog.Toast("Read in. Its files did not come with it, and nothing is granted in it.")
		}
	})
}

func (m *Sessions) rename() {
	s := m.cur.Session
	title, _ := s.Record().Metadata["title"].(string)
	answer, text := dialog.Ask(dialog.Question{Title: "Name of this conversation", Label: "Name", Value: title, Answers: []string{"Cancel", "Rename"}})
	if text = strings.TrimSpace(text); answer != "Rename" || text == "" {
		return
	}
	m.Lock.Lock()
	defer m.Lock.Unlock()
	if !dom.Failed(s.Rename(m.ctx, text)) {
		m.recorded(s)
	}
}

// rewind removes a message of the user's and everything after it, and undoes the changes made
// since, if the user wants that.
func (m *Sessions) rewind() {
	t := m.cur
	list, said := dom.Create("div", ""), map[string]sandbox.Message{}
	list.Set("className", "options")
	messages := t.Session.Messages()
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		text, files := talk.Written(m)
		if m.Role != sandbox.RoleUser || text == "" && len(files) == 0 {
			continue
		}
		said[m.ID] = m
		for _, p := range files {
			text += " · " + talk.NameOf(p)
		}
		dialog.Option(list, "message", m.ID, dom.Cut(strings.TrimPrefix(text, " · "), 90), m.CreatedAt.Local().Format("Jan 2, 15:04"))
	}
	if len(said) == 0 {
		dialog.Toast("There is nothing to take back.")
		return
	}
	files, label := dom.Create("input", ""), dom.Create("label", "")
	files.Set("type", "checkbox")
	files.Set("id", "rewind-files")
	files.Set("checked", true)
	label.Set("className", "option")
	label.Call("append", files, dom.Create("span", "Bring the files back to how they were then"))
	answer, _ := dialog.Ask(dialog.Question{Title: "Back to before which message?", Text: "It and all behind it are taken back. What you wrote is put into the field again.", Body: []js.Value{list, label}, Answers: []string{"Cancel", "Take back"}})
	id := dialog.Checked(list)
	if answer != "Take back" || id == "" {
		return
	}
	m.Lock.Lock()
	defer m.Lock.Unlock()
	text, parts := talk.Written(said[id])
	var sent []sandbox.File
	for _, p := range parts {
		list, err := t.Session.Files(m.ctx, p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if dom.Failed(err) {
			return
		}
		sent = append(sent, list...)
	}
	if dom.Failed(t.Session.Rewind(m.ctx, id, files.Get("checked").Bool())) {
		return
	}
	if dom.Value("text") == "" && len(m.files.list) == 0 {
		m.files.giveBack(text, sent)
	}
	t.Show()
	if !dom.Failed(m.show(t)) && !dom.Failed(m.Refresh()) {
		dialog.Toast("Took back what was said, and what was changed since.")
	}
}

// all lists every conversation of this folder, the archived ones too.
func (m *Sessions) all() {
	records, err := m.box.Sessions(m.ctx)
	if dom.Failed(err) {
		return
	}
	var of dom.Listeners
	defer of.Release()
	list := dom.Create("ul", "")
	list.Set("className", "rows")
	for _, s := range records {
		if s.ParentID != "" && s.ParentMessageID == "" {
			continue
		}
		row, name := dom.Create("li", ""), dom.Create("span", titleOf(s))
		state := s.UpdatedAt.Local().Format("Jan 2, 15:04")
		if !s.ArchivedAt.IsZero() {
			state += " · put away"
		}
		name.Call("append", dom.Create("small", " "+state))
		row.Call("append", name)
		of.Button(row, "Open", "", func() { dom.Element("dialog").Call("close", "open "+s.ID) }).Call("setAttribute", "aria-label", "Open "+titleOf(s))
		of.Button(row, "Delete", "stop", func() {
			m.Lock.Lock()
			defer m.Lock.Unlock()
			m.drop(s.ID)
			if !dom.Failed(m.store.Delete(m.ctx, s.ID)) {
				row.Call("remove")
			}
		}).Call("setAttribute", "aria-label", "Delete "+titleOf(s))
		list.Call("append", row)
	}
	answer, _ := dialog.Ask(dialog.Question{Title: "All conversations of this folder", Body: []js.Value{list}, Answers: []string{"Close"}})
	m.Lock.Lock()
	defer m.Lock.Unlock()
	id, found := strings.CutPrefix(answer, "open ")
	if found {
		if dom.Failed(m.open(id)) || dom.Failed(m.cur.Session.Archive(m.ctx, false)) {
			return
		}
	} else if m.cur == nil {
		dom.Failed(m.resume())
		return
	}
	dom.Failed(m.list())
}
