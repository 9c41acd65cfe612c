package fsaccess

import (
	"context"
	"errors"

	"github.com/bailey-go/bailey/protocol"

	"github.com/bailey-go/bailey/fsaccess/internal/guard"
	"github.com/bailey-go/bailey/internal/textdiff"
)

// GuardOptions configures a guard beside the path policy. The zero value is strict: each
// dangerous kind of content needs an answer, and without Ask the answer is no.
type GuardOptions struct {
	// Kinds contains the decision for each dangerous kind of new content, see [Kind]. The
	// default for a kind is [protocol.ActionAsk].
	Kinds map[Kind]protocol.Action
	// Ask shows a question to the user and reports whether the user agreed. nil refuses
	// every question. If Ask returns an error, the change is refused with that error.
	Ask func(ctx context.Context, q Question) (bool, error)
	// AskFirst, if set, is called in the same way before each change that the policy
	// allows.
	AskFirst func(ctx context.Context, q Question) (bool, error)

	// Check, if set, is called for each path after the policy allowed it, for reading too.
	// It returns an error if op may not be done at path. If a file is moved to path, from
	// is its old name, else from is "". A file that Check does not let the caller read is
	// not listed. Check is called with locks held, so it must not wait for another change.
	Check func(op protocol.FSOp, path, from string) error

	MaxWrite int64 // bytes in one file, default 256 MiB
	MaxBytes int64 // bytes by which the folder may grow, default 4 GiB
	MaxFiles int   // files and folders that may be made, default 100,000
}

// Question is a question to the user about one change.
type Question struct {
	Op   string // "write", "create", "remove", "rename", "mkdir", "chmod", "chtimes", "symlink"
	Path string
	To   string // the new name, for a rename
	Kind Kind   // the dangerous kind of the content, or "" if the question is about the change itself
	// Content is the new content if Kind is set, at most its first 16 MiB. It is nil for a
	// file that is renamed. It must not be changed, and not be used after the call.
	Content []byte
}

// Diff returns Content as the diff of a new file, for the user, in the format of [UnifiedDiff].
// Every differing byte of the content is in the result, for any kind and size of content, so the
// user sees everything that would be written. Control characters are not escaped, so the caller
// should mark them.
//
// There is one exception: in a content of more than 64 KiB of which less than 70 % is text, the
// runs of bytes that cannot be text are counted and not shown. A content of more than 4 MiB or
// 200,000 lines is returned as it is, without marks. Diff lets the page run at least every
// 10 ms, so do not call it in a callback. It returns only the error of ctx.
func (q Question) Diff(ctx context.Context) (string, error) {
	return textdiff.Question(ctx, "/dev/null", "b/"+q.Path, nil, q.Content)
}

// GuardError is a refusal by a [Guard]. It wraps one of [ErrDenied], [ErrProtected],
// [ErrKind], [ErrBadName], [ErrQuota] and [ErrTooLarge]. If the policy refused, it also
// wraps the *[protocol.Error] of the policy. Treat a refusal as final, and do not
// try the same operation again.
type GuardError struct {
	Rule   string // the rule that refused, for the user; it may quote the policy
	Err    error
	Policy error // the policy's own error, or nil
}

// Error returns the text of Err, followed by the text of Policy or, if Policy is nil, by
// Rule.
func (e *GuardError) Error() string {
	if e.Policy != nil {
		return e.Err.Error() + ": " + e.Policy.Error()
	}
	return e.Err.Error() + ": " + e.Rule
}

// Unwrap returns Err, and Policy if it is set.
func (e *GuardError) Unwrap() []error {
	if e.Policy == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Policy}
}

// Guard returns fsys with a policy in front. Independent of the policy, it refuses names
// that could lead out of the folder or deceive a reader, writes to files that other
// programs execute (the refused rows of [protocol.StartupFile]), and changes beyond the limits of the options.
func Guard(fsys FS, policy protocol.FSPolicy, o GuardOptions) *Folder {
	v := viewOf(fsys)
	in := guard.Options{Check: o.Check, MaxWrite: o.MaxWrite, MaxBytes: o.MaxBytes, MaxFiles: o.MaxFiles,
		Refuse: refusal, Refused: refused, Ask: askingFor(o.Ask), AskFirst: askingFor(o.AskFirst)}
	if o.Kinds != nil {
		in.Kinds = make(map[guard.Kind]protocol.Action, len(o.Kinds))
		for k, a := range o.Kinds {
			in.Kinds[guard.Kind(k)] = a
		}
	}
	return &Folder{view{c: guard.New(v.rooted(), policy, in), dir: ".", ctx: v.ctx}}
}

// askingFor returns ask as a function of the layer's own question. nil stays nil.
func askingFor(ask func(context.Context, Question) (bool, error)) func(context.Context, guard.Question) (bool, error) {
	if ask == nil {
		return nil
	}
	return func(ctx context.Context, q guard.Question) (bool, error) {
		return ask(ctx, Question{Op: q.Op, Path: q.Path, To: q.To, Kind: Kind(q.Kind), Content: q.Content})
	}
}

func refusal(rule string, err, policy error) error {
	return &GuardError{Rule: rule, Err: public(err), Policy: policy}
}

// refused returns the reason of a refusal by any guard.
func refused(err error) (reason error, ok bool) {
	e, ok := errors.AsType[*GuardError](err)
	if !ok {
		return nil, false
	}
	return e.Err, true
}

// Kind is a dangerous kind of content. Content is dangerous if opening, unpacking or only
// displaying it does something.
type Kind string

const (
	KindExecutable Kind = "executable" // programs and installers, for example .exe
	KindScript     Kind = "script"     // runs on a double click, for example .bat, or begins with #!
	KindShortcut   Kind = "shortcut"   // opens another file or address, for example .lnk
	KindMacro      Kind = "macro"      // an office file that contains a program
	KindActive     Kind = "active"     // HTML or SVG that contains a script
	KindAutorun    Kind = "autorun"    // executed or read by another program because of its name ([protocol.StartupFile])
	KindArchive    Kind = "archive"    // unpacks to paths outside its folder, or to far too many bytes
)

// Classify returns the dangerous kinds of a file. The name or the content alone is enough,
// because some programs look only at one of them. Source code in a language that a double
// click does not run is no script. Classify lets the page run at least every 10 ms, so do
// not call it in a callback.
func Classify(name string, data []byte) []Kind {
	return convert(guard.Classify(name, data), func(k guard.Kind) Kind { return Kind(k) })
}
