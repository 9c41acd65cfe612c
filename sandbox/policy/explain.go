package policy

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// Need is something a call is about to do: one effect, on one thing.
type Need struct {
	Capability protocol.Capability
	// Op is what is done to a path; empty is reading for fs.read and writing for
	// fs.write. Other capabilities have none.
	Op protocol.FSOp
	// Subject is a path, "host" or "host:port", or a command's name.
	Subject string
	// Tree says that all below the path is meant too.
	Tree bool
	// Filtered says that the reader of a tree leaves out each file that may not be read by
	// itself. Only then may the tree be read where a part of it may not.
	Filtered bool
	// Destroys says that something is lost: such a call is asked about unless a rule
	// for this very tool, with a pattern narrower than the folder, allows it.
	Destroys bool
	// Replaces says that what stands at the path, if anything does, is lost. The box
	// looks, and adds the need to remove it.
	Replaces bool
	// Words, if set, say the effect in a question in place of the standard words: a verb with its
	// object, such as "move a.txt to b.txt". If they do not name the subject, the standard words
	// follow them. Needs with the same words are one line. Words take no part in decisions.
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

// Call is what [Explain] is asked about.
type Call struct {
	Tool      string // the tool's id, or "mcp:server:tool"
	Untrusted bool   // such as an MCP server's: asked about unless a rule names it, even where it needs nothing
	Command   string // the command that it runs, or empty; see [Command]
	Needs     []Need
}

// Command is the first command that needs are to run, or empty.
func Command(needs []Need) string {
	for _, n := range needs {
		if n.Capability == protocol.ShellRun {
			return n.Subject
		}
	}
	return ""
}

// Step is one line of an explanation.
type Step struct {
	Step     string // "capability" or "rules"
	Need     Need
	Decision protocol.Decision
}

// Explanation says how a call is decided, and why.
type Explanation struct {
	Decision protocol.Decision
	Steps    []Step
}

// String is the explanation in lines: each step, then what comes of it.
func (e Explanation) String() string {
	var b strings.Builder
	for _, s := range e.Steps {
		b.WriteString(s.Step)
		if s.Need.Capability != "" {
			b.WriteString(": " + s.Need.String())
		}
		b.WriteString(": " + said(s.Decision) + "\n")
	}
	b.WriteString("so: " + said(e.Decision))
	return b.String()
}

func said(d protocol.Decision) string {
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

// Compiled is a policy made ready for many calls. It does not change.
type Compiled struct {
	Policy    *Policy
	authority protocol.Authority
}

// Compile makes a policy ready. A grant that can't be read is an error.
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

// Authority is what the policy's capabilities allow.
func (c *Compiled) Authority() protocol.Authority { return c.authority }

// Explain decides one call under a policy, with nobody's earlier answers in it.
func Explain(p *Policy, call Call) (Explanation, error) {
	c, err := Compile(p)
	if err != nil {
		return Explanation{}, err
	}
	return c.Explain(call, c.authority, nil), nil
}

// Explain decides a call under an authority that is the policy's or narrower, with
// rules beside the policy's own.
func (c *Compiled) Explain(call Call, authority protocol.Authority, more protocol.Rules) Explanation {
	e := Explanation{Decision: protocol.Allow()}
	add := func(step string, n Need, d protocol.Decision) {
		e.Steps = append(e.Steps, Step{step, n, d})
		e.Decision = e.Decision.Narrow(d)
		if d.Action == protocol.ActionAllow && e.Decision.Action == protocol.ActionAllow && d.Rule != nil {
			e.Decision.Rule = d.Rule
		}
	}
	if authority.Empty() {
		add("capability", Need{}, protocol.Deny("the policy grants nothing at all"))
		return e
	}
	for _, n := range call.Needs {
		add("capability", n, c.Capability(n, authority))
	}
	if e.Decision.Action == protocol.ActionDeny {
		return e // nobody is asked about what is not possible
	}
	if len(call.Needs) == 0 {
		add("rules", Need{}, c.rules(call, Need{}, more))
	}
	for _, n := range call.Needs {
		add("rules", n, c.rules(call, n, more))
	}
	return e
}

// Capability is the first step: the lists and what is granted.
func (c *Compiled) Capability(n Need, authority protocol.Authority) protocol.Decision {
	below := n.Tree && n.Filtered && n.Capability == protocol.FSRead && n.op() == protocol.OpRead
	if err := authority.Check(n.Capability, n.Subject); err != nil {
		if !below || !authority.Has(n.Capability) || protocol.CodeOf(err) == protocol.ErrInvalidParams {
			return refused(err)
		}
	}
	switch n.Capability.ScopeKind() {
	case protocol.ScopePaths:
		err := c.Policy.FS.Check(n.op(), n.Subject)
		if err != nil && below && c.Policy.FS.MayTraverse(n.Subject) {
			err = nil
		}
		return refused(err)
	case protocol.ScopeHosts:
		return c.Policy.Net.Decide(n.Subject)
	}
	return protocol.Allow()
}

func refused(err error) protocol.Decision {
	if err == nil {
		return protocol.Allow()
	}
	p := protocol.Public(err)
	d := protocol.Decision{Action: protocol.ActionDeny, Reason: p.Message, Refines: p.Reason}
	if entry := errors.Unwrap(err); entry != nil && p.Code == protocol.ErrCapabilityDenied {
		d.Private = entry.Error()
	}
	return d
}

// rules is the second step.
func (c *Compiled) rules(call Call, n Need, more protocol.Rules) protocol.Decision {
	rules := c.Policy.Rules
	if len(more) > 0 {
		rules = append(slices.Clip(rules), more...)
	}
	d := rules.Decide(protocol.Call{Tool: call.Tool, Capability: n.Capability, Subject: n.Subject, Command: call.Command})
	if n.Capability == "" && d.Rule == nil && !call.Untrusted {
		return protocol.Allow() // it touches nothing outside of the session
	}
	if n.Destroys && d.Action == protocol.ActionAllow && !Narrow(d.Rule, call.Tool) {
		return protocol.Decision{Action: protocol.ActionAsk, Rule: d.Rule, Reason: "something will be lost, and no blanket rule is enough for that"}
	}
	if call.Untrusted && d.Action == protocol.ActionAllow && !names(d.Rule, call.Tool) {
		return protocol.Decision{Action: protocol.ActionAsk, Rule: d.Rule, Reason: "the tool is not trusted, and only a rule that names it or its server speaks for it"}
	}
	return d
}

// names reports whether a rule is about the tool, or about its server's.
func names(r *protocol.Rule, tool string) bool {
	return r != nil && (r.Permission == tool || strings.HasPrefix(r.Permission, "mcp:"))
}

// Narrow reports whether a rule is about this one tool, less than the whole folder, and
// losing something: only such a one lets a destructive call go on unasked.
func Narrow(r *protocol.Rule, tool string) bool {
	if r == nil || r.Permission != tool {
		return false
	}
	// An answer speaks for what was asked: leave to write a file is none to lose it.
	if (r.Capability != "" || r.Source == protocol.SourceSession) && !r.Destroys {
		return false
	}
	// What begins with a wildcard covers whatever there is.
	pattern := path.Clean(r.Pattern)
	return r.Pattern != "" && pattern != "." && !strings.ContainsAny(pattern[:1], "*?[")
}

// Covers reports whether a permit for n is one for other too: the same effect on the
// same subject, or on one below it where n means the tree.
func (n Need) Covers(other Need) bool {
	if n.Capability != other.Capability || other.Tree && !n.Tree {
		return false
	}
	if n.Capability.ScopeKind() != protocol.ScopePaths {
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
