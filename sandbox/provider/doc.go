// Package provider has models for package sandbox: Anthropic's Messages, OpenAI's Responses and
// Chat Completions, Google's Gemini, and the browser's own Prompt API. Many other servers support
// Chat Completions too, such as those on the user's machine. [Commands] is not a model: it
// recognizes plain requests by rules.
//
//	m := provider.Anthropic(provider.Options{Key: key, Model: "claude-sonnet-4-5", Transport: fetch.Browser()})
//	for chunk, err := range box.Run(ctx, session, m, sandbox.RunOptions{}) { … }
//
// Answers are streamed. If a provider refuses a request, the error is a [sandbox.ModelError], and
// its field Retry reports whether another attempt may succeed. An answer that was cut off or can't
// be read is such an error too. The package trusts the configured server with the data that it
// sends, and trusts nothing that the server returns: the arguments of a call are checked like any
// others. A key is sent only in a request's headers, and is removed from every error.
package provider
