package sessions

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/talk"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/sandbox"
)

// menu sets up the buttons of the list of conversations and of their menus.
func (m *Sessions) menu() {
	dom.OnClick("new", m.begin)
	dom.Locked(m.Lock, "fork", func() error { return m.with(func(s *sandbox.Session) error { return m.fork(s, "") }) })
	dom.Locked(m.Lock, "save", func() error {
		return m.with(func(s *sandbox.Session) error {
			var b strings.Builder
			if err := s.Export(&b); err != nil {
				return err
			}
			return dialog.Save(m.ctx, "conversation.json", b.String())
		})
	})
	dom.Locked(m.Lock, "archive", func() error {
		return m.with(func(s *sandbox.Session) error {
			id := s.ID()
			if err := s.Archive(m.ctx, true); err != nil {
				return err
			}
			m.drop(id)
			m.of = ""
			dialog.Offer("Archived.", "Undo", func(undo bool) {
				m.Lock.Lock()
				defer m.Lock.Unlock()
				if !undo {
					return
				}
				if err := m.open(id); !dom.Failed(err) && !dom.Failed(m.cur.Session.Archive(m.ctx, false)) {
					dom.Failed(m.list())
				}
			})
			if m.cur == nil {
				return m.resume()
			}
			return m.list()
		})
	})
	dom.Locked(m.Lock, "drop", func() error {
		id := m.of
		if id == "" {
			id = m.cur.Session.ID()
		}
		m.of = ""
		return m.remove(id)
	})
	dom.OnClick("rename", m.rename)
	dom.OnClick("rewind", m.rewind)
	dom.OnClick("all", m.all)
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
			dialog.Toast("Imported. Files and permissions aren't included.")
		}
	})
}

// begin opens a new conversation. What the user writes from the press on is for it.
func (m *Sessions) begin() {
	if t := m.cur; t != nil && m.turning == nil && len(t.Session.Recent()) == 0 && t.Cancel == nil {
		dom.Element("text").Call("focus")
		return
	}
	if m.turning != nil {
		return
	}
	turned := make(chan struct{})
	m.turning = turned
	m.stow()
	m.Lock.Lock()
	defer m.Lock.Unlock()
	defer func() { m.turning = nil; close(turned) }()
	if !dom.Failed(m.open("")) {
		dom.Element("text").Call("focus")
	}
}

// fork opens a copy of a conversation up to a message, or of all of it. The lock must be held.
func (m *Sessions) fork(s *sandbox.Session, message string) error {
	if len(s.Recent()) == 0 {
		dom.Status("There is nothing to fork yet: say something first.")
		return nil
	}
	f, err := s.Fork(m.ctx, message)
	if err != nil {
		return err
	}
	return m.adopt(f)
}

func (m *Sessions) rename() {
	id := m.of
	if id == "" {
		id = m.cur.Session.ID()
	}
	at := slices.IndexFunc(m.records, func(r sandbox.SessionRecord) bool { return r.ID == id })
	if at < 0 {
		return
	}
	title, _ := m.records[at].Metadata["title"].(string)
	answer, text := dialog.Ask(dialog.Question{Title: "Rename this chat", Label: "Name", Value: title, Answers: []string{"Cancel", "Rename"}})
	if text = strings.TrimSpace(text); answer != "Rename" || text == "" {
		return
	}
	m.Lock.Lock()
	defer m.Lock.Unlock()
	m.of = id
	if !dom.Failed(m.with(func(s *sandbox.Session) error { return s.Rename(m.ctx, text) })) {
		dom.Failed(m.list())
	}
}

// rewind removes a message of the user's and everything after it, and undoes the changes made
// since, if the user wants that.
func (m *Sessions) rewind() {
	if m.of != "" && m.of != m.cur.Session.ID() {
		m.Lock.Lock()
		err := m.open(m.of)
		m.Lock.Unlock()
		if dom.Failed(err) {
			return
		}
	}
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
		dialog.Toast("There is nothing to rewind.")
		return
	}
	m.askBack(t, "Rewind to before which message?", true, list, func() (sandbox.Message, bool) { s, ok := said[dialog.Checked(list)]; return s, ok })
}

// askBack asks whether a message and everything after it is removed, and does so. With restore the files
// are restored too, unless the user decides otherwise. The message is known at the answer.
func (m *Sessions) askBack(t *talk.Talk, title string, restore bool, list js.Value, which func() (sandbox.Message, bool)) {
	files, label := dom.Create("input", ""), dom.Create("label", "")
	files.Set("type", "checkbox")
	files.Set("id", "rewind-files")
	files.Set("checked", restore)
	label.Set("className", "option")
	label.Call("append", files, dom.Create("span", "Restore the files to how they were then"))
	body := []js.Value{label}
	if list.Truthy() {
		body = []js.Value{list, label}
	}
	answer, _ := dialog.Ask(dialog.Question{Title: title, Text: "This message and everything after it will be removed. Your words go back into the field.", Body: body, Answers: []string{"Cancel", "Rewind"}})
	message, ok := which()
	if answer != "Rewind" || !ok {
		return
	}
	m.Lock.Lock()
	defer m.Lock.Unlock()
	text, sent, err := m.back(t, message, files.Get("checked").Bool())
	if dom.Failed(err) {
		return
	}
	if dom.Value("text") == "" && len(m.files.list) == 0 {
		m.files.giveBack(text, sent)
	}
	t.Show()
	if !dom.Failed(m.show(t)) && !dom.Failed(m.Refresh()) {
		m.keepDraft()
		dialog.Toast("Rewound.")
		dom.Element("text").Call("focus")
	}
}

// back removes a message of the user's and everything after it from the session, and returns its text and
// files. The lock must be held.
func (m *Sessions) back(t *talk.Talk, message sandbox.Message, restore bool) (text string, sent []sandbox.File, err error) {
	text, parts := talk.Written(message)
	for _, p := range parts {
		list, err := t.Session.Files(m.ctx, p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		sent = append(sent, list...)
	}
	return text, sent, t.Session.Rewind(m.ctx, message.ID, restore)
}

// edit takes a message of the user's back into the field, after a question.
func (m *Sessions) edit(t *talk.Talk, message sandbox.Message, restore bool) {
	title := "Edit this message?"
	if restore {
		title = "Rewind to before this message?"
	}
	m.askBack(t, title, restore, js.Null(), func() (sandbox.Message, bool) { return message, true })
}

// forkAt opens a copy of the conversation up to the answer of a message of the user's.
func (m *Sessions) forkAt(t *talk.Talk, message sandbox.Message) {
	m.Lock.Lock()
	defer m.Lock.Unlock()
	at, list := message.ID, t.Session.Messages()
	i := slices.IndexFunc(list, func(o sandbox.Message) bool { return o.ID == at })
	for i++; i > 0 && i < len(list) && list[i].Role != sandbox.RoleUser; i++ {
		at = list[i].ID
	}
	dom.Failed(m.fork(t.Session, at))
}

// retry asks the model once more for an answer to a message of the user's. The files stay as they are.
func (m *Sessions) retry(t *talk.Talk, message sandbox.Message) {
	if t.Cancel != nil || m.unreached() {
		return
	}
	m.Lock.Lock()
	text, sent, err := m.back(t, message, false)
	if err == nil {
		t.Show()
		err = m.show(t)
	}
	m.Lock.Unlock()
	if !dom.Failed(err) {
		m.run(t, text, sent...)
	}
}

// mark returns the number of the folder's last change of a file, 0 without one, and its diff.
func (m *Sessions) mark(path string) (int64, string) {
	list, err := m.Journal().History(m.ctx)
	if err != nil {
		return 0, ""
	}
	for _, c := range list {
		if slices.Contains(c.Paths, path) && !c.Undone {
			diff, _ := m.Journal().Diff(m.ctx, c.ID)
			return c.ID, diff
		}
	}
	return 0, ""
}

// undo takes back the change with a number, after a question if there are later ones.
func (m *Sessions) undo(path string, id int64) {
	m.Lock.Lock()
	defer m.Lock.Unlock()
	if dom.Failed(m.Busy()) {
		return
	}
	work := m.Journal()
	list, err := work.History(m.ctx)
	if dom.Failed(err) {
		return
	}
	later, there := 0, false
	for _, c := range list {
		switch {
		case c.ID == id:
			there = !c.Undone
		case c.ID > id && !c.Undone && !strings.HasPrefix(c.Op, "undo"):
			later++
		}
	}
	if !there {
		dom.Status("This change is undone already.")
		return
	}
	if later > 0 {
		text := fmt.Sprintf("Later changes are undone with it: %d. History can redo them.", later)
		if answer, _ := dialog.Ask(dialog.Question{Title: "Undo the change of " + path + "?", Text: text, Answers: []string{"Cancel", "Undo"}}); answer != "Undo" {
			return
		}
	}
	if err := work.UndoTo(m.ctx, strconv.FormatInt(id-1, 10)); !dom.Failed(errors.Join(err, m.Refresh())) {
		dialog.Toast("Undone: " + path)
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
		if s.ParentID != "" && s.ParentMessageID == "" || m.gone[s.ID] {
			continue
		}
		row, name := dom.Create("li", ""), dom.Create("span", titleOf(s))
		state := s.UpdatedAt.Local().Format("Jan 2, 15:04")
		if !s.ArchivedAt.IsZero() {
			state += " · archived"
		}
		name.Call("append", dom.Create("small", " "+state))
		row.Call("append", name)
		of.Button(row, "Open", "", func() { dom.Element("dialog").Call("close", "open "+s.ID) }).Call("setAttribute", "aria-label", "Open "+titleOf(s))
		of.Button(row, "Delete", "stop", func() {
			m.Lock.Lock()
			defer m.Lock.Unlock()
			if !dom.Failed(m.remove(s.ID)) {
				row.Call("remove")
			}
		}).Call("setAttribute", "aria-label", "Delete "+titleOf(s))
		list.Call("append", row)
	}
	answer, _ := dialog.Ask(dialog.Question{Title: "All chats of this folder", Body: []js.Value{list}, Answers: []string{"Close"}})
	m.Lock.Lock()
	defer m.Lock.Unlock()
	id, found := strings.CutPrefix(answer, "open ")
	if found {
		if dom.Failed(m.open(id)) || dom.Failed(m.cur.Session.Archive(m.ctx, false)) {
			return
		}
	}
	dom.Failed(m.list())
}
