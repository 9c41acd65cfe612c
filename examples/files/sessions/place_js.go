package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/place"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/files/talk"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// away is a conversation that works in another place: in a bailey-box on this computer, or in that of a bailey-front.
type away struct {
	cloud    bool
	files    string // the id of the files that were copied to the box, "" before
	reviewed bool   // the user has decided about all changes of the box
	about    place.About
	stop     func() // ends the run, nil without one
}

// name returns the name of the place for the user.
func (a *away) name() string {
	if a.cloud {
		return "the cloud box"
	}
	return "this computer"
}

// in returns the name with the word before it.
func (a *away) in() string {
	if a.cloud {
		return "in the cloud box"
	}
	return "on this computer"
}

// places is the part of the conversations that work in another place.
type places struct{ *Sessions }

// start sets up the choice of the place where a conversation works.
func (m places) start() {
	dom.OnClick("place-computer", func() { m.move(&away{}) })
	dom.OnClick("place-cloud", func() { m.move(&away{cloud: true}) })
	dom.OnClick("place-again", func() { m.connect(&away{}, "") })
	dom.OnClick("cloud-again", func() { m.connect(&away{cloud: true}, "") })
	dom.On(dom.Element("model-list"), "click", func(e js.Value) {
		if !e.Get("target").Call("closest", "button").IsNull() {
			m.move(nil)
		}
	})
}

// awayOf returns the state of a conversation that works in another place, and nil for one that works in this page.
func awayOf(m *Sessions, t *talk.Talk) *away {
	if t == nil {
		return nil
	}
	id := t.Session.ID()
	if a := m.aways[id]; a != nil {
		return a
	}
	if rec := t.Session.Record(); placed(rec) { // of an earlier visit
		files, _ := rec.Metadata["place"].(string)
		m.aways[id] = &away{files: files, cloud: inCloud(rec)}
	}
	return m.aways[id]
}

// placed reports whether a stored conversation works in another place.
func placed(rec sandbox.SessionRecord) bool {
	_, ok := rec.Metadata["place"].(string)
	return ok
}

// inCloud reports whether that is the cloud box.
func inCloud(rec sandbox.SessionRecord) bool { return placed(rec) && rec.Metadata["cloud"] == true }

// ofBox returns the box of a conversation, with an empty address if the user has connected none.
func (m places) ofBox(a *away, chat string) place.Box {
	m.Lock.Lock()
	defer m.Lock.Unlock()
	k := m.Settings.Box
	b := place.Box{Origin: js.Global().Get("location").Get("origin").String(), Transport: fetch.Browser()}
	if a.cloud {
		k, b.Session = m.Settings.Cloud, place.SessionOf(chat)
	}
	b.URL, b.Credential = k.URL, k.Key
	return b
}

// move lets the conversation in view work in another place, or in this page if that is nil. One that has begun stays where
// it is, and a new one is opened.
func (m places) move(to *away) {
	if m.cur == nil {
		return
	}
	if now := awayOf(m.Sessions, m.cur); now == to || now != nil && to != nil && now.cloud == to.cloud {
		return
	}
	if to != nil {
		b := m.ofBox(to, "")
		if b.URL == "" || b.Credential == "" {
			m.connect(to, "")
			return
		}
		if m.Settings.OfferReload() {
			return
		}
		dom.Status("Asking the box…")
		var err error
		if to.about, err = b.About(m.ctx); err != nil {
			m.connect(to, err.Error())
			return
		}
	}
	if len(m.cur.Session.Recent()) > 0 || m.cur.Cancel != nil {
		m.begin()
	}
	if m.cur == nil {
		return
	}
	if to != nil {
		m.aways[m.cur.Session.ID()] = to
		text := "This chat works " + to.in()
		if to.about.Model != "" {
			text += ", by " + to.about.Model
		}
		dom.Status(text + ".")
	} else {
		delete(m.aways, m.cur.Session.ID())
	}
	m.showPlace()
}

// connect asks for the line of bailey-box, or for the address and the credential of a bailey-front. trouble is the reason
// why the present one can't be used, "" without one.
func (m places) connect(to *away, trouble string) {
	origin := js.Global().Get("location").Get("origin").String()
	q := dialog.Question{Title: "Connect this computer", Label: "The line of bailey-box", Answers: []string{"Cancel", "Connect"},
		Text: "Start bailey-box on this computer, and paste the line that it prints. The assistant then works there on a copy of the folder, with programs of this computer that the box allows. Its changes come to you before they reach the folder.",
		Body: []js.Value{dom.Pre(strings.Join([]string{"bailey-box", "-origin", origin, "-policy", "policy.json", "-model", "NAME@ADDRESS"}, " "), "", "The command")}}
	parse := place.Parse
	if to.cloud {
		parse = place.ParseFront
		q.Title, q.Label = "Connect a cloud box", "Address and credential, with a space between them"
		q.Text = "Enter the address of a server that runs bailey-front, and the credential that you have of its operator. Each chat then gets a box of its own there, with a copy of the folder, and ends it when you delete the chat. The operator can read the copy. Changes come to you before they reach the folder."
		q.Body = []js.Value{dom.Pre(strings.Join([]string{"https://HOST", "CREDENTIAL"}, " "), "", "The form")}
	}
	if trouble != "" {
		q.Text = strings.ToUpper(trouble[:1]) + trouble[1:]
	}
	answer, said := dialog.Ask(q)
	if answer != "Connect" {
		return
	}
	b, err := parse(said)
	if err != nil {
		m.connect(to, err.Error())
		return
	}
	m.Lock.Lock()
	ok := m.Settings.Reach(m.ctx, func(k *settings.Kept) {
		if now := (settings.Box{URL: b.URL, Key: b.Credential}); to.cloud {
			k.Cloud = now
		} else {
			k.Box = now
		}
	})
	m.Lock.Unlock()
	if !ok || m.Settings.OfferReload() {
		return
	}
	if now := awayOf(m.Sessions, m.cur); now != nil && now.cloud == to.cloud {
		dom.Status("Connected.")
		m.showPlace()
		return
	}
	m.move(to)
}

// end removes the copies of a conversation that the cloud box has. It is called when the conversation is deleted.
func (m places) end(rec sandbox.SessionRecord) {
	if a := m.aways[rec.ID]; !inCloud(rec) && (a == nil || !a.cloud) {
		return
	}
	if b := m.ofBox(&away{cloud: true}, rec.ID); b.URL != "" && b.End(m.ctx) != nil {
		dom.Status("The chat is deleted here. The server at " + b.Host() + " did not answer, and still has its copy of the chat and the folder.")
	}
}

// showPlace shows where the conversation in view works.
func (m places) showPlace() {
	a := awayOf(m.Sessions, m.cur)
	dom.Hide("model-name", a != nil)
	dom.Hide("place-name", a == nil)
	dom.Hide("place-again", m.Settings.Box.URL == "")
	dom.Hide("cloud-again", m.Settings.Cloud.URL == "")
	dom.Element("plan").Get("parentNode").Set("hidden", a != nil)
	dom.Element("place-computer").Call("setAttribute", "aria-pressed", fmt.Sprint(a != nil && !a.cloud))
	dom.Element("place-cloud").Call("setAttribute", "aria-pressed", fmt.Sprint(a != nil && a.cloud))
	if a == nil {
		m.Shield.Elsewhere("", nil, nil)
		return
	}
	name, where, host := "This computer", "On this computer, by bailey-box at ", m.Settings.Box.URL
	if a.cloud {
		name, where, host = "Cloud box", "In a box of a server, by bailey-front at ", m.Settings.Cloud.URL
	}
	if a.about.Model != "" {
		name += ": " + a.about.Model
	}
	dom.SetText("place-name", name)
	var walls []string
	for _, w := range a.about.Walls {
		walls = append(walls, w.Name+": "+w.How)
	}
	m.Shield.Elsewhere(where+place.Box{URL: host}.Host(), walls, a.about.Lacks)
}

// elsewhere is answer in another place: the folder is copied to the box, which runs its own model, and its changes come
// back for the user to review. It reports whether the run came to its end.
func (m places) elsewhere(ctx context.Context, t *talk.Talk, _ sandbox.Model, text string, files []sandbox.File) bool {
	a := awayOf(m.Sessions, t)
	b := m.ofBox(a, t.Session.ID())
	a.stop = func() { t.Cancel(context.Canceled) }
	defer func() { a.stop = nil }()
	send := text
	if text == "" && len(files) == 0 { // another try
		last := t.Latest()
		if last.Role != sandbox.RoleUser {
			dom.Status("Send a message to go on.")
			return false
		}
		send, _ = talk.Written(last)
	}
	if err := m.ready(ctx, t, a, b, files); err != nil {
		m.files.giveBack(text, files)
		if errors.Is(err, context.Canceled) {
			dom.Status("Nothing was sent.")
			return false
		}
		t.Trouble(err.Error(), "")
		return false
	}
	if text != "" {
		if _, err := t.Session.Say(ctx, text); dom.Failed(err) {
			m.files.giveBack(text, nil)
			return false
		}
		t.Said(text)
		m.title(t.Session, text)
	}
	t.Heard()
	a.stop = func() {
		if b.Stop(m.ctx) != nil {
			t.Cancel(context.Canceled)
		}
	}
	a.reviewed = false
	r, ended, whole := place.NewRecorder(t.Session.ID(), a.about.Model), true, false
	for c, err := range b.Chat(ctx, send) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Trouble(err.Error(), "")
			}
			ended = false
			break
		}
		switch c.Type {
		case "data-question":
			go m.question(ctx, b, t.Session.ID(), c.Data.(place.Question))
			continue
		case "error":
			t.Trouble("The model of the box could not answer: "+c.ErrorText, "")
			ended = false
		case "abort":
			ended = false
		case "finish":
			whole = true
		case "tool-output-denied":
			c.ErrorText = place.Declined
		}
		r.Add(c)
		t.Chunk(c)
	}
	if err := m.keepAnswer(t, a, r, whole); dom.Failed(err) {
		return false
	}
	some, err := m.take(ctx, t, a, b)
	switch {
	case err != nil && ctx.Err() == nil:
		t.Trouble("The answer is here, and its changes are still "+a.in()+". They come with your next message. "+err.Error(), "")
	case some:
		dom.Status("Done. Review the changes: your folder has none of them yet.")
	case ended:
		dom.Status("Done")
	}
	if ended {
		m.Notify("The assistant is done", dom.Cut(t.Last(), 120))
	}
	return ended
}

// sentence is an error in words for the user.
type sentence string

func (s sentence) Error() string { return string(s) }

// ready copies the folder to the box, after a question when it is new there. Changes that the user has not seen come first.
func (m places) ready(ctx context.Context, t *talk.Talk, a *away, b place.Box, files []sandbox.File) (err error) {
	switch {
	case b.URL == "" || b.Credential == "":
		return sentence("No box is connected: choose a place below the message field.")
	case len(files) > 0:
		return sentence("A chat " + a.in() + " takes no files with a message, and no skills: put them into the folder first.")
	case m.Waits():
		return sentence("Review the changes first, and apply or discard them. Then send this again.")
	}
	if a.about, err = b.About(ctx); err != nil {
		return err
	}
	m.showPlace()
	again := a.files != "" && a.about.Files.ID == a.files
	if again && !a.reviewed {
		if some, err := m.take(ctx, t, a, b); err != nil {
			return err
		} else if some {
			return sentence("Changes of before have come from " + a.name() + ": review them first. Then send this again.")
		}
	}
	dom.Status("Reading the folder…")
	work, rules := m.Journal(), m.Rules()
	packed, err := place.Pack(ctx, work, rules, func(n int) {
		if n%50 == 0 {
			dom.Status(fmt.Sprintf("Reading the folder: %s", consent.Count(n, "file")))
		}
	})
	if err != nil {
		return err
	}
	keep := a.files
	if !again {
		keep = ""
		if !m.mayCopy(t, packed) {
			return context.Canceled
		}
	}
	dom.Status(fmt.Sprintf("Copying %s, %s", consent.Count(packed.Files, "file"), dom.Size(packed.Bytes)))
	copied, err := b.Put(ctx, packed.Archive, keep)
	if err != nil {
		return err
	}
	a.files, a.reviewed = copied.ID, true
	if err := m.keepAnswer(t, a, place.NewRecorder(t.Session.ID(), ""), true); err != nil { // a reload finds the place
		return err
	}
	dom.Status("")
	if len(copied.LeftOut) > 0 {
		dialog.Toast(fmt.Sprintf("Not copied, as the box does not take such names: %s.", names(leftOut(copied.LeftOut))))
	}
	return nil
}

func leftOut(list []place.Left) (out []string) {
	for _, l := range list {
		out = append(out, l.Path)
	}
	return out
}

// names returns the first of some names, and the number of the others.
func names(list []string) string {
	const most = 8
	text := strings.Join(list[:min(len(list), most)], ", ")
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return dom.Cut(text, 500)
}

// mayCopy asks whether the folder may be copied to the box.
func (m places) mayCopy(t *talk.Talk, p place.Packed) bool {
	a, list := awayOf(m.Sessions, t), dom.Create("ul", "")
	row := func(text string) { list.Call("append", dom.Create("li", text)) }
	if len(p.Denied) > 0 {
		row("Not copied, by the rules of this page: " + names(p.Denied))
	}
	row("Not copied: what .gitignore names, and links")
	if other := a.about.Files.ID; other != "" {
		row("The box has the files of another chat: what was changed in them, and not reviewed yet, is lost")
	}
	if len(t.Session.Recent()) > 0 {
		row("The box has not seen this chat before, so it does not know the messages above")
	}
	title := "Copy this folder to bailey-box on this computer?"
	if a.cloud {
		title = "Copy this folder to the cloud box?"
		row("It leaves this computer: the operator of " + m.ofBox(a, "").Host() + " can read it, and has it until you delete this chat")
	}
	answer, _ := dialog.Ask(dialog.Question{Title: title, Text: fmt.Sprintf("%s, %s. The assistant works on the copy there. Your folder stays as it is until you have reviewed what changed.", consent.Count(p.Files, "file"), dom.Size(p.Bytes)),
		Body: []js.Value{list}, Answers: []string{"Cancel", "Copy"}})
	return answer == "Copy"
}

// take brings the changes of the box to the user. It reports whether there are some.
func (m places) take(ctx context.Context, t *talk.Talk, a *away, b place.Box) (bool, error) {
	archive, err := b.Changes(ctx, a.files)
	if err != nil {
		return false, err
	}
	arrived, err := place.Arrive(ctx, archive, m.Journal(), m.Rules(), m.Takes)
	if err != nil {
		return false, err
	}
	list, err := arrived.Changes(ctx)
	if err != nil || len(list)+len(arrived.LeftOut) == 0 {
		return false, err
	}
	m.Lock.Lock()
	defer m.Lock.Unlock()
	return true, m.Arrived(arrived, a.name(), func() { a.reviewed = true })
}

// question shows a question of the box to the user, and sends the answer.
func (m places) question(ctx context.Context, b place.Box, session string, q place.Question) {
	answers := make([]policy.Answer, len(q.Requests))
	replies, err := m.sheet.Ask(ctx, q.Prompt(session))
	for i := range answers {
		answers[i] = policy.AnswerReject
		if err == nil && i < len(replies) && replies[i].Answer == policy.AnswerOnce {
			answers[i] = policy.AnswerOnce
		}
	}
	if err := b.Answer(ctx, q.ID, answers); ctx.Err() == nil {
		dom.Failed(err)
	}
}

// keepAnswer stores the answer of the box as one of this conversation.
func (m places) keepAnswer(t *talk.Talk, a *away, r *place.Recorder, whole bool) error {
	messages, parts := r.Records(whole)
	rec := t.Session.Record()
	rec.UpdatedAt = time.Now()
	rec.Metadata = maps.Clone(rec.Metadata)
	if rec.Metadata == nil {
		rec.Metadata = map[string]any{}
	}
	rec.Metadata["place"] = a.files
	if a.cloud {
		rec.Metadata["cloud"] = true
	}
	t.Session.Close()
	err := m.store.Put(m.ctx, rec, messages, parts)
	back, again := m.box.OpenSession(m.ctx, rec.ID)
	if again == nil {
		t.Session = back
	}
	return errors.Join(err, again)
}
