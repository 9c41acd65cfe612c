package talk

import (
	"crypto/rand"
	"fmt"
	markup "html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/sandbox"
)

// group is a row of calls between two texts of the conversation: a fold with a line for each, and below it
// a section for each change.
type group struct {
	section *iframe.Section
	lines   []*step
	dirty   string // what the section shows
}

// step is a call in the conversation. Its card has all of it.
type step struct {
	name, what, state string
}

// The limits of steps in the conversation. The cards have all of it.
const (
	mostLines = 200   // of a group
	mostDiff  = 20000 // bytes of a change
)

// links are the links of the conversation that act on the page. Only the page can make one, because the
// address has a random number that neither a model nor a file knows.
type links struct {
	secret string
	acts   []func()
}

// link returns the Markdown of a link that calls do.
func (l *links) link(text string, do func()) string {
	if l.secret == "" {
		l.secret = "page-" + rand.Text()
	}
	l.acts = append(l.acts, do)
	return fmt.Sprintf("[%s](%s/%d)", text, l.secret, len(l.acts)-1)
}

// follow calls the action of a link, and reports whether it is one of the page's.
func (l *links) follow(path string) bool {
	n, ok := strings.CutPrefix(path, l.secret+"/")
	i, err := strconv.Atoi(n)
	if l.secret == "" || !ok || err != nil || i < 0 || i >= len(l.acts) {
		return false
	}
	go l.acts[i]()
	return true
}

// toFile returns the Markdown of a link to a file of the folder.
func toFile(path string) string {
	return "[" + escape(path) + "](" + strings.ReplaceAll(url.PathEscape(path), "%2F", "/") + ")"
}

// verbs say what a tool does: while it does, and as one of several, with a noun to count if it has one.
var verbs = map[string]struct{ now, done, noun string }{
	"read": {"Reading", "read", "file"}, "glob": {"Looking for files", "looked for files", ""}, "grep": {"Searching", "searched", ""},
	"write": {"Writing", "changed", "file"}, "edit": {"Editing", "changed", "file"}, "delete": {"Deleting", "deleted", "file"}, "move": {"Moving", "moved", "file"},
	"code_run": {"Running code", "ran code", ""}, "bash": {"Running commands", "ran commands", ""}, "tool_run": {"Running a tool", "ran a tool", ""},
	"undo": {"Undoing", "undid a change", ""}, "todo": {"Planning", "planned", ""}, "question": {"Asking you", "asked you", ""}, "task": {"Delegating", "delegated a task", ""},
	"skill": {"Reading a skill", "read a skill", ""}, "web_fetch": {"Reading the web", "read the web", ""}, "web_search": {"Searching the web", "searched the web", ""},
}

// summary names the steps of a group, such as "Read 3 files · changed 1 file · ran code".
func summary(steps []*step) string {
	counts, order := map[string]int{}, []string{}
	nouns, bad := map[string]string{}, 0
	for _, s := range steps {
		if s.state == "running" {
			if v, ok := verbs[s.name]; ok {
				return v.now + " " + s.what
			}
			return s.name + " " + s.what
		}
		if s.state != "done" {
			bad++
			continue
		}
		v, ok := verbs[s.name]
		if !ok {
			v.done = "used " + s.name
		}
		if counts[v.done] == 0 {
			order = append(order, v.done)
		}
		counts[v.done]++
		nouns[v.done] = v.noun
	}
	var parts []string
	for _, done := range order {
		if nouns[done] != "" {
			done += " " + consent.Count(counts[done], nouns[done])
		}
		parts = append(parts, done)
	}
	if bad > 0 {
		parts = append(parts, fmt.Sprintf("%d not done", bad))
	}
	text := strings.Join(parts, " · ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// stepOf adds a call to the group at the end of the conversation.
func (t *Talk) stepOf(c *card) {
	if t.group == nil {
		s := t.section("Steps")
		t.step.sections = append(t.step.sections, s.Section)
		t.group = &group{section: s.Section}
	}
	c.step = &step{name: c.name, state: "running"}
	c.group = t.group
	t.group.lines = append(t.group.lines, c.step)
	t.showGroup(t.group)
}

// showGroup shows the steps of a group.
func (t *Talk) showGroup(g *group) {
	if len(g.lines) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("<details><summary>" + markup.EscapeString(dom.Cut(summary(g.lines), 120)) + "</summary>\n\n")
	lines := g.lines[max(0, len(g.lines)-mostLines):]
	for _, s := range lines {
		v, ok := verbs[s.name]
		word := v.now
		if !ok {
			word = s.name
		}
		b.WriteString("- " + escape(word+" "+s.what))
		if s.state != "done" {
			b.WriteString(" · *" + s.state + "*")
		}
		b.WriteString("\n")
	}
	if b.String() == g.dirty {
		return
	}
	g.dirty = b.String()
	_ = g.section.Reset()
	s := out{g.section}
	s.write(g.dirty)
	s.write("\n" + t.links.link("All details", func() { dom.Element("tab-steps").Call("click") }) + "\n\n</details>\n")
	_ = g.section.Close()
}

// stepped shows the end of a call in the conversation, and the change that it made.
func (t *Talk) stepped(c *card, state string, output any) {
	if c.step == nil {
		return
	}
	c.step.state = state
	m, _ := output.(map[string]any)
	t.showGroup(c.group)
	if c.name == "question" && state == "done" {
		s := t.section("Answer")
		t.step.sections = append(t.step.sections, s.Section)
		s.write("Your answer: **" + escape(answers(m)) + "**\n")
		_ = s.Close()
	}
	diff, _ := m["diff"].(string)
	mark := int64(0)
	if state == "done" && c.path != "" && !c.past && slices.Contains([]string{"write", "edit", "delete"}, c.name) {
		var whole string
		if mark, whole = t.options.Mark(c.path); diff == "" {
			diff = whole
		}
	}
	if state != "done" || diff == "" || c.path == "" {
		return
	}
	s := t.section("Change")
	t.step.sections = append(t.step.sections, s.Section)
	add, del := 0, 0
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case line[0] == '+':
			add++
		case line[0] == '-':
			del++
		}
	}
	s.write(fmt.Sprintf("**%s** · +%d −%d", toFile(c.path), add, del))
	if path := c.path; mark > 0 {
		s.write(" · " + t.links.link("Undo", func() { t.options.Undo(path, mark) }))
	}
	if i := strings.Index(diff, "\n@@"); i >= 0 { // its names stand above
		diff = diff[i+1:]
	}
	if len(diff) > mostDiff {
		diff = strings.ToValidUTF8(diff[:mostDiff], "") + "\n…"
	}
	fence := "```"
	for strings.Contains(diff, fence) {
		fence += "`"
	}
	s.write("\n\n" + fence + "diff\n" + strings.TrimRight(diff, "\n") + "\n" + fence + "\n")
	_ = s.Close()
}

// answers returns what the user answered to the model's questions.
func answers(output map[string]any) string {
	var all []string
	list, _ := output["answers"].([]any)
	for _, of := range list {
		some, _ := of.([]any)
		for _, a := range some {
			text, _ := a.(string)
			all = append(all, text)
		}
	}
	return dom.Cut(strings.Join(all, ", "), 200)
}

// message returns the message of the user's with a text: the nth of those with the same text.
func (t *Talk) messageOf(text string, nth int) (sandbox.Message, bool) {
	for _, m := range t.Session.Messages() {
		if w, _ := Written(m); m.Role == sandbox.RoleUser && m.Metadata.Trigger != "compaction" && w == text {
			if nth--; nth < 0 {
				return m, true
			}
		}
	}
	return sandbox.Message{}, false
}

// ofMessage returns the links below a message of the user's.
func (t *Talk) ofMessage(text string) string {
	nth := t.texts[text]
	t.texts[text]++
	t.asked = [2]any{text, nth}
	act := func(do func(*Talk, sandbox.Message)) func() {
		return func() {
			if m, ok := t.messageOf(text, nth); ok && t.Cancel == nil {
				do(t, m)
			} else {
				dom.Status("The assistant is at work: stop it first, or wait until it is done.")
			}
		}
	}
	return strings.Join([]string{
		t.links.link("Edit", act(func(t *Talk, m sandbox.Message) { t.options.Edit(t, m, false) })),
		t.links.link("Rewind here", act(func(t *Talk, m sandbox.Message) { t.options.Edit(t, m, true) })),
		t.links.link("Fork here", act(t.options.Fork)),
	}, " ")
}

// answered shows the links below the end of an answer.
func (t *Talk) answered() {
	if t.answer == "" || t.asked[0] == nil {
		return
	}
	whole, text, nth := t.answer, t.asked[0].(string), t.asked[1].(int)
	t.answer = ""
	s := t.section("Actions")
	s.write(t.links.link("Copy", func() { copied(whole) }) + " " + t.links.link("Try again", func() {
		if m, ok := t.messageOf(text, nth); ok {
			t.options.Retry(t, m)
		}
	}))
	_ = s.Close()
}

// Does returns what the assistant does now.
func (t *Talk) Does() string {
	for _, c := range t.cards {
		if c.step != nil && c.step.state == "running" {
			if c.asks > 0 {
				return "Waiting for your answer"
			}
			text := "Using " + c.name
			if v, ok := verbs[c.name]; ok {
				text = strings.TrimSpace(v.now + " " + c.step.what)
			}
			if c.args == nil && c.draft.size > 0 {
				text += " · " + dom.Size(int64(c.draft.size))
			}
			return text
		}
	}
	switch {
	case t.thinks:
		return "Thinking"
	case t.text != nil:
		return "Writing"
	}
	return "Waiting for the model"
}

// todo takes the assistant's list of things to do from the arguments of a call.
func (t *Talk) todo(input any) {
	m, _ := input.(map[string]any)
	list, _ := m["todos"].([]any)
	t.todos = nil
	for _, e := range list {
		m, _ := e.(map[string]any)
		text, _ := m["content"].(string)
		state, _ := m["status"].(string)
		t.todos = append(t.todos, [2]string{text, state})
	}
	if t.options.InView(t) {
		t.ShowTodo()
	}
}

// ShowTodo shows the assistant's list of things to do, while something on it is left.
func (t *Talk) ShowTodo() {
	box := dom.Element("todo")
	rows := box.Call("querySelector", "ol")
	rows.Call("replaceChildren")
	done := 0
	for _, d := range t.todos {
		row := dom.Create("li", dom.Cut(d[0], 200))
		if slices.Contains([]string{"in_progress", "completed", "cancelled"}, d[1]) {
			row.Set("className", d[1])
		}
		if d[1] == "completed" || d[1] == "cancelled" {
			done++
		}
		rows.Call("append", row)
	}
	box.Call("querySelector", "summary").Set("textContent", fmt.Sprintf("To do: %d of %d done", done, len(t.todos)))
	box.Set("hidden", len(t.todos) == 0 || done == len(t.todos) && t.Cancel == nil)
}
