package talk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Options are the parts of the page that a conversation talks with. All are required.
type Options struct {
	InView  func(*Talk) bool              // the user sees this conversation
	OnNews  func()                        // a text came while the user saw another conversation
	Blocked func(text string)             // an answer tried something that the policy of its frame blocked
	WayOut  func(tool string, output any) // a call ended
	Reveal  func(path string)             // shows a file of the folder, to which a link leads
	Edit    func(t *Talk, message sandbox.Message, restore bool)
	Fork    func(t *Talk, message sandbox.Message)
	Retry   func(t *Talk, message sandbox.Message)
	Mark    func(path string) (int64, string) // number of the last change of a file, 0 without one, and its diff
	Undo    func(path string, mark int64)

	// Picture returns an image of the folder, at most MaxPicture bytes.
	Picture func(ctx context.Context, path string) ([]byte, error)

	// Keep makes a file of a code block. It asks for the name.
	Keep func(name, text string) error

	// Agent returns the stored parts of a subagent's answers, or none.
	Agent func(session string) []sandbox.PartRecord

	// Page reads the page of a tool of an MCP server. It is the server's, and untrusted.
	Page func(ctx context.Context, server, uri string) (protocol.App, error)
	// Free returns the ids of the tools of a server whose calls the user allows, all of them.
	Free func(server string) map[string]bool
	// Draft puts a text of an app into the message field. The user has agreed to that.
	Draft func(t *Talk, text string) error
	// Context takes the text that an app wants the model to have with the user's next message, "" for none.
	Context func(t *Talk, app, text string)

	Renderer *markdown.Renderer // of the answers
}

// MaxPicture is the size of a picture in a conversation, in bytes.
const MaxPicture = 8 << 20

// Talk is an open conversation. Its text is one document behind two frames, or several with the page of a tool
// between each two, and its calls are cards beside it. Several conversations can be at work, and one is in view.
type Talk struct {
	Box     *sandbox.Box            // of Session
	Session *sandbox.Session        // replaced while a plan is made, with Box
	Cancel  context.CancelCauseFunc // ends the run, nil without one
	Leave   context.CancelFunc      // drops a plan during its question, nil without one
	Asked   string                  // id of the last message when a model was last asked
	Began   time.Time               // of the run
	Problem string                  // why the last message has no answer
	News    bool                    // a text came while another conversation was in view
	Look    int                     // greater than that of each conversation that was in view before

	options Options
	details string // more about Problem
	ctx     context.Context
	box     js.Value           // the element around the documents
	views   []*iframe.Document // in order
	view    *iframe.Document   // the last one
	turn    sync.Mutex         // held while another one is made
	split   bool               // the next section begins another one, below an app
	apps    []*app             // in order
	no      map[string]int     // the user's refusals of wishes of apps, by server
	older   int                // number of apps that are shown as a line, because others come later
	n       int                // number of sections
	text    *iframe.Section
	last    strings.Builder // the text of the section that streams, for the live region
	cards   map[string]*card
	items   []js.Value     // the cards in order
	images  images         // of the document
	links   links          // of the document
	group   *group         // of the calls since the last text, nil without one
	texts   map[string]int // number of messages of the user's by their text
	asked   [2]any         // text of the user's last message, and its number among equal ones
	answer  string         // the last text of the model
	todos   [][2]string    // what the assistant has to do, and its state
	thinks  bool           // text is the fold with the model's thoughts
	short   bool           // the user knows that the model does not receive all of the conversation
	refused bool           // the user knows that the provider refused the files
	step    struct {       // what this step has shown so far. Another try takes its place
		sections []*iframe.Section
		cards    []string
	}
}

// New returns a conversation that shows the messages of a session of a box. It is not yet in view.
func New(ctx context.Context, box *sandbox.Box, s *sandbox.Session, o Options) (*Talk, error) {
	t := &Talk{Box: box, Session: s, options: o, ctx: ctx, box: dom.Create("div", ""), cards: map[string]*card{}, no: map[string]int{}}
	t.box.Set("id", "talk-"+s.ID())
	t.box.Set("className", "paper")
	dom.Element("papers").Call("append", t.box)
	if err := t.paper("Conversation"); err != nil {
		t.box.Call("remove")
		return nil, err
	}
	t.Show()
	return t, nil
}

// paper begins a document.
func (t *Talk) paper(label string) error {
	o := t.options
	view, err := iframe.NewDocument(t.ctx, iframe.ElementOf(t.box), iframe.DocumentOptions{
		Label: label, Renderer: o.Renderer, OnLink: func(ctx context.Context, l iframe.Link) {
			if !t.links.follow(l.Path) {
				link(ctx, l, o.Reveal)
			}
		}, OnImage: func(ctx context.Context, r iframe.ImageRequest) ([]byte, error) {
			return t.images.open(ctx, r, o.Picture)
		}, MaxImage: MaxPicture,
		OnOpen: func(_ context.Context, name, text string) error { return o.Keep(name, text) },
		CSS: `section[aria-label^="You,"] img { max-height: 15em; border-radius: 8px; vertical-align: top; }
			section[aria-label^="You,"] .bailey-plain { max-height: 20em; overflow-y: auto; }
			section[aria-label^="You,"] blockquote { margin-inline: 0; padding: .5em .9em; border: 0; border: 1px solid transparent; border-radius: 10px; color: inherit; background: light-dark(#eef6f1, #18261f); } section[aria-label^="You,"] blockquote > * { margin: 0; }
			section[aria-label^="Note,"] > * { margin: 0; padding: .6em .9em; border: 1px solid light-dark(#9a3412, #f0a06c); border-radius: 10px; background: light-dark(#fff4ec, #2c1d14); font-size: .9em; }
			section[aria-label^="Answer,"], section[aria-label^="Steps,"], section[aria-label^="Change,"], section[aria-label^="Thoughts,"] { font-size: .9em; }
			section[aria-label^="Steps,"] summary, section[aria-label^="Thoughts,"] summary { color: light-dark(#59616c, #a3abb6); }
			section[aria-label^="Steps,"] ul { margin-block: .3em; }
			section[aria-label^="Change,"] { padding: .6em .8em; border: 1px solid light-dark(#dfe2e7, #2e343c); border-radius: 10px; }
			section[aria-label^="Change,"] > div + div { margin-top: .4em; }
			section[aria-label^="You,"] > div:last-child:not(:only-child) p, section[aria-label^="Actions,"] p { font-size: .8em; text-align: end; }
			:is(section[aria-label^="You,"] > div:last-child, section[aria-label^="Actions,"]) a { color: light-dark(#59616c, #a3abb6); text-decoration: none; margin-inline-start: 1em; }
			section[aria-label^="Actions,"] p a { margin-inline: 0 1em !important; }
			:is(section[aria-label^="You,"], section[aria-label^="Actions,"]) a:hover { text-decoration: underline; }
			section[aria-label^="Actions,"] p { text-align: start; }
			section[aria-label^="Actions,"] { margin-top: .3em !important; }
			section[aria-label^="You,"] > div:last-child:not(:only-child), section[aria-label^="Actions,"] { opacity: .9; }
			section[aria-label^="You,"] > div + div { margin-top: .2em; }
			section[aria-label^="You,"]:hover > div, section[aria-label^="You,"]:focus-within > div, section[aria-label^="Actions,"]:is(:hover, :focus-within) { opacity: 1 !important; }`,
		Theme:       iframe.Theme{Variables: map[string]string{"--bailey-background": "light-dark(#ffffff, #1a1e23)"}},
		OnViolation: func(v iframe.CSPViolation) { o.Blocked(fmt.Sprintf("an answer: %s: %s", v.Directive, v.Blocked)) },
	})
	if err == nil {
		t.view, t.views = view, append(t.views, view)
	}
	return err
}

// Show shows all messages of the session again.
func (t *Talk) Show() {
	t.unplace()
	for _, v := range t.views[1:] {
		_ = v.Close()
	}
	t.views, t.view = t.views[:1], t.views[0]
	for _, s := range t.view.Sections() {
		_ = s.Remove()
	}
	for _, item := range t.items {
		item.Call("remove")
	}
	t.cards, t.items = map[string]*card{}, nil
	t.text, t.thinks, t.group, t.answer, t.asked, t.todos = nil, false, nil, "", [2]any{}, nil
	t.texts, t.links.acts = map[string]int{}, nil
	t.images.clear()
	t.older = -mostPapers + 1
	list := t.Session.Messages()
	for _, m := range list {
		for _, p := range m.Parts {
			if d, _ := p.Data.(map[string]any); p.ToolState == sandbox.ToolOutputAvailable {
				name, _ := d["tool"].(string)
				if page, _ := t.Box.AppOf(name); page != nil {
					t.older++
				}
			}
		}
	}
	for _, m := range list {
		t.message(m)
	}
	t.answered()
	t.begin() // a step that began before owns none of them
}

// Close closes the session, and removes the document.
func (t *Talk) Close() {
	t.unplace() // an app may store its state by a call in the session
	t.Session.Close()
	for _, v := range t.views {
		_ = v.Close()
	}
	t.box.Call("remove")
}

// message shows a stored message.
func (t *Talk) message(m sandbox.Message) {
	if text, files := Written(m); m.Role == sandbox.RoleUser && (text != "" || len(files) > 0) {
		t.said(text, stored(t.Session, files...))
		return
	}
	for _, p := range m.Parts {
		d, _ := p.Data.(map[string]any)
		text, _ := d["text"].(string)
		switch {
		case p.Type == "file":
			t.made(stored(t.Session, p)[0])
		case p.Type == "text":
			s := t.section("Assistant")
			s.write(text)
			_ = s.Close()
			t.text, t.answer = nil, text
		case p.Type == "reasoning" && text != "":
			t.think(text)
			t.thought()
		case p.Type == "data-compaction":
			t.summary(d)
		case p.ToolCallID != "":
			name, _ := d["tool"].(string)
			c := t.card(p.ToolCallID, name)
			t.input(c, d["input"])
			why, _ := d["error"].(string)
			c.past = true
			c.stored(p)
			t.stepped(c, c.end(p.ToolState != sandbox.ToolOutputAvailable, d["reason"] == string(protocol.ReasonRejected), why, d["output"]), d["output"])
			if c.agent != nil {
				t.storedAgent(c.agent)
			}
			t.ran(c, p, false)
		}
	}
}

// made shows a file that the model made.
func (t *Talk) made(f pictured) {
	s := t.section("Assistant")
	s.write(t.images.markdown(f))
	_ = s.Close()
	t.text = nil
}

// summary shows a fold with the summary that the model receives in place of older messages.
func (t *Talk) summary(d map[string]any) {
	text, _ := d["summary"].(string)
	s := t.section("Summary")
	s.write("<details><summary>Earlier messages, summarised for the model</summary>\n\n" + text + "\n\n</details>\n")
	_ = s.Close()
}

// think adds to the fold with the model's thoughts, which stays closed unless the user opens it. They
// are plain text, because a code fence that a thought leaves open would take in the end of the fold.
func (t *Talk) think(text string) {
	if !t.thinks {
		t.section("Thoughts").write("<details><summary>Thoughts</summary>\n\n")
		t.thinks = true
	}
	text = strings.ReplaceAll(escape(text), "  ", "\u00a0 ") // no line is indented code
	out{t.text}.write(strings.ReplaceAll(text, "\n", "  \n"))
}

// thought ends the fold.
func (t *Talk) thought() {
	if t.thinks {
		out{t.text}.write("\n\n</details>\n")
		_ = t.text.Close()
		t.text, t.thinks = nil, false
	}
}

// Said shows a message of the user's: its text as plain text, and its files.
func (t *Talk) Said(text string, files ...sandbox.File) {
	var list []pictured
	for _, f := range files {
		list = append(list, pictured{f, func(context.Context) ([]byte, error) { return f.Data, nil }})
	}
	t.said(text, list)
}

func (t *Talk) said(text string, files []pictured) {
	t.answered()
	said, s := text, t.section("You")
	if long(text) { // too long for Markdown, so it is a section of its own
		_ = s.Show(t.options.Renderer.Text(text))
		text, s = "", t.section("You")
	}
	defer s.Close()
	if t.options.InView(t) { // the user wants to see the answer
		scroll := dom.Element("talk")
		scroll.Set("scrollTop", scroll.Get("scrollHeight"))
	}
	for line := range strings.Lines(text) {
		s.write("> " + escape(strings.TrimRight(line, "\r\n")) + "  \n")
	}
	for _, f := range files {
		s.write("> " + t.images.markdown(f) + "  \n")
	}
	s.write("\n" + t.ofMessage(said) + "\n")
	t.short, t.refused = false, false
}

// long reports whether a text is shown without Markdown, which has limits for a line and a block.
func long(text string) bool {
	if len(text) > 128<<10 {
		return true
	}
	for line := range strings.Lines(text) {
		if len(line) > 8<<10 {
			return true
		}
	}
	return false
}

// escape returns s with each character of Markdown escaped. A bracket behind a backslash would begin or end a formula.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("()[]", r):
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		case strings.ContainsRune("\\`*_{}<>#+-.!|~&:$^=", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

type out struct{ *iframe.Section }

func (o out) write(text string) { _, _ = o.WriteString(text) }

// section begins a section of the document, labelled by its author.
func (t *Talk) section(who string) out {
	t.thought() // the user may say something, or a note may come, while the model thinks
	if who != "Change" {
		t.group = nil
	}
	t.turn.Lock()
	defer t.turn.Unlock()
	if t.split && len(t.views) < mostPapers && !dom.Failed(t.paper(fmt.Sprintf("Conversation, part %d", len(t.views)+1))) {
		t.split = false
	}
	t.n++
	s := t.view.Section(fmt.Sprintf("s%d", t.n))
	_ = s.SetLabel(fmt.Sprintf("%s, %d", who, t.n))
	if who == "Assistant" || who == "Thoughts" { // anything else leaves an answer that streams as it is
		t.text = s
		t.last.Reset()
		t.step.sections = append(t.step.sections, s)
	}
	return out{s}
}

// again removes what a try of a step has shown, because the next try begins from the start.
func (t *Talk) again() {
	for _, s := range t.step.sections {
		_ = s.Remove()
	}
	for _, id := range t.step.cards {
		c := t.cards[id]
		c.item.Call("remove")
		if c.app != nil {
			c.app.remove()
			t.apps = slices.DeleteFunc(t.apps, func(a *app) bool { return a == c.app })
		}
		t.items = slices.DeleteFunc(t.items, c.item.Equal)
		delete(t.cards, id)
		if c.group != nil && c.group.section != nil {
			c.group.lines = slices.DeleteFunc(c.group.lines, func(s *step) bool { return s == c.step })
			t.showGroup(c.group)
		}
	}
	t.text, t.thinks, t.group = nil, false, nil
	t.begin()
}

// begin begins a step, which has shown nothing yet.
func (t *Talk) begin() { t.step.sections, t.step.cards = nil, nil }

// Chunk shows a part of the model's stream.
func (t *Talk) Chunk(c sandbox.Chunk) {
	switch c.Type {
	case "start-step":
		t.begin()
	case "reset-step":
		t.again()
	case "reasoning-delta":
		t.think(c.Delta)
	case "reasoning-end":
		t.thought()
	case "text-start":
		t.section("Assistant")
	case "text-delta":
		if t.text == nil {
			t.section("Assistant")
		}
		out{t.text}.write(c.Delta)
		t.last.WriteString(c.Delta)
	case "text-end":
		if t.text != nil {
			_ = t.text.Close()
			t.heard()
		}
		t.text, t.answer = nil, t.last.String()
	case "tool-input-start":
		t.wrote(t.card(c.ToolCallID, c.ToolName), "")
	case "tool-input-delta":
		t.wrote(t.card(c.ToolCallID, c.ToolName), c.Delta)
	case "tool-input-available":
		t.input(t.card(c.ToolCallID, c.ToolName), c.Input)
	case "tool-input-error":
		t.end(c, c.ErrorText)
	case "tool-approval-request":
		t.card(c.ToolCallID, "").asked()
	case "tool-approval-response":
		card := t.card(c.ToolCallID, "")
		card.answered()
		if c.Approved {
			t.begun(card)
		}
	case "data-approval":
		d, _ := c.Data.(map[string]any)
		id, _ := d["toolCallId"].(string)
		if d["approved"] == nil {
			t.card(id, "").asked()
		} else {
			t.card(id, "").answered()
		}
	case "tool-output-available":
		if c.Preliminary {
			t.card(c.ToolCallID, "").soFar(c.Output)
			return
		}
		t.end(c, "")
	case "tool-output-error", "tool-output-denied":
		t.end(c, c.ErrorText)
	case "data-retry":
		t.retry(c.Data)
	case "data-stopped":
		t.halted(c.Data)
	case "data-compaction":
		d, _ := c.Data.(map[string]any)
		t.summary(d)
	case "file":
		if f, err := streamed(c); !dom.Failed(err) {
			t.made(f)
		}
	case "data-shortened":
		t.noteOnce(&t.short, "Shortened for the model.", "The conversation is longer than the model can read at once, so the model gets only the beginning and the end of the longest texts. Send a long text in parts, or enter a larger window in Settings if the model has one.")
	case "data-files-refused":
		d, _ := c.Data.(map[string]any)
		why, _ := d["reason"].(string)
		t.noteOnce(&t.refused, "Sent without files.", "The model's provider refused the files of this conversation, so the model gets only their names. To leave a file out for good, go back to before it was sent. The provider says: "+dom.Cut(strings.Join(strings.Fields(why), " "), 300))
	}
}

// noteOnce shows a note that the model does not receive all of the conversation. Each step of a run may
// give cause for it, so it comes once for each message of the user's: noted tells that it has come.
func (t *Talk) noteOnce(noted *bool, title, text string) {
	if *noted {
		return
	}
	*noted = true
	s := t.section("Note")
	s.write("**" + title + "** " + escape(text))
	_ = s.Close()
	if t.options.InView(t) {
		aloud(title + " " + text)
	}
}

// end shows that a call has ended, and its outcome.
func (t *Talk) end(c sandbox.Chunk, why string) {
	denied := false // by the user, and not by a stopped run
	output := c.Output
	card := t.card(c.ToolCallID, c.ToolName)
	p, ok := t.Session.Part(c.ToolCallID)
	if ok {
		card.stored(p)
		d, _ := p.Data.(map[string]any)
		if denied = d["reason"] == string(protocol.ReasonRejected); denied {
			why = "You said no."
		}
		if output == nil { // of a call that failed
			output = d["output"]
		}
	}
	t.stepped(card, card.end(c.Type != "tool-output-available", denied, why, output), output)
	if card.agent != nil {
		t.storedAgent(card.agent)
	}
	t.ran(card, p, true)
	t.options.WayOut(card.name, c.Output)
}

// heard puts the answer into the page's live region, because not every browser reads a frame's live
// region aloud. A conversation that is not in view gets a mark instead.
func (t *Talk) heard() {
	if !t.options.InView(t) {
		t.News = true
		t.options.OnNews()
		return
	}
	aloud("Assistant: " + dom.Cut(t.last.String(), 2000))
}

// aloud puts a text into the page's live region.
func aloud(text string) {
	line := dom.Create("p", text)
	log := dom.Element("heard")
	log.Call("append", line)
	if log.Get("childElementCount").Int() > 5 {
		log.Get("firstElementChild").Call("remove")
	}
}

// halted lists the finished steps of a run that was stopped.
func (t *Talk) halted(data any) {
	d, _ := data.(map[string]any)
	s := t.section("Assistant")
	s.write("**Stopped.** ")
	list := texts(d["done"])
	if len(list) == 0 {
		s.write("Nothing had been changed.")
	} else {
		s.write("Done until then:\n\n")
	}
	for _, text := range list {
		name, input, _ := strings.Cut(text, " ")
		var args map[string]any
		if json.Unmarshal([]byte(input), &args) == nil {
			text = name + " " + about(args)
		}
		s.write("- " + escape(dom.Cut(strings.Join(strings.Fields(text), " "), 160)) + "\n")
	}
	_ = s.Close()
	t.text = nil
	dom.Status("Stopped.")
}

func texts(v any) (out []string) {
	switch list := v.(type) {
	case []string:
		return list
	case []any:
		for _, e := range list {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// Items returns the cards of the calls, in order.
func (t *Talk) Items() []js.Value { return t.items }

// Last returns the beginning of the last text of the model.
func (t *Talk) Last() string { return strings.TrimSpace(t.last.String()) }

// Ended shows that the run has ended: links below its answer, no more list of things that are done, and no call at
// work. One whose arguments did not come to their end has not begun, and is not stored.
func (t *Talk) Ended() {
	for _, c := range t.cards {
		if c.args == nil && c.item.Get("className").String() == "running" {
			last := c.draft.end()
			c.whole()
			if last != "" {
				c.part("Written until then", last)
			}
			t.stepped(c, c.end(true, false, "stopped", nil), nil)
		}
	}
	t.answered()
	if t.options.InView(t) {
		t.ShowTodo()
	}
}

// Behind sets whether another conversation is in view. The apps of one that is not are closed.
func (t *Talk) Behind(yes bool) {
	t.box.Get("classList").Call("toggle", "behind", yes)
	if yes {
		go t.Rest("Closed when you left this chat.")
	}
}

// Unheard reports whether the user's last message came after the last request to a model.
func (t *Talk) Unheard() bool {
	m := t.Latest()
	return m.Role == sandbox.RoleUser && m.ID != t.Asked
}

// Heard marks the messages so far as heard, because a model is asked now.
func (t *Talk) Heard() { t.Asked = t.Latest().ID }

// Latest returns the last message, which may be the zero one. A summary is stored like a message of the
// user's, and is none.
func (t *Talk) Latest() (last sandbox.Message) {
	for _, m := range t.Session.Recent() {
		if m.Metadata.Trigger != "compaction" {
			last = m
		}
	}
	return last
}

// Progress shows a line of a running call's output on its card.
func (t *Talk) Progress(call, text string) {
	if c := t.cards[call]; c != nil {
		c.progress(text)
	}
}

// Trouble shows why a run has no answer, and offers another try. The first sentence of text is the reason.
func (t *Talk) Trouble(text, details string) {
	t.Problem, t.details = text, details
	if t.options.InView(t) {
		dom.Status("")
		t.ShowTrouble()
	}
}

// Came reports whether the present step has shown a part of an answer.
func (t *Talk) Came() bool { return len(t.step.sections) > 0 && t.last.Len() > 0 }

// ShowTrouble shows the card below the conversation: why the last message has no answer, or that the last
// answer ended too early. Without such a reason it hides the card.
func (t *Talk) ShowTrouble() {
	text, again := t.Problem, "Try again"
	if text == "" && t.Cancel == nil {
		list := t.Session.Recent()
		switch {
		case len(list) == 0:
		case list[len(list)-1].Metadata.Partial, list[len(list)-1].Role == sandbox.RoleAssistant && !ends(list[len(list)-1]):
			text, again = "The last answer is not whole: it was stopped, or this page was closed.", "Continue"
		case t.Latest().Role == sandbox.RoleUser:
			text = "This message has no answer yet: it was stopped, or this page was closed."
		}
	}
	show(text, t.details, again, false)
	dom.Hide("change-model", t.Problem == "")
}

// ends reports whether an answer ends with a text or a file. One that ends with a step was interrupted, or the
// model said nothing about it.
func ends(m sandbox.Message) bool {
	for _, p := range slices.Backward(m.Parts) {
		if p.ToolCallID != "" {
			return false
		}
		if p.Type == "text" || p.Type == "file" {
			return true
		}
	}
	return true
}

// ShowReload shows a text with a button that loads the page again.
func ShowReload(text string) {
	show(text, "", "", true)
	dom.Hide("change-model", true)
}

func show(text, details, again string, reload bool) {
	dom.SetText("trouble-text", text)
	dom.SetText("again", again)
	dom.SetText("trouble-details", details)
	dom.Hide("trouble-more", details == "" || text == "")
	dom.Hide("again", reload)
	dom.Hide("reload", !reload)
	dom.Hide("trouble", text == "")
}

// retry shows that the provider is asked again automatically.
func (t *Talk) retry(data any) {
	d, _ := data.(map[string]any)
	after, _ := d["after_ms"].(float64)
	reason, _ := d["reason"].(string)
	dom.Status(fmt.Sprintf("The model could not answer (%s). Try %v in %.1f s. Esc stops.", dom.Cut(reason, 120), consent.Values(d["attempt"], ""), after/1000))
}
