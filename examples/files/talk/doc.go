// Package talk shows one conversation: its text in a document behind two frames, and its calls as
// cards beside it.
package talk
