package protocol

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Rule is one decision about calls in advance, made by a user, a project or a manifest. For
// example, {Permission: "write", Pattern: "src/**", Action: ActionAllow} allows the tool write in
// src.
type Rule struct {
	// Permission is a tool's id, a capability, "mcp:server:tool" (with "*" for all tools of the
	// server), or "*" for all calls.
	Permission string `json:"permission"`
	// Pattern limits the rule to some subjects. It is a path pattern, a host pattern or, for other
	// subjects, text in which "*" is any text. Empty or "*" is all subjects.
	Pattern string `json:"pattern,omitempty"`
	Action  Action `json:"action"`
	// Capability, if set, limits the rule to that capability. Destroys is then whether the rule
	// also covers effects that lose data. Rules made from a user's answer set Capability, so
	// permission to read a file never permits writing or deleting it.
	Capability Capability `json:"capability,omitempty"`
	Destroys   bool       `json:"destroys,omitempty"`
	// Command, if set, limits the rule to calls that run this command. Rules made from a user's
	// answer about a command set it, so permission for one program never permits another.
	Command string    `json:"command,omitempty"`
	Source  Source    `json:"source,omitempty"`
	AddedAt time.Time `json:"added_at,omitzero"`
}

// Source is the origin of a rule.
type Source string

const (
	SourceManifest Source = "manifest" // the app, whose deny cannot be overruled
	SourceProject  Source = "project"  // the project: its settings, or an answer of the user for its folder
	SourceUser     Source = "user"     // the user
	SourceSession  Source = "session"  // an answer of the user that is dropped when the session ends
)

// Call is the call that rules decide about.
type Call struct {
	Tool       string     // the tool's id, or "mcp:server:tool"
	Capability Capability // the capability that the call uses, or empty
	Subject    string     // a path, a host or a command, or empty
	Command    string     // the command that the call runs, or empty
}

// Validate returns [ErrInvalidParams] with the first problem of r, or nil.
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

// specificity is the rank of a rule. The permission counts more than the pattern. A pattern counts
// more, the more characters it has that are not wildcards, and most without wildcards.
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

// isCapability reports whether s is a spelling of a capability.
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
			return deny // a pattern or a path that cannot be parsed allows nothing
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

// wildcard reports whether s matches pattern, in which "*" is any text. The time is linear in both.
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

// Rules is a list of rules. Their order does not matter.
type Rules []Rule

// Validate returns the error of the first rule that is not valid, or nil.
func (rs Rules) Validate() error {
	for _, r := range rs {
		if err := r.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Decide returns the decision of the most specific rule that matches c. Of equally specific rules
// the strictest decides. A deny from [SourceManifest] always decides. If no rule matches, Decide
// returns ask.
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

// String returns the rule in one line, such as `deny write on "dist/**" (user)`.
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

// String returns the call in a few words, such as `write on "notes.md"`.
func (c Call) String() string {
	s := cmp.Or(c.Tool, string(c.Capability), "this call")
	if c.Subject != "" {
		s += " on " + quote(c.Subject)
	}
	return s
}

// Add returns rs with r added. It replaces a rule with the same permission, pattern, capability,
// command and source, except one from [SourceManifest]. If the replaced rule has the same action
// and Destroys set, r gets it as well. If r is not valid, Add returns rs and the error of
// [Rule.Validate].
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
