package protocol

import (
	"slices"
	"strings"
	"sync"
)

// Capability is a kind of access that can be granted. The dot form, such as "fs.read", is its name.
// Each has a tool or a door behind it. Those of the browser (dom, storage, clipboard, media, geolocation) are
// for tools of the app, such as those of package btcp, and open a browser feature in the page's headers.
// [ParseCapability] also accepts the spellings of other systems.
type Capability string

const (
	FSRead    Capability = "fs.read"     // read files, with a scope of path patterns
	FSWrite   Capability = "fs.write"    // change files, with a scope of path patterns (does not imply fs.read)
	ShellRun  Capability = "shell.run"   // run commands, with a scope of command names
	NetFetch  Capability = "net.fetch"   // send requests, with a scope of host patterns
	EnvRead   Capability = "env.read"    // read environment variables, with a scope of their names
	SecretHas Capability = "secrets.has" // ask which secrets there are and for which hosts, never for a value
	SecretUse Capability = "secrets.use" // have the fetch broker insert secrets for their hosts, with a scope of their names
	Stream    Capability = "stream.send" // send data to a model's provider
	CodeRun   Capability = "code.run"    // run code

	DOMRead      Capability = "dom.read"      // read and watch the text of the app's page
	DOMWrite     Capability = "dom.write"     // change the text of the app's page
	StorageRead  Capability = "storage.read"  // read what tools have stored in the browser
	StorageWrite Capability = "storage.write" // store in the browser

	ClipboardRead  Capability = "clipboard.read"   // read the clipboard
	ClipboardWrite Capability = "clipboard.write"  // write to the clipboard
	Camera         Capability = "media.camera"     // use the camera
	Microphone     Capability = "media.microphone" // use the microphone
	Screen         Capability = "media.screen"     // capture the screen
	Geolocation    Capability = "geolocation"      // read the device's position
)

// Risk is how much harm an effect can do. A question to the user shows the highest level of its effects:
//
//   - low: nothing is lost, nothing leaves this machine, and nothing runs.
//   - medium: something changes or is sent, and the question shows it.
//   - high: something is lost, or the question cannot show the change or its destination.
//   - critical: a program runs, or the tool's maker is not known.
//
// The first row that fits an effect gives its level:
//
//	a tool that is not trusted             critical  nobody has checked that it does what it says
//	content of a dangerous kind            critical  a program runs when the file is opened
//	content is lost                        high      what the question does not show can be in it, and without a journal it does not come back
//	any file of a folder                   high      the question cannot show which files change, or how
//	a hidden file or folder                high      programs read such files as settings, and the user seldom sees them
//	a file that build tools run            high      the next build runs the commands in it
//	a change that cannot be undone         high      the folder keeps no journal, so the old content is lost
//	a file or a folder that is there       medium    the question shows the change, and undo takes it back
//	a new folder                           low       nothing is lost
//	a new text file in an ordinary folder  low       nothing is lost, the question shows the content, and no program runs it
//	a new file whose content is not shown  medium    nothing is lost, but the question cannot show what is in it
//	reading a file that is sent            medium    the content leaves this machine
//	reading a file                         low       nothing is lost, and nothing leaves this machine
//	anything else                          its own   the capability's own level, see Capability.Risk
type Risk string

const (
	RiskLow      Risk = "low"      // nothing is lost, leaves the machine or runs
	RiskMedium   Risk = "medium"   // something changes or is sent, and the question shows it
	RiskHigh     Risk = "high"     // something is lost, or the question cannot show the change
	RiskCritical Risk = "critical" // a program runs, or the tool is not trusted
)

// scopeKind is the kind of entries in the scope of a capability.
type scopeKind uint8

const (
	scopeNone     scopeKind = iota // the capability has no scope
	scopePaths                     // path patterns, see [ParsePattern]
	scopeHosts                     // host patterns, see [ParseHost]
	scopeCommands                  // names of commands, of variables or of secrets, or "*"
)

type capability struct {
	name    Capability
	risk    Risk
	scope   scopeKind
	aliases []string
}

// capabilities returns the table of all capabilities. It is built once, because each call of a tool
// searches it many times.
var capabilities = sync.OnceValue(func() []capability {
	return []capability{
		{FSRead, RiskMedium, scopePaths, []string{"fs:read"}},
		{FSWrite, RiskHigh, scopePaths, []string{"fs:write"}},
		{ShellRun, RiskCritical, scopeCommands, []string{"shell:run"}},
		{NetFetch, RiskHigh, scopeHosts, []string{"network:fetch", "net:fetch"}},
		{EnvRead, RiskHigh, scopeCommands, []string{"env:read"}},
		{SecretHas, RiskMedium, scopeNone, []string{"secrets:has"}},
		{SecretUse, RiskHigh, scopeCommands, []string{"secrets:use"}},
		{Stream, RiskLow, scopeNone, []string{"stream:send"}},
		{CodeRun, RiskCritical, scopeNone, []string{"code:execute", "code:run"}},
		{DOMRead, RiskLow, scopeNone, []string{"dom:read", "dom:observe"}},
		{DOMWrite, RiskMedium, scopeNone, []string{"dom:write"}},
		{StorageRead, RiskMedium, scopeNone, []string{"storage:read", "storage:local:read"}},
		{StorageWrite, RiskMedium, scopeNone, []string{"storage:write", "storage:local:write"}},
		{ClipboardRead, RiskHigh, scopeNone, []string{"clipboard:read"}},
		{ClipboardWrite, RiskMedium, scopeNone, []string{"clipboard:write"}},
		{Camera, RiskHigh, scopeNone, []string{"media:camera"}},
		{Microphone, RiskHigh, scopeNone, []string{"media:microphone"}},
		{Screen, RiskCritical, scopeNone, []string{"media:screen"}},
		{Geolocation, RiskHigh, scopeNone, nil},
	}
})

func find(c Capability) (capability, bool) {
	for _, k := range capabilities() {
		if k.name == c {
			return k, true
		}
	}
	return capability{}, false
}

// Capabilities returns all capabilities, in a fixed order.
func Capabilities() []Capability {
	var all []Capability
	for _, k := range capabilities() {
		all = append(all, k.name)
	}
	return all
}

// ParseCapability returns the capability with the name s, in the dot form or in the colon form of
// another system, such as "network:fetch" for [NetFetch]. For an unknown name it returns
// [ErrInvalidParams], because a misspelt capability must not grant anything.
func ParseCapability(s string) (Capability, error) {
	for _, k := range capabilities() {
		if string(k.name) == s || slices.Contains(k.aliases, s) {
			return k.name, nil
		}
	}
	if removed(s) {
		return "", Errorf(ErrInvalidParams, "capability", quote(s), "there is nothing behind it here; leave it out")
	}
	return "", Errorf(ErrInvalidParams, "capability", quote(s), "unknown; use one such as fs.read or net.fetch")
}

// removed reports whether s is the name of a capability of other systems that no tool or door of
// this module has. Granting it would do nothing, which its author could take for a permission.
func removed(s string) bool {
	s = strings.ReplaceAll(s, ":", ".")
	return s == "dom.write" || s == "dom.observe" || s == "notifications" || strings.HasPrefix(s, "storage.")
}

// Valid reports whether c is one of [Capabilities].
func (c Capability) Valid() bool { _, ok := find(c); return ok }

// Risk returns the level of an effect of c that fits no other row of the table of [Risk]. For an
// unknown capability it returns [RiskCritical].
func (c Capability) Risk() Risk {
	if k, ok := find(c); ok {
		return k.risk
	}
	return RiskCritical
}

// TakesScope reports whether a grant of c needs a scope: path patterns ([Capability.TakesPaths]),
// host patterns ([Capability.TakesHosts]), or the names of commands, of variables or of secrets. It is false for
// an unknown capability.
func (c Capability) TakesScope() bool { return c.scope() != scopeNone }

// TakesPaths reports whether the scope of c is a list of path patterns, see [ParsePattern].
func (c Capability) TakesPaths() bool { return c.scope() == scopePaths }

// TakesHosts reports whether the scope of c is a list of host patterns, see [ParseHost].
func (c Capability) TakesHosts() bool { return c.scope() == scopeHosts }

func (c Capability) scope() scopeKind { k, _ := find(c); return k.scope }

// Grant is a capability with its scope.
type Grant struct {
	Capability Capability `json:"capability"`
	// Scope is a list of path patterns, host patterns or command names, see [Capability.TakesScope]. For a
	// capability with a scope, an empty list grants nothing. For the others it must be empty. The host
	// pattern "*" is every host, for an app whose user is asked about each.
	Scope []string `json:"scope,omitempty"`
}

// Authority is a set of capabilities with their scopes, in one or more layers. A use is allowed
// only if each layer allows it. A host's grant, the requirements of a tool and the delegation by a
// parent are layers of one authority. The zero Authority allows nothing.
type Authority struct {
	layers []layer
}

// layer is the scope of each capability in one layer.
type layer map[Capability]scope

type scope struct {
	any      bool // anything, for a need without a scope, which narrows nothing
	paths    []Pattern
	hosts    []HostPattern
	commands []string
}

// NewAuthority returns the authority of these grants. Variables in scopes must be expanded before
// (package sandbox/policy does so). An unknown capability or a bad pattern is an error, so it cannot become an empty
// scope.
func NewAuthority(grants ...Grant) (Authority, error) { return newAuthority(grants, false) }

// RequiredAuthority returns the authority of a tool's requirements. A required capability without a scope is
// needed wherever the host grants it. The result only narrows a host's authority, by
// [Authority.Intersect], and must not be used alone.
func RequiredAuthority(required ...Grant) (Authority, error) { return newAuthority(required, true) }

func newAuthority(grants []Grant, need bool) (Authority, error) {
	l := layer{}
	for _, g := range grants {
		c, err := ParseCapability(string(g.Capability))
		if err != nil {
			return Authority{}, err
		}
		s := l[c]
		switch kind := c.scope(); {
		case kind == scopeNone && len(g.Scope) > 0:
			return Authority{}, Errorf(ErrInvalidParams, "grant", string(c), "this capability takes no scope, and was given %s", quote(g.Scope[0]))
		case kind == scopeNone, need && g.Scope == nil:
			s.any = true
		case kind == scopePaths:
			for _, text := range g.Scope {
				p, err := ParsePattern(text)
				if err != nil {
					return Authority{}, err
				}
				s.paths = append(s.paths, p)
			}
		case kind == scopeHosts:
			for _, text := range g.Scope {
				parse := ParseHost
				if text == "*" {
					parse = ParseDeniedHost // which knows a pattern for every host
				}
				p, err := parse(text)
				if err != nil {
					return Authority{}, err
				}
				s.hosts = append(s.hosts, p)
			}
		case kind == scopeCommands:
			for _, name := range g.Scope {
				if !validCommand(name) {
					return Authority{}, Errorf(ErrInvalidParams, "grant", string(c), "%s is not the name of a command: give the bare name, or *", quote(name))
				}
				s.commands = append(s.commands, name)
			}
		}
		l[c] = s
	}
	return Authority{layers: []layer{l}}, nil
}

func validCommand(name string) bool {
	if name == "*" {
		return true
	}
	return name != "" && len(name) <= 256 && !strings.ContainsAny(name, "/\\*?[]\"'`$&|;<>() \t\r\n\x00")
}

// Intersect returns an authority that allows only the uses that both a and b allow.
func (a Authority) Intersect(b Authority) Authority {
	if len(a.layers) == 0 || len(b.layers) == 0 {
		return Authority{}
	}
	return Authority{layers: append(slices.Clip(slices.Clone(a.layers)), b.layers...)}
}

// Has reports whether each layer of a grants c for at least one subject.
func (a Authority) Has(c Capability) bool {
	for _, l := range a.layers {
		if !l.has(c, "", false) {
			return false
		}
	}
	return len(a.layers) > 0
}

// Check returns nil if c may be used on subject, else [ErrCapabilityDenied]. The subject is a path
// within the mount, "host" or "host:port", or the name of a command. It is ignored for a capability
// without a scope. A path that is not in the form of [io/fs.ValidPath] gives [ErrInvalidParams].
func (a Authority) Check(c Capability, subject string) error {
	if !c.Valid() {
		return Errorf(ErrCapabilityDenied, "use", quote(string(c)), "unknown capability")
	}
	if len(a.layers) == 0 {
		return Errorf(ErrCapabilityDenied, "use", string(c), "nothing is granted")
	}
	if c.scope() == scopePaths {
		if err := validPath(string(c), subject); err != nil {
			return err
		}
	}
	for _, l := range a.layers {
		if l.has(c, subject, true) {
			continue
		}
		if !l.has(c, "", false) {
			return Errorf(ErrCapabilityDenied, "use", string(c), "not granted")
		}
		return Errorf(ErrCapabilityDenied, "use", string(c)+" on "+quote(subject), "outside what is granted")
	}
	return nil
}

// Empty reports whether a has no capability.
func (a Authority) Empty() bool {
	if len(a.layers) == 0 {
		return true
	}
	for c := range a.layers[0] {
		if a.Has(c) {
			return false
		}
	}
	return len(a.Capabilities()) == 0 // an implied capability may still be there
}

// Capabilities returns the capabilities that a has ([Authority.Has]), in the order of the function
// [Capabilities].
func (a Authority) Capabilities() []Capability {
	var all []Capability
	for _, c := range Capabilities() {
		if a.Has(c) {
			all = append(all, c)
		}
	}
	return all
}

func (l layer) has(c Capability, subject string, check bool) bool {
	for held, s := range l {
		if held == c && s.covers(subject, check) {
			return true
		}
	}
	return false
}

func (s scope) covers(subject string, check bool) bool {
	if s.any {
		return true
	}
	if !check {
		return len(s.paths)+len(s.hosts)+len(s.commands) > 0
	}
	if slices.ContainsFunc(s.paths, func(p Pattern) bool { return p.Match(subject) }) {
		return true
	}
	if len(s.hosts) > 0 {
		if host, port, err := SplitHost(subject); err == nil {
			return slices.ContainsFunc(s.hosts, func(p HostPattern) bool { return p.Match(host, port) })
		}
	}
	return slices.Contains(s.commands, subject) || slices.Contains(s.commands, "*") && validCommand(subject) && subject != "*"
}
