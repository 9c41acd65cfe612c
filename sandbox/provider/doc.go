// Package provider is models for package sandbox: Anthropic's Messages, OpenAI's
// Responses and Chat Completions (which most other servers speak too, such as those on
// this machine), Google's Gemini, the browser's own Prompt API, and [Commands], which
// reads plain requests by rules and is honestly not a model.
//
//	m := provider.Anthropic(provider.Options{Key: key, Model: "claude-sonnet-4-5", Transport: fetch.Browser()})
//	for chunk, err := range box.Run(ctx, session, m) { … }
//
// Answers stream. A provider's refusal is a [sandbox.ModelError] that says whether
// another try may help; an answer that was cut off or can't be read is one too. The
// package trusts the server it was given with what is sent, and believes nothing that
// comes back: a call is a wish, and its arguments are checked like anyone's. A key
// stays in a request's headers and out of every error.
package provider
