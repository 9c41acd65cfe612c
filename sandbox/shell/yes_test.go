//go:build !js

package shell_test

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// yes consents to everything, once.
type yes struct{}

func (yes) Ask(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	out := make([]sandbox.Reply, len(p.Requests))
	for i := range out {
		out[i].Answer = protocol.AnswerOnce
	}
	return out, nil
}
