package shell

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailey-go/bailey/protocol"
)

// Limits of a script, so that neither the parser nor the interpreter runs out of stack. In wasm that would
// end the program.
const (
	maxTree    = 1000   // nested nodes: a sum of 1,000 numbers, or 1,000 commands joined by &&
	maxNesting = 400    // opening characters and words less closing ones, whether quoted or not
	maxBraces  = 10_000 // words from the braces of one word
)

func refuse(why string) error {
	return protocol.Errorf(protocol.ErrInvalidParams, "bash", "", "%s", why).WithReason(protocol.ReasonParse)
}

// parse parses a script, without limits if a test has switched them off.
func (o *Options) parse(script string) (*syntax.File, error) {
	if !o.off.bounds {
		return parse(script)
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err == nil {
		tick(f)
	}
	return f, err
}

// parse parses a script. It returns an error for a script that is nested too deeply or that uses a feature
// outside the folder, such as coproc.
func parse(script string) (*syntax.File, error) {
	if tooNested(script) {
		return nil, refuse("the script is nested too deeply")
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(&shallow{text: script}, "")
	if errors.Is(err, errDeep) || err == nil && deep(f) {
		return nil, refuse("the script is nested too deeply")
	}
	if err != nil {
		return nil, refuse("the script can't be read: " + err.Error())
	}
	var bad string
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CoprocClause:
			bad = "coproc is not there"
		case *syntax.Word:
			if len(n.Parts) == 0 {
				break
			}
			if l, ok := n.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(l.Value, "~") && l.Value != "~" && !strings.HasPrefix(l.Value, "~/") {
				bad = "there are no home folders of others: write \\~ for a tilde"
			}
			if braces(n) > maxBraces {
				bad = "the braces of a word become more than 10,000 words; use a loop"
			}
		}
		return bad == ""
	})
	if bad != "" {
		return nil, refuse(bad)
	}
	tick(f)
	return f, nil
}

var errDeep = errors.New("too deep")

// shallow is a reader of a script for the parser, which is recursive. It returns an error when the parser is
// close to the end of the stack. It returns at most 64 bytes at once, so that the parser can't go much deeper
// between two reads.
type shallow struct{ text string }

func (r *shallow) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	var pc [1]uintptr
	if runtime.Callers(maxFrames, pc[:]) > 0 {
		return 0, errDeep
	}
	n := copy(p[:min(len(p), 64)], r.text)
	r.text = r.text[n:]
	return n, nil
}

// deep reports whether a tree is too deep for the recursive functions that work on it. Its own walk stops at
// that depth.
func deep(f *syntax.File) bool {
	depth, bad := 0, false
	syntax.Walk(f, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		if depth++; bad || depth > maxTree {
			bad = true
			depth--
			return false
		}
		return true
	})
	return bad
}

// tooNested reports whether a script is nested too deeply. It counts opening characters and words, whether
// quoted or not. The limit is far above that of any readable script.
func tooNested(s string) bool {
	depth, most := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '{', '[', '`', '!':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		most = max(most, depth)
	}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n;&|(){}", r) }) {
		switch w {
		case "if", "while", "until", "for", "case", "select", "function", "time":
			depth++
		case "fi", "done", "esac":
			depth = max(0, depth-1)
		}
		most = max(most, depth)
	}
	return most > maxNesting || strings.Count(s, "`") > maxNesting
}

// braces returns the number of words that the braces of a word expand to.
func braces(w *syntax.Word) int {
	copied := *w
	copied.Parts = slices.Clone(w.Parts)
	if !syntax.SplitBraces(&copied) {
		return 1
	}
	return countBraces(copied.Parts)
}

func countBraces(parts []syntax.WordPart) int {
	n := 1
	for _, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		each := 0
		if b.Sequence {
			each = sequence(b)
		} else {
			for _, e := range b.Elems {
				each = min(each+countBraces(e.Parts), maxBraces+1)
			}
		}
		n = min(n*max(each, 1), maxBraces+1)
	}
	return n
}

func sequence(b *syntax.BraceExp) int {
	var ends [2]int
	for i := range ends {
		text := b.Elems[i].Lit()
		if len(text) > 9 {
			return maxBraces + 1
		}
		neg := strings.HasPrefix(text, "-")
		n := 0
		for _, c := range strings.TrimPrefix(text, "-") {
			if c < '0' || c > '9' {
				return 256 // a range of letters
			}
			n = 10*n + int(c-'0')
		}
		if neg {
			n = -n
		}
		ends[i] = n
	}
	d := ends[1] - ends[0]
	return min(max(d, -d)+1, maxBraces+1)
}

// tickName is the name of a command that no script can contain, because it has a NUL.
const tickName = "\x00tick"

// tick adds a command after each statement that only assigns, so that the size of the variables is checked
// there. Such an assignment sets $? to 0, and the added command does the same.
func tick(f *syntax.File) {
	add := func(list []*syntax.Stmt) []*syntax.Stmt {
		var out []*syntax.Stmt
		for _, st := range list {
			out = append(out, st)
			if alone(st) {
				out = append(out, &syntax.Stmt{Cmd: &syntax.CallExpr{Args: []*syntax.Word{{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: tickName}}}}}})
			}
		}
		return out
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.File:
			n.Stmts = add(n.Stmts)
		case *syntax.Block:
			n.Stmts = add(n.Stmts)
		case *syntax.Subshell:
			n.Stmts = add(n.Stmts)
		case *syntax.CmdSubst:
			n.Stmts = add(n.Stmts)
		case *syntax.IfClause:
			n.Then = add(n.Then)
		case *syntax.WhileClause:
			n.Do = add(n.Do)
		case *syntax.ForClause:
			n.Do = add(n.Do)
		case *syntax.CaseItem:
			n.Stmts = add(n.Stmts)
		}
		return true
	})
}

// alone reports whether a statement only assigns, without running a command.
func alone(st *syntax.Stmt) bool {
	if st.Negated || st.Background || st.Coprocess || len(st.Redirs) > 0 {
		return false
	}
	var assigns []*syntax.Assign
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 {
			return false
		}
		assigns = c.Assigns
	case *syntax.DeclClause:
		assigns = c.Args
	}
	if len(assigns) == 0 {
		return false
	}
	runs := false
	syntax.Walk(st, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.CmdSubst); ok {
			runs = true
		}
		return !runs
	})
	return !runs
}

// named returns the commands that a script names in plain words. It leaves out the script's own functions and
// the builtins that only affect the shell itself.
func named(f *syntax.File) []string {
	own := map[string]bool{}
	var out []string
	syntax.Walk(f, func(n syntax.Node) bool {
		if fn, ok := n.(*syntax.FuncDecl); ok && fn.Name != nil {
			own[fn.Name.Value] = true
		}
		return true
	})
	syntax.Walk(f, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 {
			return true
		}
		name := c.Args[0].Lit()
		if (name == "command" || name == "builtin" || name == "exec" || name == "xargs") && len(c.Args) > 1 {
			if next := c.Args[1].Lit(); known(next) {
				out = append(out, next)
			}
		}
		if name != "" && !own[name] && known(name) {
			out = append(out, name)
		}
		return true
	})
	slices.Sort(out)
	return slices.Compact(out)
}
