package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// Limits of a stranger's request to the model. A user reads all of it before it is sent.
const (
	maxSampled         = 16 << 10 // bytes
	maxSampledMessages = 50
	maxSampledTokens   = 4096     // of the answer
	maxAnswered        = 32 << 10 // bytes of the answer, if the model ignores the limit of tokens
)

// Sample has the model of a session answer the request r of somebody else, such as an MCP server whose tool runs.
// It is for Sample of package mcpclient. ctx is that of the tool's Run, and a run of the session must be active.
//
// The user is asked each time, and the question has the author who, the model, the whole request and the most
// tokens of the answer. The model receives nothing more: no tools, no files, and nothing of the conversation or of
// the app's prompt. The request has at most 50 messages of text with 16 KiB together, and its answer at most 4,096
// tokens and 32 KiB. It counts towards the budgets of the run and the money of the session, OnSend sees it, it is in
// the audit log, and it is not repeated. No time limit counts its time.
//
// A second question has the whole answer, without the credentials that package secrets finds in it. Nothing of the
// answer is returned before the user agrees. After a no to either question, further requests of the same author are
// refused until the user's next message.
//
// Sample returns the answer as the user saw it and the reason of its end, as in a [PartFinish]. The error is
// [protocol.ErrInvalidParams] for a request that has anything but text, [protocol.ErrResourceLimit] for one beyond a
// limit or a budget, [protocol.ErrCapabilityDenied] after a no, and [protocol.ErrSession] without a run.
func (r ModelRequest) Sample(ctx context.Context, who string) (text, finish string, err error) {
	c, ok := ctx.Value(callKey{}).(*Call)
	if !ok {
		return "", "", protocol.Errorf(protocol.ErrSession, "sample", who, "the model is asked only while a tool runs")
	}
	c.scope.mu.Lock()
	model, shared, s := c.scope.model, c.scope.budget, c.scope.session
	c.scope.mu.Unlock()
	if model == nil || shared == nil || s == nil || !s.running() {
		return "", "", protocol.Errorf(protocol.ErrSession, "sample", who, "no run of the session is active, so there is no model to ask")
	}
	r, err = sampled(who, r)
	if err != nil {
		return "", "", err
	}
	if !model.Local() {
		if err := c.scope.gate.Authority.Check(protocol.Stream, ""); err != nil {
			return "", "", err
		}
	}
	if err := shared.left(); err != nil { // the user is not asked in vain
		return "", "", err
	}
	defer c.clock.Hold()()
	shown := sampledText(who, r)
	if c.box.o.off.words {
		shown = sampledPlain(r)
	}
	if err := askSample(ctx, c, who, "let "+who+" ask the model "+gate.Spelled(model.Name()), shown); err != nil {
		return "", "", err
	}
	if err := shared.step(); err != nil {
		return "", "", err
	}
	if shared.o.OnSend != nil && !model.Local() {
		shared.o.OnSend(r)
	}
	size := 0
	quiet := &run{box: c.box, s: s, model: model, o: shared.o, budget: shared, yield: func(part Chunk, _ error) bool {
		if part.Type == "text-delta" {
			size += len(part.Delta)
		}
		return size <= maxAnswered
	}}
	a := &answer{run: quiet, msg: s.newMessage(RoleAssistant), quiet: true}
	finish, err = a.stream(ctx, r)
	if errors.Is(err, errGone) {
		err = protocol.Errorf(protocol.ErrResourceLimit, "sample", who, "the answer has more than %d bytes, which is more than a person reads", maxAnswered)
		if a.usage == (Usage{}) { // a provider says it at the end
			a.usage = Usage{Input: int64(tokensOfRequest(r)), Output: int64(size / 4)}
		}
	}
	quiet.count(a.usage)
	note := func(format string, args ...any) {
		c.box.audit.Note(fmt.Sprintf(format, args...), c.box.o.Now().UTC())
	}
	note("%s had the model %s answer during the call %s: %d tokens in, %d out\n%s", who, model.Name(), c.ID, a.usage.Input, a.usage.Output, sampledText(who, r))
	if err != nil {
		return "", "", err
	}
	text, kinds := strings.ToValidUTF8(a.text(), "\ufffd"), []string(nil)
	if c.box.o.off.answers {
		return text, finish, nil
	}
	if text, kinds = secrets.Redact(ctx, text); strings.TrimSpace(text) == "" {
		return "", finish, nil
	}
	shown = answeredText(who, model, text, kinds)
	if err := askSample(ctx, c, who, "send the model's answer to "+who, shown); err != nil {
		return "", "", err
	}
	note("during the call %s the user agreed. %s", c.ID, shown)
	return text, finish, nil
}

// sampled returns a stranger's request within its limits.
func sampled(who string, r ModelRequest) (ModelRequest, error) {
	size := len(r.System)
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			size += len(p.Text)
			if p.Type != PartText || m.Role != RoleUser && m.Role != RoleAssistant || len(p.Meta) > 0 {
				return r, protocol.Errorf(protocol.ErrInvalidParams, "sample", who, "the model is asked by text alone, in messages of a user and an assistant")
			}
			if !utf8.ValidString(p.Text) {
				return r, protocol.Errorf(protocol.ErrInvalidParams, "sample", who, "a text is not UTF-8")
			}
		}
	}
	switch {
	case len(r.Tools) > 0:
		return r, protocol.Errorf(protocol.ErrInvalidParams, "sample", who, "the model is asked without tools")
	case len(r.Messages) == 0:
		return r, protocol.Errorf(protocol.ErrInvalidParams, "sample", who, "there is no message")
	case size > maxSampled || len(r.Messages) > maxSampledMessages:
		return r, protocol.Errorf(protocol.ErrResourceLimit, "sample", who, "the request has more than %d bytes or %d messages, which is more than a person reads", maxSampled, maxSampledMessages)
	}
	if r.MaxTokens <= 0 || r.MaxTokens > maxSampledTokens {
		r.MaxTokens = maxSampledTokens
	}
	return r, nil
}

// askSample asks the user about a stranger's request, or about its answer. A no to either holds for the next request
// of the same stranger.
func askSample(ctx context.Context, c *Call, who, title, shown string) error {
	q := gate.Request{Call: c.ID, ToolCall: c.model, Tool: c.tool.ID, Title: title, Risk: protocol.RiskHigh, Untrusted: true, Session: c.Session(), Agent: c.scope.agent, Args: c.Args,
		Effects: []gate.Effect{{Text: title, Risk: protocol.RiskHigh}}, Diff: shown, Key: "sample " + who}
	p := c.passage(nil)
	p.Step = c.trace.step
	return c.box.gate.Confirm(ctx, p, q)
}

// sampledText returns a request for a person.
func sampledText(who string, r ModelRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has written the text below. The model gets nothing else. You see its answer, of at most %d tokens and at your cost, before it goes to %s.\n", who, r.MaxTokens, who)
	if r.System != "" {
		quoted(&b, "Instructions for the model", r.System)
	}
	for _, m := range r.Messages {
		from := "In the user's name"
		if m.Role == RoleAssistant {
			from = "In the model's name"
		}
		for _, p := range m.Parts {
			quoted(&b, from, p.Text)
		}
	}
	return b.String()
}

// answeredText returns an answer for a person. kinds are the credentials that were removed from it.
func answeredText(who string, model Model, text string, kinds []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This is the whole answer of the model %s. All of it, and nothing else, goes to %s.\n", gate.Spelled(model.Name()), who)
	if len(kinds) > 0 {
		fmt.Fprintf(&b, "Removed from it: %s.\n", strings.Join(kinds, ", "))
	}
	quoted(&b, "Answer", text)
	return b.String()
}

// quoted writes a text below a heading. Each line of it is marked, so that none passes for a heading.
func quoted(b *strings.Builder, from, text string) {
	b.WriteString(from + ":\n")
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			b.WriteString("│ " + line)
		}
		b.WriteString("\n")
	}
}

// sampledPlain is sampledText without the marks, in attack tests.
func sampledPlain(r ModelRequest) string {
	text := r.System
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			text += "\n" + p.Text
		}
	}
	return text
}
