package protocol

import (
	"slices"
	"strings"
)

// Some files make other programs run what they say. They are never written,
// whatever a policy allows, at any depth: sandbox-runtime's list.

// protectedNames may not be written anywhere, nor anything below them.
func protectedNames() []string {
	return []string{
		".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile", ".ripgreprc",
		".mcp.json", ".vscode", ".idea",
	}
}

// protectedPairs are a folder and what may not be written in it.
func protectedPairs() [][2]string {
	return [][2]string{{".claude", "commands"}, {".claude", "agents"}, {".git", "hooks"}, {".git", gitConfig}}
}

const gitConfig = "config"

// Mandatory returns the list that no policy opens, as patterns, for people to read.
func Mandatory() []string {
	var all []string
	for _, n := range protectedNames() {
		all = append(all, "**/"+n)
	}
	for _, p := range protectedPairs() {
		all = append(all, "**/"+p[0]+"/"+p[1])
	}
	return append(all, "**/.git/modules/**/hooks", "**/.git/modules/**/config")
}

// protection is how a path stands to the mandatory list.
type protection uint8

const (
	unprotected protection = iota
	ancestor               // something on the list may lie right below: not to be replaced
	protected
)

// mandatory says how path stands to the list, and to which entry of it.
func mandatory(path string, gitConfigAllowed bool) (protection, string) {
	elems := strings.Split(path, "/")
	for i, e := range elems {
		elems[i] = protectedForm(e)
	}
	state, entry := unprotected, ""
	for i, e := range elems {
		for _, n := range protectedNames() {
			if same(e, n) {
				return protected, n
			}
		}
		for _, p := range protectedPairs() {
			if !same(e, p[0]) {
				continue
			}
			if i+1 == len(elems) {
				state, entry = ancestor, p[0]+"/"+p[1]
				continue
			}
			if same(elems[i+1], p[1]) && !(p[1] == gitConfig && gitConfigAllowed && i+2 == len(elems)) {
				return protected, p[0] + "/" + p[1]
			}
			// A submodule's own git folder lies at any depth below .git/modules.
			if p[0] == ".git" && same(elems[i+1], "modules") {
				below := elems[i+2:]
				if slices.ContainsFunc(below, func(b string) bool { return same(b, "hooks") }) {
					return protected, ".git/modules/**/hooks"
				}
				if len(below) > 1 && !gitConfigAllowed && same(below[len(below)-1], gitConfig) {
					return protected, ".git/modules/**/config"
				}
			}
		}
	}
	return state, entry
}

// protectedForm is one name as the most lenient file system would look it up.
func protectedForm(name string) string {
	return foldWindows(name)
}

// same reports whether name, in protected form, may open entry: itself, or the
// short name that Windows makes for it, such as GIT~1.
func same(name, entry string) bool {
	if name == entry {
		return true
	}
	stem, digits, ok := strings.Cut(name, "~")
	if !ok || stem == "" || len(stem) > 6 {
		return false
	}
	digits, ext, _ := strings.Cut(digits, ".")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(stem)+len(digits) > 7 {
		return false
	}
	long, longExt := strings.TrimLeft(entry, "."), ""
	if dot := strings.LastIndexByte(long, '.'); dot > 0 {
		long, longExt = long[:dot], long[dot+1:]
	}
	long = strings.ReplaceAll(long, ".", "")
	// Up to the sixth character, fewer where the number is long; from the fifth
	// short name on, Windows keeps two characters and hashes the rest.
	want := long[:min(len(long), 6)]
	return (ext == "" || ext == longExt[:min(len(longExt), 3)]) && (stem == want || len(digits) > 1 && strings.HasPrefix(want, stem))
}
