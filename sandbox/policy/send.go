package policy

import (
	"slices"

	"github.com/bailey-go/bailey/protocol"
)

// Send is how much of a file's text is sent to a model.
type Send string

const (
	SendContents Send = "contents" // the text itself
	SendSummary  Send = "summary"  // the numbers of lines and bytes, and the kind of the file
	SendNothing  Send = "nothing"  // only that the call succeeded
)

// The values of SendPolicy.Above.
const minAbove, maxAbove = 256, 1 << 20

// Valid reports whether s is one of the three values.
func (s Send) Valid() bool { return s == SendContents || s == SendSummary || s == SendNothing }

func (s Send) strictness() int {
	switch s {
	case SendContents:
		return 0
	case SendSummary:
		return 1
	}
	return 2
}

// Narrow returns the stricter of two values: nothing before summary before contents.
func (s Send) Narrow(other Send) Send {
	if other.strictness() > s.strictness() {
		return other
	}
	return s
}

// SendPolicy limits by path how much of a file's text leaves the page for a model's provider. The
// user sees all of it in any case. The zero policy sends contents. Whether anything may be sent at
// all is decided by the capability [protocol.Stream].
type SendPolicy struct {
	// Above is the maximum number of bytes of a text of files that a result sends, from 256 to 1 MiB. Of
	// a longer one the beginning, the end and the size are sent, and a model can ask for the lines that it
	// needs. A conversation sends half of a file that way, at most four times Above and at least Above.
	// The user is asked before it sends more. Names of files are sent whole. 0 is no limit.
	Above     int
	Default   Send               // for paths that no list names, [SendContents] if empty
	Contents  []protocol.Pattern // may be sent even if Default is stricter
	Summaries []protocol.Pattern // wins over Contents
	Nothing   []protocol.Pattern // wins over both
}

// For returns how much of the file at path may be sent. For a path that is not in the form of
// [io/fs.ValidPath] it returns [SendNothing].
func (s *SendPolicy) For(path string) Send {
	if !validPath(path) {
		return SendNothing
	}
	if denies(s.Nothing, path) {
		return SendNothing
	}
	if denies(s.Summaries, path) {
		return SendSummary
	}
	for _, p := range s.Contents {
		if p.Match(path) {
			return SendContents
		}
	}
	switch s.Default {
	case "", SendContents:
		return SendContents
	case SendSummary:
		return SendSummary
	}
	return SendNothing
}

// Below returns the strictest result of For for root and all paths that may be below it.
func (s *SendPolicy) Below(root string) Send {
	level := s.For(root)
	whole := func(p protocol.Pattern) bool { return p.Subtree(root) }
	if !slices.ContainsFunc(s.Contents, whole) {
		level = level.Narrow((&SendPolicy{Default: s.Default}).For("."))
	}
	reaches := func(p protocol.Pattern) bool { return p.Reaches(root) }
	if slices.ContainsFunc(s.Summaries, reaches) {
		level = level.Narrow(SendSummary)
	}
	if slices.ContainsFunc(s.Nothing, reaches) {
		level = SendNothing
	}
	return level
}

// Most returns the least strict result of For for root and all paths that may be below it.
func (s *SendPolicy) Most(root string) Send {
	if !validPath(root) {
		return SendNothing
	}
	if denies(s.Nothing, root) { // and everything below it
		return SendNothing
	}
	if denies(s.Summaries, root) {
		return SendSummary
	}
	if slices.ContainsFunc(s.Contents, func(p protocol.Pattern) bool { return p.Match(root) || p.Reaches(root) }) {
		return SendContents
	}
	level := (&SendPolicy{Default: s.Default}).For(".")
	if level == SendNothing && slices.ContainsFunc(s.Summaries, func(p protocol.Pattern) bool { return p.Reaches(root) }) {
		return SendSummary
	}
	return level
}

// denies reports whether the list, read as a deny list, matches path in any spelling.
func denies(list []protocol.Pattern, path string) bool {
	return (&protocol.FSPolicy{DenyRead: list}).Check(protocol.OpRead, path) != nil
}

// validPath reports whether path has the form that patterns match.
func validPath(path string) bool { return !denies(nil, path) }
