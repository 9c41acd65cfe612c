package sandbox

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
)

// Agent is a kind of subagent, which the tool task starts.
type Agent struct {
	Name         string
	Description  string
	SystemPrompt string
	Tools        []string // ids of its tools, nil for all tools of its starter
	// Grants limit its permissions, nil for all permissions of its starter. A grant without a scope
	// covers the starter's scope.
	Grants []protocol.Grant
	Model  Model // nil is the starter's model
	Steps  int   // number of requests to the model, default 25
}

// maxDepth is the maximum nesting depth of subagents.
const maxDepth = 5

func agents(b *Box) []Agent {
	if len(b.o.Agents) > 0 {
		return b.o.Agents
	}
	return []Agent{{Name: "general", Description: "does a part of the work and reports", SystemPrompt: "You do one part of a larger task. Do it, and answer with the result alone."}}
}

func taskTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "task", Time: protocol.Permissive.Limits().Time,
			Description: "Has a subagent do a part of the work. It sees the prompt alone, and may do no more than you may. Returns its answer and the id of its session, in the background without the answer.",
			Parameters:  `{"type":"object","properties":{"subagent_type":{"type":"string","minLength":1},"prompt":{"type":"string","minLength":1},"background":{"type":"boolean"},"metadata":{"type":"object"}},"required":["subagent_type","prompt"],"additionalProperties":false}`},
		Preview: func(_ context.Context, c *Call) (string, string) { return "", c.text("prompt") },
		also: func(_ context.Context, c *Call, r *gate.Request) {
			r.Effects = append(r.Effects, gate.Effect{Text: "start the subagent " + gate.Spelled(c.text("subagent_type")) + ", which spends of this run's budget and may do what this session may", Risk: protocol.RiskMedium})
		},
		Run: runTask, Text: "output",
	}
}

func runTask(ctx context.Context, c *Call) (any, error) {
	fail := func(format string, args ...any) (any, error) {
		return nil, protocol.Errorf(protocol.ErrExecution, "task", c.text("subagent_type"), format, args...)
	}
	var agent *Agent
	var names []string
	for _, a := range agents(c.box) {
		names = append(names, a.Name)
		if a.Name == c.text("subagent_type") {
			agent = &a
		}
	}
	c.scope.mu.Lock()
	model := c.scope.model
	c.scope.mu.Unlock()
	switch {
	case agent == nil:
		return fail("there is no such agent; there are %s", strings.Join(names, ", "))
	case c.scope.depth >= maxDepth:
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "task", agent.Name, "agents may start agents %d deep, and no deeper", maxDepth)
	case agent.Model != nil:
		model = agent.Model
	case model == nil:
		return fail("there is no model to run it; it is for sessions that Box.Run runs")
	}
	end, err := subagentSlot(c)
	if err != nil {
		return nil, err
	}
	s, err := startAgent(ctx, c, agent)
	if err != nil {
		end()
		return nil, err
	}
	m, _ := c.Args.(map[string]any)
	background, _ := m["background"].(bool)
	own, cancel := context.WithCancelCause(stopclock.Without(context.WithoutCancel(ctx)))
	if background {
		c.box.track(s.ID(), cancel) // before its id is known to anyone
	}
	// A Stop before this line has ended the call. A Stop after it ends the subagent.
	if err := context.Cause(ctx); err != nil {
		c.box.untrack(s.ID())
		cancel(err)
		s.Close()
		end()
		return nil, err
	}
	if background {
		go func() {
			defer end()
			runInBackground(own, c.box, cancel, s, model, agent)
		}()
		return map[string]any{"agent": agent.Name, "session_id": s.ID()}, nil
	}
	cancel(nil)
	defer end()
	defer c.clock.Pause()() // the subagent has its own limits
	ctx = stopclock.Without(ctx)
	seen := &agentParts{}
	shown := func(parts bool) func() any {
		return func() any {
			text, list := seen.now()
			out := map[string]any{"agent": agent.Name, "session_id": s.ID(), "output": text}
			if parts {
				out["parts"] = list
			}
			return out
		}
	}
	if c.early != nil {
		c.early(map[string]any{"agent": agent.Name, "session_id": s.ID()})
	}
	c.Partial(shown(false))
	stored := make(chan struct{})
	c.mu.Lock()
	c.visible, c.below = shown(true), stored
	c.mu.Unlock()
	text, err := func() (string, error) {
		defer close(stored)
		return runAgent(ctx, c.box, s, model, agent, seen)
	}()
	if !model.Local() {
		c.told()
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"agent": agent.Name, "session_id": s.ID(), "output": text}, nil
}

var errAlive = protocol.Errorf(protocol.ErrResourceLimit, "task", "", "%d subagents are at work already; wait until one has ended", maxAlive)

// subagentSlot takes one subagent from the run's budget, and a slot for it. The returned function
// frees the slot.
func subagentSlot(c *Call) (end func(), err error) {
	if c.box.o.off.agents {
		return func() {}, nil
	}
	end, err = c.scope.agentSlot()
	if err != nil {
		return nil, err
	}
	c.scope.mu.Lock()
	shared := c.scope.budget
	c.scope.mu.Unlock()
	if shared != nil {
		if err := shared.agent(); err != nil {
			end()
			return nil, err
		}
	}
	return end, nil
}

// startAgent creates the subagent's session. Its authority and its tools are the starter's, limited
// to those of agent. The starter's refusals also apply to it, its grants do not.
func startAgent(ctx context.Context, c *Call, agent *Agent) (*Session, error) {
	store := c.scope.store
	if store == nil {
		store = c.box.o.Sessions
	}
	parent, _ := store.Session(ctx, c.Session())
	now := c.box.o.Now().UTC()
	rec := SessionRecord{ID: "ses-" + randomID(9), Agent: agent.Name, Workspace: parent.Workspace, CreatedAt: now, UpdatedAt: now}
	if parent.ID != "" {
		rec.ParentID = parent.ID
	}
	m, _ := c.Args.(map[string]any)
	rec.Metadata, _ = m["metadata"].(map[string]any)
	s, err := c.box.begin(ctx, store, rec, nil, nil, c.scope, nil)
	if err != nil {
		return nil, err
	}
	s.scope.agent, s.scope.prompt, s.scope.only = agent.Name, agent.SystemPrompt, c.scope.only
	if !c.box.o.off.agents {
		c.scope.mu.Lock()
		s.scope.budget = c.scope.budget
		c.scope.mu.Unlock()
	}
	if agent.Grants != nil {
		narrow, err := protocol.RequiredAuthority(agent.Grants...)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.scope.gate.Authority = c.scope.gate.Authority.Intersect(narrow)
	}
	if agent.Tools != nil {
		s.scope.only = map[string]bool{}
		for _, id := range agent.Tools {
			if c.scope.only == nil || c.scope.only[id] {
				s.scope.only[id] = true
			}
		}
	}
	if _, err := s.Say(ctx, c.text("prompt")); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// agentParts are the latest parts of a subagent's answers, in the form of AI SDK's messages.
type agentParts struct {
	mu   sync.Mutex
	list []map[string]any
	text strings.Builder // of the text that streams last
	open string          // the id of the text or the thoughts that stream
}

// Limits of the parts of a subagent that are shown while it works. Its session has all of them.
const (
	maxAgentParts = 50
	maxAgentText  = 4 << 10 // bytes of the end of a text, or of the input or output of a call

	maxAgentsBelow = 64 << 10 // bytes of the output of a subagent's own subagent
)

func (a *agentParts) add(part map[string]any) {
	if a.list = append(a.list, part); len(a.list) > maxAgentParts {
		a.list = slices.Delete(a.list, 0, len(a.list)-maxAgentParts)
	}
}

// take adds a chunk of the subagent's run.
func (a *agentParts) take(c Chunk) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kind, event, _ := strings.Cut(string(c.Type), "-")
	switch c.Type {
	case "text-start", "reasoning-start":
		a.add(map[string]any{"type": kind, "text": "", "state": "streaming"})
		a.open = c.ID
		a.text.Reset()
	case "text-delta", "reasoning-delta":
		if c.ID == a.open {
			a.text.WriteString(c.Delta)
		}
	case "text-end", "reasoning-end":
		if n := len(a.list); n > 0 && c.ID == a.open {
			a.list[n-1]["text"], a.list[n-1]["state"] = lastOf(a.text.String()), "done"
			a.open = ""
		}
	case "tool-input-start":
		a.add(map[string]any{"type": "tool-" + c.ToolName, "toolCallId": c.ToolCallID, "state": "input-streaming"})
	case "tool-input-available", "tool-input-error":
		part := map[string]any{"type": "tool-" + c.ToolName, "toolCallId": c.ToolCallID, "state": event, "input": shortValue(c.Input, maxAgentText)}
		if c.ErrorText != "" {
			part["state"], part["errorText"] = "output-error", c.ErrorText
		}
		a.list = slices.DeleteFunc(a.list, func(p map[string]any) bool { return p["toolCallId"] == c.ToolCallID && p["state"] == "input-streaming" })
		a.add(part)
	case "tool-output-available", "tool-output-error", "tool-output-denied":
		for _, part := range slices.Backward(a.list) {
			if part["toolCallId"] != c.ToolCallID {
				continue
			}
			part["state"] = event
			if c.Type == "tool-output-available" {
				most := maxAgentText
				if delete(part, "preliminary"); c.Preliminary { // of an agent below, with its parts
					most, part["preliminary"] = maxAgentsBelow, true
				}
				part["output"] = shortValue(c.Output, most)
			} else {
				part["errorText"] = c.ErrorText
			}
			break
		}
	case "reset-step": // what has streamed of this step comes again
		a.open = ""
		for n := len(a.list); n > 0 && a.list[n-1]["output"] == nil && a.list[n-1]["errorText"] == nil && a.list[n-1]["type"] != "step-start"; n-- {
			a.list = a.list[:n-1]
		}
	case "start-step":
		a.add(map[string]any{"type": "step-start"})
	}
}

// now returns the latest text and copies of the parts.
func (a *agentParts) now() (text string, list []any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, part := range a.list {
		part = maps.Clone(part)
		if i == len(a.list)-1 && a.open != "" {
			part["text"] = lastOf(a.text.String())
		}
		if part["type"] == "text" {
			text, _ = part["text"].(string)
		}
		list = append(list, part)
	}
	return text, list
}

// lastOf returns the end of a text.
func lastOf(text string) string {
	if len(text) <= maxAgentText {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-maxAgentText:], "")
}

// shortValue returns a value of a call, or the start of its JSON if it is long.
func shortValue(v any, most int) any {
	text, err := json.Marshal(v)
	if err != nil || len(text) <= most {
		return v
	}
	return strings.ToValidUTF8(string(text[:most]), "") + "…"
}

// runAgent runs a subagent to its end and returns the text of its last answer. seen may be nil.
func runAgent(ctx context.Context, b *Box, s *Session, model Model, agent *Agent, seen *agentParts) (string, error) {
	defer s.Close()
	steps := agent.Steps
	if steps == 0 {
		steps = 25
	}
	o := RunOptions{}
	if shared := s.scope.budget; shared != nil { // of the run that started it
		o = shared.o
	}
	o.Steps, o.Time = steps, 0               // the time is that of the run
	if agent.Model != nil && o.Context > 0 { // the run's limit is that of another model
		o.Context = min(o.Context, contextTokens(agent.Model))
	}
	text, failed := "", error(nil)
	for chunk, err := range b.Run(ctx, s, model, o) {
		if seen != nil {
			seen.take(chunk)
		}
		switch {
		case err != nil:
			failed = err
		case chunk.Type == "text-start":
			text = ""
		case chunk.Type == "text-delta":
			text += chunk.Delta
		}
	}
	return text, failed
}

// runInBackground runs a subagent until it ends, or until [Box.Stop] ends it.
func runInBackground(ctx context.Context, b *Box, cancel context.CancelCauseFunc, s *Session, model Model, agent *Agent) {
	defer cancel(context.Canceled)
	defer b.untrack(s.ID())
	if shared := s.scope.budget; shared != nil && !shared.deadline.IsZero() {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, shared.deadline, errBudget("time"))
		defer stop()
	}
	_, _ = runAgent(ctx, b, s, model, agent, nil) // its session contains the outcome
}
