package protocol

import (
	"slices"
	"time"
)

// Send is how much of a file's text is sent to a model.
type Send string

const (
	SendContents Send = "contents" // the text itself
	SendSummary  Send = "summary"  // the numbers of lines and bytes, and the kind of the file
	SendNothing  Send = "nothing"  // only that the call succeeded
)

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
// all is decided by the capability [Stream].
type SendPolicy struct {
	Default   Send      // for paths that no list names, [SendContents] if empty
	Contents  []Pattern // may be sent even if Default is stricter
	Summaries []Pattern // wins over Contents
	Nothing   []Pattern // wins over both
}

// For returns how much of the file at path may be sent. For a path that is not in the form of
// [io/fs.ValidPath] it returns [SendNothing].
func (s *SendPolicy) For(path string) Send {
	if validPath("send", path) != nil {
		return SendNothing
	}
	if _, ok := denies(s.Nothing, path); ok {
		return SendNothing
	}
	if _, ok := denies(s.Summaries, path); ok {
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
	whole := func(p Pattern) bool { return p.subtree && p.Match(root) }
	if !slices.ContainsFunc(s.Contents, whole) {
		level = level.Narrow((&SendPolicy{Default: s.Default}).For("."))
	}
	reaches := func(p Pattern) bool { return p.reaches(root) }
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
	if validPath("send", root) != nil {
		return SendNothing
	}
	if _, all := denies(s.Nothing, root); all { // and everything below it
		return SendNothing
	}
	if _, all := denies(s.Summaries, root); all {
		return SendSummary
	}
	if slices.ContainsFunc(s.Contents, func(p Pattern) bool { return p.Match(root) || p.reaches(root) }) {
		return SendContents
	}
	level := (&SendPolicy{Default: s.Default}).For(".")
	if level == SendNothing && slices.ContainsFunc(s.Summaries, func(p Pattern) bool { return p.reaches(root) }) {
		return SendSummary
	}
	return level
}

// reaches reports whether p could match root or a path below it, in any spelling.
func (p Pattern) reaches(root string) bool {
	if root == "." || p.literal == "." {
		return true
	}
	folded := fold(root)
	if p.literal != "" {
		return covers(folded, fold(p.literal)) || p.below(root)
	}
	return prefix(p.tokens, root+"/") || prefix(p.folded, folded+"/") || p.mayReach(foldWindows(root)+"/")
}

func (r *policyReader) send(v any) error {
	s := &r.p.Send
	return r.object("send", v, nil, func(key string, v any) (bool, error) {
		path := "send." + key
		var list *[]Pattern
		switch key {
		case "default":
			text, _ := v.(string)
			if s.Default = Send(text); !s.Default.Valid() {
				return true, badPolicy(path, `must be "contents", "summary" or "nothing"`)
			}
			return true, nil
		case "contents":
			list = &s.Contents
		case "summaries":
			list = &s.Summaries
		case "nothing":
			list = &s.Nothing
		default:
			return false, nil
		}
		texts, err := strs(path, v)
		if err != nil {
			return true, err
		}
		*list, err = parsePatterns(path, texts, key != "contents", r.o)
		return true, err
	})
}

func (r *policyReader) enclave(v any) error {
	return r.object("enclave", v, nil, func(key string, v any) (bool, error) {
		switch key {
		case "level":
			text, _ := v.(string)
			l, err := ParseLevel(text)
			r.p.Level = l
			return true, err
		case "limits":
			return true, r.limits(v)
		}
		return false, nil
	})
}

func (r *policyReader) limits(v any) error {
	fields := r.p.Limits.fields()
	err := r.object("enclave.limits", v, nil, func(key string, v any) (bool, error) {
		for _, f := range fields {
			if f.name != key {
				continue
			}
			n, ok := v.(float64)
			if !ok || n != float64(int64(n)) || n < 1 || n > 1<<40 {
				return true, badPolicy("enclave.limits."+key, "must be a whole number, more than 0; times are milliseconds")
			}
			if f.d != nil {
				n *= float64(time.Millisecond)
			}
			f.set(int64(n))
			return true, nil
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	return r.p.Limits.Validate()
}

// Named returns the limits that are set, by the name of the field. Times are in milliseconds.
func (l Limits) Named() map[string]int64 {
	out := map[string]int64{}
	for _, f := range l.fields() {
		n := f.get()
		if f.d != nil {
			n = int64(time.Duration(n) / time.Millisecond)
		}
		if n != 0 {
			out[f.name] = n
		}
	}
	return out
}
