//go:build js && wasm

package main

import (
	"context"
	"iter"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// talkOnly returns a policy that lets a model elsewhere receive the conversation, and grants nothing else.
func talkOnly() *policy.Policy {
	return &policy.Policy{Grants: []protocol.Grant{{Capability: protocol.Stream}}}
}

// echo is a model that answers with the message.
type echo struct{}

func (echo) Name() string { return "echo" }
func (echo) Local() bool  { return true }

func (echo) Stream(_ context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	parts := r.Messages[len(r.Messages)-1].Parts
	said := parts[len(parts)-1].Text
	return func(yield func(sandbox.ModelEvent, error) bool) {
		for _, word := range strings.SplitAfter("You said: **"+said+"**\n\nSet `address` in main.go to talk to a model.", " ") {
			if !yield(sandbox.ModelEvent{Type: sandbox.PartText, Text: word}, nil) {
				return
			}
		}
		yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
	}
}
