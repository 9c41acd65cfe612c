package main

import (
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// question returns the Question of agent.d.mts: everything that the request has but its arguments.
func question(r sandbox.Request) map[string]any {
	effects := make([]any, len(r.Effects))
	for i, e := range r.Effects {
		effects[i] = map[string]any{"text": e.Text, "risk": string(e.Risk), "destroys": e.Destroys, "inTitle": e.InTitle, "needs": needs(e.Needs)}
	}
	patterns := make([]any, len(r.Patterns))
	for i, p := range r.Patterns {
		patterns[i] = p
	}
	allowed := []any{string(policy.AnswerOnce), string(policy.AnswerSession), string(policy.AnswerProject), string(policy.AnswerReject), string(policy.AnswerNever)}
	if r.Once {
		allowed = []any{string(policy.AnswerOnce), string(policy.AnswerReject)}
	}
	return map[string]any{
		"call": r.Call, "toolCallId": r.ToolCall, "tool": r.Tool, "title": r.Title, "description": r.Description, "effects": effects,
		"needs": needs(r.Needs), "risk": string(r.Risk), "destroys": r.Destroys, "untrusted": r.Untrusted, "reason": r.Reason, "diff": r.Diff,
		"unified": r.Unified, "session": r.Session, "agent": r.Agent, "app": r.App, "patterns": patterns, "answers": allowed,
	}
}

func needs(list []policy.Need) []any {
	out := make([]any, len(list))
	for i, n := range list {
		out[i] = map[string]any{"capability": string(n.Capability), "op": string(n.Op), "subject": n.Subject, "tree": n.Tree, "destroys": n.Destroys}
	}
	return out
}
