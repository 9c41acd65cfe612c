package frame

import "strings"

// Hint is the first line of a worker's script. Chromium then compiles every function of the script
// at once, and does not parse it again when it is first called.
const Hint = "//# allFunctionsCalledOnLoad\n"

// compact returns a script without its comments and its indentation, which every start of a worker
// would copy and scan. It removes comments that begin a line, and the types of JSDoc inside of one.
// It knows no template literals: the scripts of workers have none.
func compact(script string) string {
	var b strings.Builder
	b.Grow(len(script))
	inside := false // a comment of several lines
	for line := range strings.SplitSeq(script, "\n") {
		for line = strings.TrimLeft(line, " \t"); inside || strings.HasPrefix(line, "/*"); line = strings.TrimLeft(line, " \t") {
			_, after, closed := strings.Cut(line, "*/")
			inside, line = !closed, after
			if inside {
				break
			}
		}
		for {
			before, rest, ok := strings.Cut(line, "/** @")
			_, after, closed := strings.Cut(rest, "*/")
			if !ok || !closed {
				break
			}
			line = before + strings.TrimLeft(after, " ")
		}
		if line != "" && !strings.HasPrefix(line, "//") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
