// Package localpath reads the relative addresses of a text as paths of files.
package localpath

import (
	"io/fs"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes is the size of the longest path.
const MaxBytes = 1024

// Of returns the path that a relative address names, in the form of [fs.ValidPath], or "" if it names none: an
// address with a scheme or a host, and a path that leads out of the folder. A leading slash means the folder. A query
// and a fragment are removed.
func Of(address string) string {
	s := strings.ReplaceAll(strings.TrimFunc(address, func(r rune) bool { return r <= ' ' }), `\`, "/")
	if i := strings.IndexAny(s, ":/?#"); i >= 0 && s[i] == ':' || strings.HasPrefix(s, "//") {
		return ""
	}
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		s = s[:i]
	}
	s, err := url.PathUnescape(s)
	if err != nil {
		return ""
	}
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(s, `\`, "/"), "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			parts = append(parts, part)
		case len(parts) == 0:
			return "" // out of the folder
		default:
			parts = parts[:len(parts)-1]
		}
	}
	if s = strings.Join(parts, "/"); !Valid(s) {
		return ""
	}
	return s
}

// Valid reports whether s is a path that Of may return.
func Valid(s string) bool {
	return s != "" && s != "." && len(s) <= MaxBytes && utf8.ValidString(s) && fs.ValidPath(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
