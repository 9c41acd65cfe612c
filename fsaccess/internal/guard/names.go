package guard

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// insideGit refuses a path inside a git folder that is not called .git: a bare repository,
// or one made with git init --separate-git-dir. Git executes commands from the config, the
// hooks and the commondir of such a folder, wherever it is. insideGit checks a folder only
// if the next name in the path can be in a git folder, so most paths cost nothing.
func (g *Guard) insideGit(ctx context.Context, name string) error {
	for at := 0; at <= len(name); {
		elem, rest, more := strings.Cut(name[at:], "/")
		if gitHolds(elem) {
			dir := "."
			if at > 0 {
				dir = name[:at-1]
			}
			if g.gitFolder(ctx, dir, elem) {
				return g.refuse(core.ErrProtected, "%s is a git folder: git runs what its files say, so no policy opens it", dir)
			}
		}
		if !more {
			return nil
		}
		at = len(name) - len(rest)
	}
	return nil
}

// gitHolds reports whether a git folder may contain a name, folded as the most lenient file
// system folds it (https://git-scm.com/docs/gitrepository-layout). A name with ~ may be the
// Windows short name of one of these.
func gitHolds(elem string) bool {
	look := strings.TrimRight(skeleton(elem), ". ")
	switch look {
	case "head", "config", "config.worktree", "commondir", "gitdir", "hooks", "info", "objects", "refs", "packed-refs", "index",
		"modules", "worktrees", "branches", "remotes", "logs", "shallow", "common", "sequencer", "rebase-merge", "rebase-apply", "lfs", "svn":
		return true
	}
	return strings.Contains(look, "~")
}

// gitFolder reports whether dir is a git folder, by the rules of git's is_git_directory
// (setup.c): it has a file HEAD, and objects and refs in dir, or a file commondir that
// names another folder for them. Git follows links, so only their existence matters. elem
// counts as existing, so the part that would complete a git folder is refused. Otherwise a
// program could write the config first and that part afterwards.
func (g *Guard) gitFolder(ctx context.Context, dir, elem string) bool {
	elem = strings.TrimRight(skeleton(elem), ". ")
	there := func(name string) bool {
		if elem == name || strings.Contains(elem, "~") && strings.HasPrefix(elem, name[:min(6, len(name))]+"~") {
			return true
		}
		_, err := g.Core.Stat(ctx, core.Join(dir, name))
		return err == nil
	}
	if fi, err := g.Core.Stat(ctx, core.Join(dir, "HEAD")); err != nil || fi.IsDir() {
		return false
	}
	return there("objects") && there("refs") || there("commondir")
}

// badName returns the reason why a name may not be given to a file, or "".
func badName(name string) string {
	if !utf8.ValidString(name) {
		return "it is not UTF-8"
	}
	if len(name) > 4096 {
		return "it is longer than 4096 bytes"
	}
	for i, e := range strings.Split(name, "/") {
		if why := badElem(e, i == 0); why != "" {
			return why
		}
	}
	return ""
}

func badElem(e string, first bool) string {
	if e == "." && first {
		return ""
	}
	if len(e) > 255 {
		return "an element is longer than 255 bytes"
	}
	for _, r := range e {
		switch {
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0:
			return fmt.Sprintf("it has the control character %U", r)
		case strings.ContainsRune(`\<>:"|?*`, r):
			return fmt.Sprintf("it has %q, which some systems do not take for part of a name", r)
		case invisible(r):
			return fmt.Sprintf("it has the invisible character %U", r)
		case slashLike(r):
			return fmt.Sprintf("%U looks like a slash", r)
		}
	}
	if strings.HasSuffix(e, ".") || strings.HasSuffix(e, " ") || strings.HasPrefix(e, " ") {
		return "it begins or ends with what some systems drop"
	}
	look := skeleton(e)
	if strings.Trim(look, ".") == "" {
		return "it looks like the folder above"
	}
	if low := strings.ToLower(e); strings.Contains(low, "%2e%2e") || strings.Contains(low, "%2f") || strings.Contains(low, "%5c") ||
		strings.Contains(low, "%00") || strings.Contains(low, "..%") || strings.Contains(low, "%c0%ae") {
		return "it has an encoded separator or parent"
	}
	if first && (e == "~" || strings.HasPrefix(e, "~") && !strings.HasPrefix(e, "~$") && !strings.Contains(e, ".")) {
		return "it could be taken for a home folder"
	}
	if reservedDevice(look) {
		return "it is a device on Windows"
	}
	return ""
}

func reservedDevice(look string) bool {
	stem, _, _ := strings.Cut(look, ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return true
	}
	if len(stem) >= 4 && (stem[:3] == "com" || stem[:3] == "lpt") {
		d := []rune(stem[3:])
		return len(d) == 1 && (d[0] >= '0' && d[0] <= '9' || strings.ContainsRune("¹²³", d[0]))
	}
	return false
}

func invisible(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r == 0xfeff, r == 0x00ad, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		r == 0x180e, r == 0x3164, r == 0xffa0, r >= 0xfff0 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff,
		r >= 0xfe00 && r <= 0xfe0f:
		return true
	}
	if r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef {
		return true // not a character
	}
	return unicode.Is(unicode.Cs, r) || unicode.Is(unicode.Co, r) || r == utf8.RuneError ||
		r != ' ' && unicode.Is(unicode.Zs, r)
}

func slashLike(r rune) bool {
	return strings.ContainsRune("∕⁄／＼⧵⧸⧹﹨╱╲⟋⟍", r)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// skeleton returns the shape of a name, to detect deception: letters of other scripts that
// look like Latin letters become Latin, case is folded, and combining marks and invisible
// characters are dropped. For example, "\u0430dmin" (Cyrillic a) becomes "admin". The result
// is never used as a name.
func skeleton(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 0xff01 && r <= 0xff5e: // full width
			r = unicode.ToLower(r - 0xfee0)
		case r == '․' || r == '·' || r == '。' || r == '｡' || r == 'ꓸ' || r == '．' || r == '﹒':
			r = '.'
		case r == '‥':
			b.WriteByte('.')
			r = '.'
		case r == '…':
			b.WriteString("..")
			r = '.'
		case invisible(r), unicode.Is(unicode.Mn, r):
			continue
		default:
			if l, ok := lookAlike[r]; ok {
				r = l
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// lookAlike maps lower-case Cyrillic, Greek, Armenian, IPA and other letters to the Latin
// letter that common fonts draw alike.
var lookAlike = map[rune]rune{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'ѕ': 's', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm', 'о': 'o',
	'р': 'p', 'ԛ': 'q', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'һ': 'h', 'в': 'b', 'н': 'h', 'г': 'r', 'ү': 'y',
	'α': 'a', 'β': 'b', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'γ': 'y', 'η': 'n', 'σ': 'o', 'ω': 'w', 'ϲ': 'c', 'ϳ': 'j',
	'օ': 'o', 'ո': 'n', 'ս': 'u', 'հ': 'h', 'զ': 'q', 'ց': 'g', 'ք': 'p',
	'ɡ': 'g', 'ɑ': 'a', 'ɩ': 'i', 'ı': 'i', 'ʋ': 'v', 'ᴄ': 'c', 'ᴏ': 'o', 'ᴜ': 'u', 'ᴠ': 'v', 'ᴡ': 'w', 'ᴢ': 'z', 'ɴ': 'n', 'ʀ': 'r', 'ʟ': 'l',
	'ꞵ': 'b', 'ⅰ': 'i', 'ⅼ': 'l', 'ⅽ': 'c', 'ⅾ': 'd', 'ⅿ': 'm', 'ⅴ': 'v', 'ⅹ': 'x', 'ß': 's', 'ſ': 's', 'ﬁ': 'f', 'ℊ': 'g', 'ℓ': 'l', 'ℹ': 'i',
	'’': '\'', '‐': '-', '‑': '-', '–': '-', '—': '-', '−': '-',
}
