package protocol

import (
	"errors"
	"iter"
	"path"
	"slices"
	"strings"
)

// FSPolicy is the part of a policy about files: which paths of a folder may be read and written.
// Reading is allowed unless a list denies it. Writing is denied unless a list allows it. The zero
// policy therefore allows reading everything and writing nothing. It is safe for concurrent use.
type FSPolicy struct {
	// DenyRead are the paths that may not be read.
	DenyRead []Pattern
	// AllowRead are paths that may be read although an entry of DenyRead matches them. There are
	// two exceptions, as in sandbox-runtime. A literal of DenyRead strictly below a literal of
	// AllowRead still denies. A glob of DenyRead still denies, unless it matches the entry of
	// AllowRead itself.
	AllowRead []Pattern
	// Credentials may be neither read nor written. AllowRead and AllowWrite have no effect on them.
	Credentials []Pattern

	// AllowWrite are the paths that may be written.
	AllowWrite []Pattern
	DenyWrite  []Pattern // wins over AllowWrite

	// AllowGitConfig lets AllowWrite include .git/config and the config of submodules. The other
	// refused rows of the list of [StartupFile] can never be written.
	AllowGitConfig bool

	unlisted bool // ignores the list of start-up files, for tests that show its effect
}

// FSOp is an operation on a path.
type FSOp string

const (
	OpRead   FSOp = "read"   // read the content of a file or the names in a folder
	OpWrite  FSOp = "write"  // create or change a file
	OpMkdir  FSOp = "mkdir"  // create a folder
	OpRemove FSOp = "remove" // delete a name (for a folder with its content see [FSPolicy.CheckRemove])
)

// Check returns nil if the policy allows op on path. Otherwise it returns an *[Error] with
// [ErrCapabilityDenied], and with [ReasonProtected] if no policy can allow it. The path must be in
// the form of [io/fs.ValidPath], else the error is [ErrInvalidParams]. The caller must have
// resolved links.
//
// The text of the error is for the model. It does not quote the policy, whose entries can name
// files that the model has not seen. The error that it wraps has the entry that denied, for the
// user, or is nil.
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

// CheckRemove is Check(OpRemove, name) for a folder and its content. The iterator below yields
// every path inside the folder, relative to it. If it is nil, the folder counts as empty.
func (p *FSPolicy) CheckRemove(name string, below iter.Seq[string]) error {
	if err := p.Check(OpRemove, name); err != nil {
		return err
	}
	return eachBelow(below, func(rel string) error { return p.Check(OpRemove, path.Join(name, rel)) })
}

// CheckRename returns nil if the policy allows moving a file or a folder. The old name and all
// paths below it are removed, and the new ones are written. The iterator below yields every path
// inside the folder, relative to it. It is nil for a file. A file that may not be read may not be
// moved to a name that may be read, because the move would make it readable.
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
	// It is not known here which paths below are files and which are folders. All are checked as
	// files, which is stricter: a file may not take the place of a protected path's parent folder.
	// To refuse a folder there is right too, because it contains, or could later contain, the
	// protected path.
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

// MayTraverse reports whether the folder dir may be passed through: dir may be read, or a path in
// it may be. In the second case dir must still not be listed.
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
		if d.MatchDeny(path) && !p.reopens(d, path) {
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

// byEntry returns the error for a path or host that an entry of the policy denies. Its text is for
// the model. The error that it wraps has the entry, for the user.
func byEntry(op, subject, text, private string) *Error {
	e := Errorf(ErrCapabilityDenied, op, quote(subject), "%s", text)
	if private != "" {
		e.Err = errors.New(private)
	}
	return e
}

// reopens reports whether AllowRead allows path although deny matches it. The rule is that of
// sandbox-runtime's profile for macOS (lateReadDenyFilters).
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

// sample returns a path that p matches: a literal itself, or a glob with x for each wildcard.
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
	// A file in the place of the folder, or the removal of the folder, would be a way to replace
	// the protected files in it.
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

// denies returns the text of the first pattern in list that denies path, and whether there is one.
func denies(list []Pattern, path string) (string, bool) {
	for _, d := range list {
		if d.MatchDeny(path) {
			return d.text, true
		}
	}
	return undecomposed(list, path)
}

// undecomposed reports whether path could be another spelling of a path that list denies: it has
// combining characters, and list has a pattern that is not ASCII.
func undecomposed(list []Pattern, path string) (string, bool) {
	if !composed(path) && slices.ContainsFunc(list, func(d Pattern) bool { return !ascii(d.text) }) {
		return "… (the path has combining characters, and could be another spelling of a denied one)", true
	}
	return "", false
}
