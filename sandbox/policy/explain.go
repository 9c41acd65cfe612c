package policy

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// Need is one effect that a call is about to have, on one subject. For example, a call that writes
// notes.md has the need {Capability: protocol.FSWrite, Subject: "notes.md"}.
type Need struct {
	Capability protocol.Capability // such as protocol.FSRead
	// Op is the operation on a path. Empty is reading for fs.read and writing for fs.write. Needs
	// of other capabilities have no Op.
	Op protocol.FSOp
	// Subject is a path relative to the folder, "host" or "host:port", or a command's name.
	Subject string
	// Tree extends the need to everything below the path.
	Tree bool
	// Filtered reports that the reader of a tree skips each file in it that may not be read. Only
	// with Filtered may a tree be read that contains such files.
	Filtered bool
	// Destroys reports that content is lost. The user is asked about such a call, unless a rule for
	// exactly this tool, with a pattern narrower than the folder, allows it.
	Destroys bool
	// Replaces reports that an existing file at the path is lost. The box checks whether there is
	// one, and then adds a need to remove it.
	Replaces bool
	// Words, if set, describe the effect in a question instead of the standard words. They are a
	// verb with its object, such as "move a.txt to b.txt". If they don't contain the subject, the
	// standard words follow them. Needs with the same words share a line. Words have no influence
	// on decisions.
	Words string
}

func (n Need) op() protocol.FSOp {
	switch {
	case n.Op != "":
		return n.Op
	case n.Capability == protocol.FSWrite:
		return protocol.OpWrite
	}
	return protocol.OpRead
}

// String returns the need as text, such as "fs.write (remove) on notes.md and all below".
func (n Need) String() string {
	s := string(n.Capability)
	if n.Op != "" && n.Op != protocol.OpRead && n.Op != protocol.OpWrite {
		s += " (" + string(n.Op) + ")"
	}
	if n.Subject != "" {
		s += " on " + n.Subject
	}
	if n.Tree {
		s += " and all below"
	}
	return s
}

// Call is a call for [Explain] to decide.
type Call struct {
	Tool      string // the tool's id, or "mcp:server:tool"
	Untrusted bool   // for example of an MCP server: it is asked about, even without needs, unless a rule names it
	Sum       string // the hash of a server's tool, see [protocol.Tool.Sum], or empty
	Command   string // the command that it runs, or empty; an answer about it applies to no other command
	Needs     []Need
}

// Check is the decision of one check about one need.
type Check struct {
	Kind     string // "capability" for the grants and the lists of the policy, or "rules"
	Need     Need
	Decision Decision
}

// Explanation is the decision about a call, with the decision of each check.
type Explanation struct {
	Decision Decision // the strictest decision of the checks
	Checks   []Check
	// Inapplicable lists the parts of the policy that have no meaning here, see [Policy].
	Inapplicable []string
}

// String returns the explanation as text: a line for each check, the result, and then a line for
// each part of the policy that is not applicable.
func (e Explanation) String() string {
	var b strings.Builder
	for _, c := range e.Checks {
		b.WriteString(c.Kind)
		if c.Need.Capability != "" {
			b.WriteString(": " + c.Need.String())
		}
		b.WriteString(": " + said(c.Decision) + "\n")
	}
	b.WriteString("so: " + said(e.Decision))
	for _, s := range e.Inapplicable {
		b.WriteString("\nnot applicable: " + s)
	}
	return b.String()
}

func said(d Decision) string {
	s := string(d.Action)
	if s == "" {
		s = string(protocol.ActionDeny)
	}
	switch {
	case d.Private != "":
		return s + ", " + d.Private
	case d.Reason != "":
		return s + ", " + d.Reason
	case d.Rule != nil:
		return s + ", rule " + d.Rule.String()
	}
	return s
}

// Compiled is a policy prepared for many calls. It is immutable.
type Compiled struct {
	Policy    *Policy
	authority protocol.Authority
}

// Compile prepares a policy. It returns an error if a rule, a limit or a grant is invalid. A nil
// policy denies everything.
func Compile(p *Policy) (*Compiled, error) {
	if p == nil {
		p = &Policy{}
	}
	if err := p.Rules.Validate(); err != nil {
		return nil, err
	}
	if err := p.Limits.Validate(); err != nil {
		return nil, err
	}
	a, err := protocol.NewAuthority(p.Grants...)
	if err != nil {
		return nil, err
	}
	return &Compiled{p, a}, nil
}

// Authority returns the capabilities that the policy grants.
func (c *Compiled) Authority() protocol.Authority { return c.authority }

// Explain decides one call under a policy, without any answers of the user.
func Explain(p *Policy, call Call) (Explanation, error) {
	c, err := Compile(p)
	if err != nil {
		return Explanation{}, err
	}
	return c.Explain(call, c.authority, nil), nil
}

// Explain decides a call under an authority, which is the policy's or a narrower one. The rules in
// more are added to the policy's own.
func (c *Compiled) Explain(call Call, authority protocol.Authority, more Rules) Explanation {
	e := Explanation{Decision: allow(), Inapplicable: c.Policy.Inapplicable}
	add := func(kind string, n Need, d Decision) {
		e.Checks = append(e.Checks, Check{kind, n, d})
		e.Decision = e.Decision.Narrow(d)
		if d.Action == protocol.ActionAllow && e.Decision.Action == protocol.ActionAllow && d.Rule != nil {
			e.Decision.Rule = d.Rule
		}
	}
	if authority.Empty() {
		add("capability", Need{}, deny("the policy grants nothing at all"))
		return e
	}
	for _, n := range call.Needs {
		add("capability", n, c.Capability(n, authority))
	}
	if e.Decision.Action == protocol.ActionDeny {
		return e // an impossible effect is denied without a question
	}
	if len(call.Needs) == 0 {
		add("rules", Need{}, c.rules(call, Need{}, more))
	}
	for _, n := range call.Needs {
		add("rules", n, c.rules(call, n, more))
	}
	return e
}

// Capability returns the decision of the first check: the policy's lists, and the capabilities of
// authority.
func (c *Compiled) Capability(n Need, authority protocol.Authority) Decision {
	below := n.Tree && n.Filtered && n.Capability == protocol.FSRead && n.op() == protocol.OpRead
	if err := authority.Check(n.Capability, n.Subject); err != nil {
		if !below || !authority.Has(n.Capability) || protocol.CodeOf(err) == protocol.ErrInvalidParams {
			return refused(err)
		}
	}
	switch {
	case n.Capability.TakesPaths():
		err := c.Policy.FS.Check(n.op(), n.Subject)
		if err != nil && below && c.Policy.FS.MayTraverse(n.Subject) {
			err = nil
		}
		return refused(err)
	case n.Capability.TakesHosts():
		return c.Policy.Net.Decide(n.Subject)
	}
	return allow()
}

func refused(err error) Decision {
	if err == nil {
		return allow()
	}
	p := protocol.Public(err)
	d := Decision{Action: protocol.ActionDeny, Reason: p.Message, Refines: p.Reason}
	if entry := errors.Unwrap(err); entry != nil && p.Code == protocol.ErrCapabilityDenied {
		d.Private = entry.Error()
	}
	return d
}

// rules returns the decision of the second step.
func (c *Compiled) rules(call Call, n Need, more Rules) Decision {
	rules := c.Policy.Rules
	if len(more) > 0 {
		rules = append(slices.Clip(rules), more...)
	}
	d := rules.Decide(call, n)
	if n.Capability == "" && d.Rule == nil && !call.Untrusted {
		return allow() // it has no effect outside of the session
	}
	if n.Destroys && d.Action == protocol.ActionAllow && !allowsDestructive(d.Rule, call.Tool) {
		return Decision{Action: protocol.ActionAsk, Rule: d.Rule, Reason: "something will be lost, and no blanket rule is enough for that"}
	}
	if call.Untrusted && d.Action == protocol.ActionAllow && !names(d.Rule, call.Tool) {
		return Decision{Action: protocol.ActionAsk, Rule: d.Rule, Reason: "the tool is not trusted, and only a rule that names it or its server speaks for it"}
	}
	return d
}

// names reports whether a rule names the tool, or is for tools of servers.
func names(r *Rule, tool string) bool {
	return r != nil && (r.Permission == tool || strings.HasPrefix(r.Permission, "mcp:"))
}

// allowsDestructive reports whether r permits destructive calls of tool on a part of the folder.
// The rule must name the tool and have a pattern that does not begin with a wildcard. A rule from a
// user's answer must also have Destroys set. Only such a rule lets a destructive call run without
// asking.
func allowsDestructive(r *Rule, tool string) bool {
	if r == nil || r.Permission != tool {
		return false
	}
	// An answer applies only to the effect in its question. Permission to write a file does not
	// permit losing it.
	if (r.Capability != "" || r.Source == SourceSession) && !r.Destroys {
		return false
	}
	// A pattern that begins with a wildcard may match every file.
	pattern := path.Clean(r.Pattern)
	return r.Pattern != "" && pattern != "." && !strings.ContainsAny(pattern[:1], "*?[")
}

// Covers reports whether a permit for n includes other: the same effect on the same subject, or on
// a subject below it if n has Tree set.
func (n Need) Covers(other Need) bool {
	if n.Capability != other.Capability || other.Tree && !n.Tree {
		return false
	}
	if !n.Capability.TakesPaths() {
		return n.Subject == other.Subject
	}
	if n.op() != other.op() && !(n.Tree && n.op() == protocol.OpWrite && other.op() == protocol.OpMkdir) {
		return false
	}
	if n.Subject == other.Subject {
		return true
	}
	return n.Tree && (n.Subject == "." || strings.HasPrefix(other.Subject, n.Subject+"/"))
}
