package gate

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Effect is one thing that a call does if the user agrees, in words for the user.
type Effect struct {
	// Text is one line without a full stop, which begins with a verb in lower case and names
	// the whole subject: "write thesis.tex, whose content is lost". A subject that is not a
	// plain name stands in quotes, and all characters are visible.
	Text string
	// Risk is the level of this effect alone; see the table of [protocol.Risk].
	Risk protocol.Risk
	// Destroys reports that content is lost. Undo brings it back if the folder keeps a journal.
	Destroys bool
	// InTitle reports that the request's title says the effect in the same words already.
	InTitle bool
	// Needs are the permissions that the effect uses; empty is an effect that needs none,
	// such as starting a subagent.
	Needs []policy.Need
}

// effects says all needs of a call in words. Each need is in just one effect.
func (g *Gate) effects(ctx context.Context, p Passage) []Effect {
	s := speech{at: map[place]int{}}
	for i, n := range moves(p.Needs) {
		if i%256 == 255 { // a page's only thread is let go
			_ = jsx.Yield(ctx)
		}
		about := g.situation(ctx, p, n)
		s.say(Effect{Text: about.words(), Risk: about.risk(), Destroys: n.Destroys, Needs: []policy.Need{n}})
	}
	return s.done()
}

// speech is a list of effects while it is made. A map finds the effect that a need joins, so
// the work grows with the number of needs, and not with its square.
type speech struct {
	out      []Effect
	at       map[place]int // where in out an effect stands
	commands []string      // those of the effect at place{kind: "commands"}
	looked   int           // how many effects of out were looked at, which a test counts
}

// place is what a need finds an effect by: its text, the path that it writes, or that it runs commands.
type place struct{ kind, name string }

// say adds an effect of one need, or joins it with one before it: if the words are the same,
// as one more command, or as the loss of what the other replaces.
func (s *speech) say(e Effect) {
	n := e.Needs[0]
	plain := n.Words == ""
	command := plain && n.Capability == protocol.ShellRun
	file := plain && n.Capability == protocol.FSWrite && !n.Tree
	i, found := s.at[place{"text", e.Text}]
	if found {
		s.looked++
	}
	found = found && s.out[i].Text == e.Text
	loses := false
	switch {
	case found:
	case command:
		i, found = s.at[place{kind: "commands"}]
	case file && n.Op == protocol.OpRemove && n.Destroys:
		i, found = s.at[place{"write", n.Subject}]
		loses = found
	}
	if !found {
		i = len(s.out)
		s.out = append(s.out, e)
	} else {
		s.looked++
		o := &s.out[i]
		o.Needs = append(o.Needs, n)
		if loses && !o.Destroys { // what stands there is replaced
			o.Text = "write " + Spelled(n.Subject) + ", whose content is lost"
		}
		o.Destroys = o.Destroys || e.Destroys
		if riskier(e.Risk, o.Risk) {
			o.Risk = e.Risk
		}
	}
	s.at[place{"text", s.out[i].Text}] = i
	switch {
	case command:
		s.at[place{kind: "commands"}] = i
		s.commands = append(s.commands, Spelled(n.Subject))
	case file && (n.Op == "" || n.Op == protocol.OpWrite):
		s.at[place{"write", n.Subject}] = i
	}
}

func (s *speech) done() []Effect {
	if len(s.commands) > 1 {
		s.out[s.at[place{kind: "commands"}]].Text = "run the commands " + List(s.commands)
	}
	return s.out
}

// moves gives a need to take something away, and the next one to put something there, the
// words of a move.
func moves(needs []policy.Need) []policy.Need {
	out := slices.Clone(needs)
	for i := range len(out) - 1 {
		from, to := &out[i], &out[i+1]
		if from.Capability == protocol.FSWrite && from.Op == protocol.OpRemove && from.Tree && !from.Destroys && from.Words == "" &&
			to.Capability == protocol.FSWrite && to.Op == protocol.OpWrite && to.Tree && to.Words == "" {
			from.Words = "move " + Spelled(from.Subject) + " to " + Spelled(to.Subject)
			to.Words = from.Words
		}
	}
	return out
}

// List is "a", "a and b" or "a, b and c".
func List(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// situation is a need with what the gate knows around it.
type situation struct {
	policy.Need
	there     bool // something stands at the path
	folder    bool // and it is a folder
	journal   bool // a change can be undone
	sent      string
	data      []byte // what would be written
	known     bool   // whether that is known
	untrusted bool
}

func (g *Gate) situation(ctx context.Context, p Passage, n policy.Need) situation {
	s := situation{Need: n, untrusted: p.Tool.Untrusted}
	if n.Capability.ScopeKind() != protocol.ScopePaths {
		return s
	}
	if p.Folder != nil {
		s.journal = p.Folder.Journal()
		if fi, err := p.Folder.look(ctx, n.Subject); err == nil {
			s.there, s.folder = true, fi.IsDir()
		}
	}
	if p.Sent != nil && n.Capability == protocol.FSRead {
		s.sent = p.Sent(n)
	}
	if p.Content != nil && n.Capability == protocol.FSWrite && !n.Tree {
		s.data, s.known = p.Content(n.Subject)
	}
	return s
}

// words says a need as a verb with its object.
func (s situation) words() string {
	text := s.Words
	if text == "" {
		text = s.standard()
	} else {
		text = marked(text, "")
		if name := s.subject(); !strings.Contains(text, name) && !strings.Contains(text, Spelled(s.Subject)) {
			text += " (" + s.standard() + ")"
		}
	}
	if s.sent != "" {
		text += "; what is read is sent to " + s.sent
	}
	return text
}

// subject is what words of a tool's own must name.
func (s situation) subject() string {
	if s.Capability.ScopeKind() == protocol.ScopeHosts {
		if host, _, err := protocol.SplitHost(s.Subject); err == nil {
			return host
		}
	}
	return s.Subject
}

func (s situation) standard() string {
	name := Spelled(s.Subject)
	if s.Subject == "." {
		name = "the whole folder"
	}
	switch s.Capability {
	case protocol.FSRead:
		if s.Tree && (s.folder || !s.there) {
			return "read every file in " + name
		}
		return "read " + name
	case protocol.FSWrite:
		return s.change(name)
	case protocol.ShellRun:
		return "run the command " + name
	case protocol.NetFetch:
		return "send a request to " + name
	}
	text, ok := capabilityWords()[s.Capability]
	if !ok {
		text = "use " + string(s.Capability)
	}
	if s.Subject != "" {
		text += " " + name
	}
	return text
}

// change says a need to change files.
func (s situation) change(name string) string {
	switch {
	case s.Op == protocol.OpMkdir:
		return "make the folder " + name
	case s.Op == protocol.OpRemove && s.folder && s.Tree:
		return "delete " + name + " with all that is in it"
	case s.Op == protocol.OpRemove:
		return "delete " + name
	case s.Op != "" && s.Op != protocol.OpWrite:
		return string(s.Op) + " " + name
	case s.Tree && (s.folder || !s.there):
		return "write any file in " + name
	case s.Destroys:
		return "write " + name + ", whose content is lost"
	case s.there:
		return "change " + name
	}
	return "write the new file " + name
}

// capabilityWords says what no subject of a path, a host or a command belongs to.
func capabilityWords() map[protocol.Capability]string {
	return map[protocol.Capability]string{
		protocol.EnvRead:        "read the setting",
		protocol.SecretHas:      "look which secrets there are",
		protocol.Stream:         "send messages to a model elsewhere",
		protocol.CodeRun:        "run JavaScript",
		protocol.DOMRead:        "read the page",
		protocol.DOMWrite:       "change the page",
		protocol.DOMObserve:     "watch the page",
		protocol.LocalRead:      "read the page's local storage",
		protocol.LocalWrite:     "change the page's local storage",
		protocol.SessionRead:    "read the page's session storage",
		protocol.SessionWrite:   "change the page's session storage",
		protocol.IndexedRead:    "read the page's databases",
		protocol.IndexedWrite:   "change the page's databases",
		protocol.CookieRead:     "read the page's cookies",
		protocol.CookieWrite:    "change the page's cookies",
		protocol.ClipboardRead:  "read the clipboard",
		protocol.ClipboardWrite: "change the clipboard",
		protocol.Camera:         "use the camera",
		protocol.Microphone:     "use the microphone",
		protocol.Screen:         "see the screen",
		protocol.Geolocation:    "read where this device is",
		protocol.Notifications:  "show notifications",
	}
}

// Spelled is a name as a question shows it: in quotes if it could be taken for words of
// the question.
func Spelled(name string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/+@:*~#%=", r)
	}
	if name != "" && utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !plain(r) || !shows(r) }) < 0 {
		return name
	}
	name = strings.ReplaceAll(name, `\`, `\\`) // before what can't be seen becomes an escape
	return `"` + strings.ReplaceAll(marked(name, ""), `"`, `\"`) + `"`
}

// entitle makes a request's title say all effects: those that the tool's own title does
// not say follow behind it. What a call asks for while it runs has a title of its own. If
// they do not fit, they are a list at the head of the diff.
func entitle(r *Request, late bool) {
	own := r.Title
	if late {
		own = r.Tool + ":"
	}
	shown := marked(own, "")
	r.Effects = slices.Clone(r.Effects)
	var rest []*Effect
	for i := range r.Effects {
		e := &r.Effects[i]
		if e.Text = marked(e.Text, ""); e.Text == shown {
			e.InTitle = utf8.RuneCountInString(shown) <= MaxTitle
		} else {
			rest = append(rest, e)
		}
	}
	var b strings.Builder
	b.WriteString(own)
	for i, e := range rest {
		switch {
		case b.Len() == 0:
		case late && i == 0:
			b.WriteString(" ")
		case i == 0:
			b.WriteString(", and ")
		case i == len(rest)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(e.Text)
	}
	title := b.String()
	fits := utf8.RuneCountInString(marked(title, "")) <= MaxTitle
	for _, e := range rest {
		e.InTitle = fits
	}
	switch {
	case title == "":
		title = r.Tool
	case fits || len(rest) == 0 || len(rest) == 1 && (own == "" || late):
	default:
		switch n := strconv.Itoa(len(rest)); {
		case late:
			title = own + " " + n + " effects"
		case own == "":
			title = r.Tool + ": " + n + " effects"
		default:
			title = own + ", and " + n + " more"
		}
		var list strings.Builder
		for _, e := range rest {
			list.WriteString("• " + e.Text + "\n")
		}
		r.Diff = list.String() + r.Diff
	}
	r.Title = title
}

// look tells what stands at a path, for a question alone.
func (f Folder) look(ctx context.Context, name string) (fi interface{ IsDir() bool }, err error) {
	return fsaccess.WithContext(ctx, f.raw).Stat(name)
}
