package sessions

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/examples/files/place"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/files/shield"
	"github.com/bailey-go/bailey/examples/files/talk"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/guests"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/ui"
)

// Options are the parts of the page that the conversations talk with. All are required.
type Options struct {
	Lock     sync.Locker // held during one action of the user's
	Settings *settings.Settings
	Shield   *shield.Shield
	Notify   func(title, text string)
	Spent    func(*sandbox.Session) // shows what a conversation has used, in view now
	Refresh  func() error           // shows the changes of a run
	Reveal   func(path string)
	Picture  func(ctx context.Context, path string) ([]byte, error)
	View     func(path string)                                                   // shows a file in the viewer
	Keep     func(name, text string) error                                       // makes a file of a code block
	Journal  func() *fsaccess.Journal                                            // of the open folder
	Sample   func() error                                                        // opens the sample folder, for the demo
	Page     func(ctx context.Context, server, uri string) (protocol.App, error) // reads the page of a tool
	Free     func(server string) map[string]bool                                 // the tools whose calls the user allows
	Rules    func() protocol.FSPolicy                                            // of the open folder
	Waits    func() bool                                                         // changes of a box elsewhere wait for the user
	Takes    func(context.Context, fsaccess.Question) (bool, error)
	Arrived  func(a *place.Arrived, from string, done func()) error
	Counts   string // the message of the guided tour that counts the hours of the sample
}

// Sessions are the conversations of the open folder. Up to openTalks are open, and one is in view.
type Sessions struct {
	Options
	ctx     context.Context
	sheet   *ui.Sheet
	box     *sandbox.Box
	store   sandbox.Store
	folder  string                  // the name of the open folder
	records []sandbox.SessionRecord // of the conversations in the list
	rows    dom.Rows
	of      string          // the conversation that the open menu is about, "" for the one in view
	find    string          // the text that the user looks for in the list
	gone    map[string]bool // deleted conversations that can still be brought back
	drafts  drafts
	reopens bool                  // the same conversation is opened again, for a new box
	beats   bool                  // a goroutine shows the life of the conversation in view
	turning chan struct{}         // closed when a new conversation is in view, nil if none is being opened
	talks   map[string]*talk.Talk // the open conversations, by session id
	aways   map[string]*away      // the conversations that work in another place, by session id
	looks   int                   // number of times that any conversation was put in view
	cur     *talk.Talk            // the conversation in view, nil if there is none
	files   attached              // to the next message
	answers *markdown.Renderer    // of all conversations

	commands commands
}

// New sets up the buttons and the text field, and opens no conversation. It fails if the page can't show
// questions.
func New(ctx context.Context, o Options) (*Sessions, error) {
	m := &Sessions{Options: o, ctx: ctx, talks: map[string]*talk.Talk{}, aways: map[string]*away{}, gone: map[string]bool{}, files: attached{ctx: ctx, no: map[string]bool{}}}
	m.drafts = drafts{&m.files, map[string][]sandbox.File{}}
	m.commands.read = func(dir string) ([]fs.DirEntry, error) {
		if m.box == nil {
			return nil, fs.ErrNotExist
		}
		return m.Journal().ReadDir(dir)
	}
	m.answers, _ = markdown.New(markdown.Options{}.Draw(guests.Draw(ctx, "guests/"))) // these options are valid
	var err error
	m.sheet, err = ui.New(iframe.ElementOf(dom.Element("ask")), ui.Options{Whose: m.whose, OnStop: m.interrupt, OnAsk: func(title string) {
		if m.cur != nil {
			m.cur.Inline()
		}
		dom.Status("Waiting for your answer: " + title)
		m.Notify("The assistant asks", title)
	}})
	if err != nil {
		return nil, err
	}
	m.menu()
	m.chats()
	talk.OnCard(func() *talk.Talk { return m.cur })
	talk.OnScheme(func() *talk.Talk { return m.cur })
	m.composer()
	places{m}.start()
	return m, nil
}

// keepDraft stores the text in the field for the conversation in view.
func (m *Sessions) keepDraft() {
	if m.cur != nil {
		m.drafts.keep(m.cur.Session.ID())
	}
}

// stow takes the unsent text and files out of the field, for the conversation in view.
func (m *Sessions) stow() {
	if m.cur != nil {
		m.drafts.stow(m.cur.Session.ID())
		m.commands.update()
	}
}

// Sheet returns the sheet in which boxes ask about a conversation's calls.
func (m *Sessions) Sheet() *ui.Sheet { return m.sheet }

// Commands sets the skills of the folder that is opened next, which the user can call.
func (m *Sessions) Commands(list []sandbox.Skill) { m.commands.skills = list }

// Open closes the conversations, and makes box theirs from now on, with its store. It opens the
// conversation that was in view, or else the last one of the folder.
func (m *Sessions) Open(box *sandbox.Box, store sandbox.Store, folder string) error {
	at := ""
	if m.cur != nil {
		at = m.cur.Session.ID()
	}
	m.reopens = at != "" && m.folder == folder // what the user writes meanwhile stays in the field
	defer func() { m.reopens = false }()
	m.Close()
	m.box, m.store = box, store
	if m.folder != folder {
		m.folder = folder
		m.sweep()
	}
	if at != "" {
		return m.open(at)
	}
	return m.resume()
}

// Current returns the session in view, nil if there is none.
func (m *Sessions) Current() *sandbox.Session {
	if m.cur == nil {
		return nil
	}
	return m.cur.Session
}

// Busy returns an error while a conversation is at work.
func (m *Sessions) Busy() error {
	for _, t := range m.talks {
		if t.Cancel != nil {
			return errors.New("a chat is at work: stop it first, or wait until it is done")
		}
	}
	return nil
}

// Progress shows a line of a running call's output on its card. It is for OnProgress of
// [sandbox.Options].
func (m *Sessions) Progress(p sandbox.Progress) {
	if t := m.talks[p.Session]; t != nil {
		t.Progress(p.Call, p.Text)
	}
}

// whose returns a text about the conversation that asks, "" if it is in view.
func (m *Sessions) whose(session string) string {
	if m.cur != nil && m.cur.Session.ID() == session {
		return ""
	}
	for _, r := range m.records {
		if r.ID == session {
			return "In the chat “" + titleOf(r) + "”"
		}
	}
	return ""
}

// resume opens the folder's last conversation that no other tab of the browser holds, or a new one.
func (m *Sessions) resume() error {
	list, err := m.box.Sessions(m.ctx)
	if err != nil {
		return err
	}
	m.trim(slices.Clone(list))
	for _, s := range list {
		if mine(s) && !m.gone[s.ID] {
			if err := m.open(s.ID); !errors.Is(err, protocol.ErrSession) { // another tab holds it
				return err
			}
		}
	}
	return m.open("")
}

// mine reports whether a session is shown: it is not archived, and not a subagent's. A fork is
// shown.
func mine(s sandbox.SessionRecord) bool {
	return s.ArchivedAt.IsZero() && (s.ParentID == "" || s.ParentMessageID != "")
}

// open shows the conversation with the id, or begins one if id is empty.
func (m *Sessions) open(id string) error {
	if t := m.talks[id]; t != nil {
		return m.show(t)
	}
	var s *sandbox.Session
	var err error
	if id == "" {
		s, err = m.box.NewSession(m.ctx, sandbox.SessionOptions{Workspace: m.folder})
	} else {
		s, err = m.box.OpenSession(m.ctx, id)
	}
	if err != nil {
		return err
	}
	return m.adopt(s)
}

func (m *Sessions) adopt(s *sandbox.Session) error {
	t, err := talk.New(m.ctx, m.box, s, talk.Options{
		InView: func(t *talk.Talk) bool { return m.cur == t }, OnNews: m.strip,
		Blocked: m.Shield.Stopped, WayOut: m.Shield.WayOut, Renderer: m.answers, Reveal: m.View, Picture: m.Picture, Keep: m.Keep, Edit: m.edit, Fork: m.forkAt, Retry: m.retry, Undo: m.undo, Mark: m.mark, Agent: m.agent(m.store),
		Page: m.Page, Free: m.Free, Draft: writer{m}.draft, Context: writer{m}.context,
	})
	if err != nil {
		s.Close()
		return err
	}
	m.talks[s.ID()] = t
	return m.show(t)
}

// agent returns a function that reads the stored parts of a subagent's answers.
func (m *Sessions) agent(store sandbox.Store) func(session string) []sandbox.PartRecord {
	return func(session string) []sandbox.PartRecord {
		messages, parts, _ := store.Messages(m.ctx, session) // one that is gone has none
		said := map[string]bool{}
		for _, r := range messages {
			said[r.ID] = r.Role == sandbox.RoleAssistant && r.Metadata.HiddenAt.IsZero()
		}
		return slices.DeleteFunc(parts, func(p sandbox.PartRecord) bool { return !said[p.MessageID] })
	}
}

// drop closes an open conversation. It stays stored.
func (m *Sessions) drop(id string) {
	if t := m.talks[id]; t != nil {
		delete(m.talks, id)
		for i := range m.records {
			if m.records[i].ID == id {
				m.records[i] = t.Session.Record()
			}
		}
		t.Close()
		if m.cur == t {
			if !m.reopens {
				m.stow()
			}
			m.cur = nil
		}
	}
}

// rest closes idle conversations, those viewed longest ago first, so that openTalks stay open. They
// are stored, and can be opened again. Conversations at work, or with news, stay open.
func (m *Sessions) rest() {
	idle := slices.DeleteFunc(slices.Collect(maps.Values(m.talks)), func(t *talk.Talk) bool { return t == m.cur || t.Cancel != nil || t.News })
	slices.SortFunc(idle, func(x, y *talk.Talk) int { return y.Look - x.Look })
	for i, t := range idle {
		if i >= openTalks-1 {
			m.drop(t.Session.ID())
		}
	}
}

// show puts a conversation in view. The others continue their work.
func (m *Sessions) show(t *talk.Talk) error {
	for _, o := range m.talks {
		o.Behind(o != t)
	}
	if m.cur != t && m.turning == nil {
		m.stow()
	}
	m.looks++
	m.cur, t.News, t.Look = t, false, m.looks
	m.of = ""
	m.drafts.unstow(t.Session.ID())
	m.rest()
	cards := dom.Element("cards")
	cards.Call("replaceChildren")
	for _, item := range t.Items() {
		cards.Call("append", item)
	}
	dom.Hide("quiet", len(t.Items()) > 0)
	t.ShowTodo()
	t.ShowTrouble()
	dom.Hide("welcome", len(t.Session.Recent()) > 0)
	for _, id := range []string{"new", "fork", "rename", "rewind", "save", "load", "archive", "drop", "all", "send"} {
		dom.Enable(id, true)
	}
	m.shown(t)
	places{m}.showPlace()
	m.recorded(t.Session)
	m.sheet.ShowWhose() // a question stays, whichever conversation is in view
	return nil
}

// shown updates the buttons and the list to the state of a conversation.
func (m *Sessions) shown(t *talk.Talk) {
	if m.cur == t {
		m.Spent(t.Session)
		dom.Hide("stop", t.Cancel == nil)
		m.beat()
		if t.Cancel != nil {
			dom.Hide("welcome", true)
		}
	}
	m.strip()
}

// title names a conversation by its first message, if it has no name.
func (m *Sessions) title(s *sandbox.Session, text string) {
	if s.Record().Metadata["title"] == nil {
		dom.Failed(s.Rename(m.ctx, dom.Cut(strings.Join(strings.Fields(text), " "), 40)))
		m.recorded(s)
	}
}

// Close closes all conversations, for another folder or a new box.
func (m *Sessions) Close() {
	for _, id := range slices.Collect(maps.Keys(m.talks)) {
		m.drop(id)
	}
	m.records = nil
}
