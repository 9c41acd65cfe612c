// Package markdown turns the Markdown of a stranger, such as a language model,
// into [HTML] that is safe to show.
package markdown
