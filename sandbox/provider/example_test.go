package provider_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// A server on this machine that speaks Chat Completions: nothing leaves it.
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
		for chunk, err := range box.Run(ctx, session, m) {
			if err != nil {
				return err // a *sandbox.ModelError says whether another try may help
			}
			fmt.Print(chunk.Delta)
		}
		return nil
	}
	_ = run
}
