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
	// A Permit allows the effects that a call declared in Needs, until the call ends. Only the box
	// creates permits. The zero Permit permits nothing. The methods of [Folder] that read or change
	// files take a permit, and so does [Held].Use. They return [protocol.ErrSecurityViolation] for
	// an effect that the call did not declare.
	Permit = gate.Permit
	// Folder is the user's folder for tools, as in [Call].FS. Methods that read or change a file
	// take a [Permit].
	Folder = gate.Folder
	// Need is one effect that a call is about to have, such as reading notes.md.
	Need = policy.Need
	// An Asker shows a [Prompt] to the user and returns one [Reply] for each request, in the order
	// of the requests. A missing reply is a rejection, and an error rejects all of them. Ask must
	// return when its context ends.
	Asker = gate.Asker
	// Prompt is the list of requests that are shown to the user at the same time, in its field
	// Requests.
	Prompt = gate.Prompt
	// Effect is one thing that a call does if the user agrees. Its Text is a line for the user,
	// such as "change notes.md", with its own Risk.
	Effect = gate.Effect
	// Request is one call that the user is asked about. A window shows Title, the Text of each
	// effect that has InTitle false, Risk, Destroys, Untrusted, Agent and Diff, and accepts an
	// answer only while they are in view.
	Request = gate.Request
	// Reply is the user's answer to a [Request]. The zero Reply is a rejection.
	Reply = gate.Reply
	// Held is a value that acts outside of the folder, such as an enclave. Its method Use returns
	// the value only to a call with a permit for the effect. [Hold] makes one.
	Held[T any] = gate.Held[T]
)

// Hold returns v behind permits: [Held].Use returns v only to a caller with a permit for the given
// effect.
func Hold[T any](v T) Held[T] { return gate.Hold(v) }

// AskFunc is a function that implements [Asker].
type AskFunc func(ctx context.Context, p Prompt) ([]Reply, error)

// Ask returns the replies of f.
func (f AskFunc) Ask(ctx context.Context, p Prompt) ([]Reply, error) { return f(ctx, p) }

// A Tool is a [protocol.Tool] that declares the effects of each call before the call runs, and has
// them with a permit. [New] sets Execute and replaces a given one.
type Tool struct {
	protocol.Tool

	// Needs returns the effects that a call will have, computed from its arguments alone. For
	// example, the tool write returns one need to write its path. A nil Needs declares no effect
	// outside of the session. Each capability in the result must be in Requires. An error fails the
	// call.
	Needs func(ctx context.Context, c *Call) ([]Need, error)
	// Preview returns a title of one line for the question, and the content that the call would
	// change, send or run. It is called only if the user is asked. The call's permit then covers
	// reading alone. The question appends every need whose words differ from title. If title is
	// empty, the question is made from the needs alone. Preview must return the same result for the
	// same arguments and files: the box calls it again right before Run, and fails the call if the
	// result differs from the one that the user agreed to.
	Preview func(ctx context.Context, c *Call) (title, diff string)
	// Foresee, if set, is called before the user is asked. If it returns an error, the call fails
	// with it and no question is shown. Use it for failures that no answer can change, such as a
	// stale version. It is called only if the session may read all files of the call without
	// asking. The call's permit then covers reading alone. If Foresee panics, the user is asked as
	// usual.
	Foresee func(ctx context.Context, c *Call) error
	// Run does the work. Its result must be a value that [protocol.EncodeValue] accepts.
	Run func(ctx context.Context, c *Call) (any, error)

	// Text and Rows name the member of the result that is cut if it is too long. Text names a
	// string, such as "content". Rows names a list, such as "matches". See
	// [protocol.OutputLimitFor] for the limits.
	Text, Rows string
	// Missing is the reason why the tool can't work here. If it is set, [Box.Available] lists the
	// tool with this reason, and the tool can't be called.
	Missing string

	// content returns the bytes that a call would write to its path, if they follow from the
	// arguments.
	content func(c *Call) []byte
	// turn reports that Run changes files in one go, exactly as the question showed. Only one such
	// call runs at a time.
	turn bool
	// also adds effects to a question that is shown in any case.
	also func(ctx context.Context, c *Call, r *Request)
}

// Call is one call of a tool. Needs, Preview, Foresee and Run receive it.
type Call struct {
	ID     string // the call's id in traces and in the audit log
	Args   any    // JSON values that match the tool's schema
	Permit Permit // covers the effects that Needs returned
	FS     Folder // the user's folder

	tool   *Tool
	box    *Box
	scope  *scope
	clock  *clock
	needs  []Need
	trace  *tracer
	asking func(Request)
	model  string           // the model's id of the call, or of the call that made it
	to     string           // the receiver of the result if it is not the session's model, or empty
	asked  string           // the key of the third-party command that the call's own question was about
	parent *Call            // the call whose tool made this one, or nil
	change *fsaccess.Change // the step of the folder's history for undo and diff, or nil

	mu      sync.Mutex
	touched []string      // paths whose content the result may contain
	got     []string      // the paths in touched that were read
	level   protocol.Send // the strictest send level of all other content that was read
	asks    func(Request) bool
}

// Bind stores the arguments in the struct that dst points to. It returns the error of
// [protocol.Unmarshal].
func (c *Call) Bind(dst any) error {
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	return protocol.Unmarshal(args, dst)
}

// Session returns the id of the session that the call belongs to.
func (c *Call) Session() string { return c.scope.gate.ID }

// Box returns the box that runs the call, for tools that make calls of other tools. Each such call
// goes through every step of its own.
func (c *Call) Box() *Box { return c.box }

// Need asks for further effects that were unknown before the tool ran, such as the files that a
// script opens. It returns a permit for them, which lasts until the call ends. The user may be
// asked, and the tool's time limit does not count that time. The error is that of a denied call,
// such as [protocol.ErrCapabilityDenied].
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

// View returns a folder that contains only the files below reads and writes, for programs that open
// files by themselves. The view ends with ctx. The permit p must cover each of the paths with
// everything below it. Below them each path is decided separately, by grants, rules and refusals,
// as a call for that path would be. The strictest send level of all files below reads applies to
// the call's whole result.
//
// A program may create files, and change files that it may read. It needs more to remove a file, to
// move one away, or to replace one that it may not read. For these p must also cover a need for
// [protocol.FSWrite] with Op [protocol.OpRemove], Tree and Destroys.
func (c *Call) View(ctx context.Context, p Permit, reads, writes []string) (fsaccess.FS, error) {
	view, _, err := c.view(ctx, p, reads, writes)
	return view, err
}

// view is View. The function lose asks the user about files that the program is about to remove or
// move away.
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

// Use counts one use of a limited resource in the session, and returns [protocol.ErrResourceLimit]
// if most uses are counted already. For example, c.Use("web_search", 20) allows 20 searches in a
// session. Uses by subagents count for the session that started them.
func (c *Call) Use(what string, most int) error { return c.scope.root.use(what, most) }
