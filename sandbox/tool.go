package sandbox

import (
	"context"
	"sync"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

type (
	// Permit is the leave to have just the effects a call said that it needs, until
	// the call ends. Only the box's gate makes one; the zero Permit permits nothing.
	Permit = gate.Permit
	// Folder is the person's folder: each method takes a [Permit].
	Folder = gate.Folder
	// Need is one effect that a call is about to have.
	Need = policy.Need
	// Asker puts questions of consent to the person.
	Asker = gate.Asker
	// Prompt is what is asked at once.
	Prompt = gate.Prompt
	// Effect is one thing that a call does, in the words of a question.
	Effect = gate.Effect
	// Request is one call that is asked about.
	Request = gate.Request
	// Reply is the answer to a [Request]; the zero Reply is a rejection.
	Reply = gate.Reply
	// Held is something that only a permit gives out; see [Hold].
	Held[T any] = gate.Held[T]
)

// Hold keeps something that acts outside of the folder behind permits.
func Hold[T any](v T) Held[T] { return gate.Hold(v) }

// AskFunc is a function that is an [Asker].
type AskFunc func(ctx context.Context, p Prompt) ([]Reply, error)

// Ask calls f.
func (f AskFunc) Ask(ctx context.Context, p Prompt) ([]Reply, error) { return f(ctx, p) }

// Tool is a [protocol.Tool] that says before each call what it needs, and does it
// with a permit. Execute is the box's own to set.
type Tool struct {
	protocol.Tool

	// Needs says what a call would do, from its arguments alone. nil needs nothing
	// outside of the session. The capabilities must be in Requires.
	Needs func(ctx context.Context, c *Call) ([]Need, error)
	// Preview returns a line that says what the call is, and the content that it would change,
	// send or run. It is called only if the user is asked; the call's permit is for reading then.
	// The question adds each need that the title does not say in the same words; an empty title
	// is made of the needs alone. For the same arguments and files it returns the same: the box
	// asks for it again right before Run, and fails the call if the user agreed to something else.
	Preview func(ctx context.Context, c *Call) (title, diff string)
	// Foresee says why a call would fail whatever the person answered: it fails so then, and
	// nobody is asked. It is called only before a question, and only if all files that the
	// call needs may be read unasked; the call's permit is for reading then. nil foresees nothing.
	Foresee func(ctx context.Context, c *Call) error
	// Run does it. What it returns must be a value that [protocol.EncodeValue] writes.
	Run func(ctx context.Context, c *Call) (any, error)

	// Text and Rows name the member of the result that is cut if it is too long: a
	// text, or a list.
	Text, Rows string
	// Missing says why the tool can't work here; it is then listed and not there.
	Missing string

	// content is what a call would write to its path, where the arguments say it.
	content func(c *Call) []byte
	// turn says that Run changes files at once, as the question showed: it runs when no other
	// such call does.
	turn bool
	// also adds to a question that is asked in any case.
	also func(ctx context.Context, c *Call, r *Request)
}

// Call is one call of a tool, as the tool sees it.
type Call struct {
	ID     string
	Args   any    // as it fits the tool's schema
	Permit Permit // for what Needs said
	FS     Folder

	tool   *Tool
	box    *Box
	scope  *scope
	clock  *clock
	needs  []Need
	trace  *tracer
	asking func(Request)
	model  string           // the id that the model gave it, or the call that made it
	to     string           // who else than the session's model is sent the result, or empty
	asked  string           // the key of what the call's own question was about too
	parent *Call            // whose tool made it, or nil
	change *fsaccess.Change // of the folder's history that it is about, or nil

	mu      sync.Mutex
	touched []string      // paths whose content the result may tell of
	got     []string      // those of them that were read
	level   protocol.Send // of the rest that was read
	asks    func(Request) bool
}

// Bind puts the arguments into the struct that dst points to.
func (c *Call) Bind(dst any) error {
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	return protocol.Unmarshal(args, dst)
}

// Session is the id of the session that the call belongs to.
func (c *Call) Session() string { return c.scope.gate.ID }

// Box is the box the call was made to, for tools that call others: such calls go
// through every step themselves.
func (c *Call) Box() *Box { return c.box }

// Need passes the gate again for effects that only turned up while the tool ran, such
// as the files a script opens. The person may be asked; that time is not counted. The
// permit lasts as long as the call.
func (c *Call) Need(ctx context.Context, needs ...Need) (Permit, error) {
	c.clock.pause()
	defer c.clock.resume()
	needs = c.FS.Resolve(ctx, needs)
	p := c.passage(needs)
	p.Unwatched, p.Late = true, true
	p.Step = c.trace.step
	p.Shown = &gate.Shown{}
	permit, end, err := c.box.gate.Pass(ctx, p)
	if err != nil {
		return Permit{}, err
	}
	c.scope.atEnd(c.ID, end)
	if err := c.box.gate.Same(ctx, p); err != nil {
		return Permit{}, err
	}
	c.touch(needs)
	return permit, nil
}

// View is a folder of its own that holds just the files that may be read and written: for
// programs that open files by themselves. It ends with ctx. The permit must cover each
// named path with all below it; below them each path is decided by itself, by grants,
// rules and refusals, as a call for that path would be. A model is sent as much of the
// call's result as the policy sends of all that may be read.
//
// A program may make files, and change those that it may read. It may remove a file, move
// one away, or replace one that it may not read only where p is also for that: with a need
// for [protocol.FSWrite], Op [protocol.OpRemove], Tree and Destroys.
func (c *Call) View(ctx context.Context, p Permit, reads, writes []string) (fsaccess.FS, error) {
	view, _, err := c.view(ctx, p, reads, writes)
	return view, err
}

// view is View; lose asks about files that the program is about to remove or move away.
func (c *Call) view(ctx context.Context, p Permit, reads, writes []string) (view fsaccess.FS, lose func(context.Context, map[string]string) error, err error) {
	level := protocol.SendContents
	for _, path := range reads {
		level = level.Narrow(c.box.policy.Policy.Send.Below(path))
	}
	c.narrow(level)
	view, more, err := gate.View(ctx, c.FS, p, reads, writes)
	return view, func(ctx context.Context, lost map[string]string) error {
		permit, err := c.lose(ctx, p, lost)
		if err == nil {
			more(permit)
		}
		return err
	}, err
}

// Use counts a use of something that one session has only so many of, and is an error
// when they are used up. Subagents count as the session that started them.
func (c *Call) Use(what string, most int) error { return c.scope.root.use(what, most) }
