package protocol

import (
	"errors"
	"iter"
	"path"
	"slices"
	"strings"
)

// FSPolicy says what of a folder may be read and written. Reading is allowed
// unless it is denied; writing is denied unless it is allowed. The zero policy
// therefore reads everything and writes nothing. It is safe for use by several
// goroutines.
type FSPolicy struct {
	DenyRead []Pattern
	// AllowRead opens what DenyRead denies around it. As in sandbox-runtime, it does not
	// open a literal DenyRead that lies strictly below a literal AllowRead, nor what a
	// glob of DenyRead matches, unless the glob matches the entry of AllowRead itself.
	AllowRead []Pattern
	// Credentials are neither read nor written, and nothing opens them.
	Credentials []Pattern

	AllowWrite []Pattern
	DenyWrite  []Pattern // wins over AllowWrite

	// AllowGitConfig permits .git/config, and that of a submodule. Nothing else on
	// [Mandatory] can be permitted.
	AllowGitConfig bool

	unlisted bool // tests show with it that the list of start-up files stops them
}

// FSOp is what is about to be done to a path.
type FSOp string

const (
	OpRead   FSOp = "read"   // the content of a file, the names in a folder
	OpWrite  FSOp = "write"  // make or change a file
	OpMkdir  FSOp = "mkdir"  // make a folder
	OpRemove FSOp = "remove" // take a name away; of a folder with its content, see [FSPolicy.CheckRemove]
)

// Check says why op may not be done to path, or nil if it may. The error is an
// *[Error] with [ErrCapabilityDenied], and with [ReasonProtected] if the path is
// on the list that no policy opens. path must be as [io/fs.ValidPath] has it;
// links must have been resolved by the caller.
//
// The text of the error is for a model to read, and does not quote the policy, whose entries
// can name files that a model does not know. The error that it wraps says which entry denies,
// for the person: errors.Unwrap(err) is nil if there is none.
func (p *FSPolicy) Check(op FSOp, path string) error {
	if err := validPath(string(op), path); err != nil {
		return err
	}
	switch op {
	case OpRead:
		return p.checkRead(path)
	case OpWrite, OpMkdir, OpRemove:
		return p.checkWrite(op, path)
	}
	return Errorf(ErrInvalidParams, string(op), quote(path), "unknown operation")
}

// CheckRemove is Check(OpRemove, name) for a folder with all that is in it. Below
// yields every path inside it, relative to it; nil means that nothing is.
func (p *FSPolicy) CheckRemove(name string, below iter.Seq[string]) error {
	if err := p.Check(OpRemove, name); err != nil {
		return err
	}
	return eachBelow(below, func(rel string) error { return p.Check(OpRemove, path.Join(name, rel)) })
}

// CheckRename checks moving a file or a folder: the old name and all below it are
// removed, and the new name and all below it are written. Below yields every path
// inside the folder, relative to it; for a file it is nil. If the old name may not
// be read, moving it would open it, so that is an error too unless the new name
// may not be read either.
func (p *FSPolicy) CheckRename(oldName, newName string, isDir bool, below iter.Seq[string]) error {
	check := func(rel string, dir bool) error {
		from, to := path.Join(oldName, rel), path.Join(newName, rel)
		if err := p.Check(OpRemove, from); err != nil {
			return err
		}
		op := OpWrite
		if dir {
			op = OpMkdir
		}
		if err := p.Check(op, to); err != nil {
			return err
		}
		if err := p.Check(OpRead, from); err != nil && p.Check(OpRead, to) == nil {
			return Errorf(ErrCapabilityDenied, "rename", quote(from), "the file may not be read, and under the new name %s it could be", quote(to))
		}
		return nil
	}
	if err := check("", isDir); err != nil {
		return err
	}
	// What a path below is, file or folder, is not known here. A file where a
	// protected folder's parent belongs is the stricter reading; a folder there
	// holds, or may come to hold, what is protected.
	return eachBelow(below, func(rel string) error { return check(rel, false) })
}

func eachBelow(below iter.Seq[string], check func(rel string) error) error {
	if below == nil {
		return nil
	}
	for rel := range below {
		if err := validPath("walk", rel); err != nil {
			return err
		}
		if err := check(rel); err != nil {
			return err
		}
	}
	return nil
}

// MayTraverse reports whether the folder dir may be passed through, though not
// listed, because something inside it may be read.
func (p *FSPolicy) MayTraverse(dir string) bool {
	if validPath("traverse", dir) != nil {
		return false
	}
	if p.checkRead(dir) == nil {
		return true
	}
	return slices.ContainsFunc(p.AllowRead, func(a Pattern) bool {
		if dir == "." {
			return true
		}
		if a.literal != "" {
			return a.literal == "." || covers(dir, a.literal)
		}
		return prefix(a.tokens, dir+"/")
	})
}

func (p *FSPolicy) checkRead(path string) error {
	if deny, ok := denies(p.Credentials, path); ok {
		return byEntry("read", path, noReading, "denied by credentials "+quote(deny))
	}
	for _, d := range p.DenyRead {
		if d.matchDeny(path) && !p.reopens(d, path) {
			return byEntry("read", path, noReading, "denied by denyRead "+quote(d.text))
		}
	}
	if spelling, ok := undecomposed(p.DenyRead, path); ok && !slices.ContainsFunc(p.AllowRead, func(a Pattern) bool { return a.allows(path) }) {
		return byEntry("read", path, noReading, "denied by denyRead "+quote(spelling))
	}
	return nil
}

const (
	noReading = "the policy does not let this be read"
	noWriting = "the policy does not let this be written"
)

// byEntry is a refusal by an entry of a policy's list. Its text is for a model, and the error
// that it wraps is for the person.
func byEntry(op, subject, text, private string) *Error {
	e := Errorf(ErrCapabilityDenied, op, quote(subject), "%s", text)
	if private != "" {
		e.Err = errors.New(private)
	}
	return e
}

// reopens reports whether AllowRead opens path although deny matches it: what
// sandbox-runtime's profile for macOS decides (lateReadDenyFilters).
func (p *FSPolicy) reopens(deny Pattern, path string) bool {
	if deny.literal != "" && slices.ContainsFunc(p.AllowRead, func(a Pattern) bool {
		return a.literal != "" && deny.literal != "." && fold(a.literal) != fold(deny.literal) && covers(fold(a.literal), fold(deny.literal))
	}) {
		return false
	}
	// The mount itself has no name that a glob could match.
	return slices.ContainsFunc(p.AllowRead, func(a Pattern) bool {
		return a.allows(path) && (deny.literal != "" || a.literal != "." && deny.match(a.sample(), deny.tokens, "", true))
	})
}

// sample is a path as p matches them: itself, or a glob with x for each wildcard.
func (p Pattern) sample() string {
	if p.literal != "" {
		return p.literal
	}
	var b strings.Builder
	wild := false
	for _, t := range p.tokens {
		switch t.kind {
		case tokRune:
			b.WriteRune(t.r)
		case tokClass:
			b.WriteByte('x')
		case tokDirs:
			b.WriteString("x/")
		default:
			if !wild {
				b.WriteByte('x')
			}
		}
		wild = t.kind == tokOne || t.kind == tokStar || t.kind == tokAny
	}
	return b.String()
}

func (p *FSPolicy) checkWrite(op FSOp, path string) error {
	state, entry := mandatory(path, op != OpWrite, p.AllowGitConfig)
	if p.unlisted {
		state = unprotected
	}
	if state == protected {
		return Errorf(ErrCapabilityDenied, string(op), quote(path), "%s is protected: other programs run what it says, so no policy opens it", entry).WithReason(ReasonProtected)
	}
	// A file in the place of the folder, or no folder at all, would be a way to
	// replace what is protected in it.
	if state == ancestor && (op == OpRemove || op == OpWrite) {
		return Errorf(ErrCapabilityDenied, string(op), quote(path), "the folder holds %s, which is protected", entry).WithReason(ReasonProtected)
	}
	if deny, ok := denies(p.Credentials, path); ok {
		return byEntry(string(op), path, noWriting, "denied by credentials "+quote(deny))
	}
	if deny, ok := denies(p.DenyWrite, path); ok {
		return byEntry(string(op), path, noWriting, "denied by denyWrite "+quote(deny))
	}
	if op == OpRemove || op == OpWrite {
		for _, d := range slices.Concat(p.DenyWrite, p.Credentials) {
			if d.literal != "" && d.literal != "." && d.below(path) {
				return byEntry(string(op), path, "the policy does not let this be done to the folder, for what is in it", "the folder holds "+quote(d.text)+", which is not to be written")
			}
		}
	}
	if !slices.ContainsFunc(p.AllowWrite, func(a Pattern) bool { return a.allows(path) }) {
		return Errorf(ErrCapabilityDenied, string(op), quote(path), "writing is allowed only where the policy's allowWrite says so")
	}
	return nil
}

// denies returns the first pattern that denies path.
func denies(list []Pattern, path string) (string, bool) {
	for _, d := range list {
		if d.matchDeny(path) {
			return d.text, true
		}
	}
	return undecomposed(list, path)
}

// undecomposed reports whether path could be another spelling of what a list that is
// not ASCII denies.
func undecomposed(list []Pattern, path string) (string, bool) {
	if !composed(path) && slices.ContainsFunc(list, func(d Pattern) bool { return !ascii(d.text) }) {
		return "… (the path has combining characters, and could be another spelling of a denied one)", true
	}
	return "", false
}

// parsePatterns reads one list of a policy.
func parsePatterns(key string, texts []string, deny bool, o *PolicyOptions) ([]Pattern, error) {
	if len(texts) > MaxPatterns {
		return nil, Errorf(ErrInvalidParams, "policy", key, "has more than %d patterns", MaxPatterns)
	}
	var list []Pattern
	for _, text := range texts {
		full, err := o.expand(ScopePaths, text)
		if err != nil {
			return nil, err
		}
		p, err := ParsePattern(full)
		if err != nil {
			return nil, err
		}
		if deny && !composed(p.text) {
			return nil, Errorf(ErrInvalidParams, "policy", key, "%s has combining characters; write it in composed form (NFC)", quote(text))
		}
		p.text = text
		list = append(list, p)
	}
	return list, nil
}

// expand puts in the variables and, of a path, makes it relative to the mount.
func (o *PolicyOptions) expand(kind ScopeKind, pattern string) (string, error) {
	if kind != ScopePaths {
		return expandPlain(pattern, o.Vars)
	}
	full, err := Expand(pattern, o.Vars)
	if err != nil {
		return "", err
	}
	return o.relative(full)
}

// relative makes an absolute pattern relative to the mount.
func (o *PolicyOptions) relative(pattern string) (string, error) {
	if !strings.HasPrefix(pattern, "/") || o.Mount == "" {
		return pattern, nil
	}
	if rel, ok := strings.CutPrefix(pattern, strings.TrimSuffix(o.Mount, "/")+"/"); ok && rel != "" {
		return rel, nil
	}
	if strings.TrimSuffix(pattern, "/") == strings.TrimSuffix(o.Mount, "/") {
		return ".", nil
	}
	return "", Errorf(ErrInvalidParams, "policy", quote(pattern), "lies outside the folder, which is mounted at %s", quote(o.Mount))
}
