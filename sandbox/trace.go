package sandbox

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// tracer records the steps of one call.
type tracer struct {
	box   *Box
	call  *Call
	began time.Time
	tool  string

	mu      sync.Mutex
	decided []any // strings for the user: each decision and its reason
}

// maxDecided is the maximum number of decisions that a call's part stores.
const maxDecided = 20

func (t *tracer) event(kind protocol.TraceType) protocol.TraceEvent {
	e := protocol.TraceEvent{TraceID: t.box.ids.Next(), ParentID: t.call.ID, RootID: t.call.scope.gate.ID, ExecID: t.call.ID, Type: kind, Time: t.box.o.Now(), Tool: t.tool}
	e.App = t.call.app
	if t.call.tool != nil {
		e.Server = t.call.tool.Server
	}
	return e
}

func (t *tracer) emit(e protocol.TraceEvent) {
	t.box.audit.trace(e)
	if t.box.o.OnTrace != nil {
		t.box.o.OnTrace(e)
	}
	if l := t.box.o.Log; l != nil {
		l.Debug("trace", "type", string(e.Type), "call", e.ExecID, "tool", logged(e.Tool), "capability", string(e.Capability),
			"decision", string(e.Decision), "rule", logged(e.Rule), "status", e.Status, "ms", e.DurationMS)
	}
}

// logged returns text without credentials. The model chose the names of tools, paths and hosts in a
// log line.
func logged(text string) string {
	text, _ = secrets.Redact(context.Background(), text)
	return text
}

func (t *tracer) start(tc ToolCall) {
	t.tool = builtinName(tc.Tool)
	if protocol.ValidToolName(t.tool) != nil {
		t.tool = "" // an invalid name is not recorded
	}
	e := t.event(protocol.TraceStart)
	e.Input = t.call.Args
	t.emit(e)
}

// step records a decision about a call.
func (t *tracer) step(kind protocol.TraceType, n policy.Need, d policy.Decision) {
	e := t.event(kind)
	e.Capability, e.Decision = n.Capability, d.Action
	if d.Action == "" {
		e.Decision = protocol.ActionDeny
	}
	if n.Capability != "" {
		e.Input = n.String()
	}
	if d.Rule != nil {
		e.Rule = d.Rule.String()
	}
	if d.Action != protocol.ActionAllow {
		e.Error = cmp.Or(d.Private, d.Reason)
	}
	t.emit(e)
	if kind == protocol.TracePermission || e.Decision == protocol.ActionDeny { // a denial by a list has no other step
		t.decision(n, e.Decision, cmp.Or(d.Private, d.Reason), e.Rule)
	}
}

// decision records a line for the user: the effect, if the step is about a single one, the
// decision, its reason and the rule.
func (t *tracer) decision(n policy.Need, action protocol.Action, reason, rule string) {
	line := string(action)
	if n.Capability != "" {
		line = n.String() + ": " + line
	}
	if reason != "" {
		line += " (" + reason + ")"
	}
	if rule != "" {
		line += ", by the rule " + rule
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.decided) < maxDecided {
		t.decided = append(t.decided, line)
	}
}

// decisions returns the lines recorded so far.
func (t *tracer) decisions() []any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.decided)
}

// end makes the call's result, truncates it and records how the call ended.
func (t *tracer) end(data any, err error) ToolResult {
	took := t.box.o.Now().Sub(t.began)
	var res ToolResult
	if err == nil {
		res = succeeded(data, took)
		res.Files = t.call.added()
		t.call.cut(&res)
	} else {
		res = failed(err, took)
		if data != nil { // what the tool had put out
			res.Data = data
			t.call.cut(&res)
		}
	}
	e := t.event(protocol.TraceTool)
	e.DurationMS, e.Status, e.Output, e.Error = ms(took), "ok", res.Data, res.ErrorText
	if err != nil {
		e.Status = "error"
		switch {
		case res.Code == protocol.ErrCapabilityDenied || res.Code == protocol.ErrSecurityViolation:
			e.Status = "denied"
		case res.Code == protocol.ErrAborted || errors.Is(err, context.Canceled):
			e.Status = "aborted"
		}
	}
	t.emit(e)
	end := t.event(protocol.TraceEnd)
	end.DurationMS, end.Status = e.DurationMS, e.Status
	t.emit(end)
	return res
}
