package sessions

import (
	"errors"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/talk"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/sandbox"
)

// draftOf begins the key in localStorage of a conversation's unsent text. Its files stay in memory.
const draftOf = "bailey-files-draft-"

// drafts are the unsent texts and files of conversations, by the conversation's id.
type drafts struct {
	files *attached                 // of the conversation in view
	away  map[string][]sandbox.File // of the others
}

// keep stores the text in the field for a conversation.
func (d *drafts) keep(id string) {
	key, text, store := draftOf+id, dom.Value("text"), js.Global().Get("localStorage")
	if text == "" {
		store.Call("removeItem", key)
	} else if len(text) < 200_000 {
		func() {
			defer func() { _ = recover() }() // the storage is full
			store.Call("setItem", key, text)
		}()
	}
}

// stow takes the unsent text and files of a conversation out of the field.
func (d *drafts) stow(id string) {
	d.keep(id)
	d.away[id] = d.files.take()
	dom.SetValue("text", "")
}

// unstow puts the unsent text and files of a conversation back into the field, unless the user has begun
// another text meanwhile.
func (d *drafts) unstow(id string) {
	if files := d.away[id]; len(files) > 0 {
		d.files.giveBack("", files)
		delete(d.away, id)
	}
	if text := js.Global().Get("localStorage").Call("getItem", draftOf+id); dom.Value("text") == "" && text.Type() == js.TypeString {
		dom.SetValue("text", text.String())
	}
	d.keep(id)
}

// writer is an app in a conversation, which may write for the user.
type writer struct{ *Sessions }

// draft puts a text of an app into the message field, below the text of the user's. The field does not get the focus: the
// user's next Enter may be meant for the app.
func (m writer) draft(t *talk.Talk, text string) error {
	if m.cur != t {
		return errors.New("the user sees another chat")
	}
	dom.SetValue("text", strings.TrimLeft(dom.Value("text")+"\n\n"+text, "\n"))
	m.keepDraft()
	m.commands.update()
	dialog.Toast("The text is in the message field. Nobody has it before you send it.")
	return nil
}

// context attaches the text of an app to the user's next message, in the place of the one before.
func (m writer) context(t *talk.Talk, app, text string) {
	if m.cur == t {
		m.files.context("Context from "+app+".txt", text)
	}
}
