package policy

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
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
	Pattern string          `json:"pattern,omitempty"`
	Action  protocol.Action `json:"action"`
	// Capability, if set, limits the rule to that capability. Destroys is then whether the rule
	// also covers effects that lose data. Rules made from a user's answer set Capability, so
	// permission to read a file never permits writing or deleting it.
	Capability protocol.Capability `json:"capability,omitempty"`
	Destroys   bool                `json:"destroys,omitempty"`
	// Command, if set, limits the rule to calls that run this command. Rules made from a user's
	// answer about a command set it, so permission for one program never permits another.
	Command string `json:"command,omitempty"`
	// Sum, if set, limits the rule to a server's tool with this hash, see [protocol.Tool.Sum]. Rules made
	// from a user's answer that allows such a tool set it. If the server changes the tool, the user is
	// asked again.
	Sum     string    `json:"sum,omitempty"`
	Source  Source    `json:"source,omitempty"`
	AddedAt time.Time `json:"added_at,omitzero"`
}

// maxSum is the maximum length of a tool's hash, in bytes.
const maxSum = 128

// Source is the origin of a rule.
type Source string

const (
	SourceManifest Source = "manifest" // the app, whose deny cannot be overruled
	SourceProject  Source = "project"  // the project: its settings, or an answer of the user for its folder
	SourceUser     Source = "user"     // the user
	SourceSession  Source = "session"  // an answer of the user that is dropped when the session ends
)

// Validate returns [protocol.ErrInvalidParams] with the first problem of r, or nil.
func (r Rule) Validate() error {
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.ErrInvalidParams, "rule", strictjson.Quote(r.Permission), format, args...)
	}
	if !r.Action.Valid() {
		return bad("the action must be allow, deny or ask, not %s", strictjson.Quote(string(r.Action)))
	}
	switch r.Source {
	case "", SourceManifest, SourceProject, SourceUser, SourceSession:
	default:
		return bad("unknown source %s", strictjson.Quote(string(r.Source)))
	}
	if len(r.Command) > protocol.MaxPattern || !utf8.ValidString(r.Command) {
		return bad("the command is longer than %d bytes or not UTF-8", protocol.MaxPattern)
	}
	if len(r.Sum) > maxSum || !utf8.ValidString(r.Sum) {
		return bad("the hash is longer than %d bytes or not UTF-8", maxSum)
	}
	if len(r.Pattern) > protocol.MaxPattern || !utf8.ValidString(r.Pattern) {
		return bad("the pattern is longer than %d bytes or not UTF-8", protocol.MaxPattern)
	}
	if !r.validPermission() {
		return bad("the permission must be a tool's name, a capability, mcp:server:tool or *")
	}
	c, _ := protocol.ParseCapability(r.Permission)
	if r.Capability != "" {
		if k, err := protocol.ParseCapability(string(r.Capability)); err != nil || k != r.Capability {
			return bad("unknown capability %s", strictjson.Quote(string(r.Capability)))
		}
		c = r.Capability
	}
	if r.Pattern == "" || r.Pattern == "*" {
		return nil
	}
	switch {
	case c.TakesPaths():
		_, err := protocol.ParsePattern(r.Pattern)
		return err
	case c.TakesHosts():
		_, err := parseHost(r.Pattern, r.Action == protocol.ActionDeny)
		return err
	}
	return nil
}

func (r Rule) validPermission() bool {
	p := r.Permission
	if p == "*" {
		return true
	}
	if _, err := protocol.ParseCapability(p); err == nil {
		return true
	}
	if rest, ok := strings.CutPrefix(p, "mcp:"); ok {
		server, tool, ok := strings.Cut(rest, ":")
		return ok && protocol.ValidToolName(server) == nil && (tool == "*" || protocol.ValidToolName(tool) == nil)
	}
	return protocol.ValidToolName(p) == nil
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
	n *= 2 * (protocol.MaxPattern + 2)
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
		spelled += protocol.MaxPattern + 1
	}
	return n + min(spelled, 2*protocol.MaxPattern+3)
}

// isCapability reports whether s is a spelling of a capability.
func isCapability(s string) bool {
	_, err := protocol.ParseCapability(s)
	return err == nil
}

func (r Rule) matches(c Call, n Need) bool {
	if r.Capability != "" && r.Capability != n.Capability || r.Command != "" && r.Command != c.Command || r.Sum != "" && r.Sum != c.Sum {
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
		k, err := protocol.ParseCapability(permission)
		if err != nil || n.Capability != k {
			return false
		}
	}
	if r.Pattern == "" || r.Pattern == "*" {
		return true
	}
	deny := r.Action != protocol.ActionAllow
	switch {
	case n.Capability.TakesPaths():
		p, err := protocol.ParsePattern(r.Pattern)
		if err != nil || !validPath(n.Subject) {
			return deny // a pattern or a path that cannot be parsed allows nothing
		}
		if deny {
			return p.MatchDeny(n.Subject)
		}
		return p.Match(n.Subject)
	case n.Capability.TakesHosts():
		p, err := parseHost(r.Pattern, deny)
		host, port, err2 := protocol.SplitHost(n.Subject)
		if err != nil || err2 != nil {
			return deny
		}
		if deny {
			return p.MatchDeny(host, port)
		}
		return p.Match(host, port)
	}
	return wildcard(r.Pattern, n.Subject)
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

// Decide returns the decision of the most specific rule that matches the need n of the call c. Of equally specific rules
// the strictest decides. A deny from [SourceManifest] always decides. If no rule matches, Decide
// returns ask.
func (rs Rules) Decide(c Call, n Need) Decision {
	var best *Rule
	for i := range rs {
		r := &rs[i]
		if !r.matches(c, n) {
			continue
		}
		if r.Source == SourceManifest && strictness(r.Action) == 2 {
			return decided(r)
		}
		if best == nil || cmp.Or(cmp.Compare(r.specificity(), best.specificity()), cmp.Compare(strictness(r.Action), strictness(best.Action))) > 0 {
			best = r
		}
	}
	if best == nil {
		return ask("no rule says anything about " + about(c, n))
	}
	return decided(best)
}

func decided(r *Rule) Decision {
	copied := *r
	d := Decision{Action: r.Action, Rule: &copied}
	if r.Action != protocol.ActionAllow {
		d.Reason, d.Private = "a rule of the policy denies this", "rule "+r.String()
	}
	if r.Action == protocol.ActionAsk {
		d.Reason = "a rule of the policy asks about this"
	}
	if !r.Action.Valid() {
		d.Action = protocol.ActionDeny
	}
	return d
}

// String returns the rule in one line, such as `deny write on "dist/**" (user)`.
func (r Rule) String() string {
	s := string(r.Action) + " " + r.Permission
	if r.Command != "" {
		s += " running " + strictjson.Quote(r.Command)
	}
	if r.Sum != "" {
		s += " in the form " + strictjson.Quote(r.Sum)
	}
	if r.Capability != "" {
		s += " for " + string(r.Capability)
	}
	if r.Destroys {
		s += ", deleting too,"
	}
	if r.Pattern != "" {
		s += " on " + strictjson.Quote(r.Pattern)
	}
	if r.Source != "" {
		s += " (" + string(r.Source) + ")"
	}
	return s
}

// about returns the effect of a call in a few words, such as `write on "notes.md"`.
func about(c Call, n Need) string {
	s := cmp.Or(c.Tool, string(n.Capability), "this call")
	if n.Subject != "" {
		s += " on " + strictjson.Quote(n.Subject)
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
		r.Destroys = r.Destroys || same && o.Destroys && o.Action == r.Action && o.Sum == r.Sum
		return same
	})
	return append(out, r), nil
}
