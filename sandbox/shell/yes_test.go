//go:build !js

package shell_test

import (
	"context"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// yes consents to everything, once.
type yes struct{}

func (yes) Ask(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	out := make([]sandbox.Reply, len(p.Requests))
	for i := range out {
		out[i].Answer = policy.AnswerOnce
	}
	return out, nil
}
