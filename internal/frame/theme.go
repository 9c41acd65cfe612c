package frame

import (
	"slices"
	"strings"
)

// ThemeVariables returns the names of the variables in the style of documents that a theme may set, sorted.
func ThemeVariables() []string {
	var out []string
	for rest := documentCSS; ; {
		_, after, ok := strings.Cut(rest, "--bailey-")
		if !ok {
			break
		}
		end := strings.IndexFunc(after, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' })
		out, rest = append(out, "--bailey-"+after[:end]), after[end:]
	}
	slices.Sort(out)
	return slices.Compact(out)
}
