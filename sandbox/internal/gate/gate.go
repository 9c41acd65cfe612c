package gate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/watch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Options configure a [Gate].
type Options struct {
	Policy *policy.Compiled
	Ask    Ask           // nil denies every call that would be asked about
	Window time.Duration // maximum time for which requests are collected into one prompt
	Now    func() time.Time
	// Remember stores a rule that the user wants to keep beyond the session. nil keeps it in the
	// gate only.
	Remember func(ctx context.Context, r policy.Rule) error
	// Violation is called with each stopped effect.
	Violation func(protocol.Violation)
	// Off has the defences that an attack test disables.
	Off Off
}

// Off has a switch for each defence that attack tests disable, to show that an attack succeeds
// without it.
type Off struct {
	Words bool // a question's title lists all effects
	Same  bool // the effect is the one that the question showed
	Marks bool // invisible characters in a question are marked
}

// A Gate decides calls and creates permits. It is safe for concurrent use.
type Gate struct {
	o     Options
	asks  *batcher
	mu    sync.Mutex
	rules policy.Rules // rules that answers added beyond a session
}

// New returns a gate.
func New(o Options) *Gate {
	g := &Gate{o: o}
	if o.Ask != nil {
		g.asks = &batcher{show: o.Ask, window: o.Window, unmarked: o.Off.Marks}
	}
	return g
}

// Expect announces n calls. Each needs one call of [Gate.Done], even one that never reaches Pass. A
// prompt is shown when all announced calls wait for it, or at the end of the window.
func (g *Gate) Expect(n int) {
	if g.asks != nil {
		g.asks.begin(n)
	}
}

// Done ends one announced call.
func (g *Gate) Done() {
	if g.asks != nil {
		g.asks.end()
	}
}

// Remembered returns the rules that answers added beyond a session.
func (g *Gate) Remembered() policy.Rules {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.rules)
}

// Passage is a call on its way through the gate.
type Passage struct {
	Scope *Scope
	Call  string // the call's id
	Model string // the model's id of the call, or empty
	Tool  *protocol.Tool
	// Command is the command that the call runs, or empty. An answer about a call with a command
	// applies to no other command.
	Command string
	Args    any
	Needs   []policy.Need
	// Request returns the question's title, diff and details. It is called only if the user is
	// asked.
	Request func(ctx context.Context, preview Permit) Request
	// Asking is called when the user is about to be asked, with whether the call is at work already.
	// It returns the function that is called when the question has ended, with whether the user
	// agreed. It may be nil.
	Asking func(late bool) (answered func(agreed bool))
	// Precheck, if set, returns the error with which the call would fail whatever the user answers.
	// It is called only if all files of the call may be read without asking, because its error may
	// contain their content.
	Precheck func(ctx context.Context, preview Permit) error
	// Sends returns an error if a file may not be moved from one place to another, or if the
	// content that the call has read may not be written to a place (from is then empty), because a
	// model could then receive more of it.
	Sends func(from, to string) error
	// Step is called with each decision.
	Step func(kind protocol.TraceType, n policy.Need, d policy.Decision)
	// Unwatched skips the watchdog, for further needs of a call that the watchdog has checked.
	Unwatched bool
	// Shown stores the shown question, for [Gate.Same]. nil stores nothing.
	Shown *Shown
	// Late reports that the call is running and asks for more. The question's title then consists
	// of the new effects, without the tool's title.
	Late bool
	// Folder is used to look up paths for the words of a question. With nil, the words are less
	// exact.
	Folder *Folder
	// Sent returns the receiver of the content that a need reads, or "" if there is none. It may be
	// nil.
	Sent func(n policy.Need) string
	// Content returns the bytes that the call would write to a path, if they are known. It may be
	// nil.
	Content func(path string) ([]byte, bool)
	// Defer, if set, is called in place of asking the user. A plan records its questions with it.
	// It reports whether the call may continue.
	Defer func(r Request) bool
}

// Pass decides a call. It returns a permit, and a function that ends the permit. The error of a
// denied call is an *[protocol.Error] with a message for the model. If ctx ends first, the error is
// its cause.
func (g *Gate) Pass(ctx context.Context, p Passage) (Permit, func(), error) {
	if p.Step == nil {
		p.Step = func(protocol.TraceType, policy.Need, policy.Decision) {}
	}
	d, watched := g.decide(p)
	agreed := d.Action == protocol.ActionAsk // if the call continues
	if d.Action == protocol.ActionAsk {
		err := p.unsendable()
		if err != nil { // no answer could change it
			return Permit{}, nil, err
		}
		if p.Precheck != nil && !watched && g.open(p) { // a call that will fail anyway is not asked about
			if err = g.precheck(ctx, p); err != nil {
				return Permit{}, nil, err
			}
		}
		if d, err = g.consent(ctx, p, d); err != nil {
			return Permit{}, nil, err
		}
		p.Step(protocol.TracePermission, policy.Need{}, d)
	}
	if d.Action != protocol.ActionAllow {
		g.violation(p, d)
		return Permit{}, nil, d.Err("call", p.Tool.ID)
	}
	if err := context.Cause(ctx); err != nil {
		return Permit{}, nil, err
	}
	t := g.mint(p, p.Needs, agreed)
	return Permit{t}, func() { t.over.Store(true) }, nil
}

// unsendable returns the error of Sends for the first path that the call is to write.
func (p *Passage) unsendable() error {
	for _, n := range p.Needs {
		if p.Sends == nil || n.Capability != protocol.FSWrite || n.Tree || n.Op != "" && n.Op != protocol.OpWrite {
			continue
		}
		if err := p.Sends("", n.Subject); err != nil {
			return err
		}
	}
	return nil
}

// decide makes the capability step and the watchdog step. It reports in watched whether the
// watchdog restricted the decision.
func (g *Gate) decide(p Passage) (d policy.Decision, watched bool) {
	call := policy.Call{Tool: p.Tool.RuleName(), Untrusted: p.Tool.Untrusted, Sum: p.Tool.Sum(), Command: p.Command, Needs: p.Needs}
	authority := p.Tool.Authority(p.Scope.Authority)
	if len(p.Tool.Requires) == 0 {
		authority = p.Scope.Authority
		if len(p.Needs) > 0 { // an undeclared capability is denied
			return watch.Denied("the tool uses " + string(p.Needs[0].Capability) + " without declaring it in Requires"), false
		}
	}
	e := g.o.Policy.Explain(call, authority, append(g.Remembered(), p.Scope.Grants()...))
	for _, c := range e.Checks {
		kind := protocol.TraceCapability
		if c.Kind == "rules" {
			kind = protocol.TracePermission
		}
		p.Step(kind, c.Need, c.Decision)
	}
	if d = e.Decision; d.Action == protocol.ActionDeny {
		return d, false
	}
	if why, ok := p.Scope.refused(p.Needs, p.key()); ok {
		return policy.Decision{Action: protocol.ActionDeny, Reason: "the user has refused this before; don't ask for it again: " + why, Refines: protocol.ReasonRejected}, false
	}
	if p.Scope.Watch != nil && !p.Unwatched {
		w := p.Scope.Watch.Check(watch.Call{Tool: p.Tool.ID, Args: p.Args, Capability: p.capability()})
		if watched = w.Action != protocol.ActionAllow; watched {
			p.Step(protocol.TracePermission, policy.Need{}, w)
		}
		if w.Action != protocol.ActionAsk || !granted(d) {
			d = d.Narrow(w)
		}
	}
	return d, watched
}

// open reports whether the files of a call may be read without asking.
func (g *Gate) open(p Passage) bool {
	call := policy.Call{Tool: "read", Needs: reading(p.Needs)}
	e := g.o.Policy.Explain(call, p.Scope.Authority, append(g.Remembered(), p.Scope.Grants()...))
	return e.Decision.Action == protocol.ActionAllow
}

func (g *Gate) precheck(ctx context.Context, p Passage) error {
	preview := g.preview(p)
	defer preview.over.Store(true)
	return p.Precheck(ctx, Permit{preview})
}

// granted reports whether an answer of the user in this session allowed the call.
func granted(d policy.Decision) bool {
	return d.Action == protocol.ActionAllow && d.Rule != nil && d.Rule.Source == policy.SourceSession
}

// capability returns the needed capability with the highest risk.
func (p *Passage) capability() protocol.Capability {
	var c protocol.Capability
	for _, n := range p.Needs {
		if c == "" || riskier(n.Capability.Risk(), c.Risk()) {
			c = n.Capability
		}
	}
	return c
}

func riskier(a, b protocol.Risk) bool {
	order := []protocol.Risk{protocol.RiskLow, protocol.RiskMedium, protocol.RiskHigh, protocol.RiskCritical}
	return slices.Index(order, a) > slices.Index(order, b)
}

// key identifies a call without needs, for refusals.
func (p *Passage) key() string { return "tool " + p.Tool.ID }

// consent asks the user about the call.
func (g *Gate) consent(ctx context.Context, p Passage, d policy.Decision) (decided policy.Decision, err error) {
	r := g.question(ctx, p)
	if n := len(r.Title) + len(r.Diff); n > MaxShown && !g.o.Off.Marks {
		return d, tooLong(p.Tool.ID, n)
	}
	r.Reason = strings.TrimPrefix(strings.TrimSuffix(r.Reason+"; "+cmp.Or(d.Private, d.Reason), "; "), "; ")
	if r.Risk == "" {
		r.Risk = protocol.RiskLow
	}
	for _, n := range p.Needs {
		r.Destroys = r.Destroys || n.Destroys
	}
	if p.Tool.Untrusted {
		r.Untrusted, r.Risk = true, protocol.RiskCritical
	}
	r.Patterns = patterns(p.Needs)
	r.Once = slices.ContainsFunc(g.answerRules(p, Reply{Answer: policy.AnswerNever}, policy.SourceProject), func(r policy.Rule) bool { return r.Validate() != nil })
	if p.Defer != nil {
		if p.Defer(r) {
			return policy.Decision{Action: protocol.ActionAllow, Reason: "it is asked about with the whole plan"}, nil
		}
		return watch.Denied("this can't be done in a dry run: " + d.Reason), nil
	}
	if g.asks == nil {
		return d.Headless(), d.Err("call", p.Tool.ID)
	}
	if p.Shown != nil {
		p.Shown.note(r)
	}
	if p.Asking != nil {
		answered := p.Asking(p.Late)
		defer func() { answered(err == nil && decided.Action == protocol.ActionAllow) }()
	}
	reply, err := g.wait(ctx, r)
	if err != nil {
		return policy.Decision{}, err
	}
	if r.Once {
		reply.Answer = once(reply.Answer)
	}
	return g.settle(ctx, p, reply)
}

// wait asks the user. No time limit of ctx counts the time until the reply.
func (g *Gate) wait(ctx context.Context, r Request) (Reply, error) {
	defer stopclock.Hold(ctx)()
	return g.asks.ask(ctx, r)
}

// once returns an answer without its effect on later calls.
func once(a policy.Answer) policy.Answer {
	if a.Decision().Action == protocol.ActionAllow {
		return policy.AnswerOnce
	}
	return policy.AnswerReject
}

// question returns the question about the call.
func (g *Gate) question(ctx context.Context, p Passage) Request {
	preview := g.preview(p)
	r := p.Request(ctx, Permit{preview})
	preview.over.Store(true)
	r.Call, r.ToolCall, r.Tool, r.Args, r.Needs, r.Session = p.Call, p.Model, p.Tool.ID, p.Args, p.Needs, p.Scope.ID
	r.Effects = append(g.effects(ctx, p), r.Effects...)
	for _, e := range r.Effects {
		if riskier(e.Risk, r.Risk) {
			r.Risk = e.Risk
		}
	}
	if g.o.Off.Words {
		r.Title, r.Effects = cmp.Or(r.Title, p.Tool.ID), nil
	} else {
		entitle(&r, p.Late)
	}
	return r
}

// settle returns the decision of a reply, and stores its rules and refusals.
func (g *Gate) settle(ctx context.Context, p Passage, reply Reply) (policy.Decision, error) {
	d := reply.Answer.Decision()
	if d.Action == protocol.ActionDeny && reply.Reason != "" {
		d.Reason += ": " + reply.Reason
	}
	if d.Action == protocol.ActionDeny {
		p.Scope.refuse(p.Needs, p.key(), d.Reason)
	}
	source := policy.SourceSession
	switch reply.Answer {
	case policy.AnswerSession:
	case policy.AnswerProject, policy.AnswerNever:
		source = policy.SourceProject
	default:
		return d, nil
	}
	for _, r := range g.answerRules(p, reply, source) {
		d.Rule = &r
		var err error
		if source == policy.SourceSession {
			err = p.Scope.grant(r)
		} else {
			err = g.remember(ctx, r)
		}
		if err != nil { // the answer applies to this call all the same
			d.Reason = strings.TrimPrefix(d.Reason+"; not kept: "+protocol.Public(err).Message, "; ")
		}
	}
	return d, nil
}

// answerRules returns the rules that an answer makes. They are for this tool and for the
// capabilities that the question was about, and for the reply's pattern or for the exact subjects.
// A need with Destroys gets a rule only if the reply has a pattern.
func (g *Gate) answerRules(p Passage, reply Reply, source policy.Source) []policy.Rule {
	rule := policy.Rule{Permission: p.Tool.RuleName(), Pattern: reply.Pattern, Action: protocol.ActionAllow, Source: source, AddedAt: g.o.Now()}
	if reply.Answer == policy.AnswerNever {
		rule.Action = protocol.ActionDeny // whatever the server makes of the tool
	} else {
		rule.Sum = p.Tool.Sum()
	}
	if len(p.Needs) == 0 {
		return []policy.Rule{rule}
	}
	var out []policy.Rule
	type key struct {
		pattern string
		c       protocol.Capability
	}
	at := map[key]int{}
	add := func(r policy.Rule) {
		i, ok := at[key{r.Pattern, r.Capability}]
		if !ok {
			at[key{r.Pattern, r.Capability}] = len(out)
			out = append(out, r)
			return
		}
		out[i].Destroys = out[i].Destroys || r.Destroys
	}
	for _, n := range p.Needs {
		r := rule
		r.Capability, r.Command = n.Capability, p.Command
		r.Destroys = n.Destroys && r.Action == protocol.ActionAllow
		switch {
		case reply.Pattern != "":
			if r.Validate() != nil {
				continue // a pattern for paths does not apply to hosts
			}
		case r.Action == protocol.ActionAllow && (n.Destroys || !spelled(n)):
			continue
		case n.Subject != "" && n.Subject != ".":
			r.Pattern = literal(n)
		}
		add(r)
	}
	return out
}

// literal returns a pattern that matches a need's subject alone. For example, "a*.txt" becomes
// "a[*].txt".
func literal(n policy.Need) string {
	if !n.Capability.TakesPaths() {
		return n.Subject
	}
	var b strings.Builder
	for i, r := range n.Subject {
		if strings.ContainsRune("*?[]", r) || i == 0 && r == '~' { // ~ alone is the home folder
			b.WriteString("[" + string(r) + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// spelled reports whether a pattern can match a need's subject alone. The patterns of commands have
// no escape for a literal star.
func spelled(n policy.Need) bool {
	return n.Capability.TakesPaths() || !strings.Contains(n.Subject, "*")
}

// patterns returns suggestions for the pattern of a grant, narrowest first.
func patterns(needs []policy.Need) []string {
	var out []string
	had := map[string]bool{"": true}
	add := func(s string) {
		if !had[s] {
			had[s] = true
			out = append(out, s)
		}
	}
	for _, n := range needs {
		if spelled(n) {
			add(literal(n))
		}
	}
	for _, n := range needs {
		if !n.Capability.TakesPaths() {
			continue
		}
		if i := strings.LastIndexByte(n.Subject, '/'); i > 0 {
			add(literal(policy.Need{Capability: n.Capability, Subject: n.Subject[:i]}) + "/**")
		}
	}
	return out
}

func (g *Gate) remember(ctx context.Context, r policy.Rule) error {
	g.mu.Lock()
	rules, err := g.rules.Add(r)
	if err == nil {
		g.rules = rules
	}
	g.mu.Unlock()
	if err != nil || g.o.Remember == nil {
		return err
	}
	return g.o.Remember(ctx, r)
}

// reading returns the needs of a preview: to read the files that the call would change.
func reading(needs []policy.Need) []policy.Need {
	var out []policy.Need
	for _, n := range needs {
		if n.Capability == protocol.FSRead || n.Capability == protocol.FSWrite {
			out = append(out, policy.Need{Capability: protocol.FSRead, Subject: n.Subject, Tree: n.Tree, Filtered: n.Filtered})
		}
	}
	return out
}

// preview returns a permit to read the files of a call, with the limits of the session's tool
// "read".
func (g *Gate) preview(p Passage) *ticket {
	t := g.mint(p, reading(p.Needs), true)
	t.covers = t.reads
	return t
}

// mint creates a permit. Permits are created nowhere else.
func (g *Gate) mint(p Passage, needs []policy.Need, agreed bool) *ticket {
	t := &ticket{needs: slices.Clone(needs), over: new(atomic.Bool), note: g.o.Violation, tool: p.Tool.ID, call: p.Call, sends: p.Sends}
	own := p.Tool.Authority(p.Scope.Authority)
	t.grants = func(n policy.Need) error {
		if d := g.o.Policy.Capability(n, own); d.Action == protocol.ActionDeny {
			return d.Err("use", n.String())
		}
		return nil
	}
	t.covers = func(n policy.Need) error {
		return g.covers(p, own, policy.Call{Tool: p.Tool.RuleName(), Sum: p.Tool.Sum(), Command: p.Command}, n, agreed)
	}
	t.reads = func(n policy.Need) error {
		return g.covers(p, p.Scope.Authority, policy.Call{Tool: "read", Command: p.Command}, n, agreed)
	}
	t.lists = func(n policy.Need) error { return g.o.Policy.Policy.FS.Check(protocol.OpRead, n.Subject) }
	return t
}

// covers returns an error if permission for a tree does not include n, a path in it. If the user
// agreed to the tree, they agreed to all paths in it, except those with a rule of their own. A rule
// that allows the root of the tree does not apply to the other paths.
func (g *Gate) covers(p Passage, authority protocol.Authority, call policy.Call, n policy.Need, agreed bool) error {
	if d := g.o.Policy.Capability(n, authority); d.Action == protocol.ActionDeny {
		return d.Err("use", n.String())
	}
	if why, ok := p.Scope.refused([]policy.Need{n}, ""); ok {
		return protocol.Errorf(protocol.ErrCapabilityDenied, "use", n.String(), "the user has refused this before: %s", why).WithReason(protocol.ReasonRejected)
	}
	rules := append(slices.Clip(g.o.Policy.Policy.Rules), append(g.Remembered(), p.Scope.Grants()...)...)
	d := rules.Decide(call, n)
	blanket := d.Rule == nil || d.Rule.Pattern == "" || d.Rule.Pattern == "*"
	if d.Action == protocol.ActionAllow || d.Action == protocol.ActionAsk && blanket && agreed {
		return nil
	}
	return d.Err("use", n.String())
}

func (g *Gate) violation(p Passage, d policy.Decision) {
	v := protocol.Violation{Layer: "policy", Code: protocol.ErrCapabilityDenied, Detail: p.Tool.ID, ExecID: p.Call, Tool: p.Tool.ID, Reason: d.Refines}
	for _, n := range p.Needs {
		v.Detail += "; " + n.String()
	}
	if d.Rule != nil {
		v.Rule = d.Rule.String()
	}
	v.Detail += ": " + cmp.Or(d.Private, d.Reason)
	g.o.Violation(v)
}
