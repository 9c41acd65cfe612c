package sandbox

import (
	"context"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// Options configure a [Box]. The zero value is a box that denies everything.
type Options struct {
	// FS is the person's folder. The box puts a guard with the policy over it. Under a
	// *[fsaccess.Journal] changes can be undone and sessions rewound with the files.
	FS fsaccess.FS
	// Policy says what may be done; nil denies everything.
	Policy *protocol.Policy
	// Ask puts questions of consent to the person. nil means that nobody is there: what
	// would be asked about is denied.
	Ask Asker
	// Question puts the model's own questions to the person; nil as above.
	Question func(ctx context.Context, questions []Question) ([][]string, error)
	// Tools are what may be called; nil is [Standard].
	Tools []Tool

	// Remember stores a rule that the person wants kept beyond the session (the answers
	// project and never). The app adds it to the policy the next time. nil keeps it
	// with the box.
	Remember func(ctx context.Context, r protocol.Rule) error
	// AskWindow is how long requests of calls that run at once are gathered for one
	// prompt. Default 250 ms; it ends early, and nearly always does, when no call that was
	// made could still join.
	AskWindow time.Duration

	// Watch is what the watchdog looks for; nil is the default sequences, 100 calls a
	// second and 200 of one tool in 5 s: more than an enclave has, because a person or
	// a journal stands behind each.
	Watch *protocol.WatchOptions
	// Kinds decides on dangerous kinds of files; what is not in it is asked about.
	Kinds map[fsaccess.Kind]protocol.Action

	// OnTrace hears each step of each call, in the order of that call, on its
	// goroutine. Inputs and outputs are in it.
	OnTrace func(protocol.TraceEvent)
	// OnProgress hears what calls say while they are under way, see [Tell]. It must not
	// wait: the call does.
	OnProgress func(Progress)
	// Log gets traces at debug level and violations as warnings, without inputs, outputs
	// and what package secrets takes for credentials. A *slog.Logger is one; nil, and a
	// nil *slog.Logger, logs nothing.
	Log Logger
	// Audit is the log that every step is written to; nil keeps one in memory.
	Audit *Audit

	// Sessions is where sessions are kept; nil keeps them in memory.
	Sessions Store
	// Prompt is the system prompt of every session.
	Prompt string
	// Skills are instructions that the model may ask for by name.
	Skills []Skill
	// Agents are the kinds of subagents that the tool task starts; nil is one kind,
	// "general", with all the tools.
	Agents []Agent

	// Environment is where the box is, for [Box.Available]; empty is [Web] in a browser
	// and [Computer] elsewhere. It allows and forbids nothing.
	Environment Environment

	// Now is the clock; time.Now if nil.
	Now func() time.Time

	off off
}
