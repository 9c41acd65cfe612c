package protocol

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Rule is one line of what a person, a project or a manifest has decided.
type Rule struct {
	// Permission is a tool's id, a capability, "mcp:server:tool" (with "*" for the
	// tool), or "*".
	Permission string `json:"permission"`
	// Pattern narrows the rule to some subjects: a path pattern, a host pattern or,
	// for anything else, text in which "*" is anything. Empty or "*" is all.
	Pattern string `json:"pattern,omitempty"`
	Action  Action `json:"action"`
	// Capability, if it is set, narrows the rule to one kind of effect, and then Destroys
	// says whether it speaks for losing something too. What a person allows is so
	// narrowed: leave to read a file is none to write or delete it.
	Capability Capability `json:"capability,omitempty"`
	Destroys   bool       `json:"destroys,omitempty"`
	// Command, if it is set, limits the rule to calls that run this command. Rules made from a
	// user's answer about a command set it: a yes to one program is none to another.
	Command string    `json:"command,omitempty"`
	Source  Source    `json:"source,omitempty"`
	AddedAt time.Time `json:"added_at,omitzero"`
}

// Source says who made a rule.
type Source string

const (
	SourceManifest Source = "manifest" // the app's own: a deny here is absolute
	SourceProject  Source = "project"
	SourceUser     Source = "user"
	SourceSession  Source = "session" // forgotten when the session ends
)

// Call is what rules are asked about.
type Call struct {
	Tool       string     // the tool's id, or "mcp:server:tool"
	Capability Capability // what the call uses, or none
	Subject    string     // on what: a path, a host, a command; may be empty
	Command    string     // the command that the call runs, or empty
}

// Validate says what is wrong with r, or nil.
func (r Rule) Validate() error {
	bad := func(format string, args ...any) error {
		return Errorf(ErrInvalidParams, "rule", quote(r.Permission), format, args...)
	}
	if !r.Action.Valid() {
		return bad("the action must be allow, deny or ask, not %s", quote(string(r.Action)))
	}
	switch r.Source {
	case "", SourceManifest, SourceProject, SourceUser, SourceSession:
	default:
		return bad("unknown source %s", quote(string(r.Source)))
	}
	if len(r.Command) > MaxPattern || !utf8.ValidString(r.Command) {
		return bad("the command is longer than %d bytes or not UTF-8", MaxPattern)
	}
	if len(r.Pattern) > MaxPattern || !utf8.ValidString(r.Pattern) {
		return bad("the pattern is longer than %d bytes or not UTF-8", MaxPattern)
	}
	if !r.validPermission() {
		return bad("the permission must be a tool's name, a capability, mcp:server:tool or *")
	}
	c, _ := ParseCapability(r.Permission)
	if r.Capability != "" {
		if k, err := ParseCapability(string(r.Capability)); err != nil || k != r.Capability {
			return bad("unknown capability %s", quote(string(r.Capability)))
		}
		c = r.Capability
	}
	if r.Pattern == "" || r.Pattern == "*" {
		return nil
	}
	switch c.ScopeKind() {
	case ScopePaths:
		_, err := ParsePattern(r.Pattern)
		return err
	case ScopeHosts:
		_, err := parseHost(r.Pattern, r.Action == ActionDeny)
		return err
	}
	return nil
}

func (r Rule) validPermission() bool {
	p := r.Permission
	if p == "*" {
		return true
	}
	if _, err := ParseCapability(p); err == nil {
		return true
	}
	if rest, ok := strings.CutPrefix(p, "mcp:"); ok {
		server, tool, ok := strings.Cut(rest, ":")
		return ok && validName(server) && (tool == "*" || validName(tool))
	}
	return ValidToolName(p) == nil
}

// specificity orders rules; a higher one is asked first. A permission weighs more
// than a pattern, and a pattern the more it spells out.
func (r Rule) specificity() int {
	n := 0
	switch {
	case r.Permission == "*":
	case strings.HasPrefix(r.Permission, "mcp:") && strings.HasSuffix(r.Permission, ":*"):
		n = 1
	case isCapability(r.Permission):
		n = 2
	default:
		n = 3
	}
	n *= 2 * (MaxPattern + 2)
	if r.Pattern == "" || r.Pattern == "*" {
		return n
	}
	spelled := 1
	for _, c := range r.Pattern {
		if c != '*' && c != '?' {
			spelled++
		}
	}
	if !strings.ContainsAny(r.Pattern, "*?[") {
		spelled += MaxPattern + 1
	}
	return n + min(spelled, 2*MaxPattern+3)
}

// isCapability reports whether s is some spelling of a capability.
func isCapability(s string) bool {
	_, err := ParseCapability(s)
	return err == nil
}

func (r Rule) matches(c Call) bool {
	if r.Capability != "" && r.Capability != c.Capability || r.Command != "" && r.Command != c.Command {
		return false
	}
	permission := r.Permission
	switch {
	case permission == "*" || permission == c.Tool:
	case strings.HasPrefix(permission, "mcp:") && strings.HasSuffix(permission, ":*"):
		if !strings.HasPrefix(c.Tool, permission[:len(permission)-1]) {
			return false
		}
	default:
		k, err := ParseCapability(permission)
		if err != nil || c.Capability != k {
			return false
		}
	}
	if r.Pattern == "" || r.Pattern == "*" {
		return true
	}
	deny := r.Action != ActionAllow
	switch c.Capability.ScopeKind() {
	case ScopePaths:
		p, err := ParsePattern(r.Pattern)
		if err != nil || validPath("rule", c.Subject) != nil {
			return deny // what is not understood allows nothing
		}
		if deny {
			return p.matchDeny(c.Subject)
		}
		return p.Match(c.Subject)
	case ScopeHosts:
		p, err := parseHost(r.Pattern, deny)
		host, port, err2 := SplitHost(c.Subject)
		if err != nil || err2 != nil {
			return deny
		}
		if deny {
			return p.matchDeny(host, port)
		}
		return p.Match(host, port)
	}
	return wildcard(r.Pattern, c.Subject)
}

// wildcard matches text with "*" for anything, in time linear in both.
func wildcard(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// Rules is a list of rules; the order does not matter.
type Rules []Rule

// Validate says what is wrong with the first bad rule, or nil.
func (rs Rules) Validate() error {
	for _, r := range rs {
		if err := r.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Decide returns what the most specific rule says; of rules that are equally
// specific the strictest. A deny that the manifest made is absolute. If no rule
// matches, the person is asked.
func (rs Rules) Decide(c Call) Decision {
	var best *Rule
	for i := range rs {
		r := &rs[i]
		if !r.matches(c) {
			continue
		}
		if r.Source == SourceManifest && r.Action.strictness() == 2 {
			return decided(r)
		}
		if best == nil || cmp.Or(cmp.Compare(r.specificity(), best.specificity()), cmp.Compare(r.Action.strictness(), best.Action.strictness())) > 0 {
			best = r
		}
	}
	if best == nil {
		return Ask("no rule says anything about " + c.String())
	}
	return decided(best)
}

func decided(r *Rule) Decision {
	copied := *r
	d := Decision{Action: r.Action, Rule: &copied}
	if r.Action != ActionAllow {
		d.Reason, d.Private = "a rule of the policy denies this", "rule "+r.String()
	}
	if r.Action == ActionAsk {
		d.Reason = "a rule of the policy asks about this"
	}
	if !r.Action.Valid() {
		d.Action = ActionDeny
	}
	return d
}

// String is the rule in a line.
func (r Rule) String() string {
	s := string(r.Action) + " " + r.Permission
	if r.Command != "" {
		s += " running " + quote(r.Command)
	}
	if r.Capability != "" {
		s += " for " + string(r.Capability)
	}
	if r.Destroys {
		s += ", deleting too,"
	}
	if r.Pattern != "" {
		s += " on " + quote(r.Pattern)
	}
	if r.Source != "" {
		s += " (" + string(r.Source) + ")"
	}
	return s
}

// String is the call in a few words.
func (c Call) String() string {
	s := cmp.Or(c.Tool, string(c.Capability), "this call")
	if c.Subject != "" {
		s += " on " + quote(c.Subject)
	}
	return s
}

// Add returns rs with r in it, in place of a rule about the same from the same
// source; what that allowed to be lost r does too. A rule that is not valid is an error.
func (rs Rules) Add(r Rule) (Rules, error) {
	if err := r.Validate(); err != nil {
		return rs, err
	}
	out := slices.DeleteFunc(slices.Clone(rs), func(o Rule) bool {
		same := o.Permission == r.Permission && o.Pattern == r.Pattern && o.Capability == r.Capability && o.Command == r.Command && o.Source == r.Source && o.Source != SourceManifest
		r.Destroys = r.Destroys || same && o.Destroys && o.Action == r.Action
		return same
	})
	return append(out, r), nil
}
