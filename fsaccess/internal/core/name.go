package core

import (
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"iter"
	"path"
	"strings"
)

// CleanName checks a name. Every name passes it before a source sees the name.
func CleanName(name string) error {
	if !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return ErrInvalid
	}
	if IsSwap(path.Base(name)) {
		return ErrBadName
	}
	return nil
}

func Join(dir, name string) string {
	switch {
	case dir == ".":
		return name
	case name == ".":
		return dir
	}
	return dir + "/" + name
}

func ParentOf(name string) string { return path.Dir(name) }

func BaseOf(name string) string { return path.Base(name) }

// Within reports whether name is dir or below it.
func Within(dir, name string) bool {
	return dir == "." || name == dir || len(name) > len(dir) && name[len(dir)] == '/' && name[:len(dir)] == dir
}

func FoldEqual(a, b string) bool { return strings.EqualFold(a, b) }

// Swap files are files of this package: a swap file holds the next content of a file until
// it replaces the old content. Swap files are hidden, and a caller cannot name them.
const swapPrefix, SwapSuffix = ".bailey-", ".swap"

// SwapName returns a new random name for a swap file.
func SwapName() string {
	var b [8]byte
	rand.Read(b[:])
	return swapPrefix + hex.EncodeToString(b[:]) + SwapSuffix
}

func IsSwap(base string) bool {
	return strings.HasPrefix(base, swapPrefix) && strings.HasSuffix(base, SwapSuffix)
}

// FoldName folds case rune by rune, as a file system that ignores case does.
func FoldName(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// Parts yields the elements of a name. "." has none.
func Parts(name string) iter.Seq[string] {
	if name == "." {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(name, "/")
}

func Depth(root, name string) int {
	n := 1
	for i := range name {
		if name[i] == '/' {
			n++
		}
	}
	if root != "." {
		n -= Depth(".", root)
	}
	return n
}

// Relative returns a name below the folder prefix relative to that folder.
func Relative(prefix, name string) string {
	if prefix == "." {
		return name
	}
	if name == prefix {
		return "."
	}
	return name[len(prefix)+1:]
}
