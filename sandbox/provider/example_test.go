package provider_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// This example uses a server on this machine that supports Chat Completions. No content leaves the
// machine.
func ExampleOpenAIChat() {
	var (
		ctx     context.Context
		box     *sandbox.Box
		session *sandbox.Session
	)
	run := func() error {
		m := provider.OpenAIChat(provider.Options{URL: "http://localhost:11434/v1", Model: "qwen3", OnDevice: true})
		if _, err := session.Say(ctx, "tidy up my notes"); err != nil {
			return err
		}
		for chunk, err := range box.Run(ctx, session, m, sandbox.RunOptions{}) {
			if err != nil {
				return err // the field Retry of a *sandbox.ModelError reports whether another attempt may succeed
			}
			fmt.Print(chunk.Delta)
		}
		return nil
	}
	_ = run
}
