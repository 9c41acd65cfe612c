package fsaccess

import (
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"iter"
	"path"
	"strings"
)

// cleanName checks a name. Every name passes it before a source sees the name.
func cleanName(name string) error {
	if !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return errInvalid
	}
	if isSwap(path.Base(name)) {
		return ErrBadName
	}
	return nil
}

func join(dir, name string) string {
	switch {
	case dir == ".":
		return name
	case name == ".":
		return dir
	}
	return dir + "/" + name
}

func parentOf(name string) string { return path.Dir(name) }
func baseOf(name string) string   { return path.Base(name) }

// within reports whether name is dir or below it.
func within(dir, name string) bool {
	return dir == "." || name == dir || len(name) > len(dir) && name[len(dir)] == '/' && name[:len(dir)] == dir
}

func foldEqual(a, b string) bool { return strings.EqualFold(a, b) }

// Swap files are files of this package: a swap file holds the next content of a file until
// it replaces the old content. Swap files are hidden, and a caller cannot name them.
const swapPrefix, swapSuffix = ".bailey-", ".swap"

// swapName returns a new random name for a swap file.
func swapName() string {
	var b [8]byte
	rand.Read(b[:])
	return swapPrefix + hex.EncodeToString(b[:]) + swapSuffix
}

func isSwap(base string) bool {
	return strings.HasPrefix(base, swapPrefix) && strings.HasSuffix(base, swapSuffix)
}

// foldName folds case rune by rune, as a file system that ignores case does.
func foldName(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// parts yields the elements of a name. "." has none.
func parts(name string) iter.Seq[string] {
	if name == "." {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(name, "/")
}
