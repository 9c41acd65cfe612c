package sandbox

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// An Asker shows a [Prompt] to the user and returns one [Reply] for each request, in the order of
// the requests. A missing reply is a rejection, and an error or a panic rejects all of them. Ask
// must return when its context ends. The box calls it for one prompt at a time.
type Asker interface {
	Ask(ctx context.Context, p Prompt) ([]Reply, error)
}

// AskFunc is a function that implements [Asker].
type AskFunc func(ctx context.Context, p Prompt) ([]Reply, error)

// Ask returns the replies of f.
func (f AskFunc) Ask(ctx context.Context, p Prompt) ([]Reply, error) { return f(ctx, p) }

// Prompt is the list of requests that are shown to the user at the same time. Concurrent calls
// share a prompt, see [Options].AskWindow. An [Asker] may keep and change the requests.
type Prompt struct {
	Requests []Request
}

// Request is one call that the user is asked about. A window shows Title, the Text of each effect
// that has InTitle false, Risk, Destroys, Untrusted, Agent and Diff. Together they describe
// everything that the call does. The window accepts an answer only while they are in view.
// Invisible characters in these texts are replaced by escapes.
type Request struct {
	Call string // the call's id
	// ToolCall is the model's id of the call, as in [Chunk].ToolCallID, or of the call that made this one. It is
	// empty if no model asked for the call.
	ToolCall string
	Tool     string // the tool's id
	// Title describes the call in one line, to be read after "May the assistant". It names the
	// effects and has at most 240 characters. A longer title is cut, and is complete at the
	// beginning of Diff.
	Title       string
	Description string // the tool's own text; don't trust it if Untrusted is set
	// Effects are all effects of the call if the user agrees. The box derives them from Needs, so
	// a tool can't omit one. A tool may add others.
	Effects   []Effect
	Args      any           // the call's arguments, a copy
	Needs     []policy.Need // the permissions that the call needs
	Risk      protocol.Risk // the highest risk of the effects, or a higher one
	Destroys  bool          // content is lost; a grant beyond this call needs a pattern
	Untrusted bool          // the tool is from an MCP server, or a skill from a folder
	Reason    string        // why the user is asked
	// Diff is the content that would be written, removed, sent or run. Title and Diff together have
	// at most 4 MiB. A call with more to show fails, and the user is not asked.
	Diff string
	// Unified reports that the box made Diff: a unified diff, the names of a move or a list of the files
	// of a folder. Any other Diff, such as a script, is to be read whole. It may imitate a diff.
	Unified  bool
	Session  string   // the id of the session
	Agent    string   // the subagent that makes the call, or empty
	App      string   // the tool whose page makes the call, see [Tool].App, or empty: the model did not ask for it
	Patterns []string // suggested patterns for a grant, narrowest first
	// Once reports that no rule can stand for an answer, such as for the content of a plan, or for a
	// path that is too long for a pattern. AnswerSession and AnswerProject are then like AnswerOnce, and
	// AnswerNever is like AnswerReject: don't offer them.
	Once bool
}

// Effect is one thing that a call does if the user agrees, described for the user.
type Effect struct {
	// Text is one line without a full stop. It begins with a verb in lower case and names the
	// complete subject, such as "write thesis.tex, whose content is lost". A subject that is not a
	// plain name is in quotes, and all characters are visible.
	Text string
	// Risk is the risk of this effect alone. See the table at [protocol.Risk].
	Risk protocol.Risk
	// Destroys reports that content is lost. Undo restores it if the folder keeps a journal.
	Destroys bool
	// InTitle reports that the request's title contains the effect in the same words already.
	InTitle bool
	// Needs are the permissions that the effect uses. It is empty for an effect that uses none,
	// such as starting a subagent.
	Needs []policy.Need
}

// Reply is the user's answer to a [Request]. The zero Reply is a rejection.
type Reply struct {
	Answer policy.Answer // such as policy.AnswerOnce
	// Pattern is the pattern of a grant for the session or the project: a path or host pattern,
	// such as one of [Request].Patterns. Empty is exactly the subject of the request.
	Pattern string
	// Reason is sent to the model with a rejection.
	Reason string
}

// gateAsk returns a's Ask for the gate, whose types have the same fields, or nil if a is nil.
func gateAsk(a Asker) gate.Ask {
	if a == nil {
		return nil
	}
	return func(ctx context.Context, requests []gate.Request) ([]gate.Reply, error) {
		p := Prompt{Requests: make([]Request, len(requests))}
		for i, r := range requests {
			p.Requests[i] = requestOf(r)
		}
		replies, err := a.Ask(ctx, p)
		out := make([]gate.Reply, len(replies))
		for i, r := range replies {
			out[i] = gate.Reply(r)
		}
		return out, err
	}
}

// requestOf returns the gate's request for an [Asker].
func requestOf(r gate.Request) Request {
	out := Request{
		Call: r.Call, ToolCall: r.ToolCall, Tool: r.Tool, Title: r.Title, Description: r.Description, Args: r.Args, Needs: r.Needs, Risk: r.Risk, Destroys: r.Destroys,
		Untrusted: r.Untrusted, Reason: r.Reason, Diff: r.Diff, Session: r.Session, Agent: r.Agent, App: r.App, Patterns: r.Patterns, Once: r.Once, Unified: r.Unified,
	}
	for _, e := range r.Effects {
		out.Effects = append(out.Effects, Effect(e))
	}
	return out
}
