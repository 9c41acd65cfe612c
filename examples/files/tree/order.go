package tree

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
)

// shownFirst compares two entries of one folder: folders come before files, then names are in natural
// order.
func shownFirst(x, y fsaccess.Entry) int {
	if x.Dir != y.Dir {
		return map[bool]int{true: -1, false: 1}[x.Dir]
	}
	return natural(x.Path[strings.LastIndexByte(x.Path, '/')+1:], y.Path[strings.LastIndexByte(y.Path, '/')+1:])
}

// natural compares two names as people order them: case does not count, and neither do leading zeros of
// a number, so file2 comes before file10. Names that are equal by these rules are ordered by their bytes.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if digit(x[0]) && digit(y[0]) {
			var m, n string
			m, x = number(x)
			n, y = number(y)
			if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
				return c
			}
			continue
		}
		var c, d rune
		c, x = letter(x)
		d, y = letter(y)
		if c != d {
			return cmp.Compare(c, d)
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number returns the digits at the beginning of s without leading zeros, and the rest of s.
func number(s string) (digits, rest string) {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}

// letter returns the first character of s in lower case, and the rest of s.
func letter(s string) (r rune, rest string) {
	if c := s[0]; c < utf8.RuneSelf {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		return rune(c), s[1:]
	}
	r, n := utf8.DecodeRuneInString(s)
	return unicode.ToLower(r), s[n:]
}

// fits reports whether a path has all the words of a filter, in any case.
func fits(name string, words []string) bool {
	name = strings.ToLower(name)
	for _, w := range words {
		if !strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// topmost returns the entries without those that are below another one of them.
func topmost(list []fsaccess.Entry) (out []fsaccess.Entry) {
	in := map[string]bool{}
	for _, e := range list {
		in[e.Path] = true
	}
	for _, e := range list {
		dir := path.Dir(e.Path)
		for dir != "." && !in[dir] {
			dir = path.Dir(dir)
		}
		if dir == "." {
			out = append(out, e)
		}
	}
	return out
}

// icon returns the kind of icon for a file name.
func icon(name string) string {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	for _, k := range kinds {
		if strings.Contains(k.exts, " "+ext+" ") && ext != "" {
			return k.name
		}
	}
	return "file"
}

// kinds are the kinds of files that have an icon, by the ends of their names. draw is the path of the icon.
var kinds = []struct{ name, exts, draw string }{
	{"text", " txt md markdown rst log org tex docx odt rtf ", "M6 3h8l4 4v14H6zM9 11h6M9 14h6M9 17h4"},
	{"code", " go js mjs cjs ts tsx jsx py rb rs c h cc cpp hpp java kt swift sh bash zsh ps1 pl php lua r sql html htm css scss less xml json jsonc yaml yml toml ini vue svelte ", "M9 8l-5 4 5 4M15 8l5 4-5 4"},
	{"image", " png jpg jpeg gif webp avif svg bmp ico tif tiff heic ", "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 8.5h.5"},
	{"table", " csv tsv xlsx xls ods parquet ", "M4 5h16v14H4zM4 10h16M4 14.5h16M10 5v14"},
	{"page", " pdf epub ", "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6v4H9z"},
	{"packed", " zip gz tgz tar bz2 xz zst 7z rar jar ", "M4 8h16v12H4zM4 8l2-4h12l2 4M10 12h4"},
	{"program", " wasm exe dll so dylib bin o a class ", "M5 5h14v14H5zM9 9h6v6H9z"},
	{"media", " mp3 wav ogg flac m4a mp4 mov mkv webm avi ", "M8 5l11 7-11 7z"},
}

// merge returns the entries of both lists in order, without doubles. It sorts come.
func merge(have, come []fsaccess.Entry) []fsaccess.Entry {
	slices.SortFunc(come, shownFirst)
	if len(have) == 0 {
		return come
	}
	out := make([]fsaccess.Entry, 0, len(have)+len(come))
	for len(have) > 0 && len(come) > 0 {
		switch c := shownFirst(have[0], come[0]); {
		case c < 0:
			out, have = append(out, have[0]), have[1:]
		case c > 0:
			out, come = append(out, come[0]), come[1:]
		default:
			have = have[1:] // the watch has found it too
		}
	}
	return append(append(out, have...), come...)
}

// dirOf returns the folder of a path.
func dirOf(name string) string { return path.Dir(name) }

// mayTake reports whether entries can be moved into a folder: not into themselves, nor to where all of
// them are already.
func mayTake(list []fsaccess.Entry, to string) bool {
	moves := false
	for _, e := range list {
		if to == e.Path || strings.HasPrefix(to, e.Path+"/") {
			return false
		}
		moves = moves || path.Dir(e.Path) != to
	}
	return moves
}
