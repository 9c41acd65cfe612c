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

// Effect is one thing that a call does if the user agrees. Its fields are those of sandbox.Effect.
type Effect struct {
	Text     string
	Risk     protocol.Risk
	Destroys bool
	InTitle  bool
	Needs    []policy.Need
}

// effects returns the effects of a call's needs. Each need is in exactly one effect.
func (g *Gate) effects(ctx context.Context, p Passage) []Effect {
	s := speech{at: map[place]int{}}
	for i, n := range moves(p.Needs) {
		if i%256 == 255 { // yields to the page's only thread
			_ = jsx.Yield(ctx)
		}
		about := g.situation(ctx, p, n)
		s.say(Effect{Text: about.words(), Risk: about.risk(), Destroys: n.Destroys, Needs: []policy.Need{n}})
	}
	return s.done()
}

// speech builds a list of effects. It finds the effect for a need in a map, so the work is linear
// in the number of needs.
type speech struct {
	out      []Effect
	at       map[place]int // index in out of an effect
	commands []string      // the names in the effect at place{kind: "commands"}
	looked   int           // number of effects of out that were inspected, for a test
}

// place is the key of an effect: its text, the path that it writes, or the kind "commands".
type place struct{ kind, name string }

// say adds an effect of one need. It merges the effect with an earlier one if the texts are equal,
// if both run commands, or if it is the loss of the file that the other one writes.
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
		if loses && !o.Destroys { // the existing file is replaced
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

// moves sets the words of a need to remove a path, and of the next need to write a path, to those
// of a move.
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

// List returns "a", "a and b" or "a, b and c".
func List(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// situation is a need with the facts that its words and its risk depend on.
type situation struct {
	policy.Need
	there     bool   // the path exists
	folder    bool   // the path is a folder
	journal   bool   // a change can be undone
	sent      string // receiver of the content, or empty
	data      []byte // the bytes that would be written
	known     bool   // data is set
	untrusted bool   // the tool is untrusted
}

func (g *Gate) situation(ctx context.Context, p Passage, n policy.Need) situation {
	s := situation{Need: n, untrusted: p.Tool.Untrusted}
	if !n.Capability.TakesPaths() {
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

// words returns the text of an effect: a verb with its object.
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

// subject returns the name that a tool's own words must contain.
func (s situation) subject() string {
	if s.Capability.TakesHosts() {
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
	switch {
	case s.Subject == "":
	case s.Capability == protocol.DOMRead || s.Capability == protocol.DOMWrite:
		text += " at " + name // a selector
	default:
		text += " " + name
	}
	return text
}

// change returns the words of a change of files.
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

// capabilityWords returns the words of the capabilities whose subject is no path, host or command.
func capabilityWords() map[protocol.Capability]string {
	return map[protocol.Capability]string{
		protocol.EnvRead:        "read the setting",
		protocol.SecretHas:      "look which secrets there are",
		protocol.SecretUse:      "use the secret",
		protocol.Stream:         "send messages to a model elsewhere",
		protocol.CodeRun:        "run JavaScript",
		protocol.DOMRead:        "read the page",
		protocol.DOMWrite:       "change the text of the page",
		protocol.StorageRead:    "read the stored value",
		protocol.StorageWrite:   "change the stored value",
		protocol.ClipboardRead:  "read the clipboard",
		protocol.ClipboardWrite: "change the clipboard",
		protocol.Camera:         "use the camera",
		protocol.Microphone:     "use the microphone",
		protocol.Screen:         "see the screen",
		protocol.Geolocation:    "read where this device is",
	}
}

// Spelled returns a name in the form for a question. It is in quotes if it could be mistaken for
// words of the question. For example, a.txt is unchanged and the name "a.txt and b.txt" gets
// quotes.
func Spelled(name string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/+@:*~#%=", r)
	}
	if name != "" && utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !plain(r) || !shows(r) }) < 0 {
		return name
	}
	name = strings.ReplaceAll(name, `\`, `\\`) // before invisible characters become escapes
	return `"` + strings.ReplaceAll(marked(name, ""), `"`, `\"`) + `"`
}

// entitle makes the request's title contain all effects. It appends the effects that are not in the
// tool's own title. For a late request it replaces the tool's title. If the effects don't fit, they
// become a list at the beginning of the diff.
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

// look returns the kind of file at a path. Only a question may use it, since it ignores the guard.
func (f Folder) look(ctx context.Context, path string) (fi interface{ IsDir() bool }, err error) {
	return fsaccess.WithContext(ctx, f.raw).Stat(path)
}
