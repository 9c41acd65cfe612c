package sandbox

import (
	"context"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Options configure a [Box]. The zero value makes a box that denies everything.
type Options struct {
	// FS is the user's folder. The box puts a guard with the policy over it. With a
	// *[fsaccess.Journal], changes can be undone and sessions can be rewound together with the
	// files. nil is no folder: tools that need one are missing.
	FS fsaccess.FS
	// Policy decides which calls are allowed, asked about or denied. nil denies everything.
	Policy *policy.Policy
	// Ask shows questions of consent to the user. With nil, a call that would be asked about is
	// denied.
	Ask Asker
	// AnswerModel shows the model's questions, which it asks with the tool "question", to the user.
	// It returns a list of answers for each question. With nil, the tool fails.
	AnswerModel func(ctx context.Context, questions []ModelQuestion) ([][]string, error)
	// Tools are the tools of the box. nil is [Standard].
	Tools []Tool

	// Remember stores a rule that the user wants to keep beyond the session (the answers "project"
	// and "never"). The app adds it to the policy at its next start. The box keeps the rule itself
	// as well until the program ends. With nil, it is kept only there. An error is added to the
	// reason of the decision, which holds all the same.
	Remember func(ctx context.Context, r policy.Rule) error
	// AskWindow is the maximum time for which the requests of concurrent calls are collected into
	// one prompt. The default is 250 ms. It nearly always ends earlier: the prompt is shown as soon
	// as all running calls wait for an answer.
	AskWindow time.Duration

	// Watch configures the watchdog. nil is the default sequences of calls, 100 calls a second, and
	// 200 calls of one tool in 5 s. An enclave has lower limits. Here a user's answer or a journal
	// stands behind each call.
	Watch *WatchOptions
	// Kinds decides about dangerous kinds of files. The user is asked about a kind that is not in
	// it.
	Kinds map[fsaccess.Kind]protocol.Action

	// OnTrace is called with each step of each call, in the order of that call, on its goroutine.
	// The events contain inputs and outputs.
	OnTrace func(protocol.TraceEvent)
	// OnProgress is called with the progress lines of running calls, see [ReportProgress]. It must return at
	// once, because the call waits for it.
	OnProgress func(Progress)
	// OnPanic is called if a tool panics, with its id, the value and the stack, on the tool's goroutine.
	// The call fails, and the model receives neither. nil writes both to standard error, which is the
	// console of a page. Both may contain what the tool has read.
	OnPanic func(tool string, value any, stack []byte)
	// Log receives traces at debug level and violations as warnings. They contain no inputs, no
	// outputs and no text that package secrets takes for a credential. A *slog.Logger implements
	// it. nil, and a nil *slog.Logger, log nothing. The type is not *slog.Logger, because a page that
	// does not log is smaller without package log/slog.
	Log interface {
		Debug(msg string, args ...any)
		Warn(msg string, args ...any)
	}
	// Audit is the log that every step is written to. nil makes one in memory.
	Audit *Audit

	// Sessions stores the sessions. nil is a [MemoryStore].
	Sessions Store
	// SystemPrompt is the system prompt of every session.
	SystemPrompt string
	// Skills are instructions that the model may load by name.
	Skills []Skill
	// Agents are the kinds of subagents that the tool "task" starts. nil is one kind, "general",
	// with all tools.
	Agents []Agent

	// Environment is the environment that [Box.Available] reports about. Empty is [Web] in a
	// browser and [Computer] elsewhere. It has no influence on permissions.
	Environment Environment

	// Now returns the current time. nil is time.Now.
	Now func() time.Time

	off off
}

// off has a switch for each defence that an attack test disables, to show that the attack succeeds
// without it. Only tests set one, see export_test.go.
type off struct {
	clone  bool // arguments are copied before the user is asked
	keys   bool // keys of results are searched for credentials
	names  bool // a server's tool is left out if its name is taken
	agents bool // subagents are counted and share a budget
	words  bool // questions list all needs
	same   bool // the effect is the one that the question showed
	sizes  bool // the size of an edit is counted before it is made
	marks  bool // invisible characters in a question are marked
	apps   bool // the page of a tool calls only tools that are for it, and the model none that are for pages alone
	views  bool // each path of a program, an undo and a removed folder is decided separately

	answers bool // the user sees an answer to a stranger before it leaves, and it has no credentials
}
