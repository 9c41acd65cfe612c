package interp

import (
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/sandbox/shell/internal/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Bounds are the functions of the surrounding shell that the interpreter calls, so that
// no script ends the program. All functions are required.
type Bounds struct {
	// Parse parses text that becomes code while the script runs: for eval, source and
	// trap.
	Parse func(src string) (*syntax.File, error)
	// Panicked returns the error for a panic's value. The script ends with it.
	Panicked func(value any) error
	// Refuse returns the error for something that is too large. The script ends with it.
	Refuse func(why string) error
	// Words returns the number of words that the braces of a word expand to.
	Words func(*syntax.Word) int
	// Regexp compiles the expression of [[ text =~ expression ]].
	Regexp func(expr string) (*regexp.Regexp, error)

	// Keep stores content and returns the name under which a command can read it, or write it if it is nil. Drop removes
	// it and returns it.
	Keep func(content []byte) (name string, err error)
	Drop func(name string) []byte
	// Known returns the path of a command, or "" if there is no such command.
	Known func(name string) string
	// Help returns the text of the builtin help.
	Help func(names []string) string
	// Time returns a time in the form of %(…)T.
	Time func(t time.Time, layout string) string

	Uncontained bool // for a test that runs without contain
	Unbounded   bool // for a test that runs without the limit of an expansion
}

// The limits of one step.
const (
	maxExpansion = 8 << 20 // bytes of the words of one command after expansion
	maxValue     = 2 << 20 // bytes of one variable
	maxRead      = 1 << 20 // bytes of one line of read, and of all lines of mapfile
	maxSource    = 64 << 10
	maxMatch     = 4 << 20 // length of a pattern times length of the matched text
	maxPattern   = 4 << 10 // bytes of a pattern
	// MaxJobs is the most background jobs that a script may have at once.
	MaxJobs = 64
	// MaxPipes is the most pipes that a script may have at once. Each side of a pipe has
	// a stack of its own, so this also bounds the depth of functions that call one
	// another in pipes.
	MaxPipes = 128
)

// bounds is shared by a runner and its subshells.
type bounds struct {
	Bounds
	jobs, pipes atomic.Int64
}

// Within returns an option that sets the bounds.
func Within(b Bounds) RunnerOption {
	return func(r *Runner) error {
		r.bounds.Bounds = b
		return nil
	}
}

// contain runs a part of a script. Each goroutine of a script runs in it, so that a panic
// ends the script and not the program.
func contain(r *Runner, f func()) {
	if r.bounds.Uncontained {
		f()
		return
	}
	defer func() {
		if v := recover(); v != nil {
			r.exit.fatal(r.bounds.Panicked(v))
		}
	}()
	f()
}

func (b *bounds) startJob() error {
	if b.jobs.Add(1) > MaxJobs {
		b.jobs.Add(-1)
		return b.Refuse("more than 64 background jobs at once; wait for some")
	}
	return nil
}

func (b *bounds) startPipe() error {
	if b.pipes.Add(1) > MaxPipes {
		b.pipes.Add(-1)
		return b.Refuse("more than 128 pipes at once")
	}
	return nil
}

func (b *bounds) endPipe() { b.pipes.Add(-1) }

func (b *bounds) endJob() { b.jobs.Add(-1) }

func (b *bounds) regexp(expr string) (*regexp.Regexp, error) { return b.Regexp(expr) }

// matches reports whether a pattern may be compared with a text of this length.
func (b *bounds) matches(pat, text string) bool {
	return len(pat) <= maxPattern && len(pat)*len(text) <= maxMatch
}

// arithmetic parses a subscript, which may contain commands.
func (b *bounds) arithmetic(sub string) (syntax.ArithmExpr, error) {
	// First it is parsed as a script, because that checks nesting and refuses missing
	// features.
	f, err := b.Parse("((" + sub + "))")
	if err != nil {
		return nil, err
	}
	if len(f.Stmts) != 1 {
		return nil, b.Refuse("bad array subscript")
	}
	if c, ok := f.Stmts[0].Cmd.(*syntax.ArithmCmd); ok {
		return c.X, nil
	}
	return nil, b.Refuse("bad array subscript")
}

// fits reports whether words stay within maxExpansion when they are expanded. Otherwise
// it ends the script.
func fits(r *Runner, words ...*syntax.Word) bool {
	r.printed = maxExpansion
	if r.bounds.Unbounded {
		return true
	}
	total := 0
	for _, w := range words {
		n := size(r, w)
		if n > 0 {
			n *= times(r, w)
		}
		if total += n; n > maxExpansion || total > maxExpansion {
			r.exit.fatal(r.bounds.Refuse("one expansion makes more than 8 MiB; use files or pipes"))
			return false
		}
	}
	return !r.exit.fatalExit
}

// fitsNode is fits for an arithmetic expression.
func fitsNode(r *Runner, n syntax.Node) bool {
	r.printed = maxExpansion
	if n != nil && !r.bounds.Unbounded && size(r, n) > maxExpansion {
		r.exit.fatal(r.bounds.Refuse("one expansion makes more than 8 MiB; use files or pipes"))
	}
	return !r.exit.fatalExit
}

// times returns the number of words that a word expands to.
func times(r *Runner, w *syntax.Word) int {
	for _, p := range w.Parts {
		if _, ok := p.(*syntax.BraceExp); ok {
			return r.bounds.Words(w)
		}
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return r.bounds.Words(w)
		}
	}
	return 1
}

const tooLarge = maxExpansion + 1

// size returns an upper bound of the bytes that a part of a script expands to, up to
// tooLarge. The output of command substitutions is counted when it is printed.
func size(r *Runner, n syntax.Node) int {
	total := 0
	syntax.Walk(n, func(n syntax.Node) bool {
		if total > maxExpansion {
			return false
		}
		switch n := n.(type) {
		case *syntax.Lit:
			total += len(n.Value)
		case *syntax.SglQuoted:
			total += len(n.Value)
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.ParamExp:
			total += sizeOfParam(r, n)
			return false
		}
		return true
	})
	return min(total, tooLarge)
}

func sizeOfParam(r *Runner, p *syntax.ParamExp) int {
	value, one := sizeOfVar(r, p)
	if p.Length || p.Width {
		value = 20
	}
	inner := 0
	if p.Index != nil {
		inner += size(r, p.Index)
	}
	switch {
	case p.Slice != nil:
		if p.Slice.Offset != nil {
			inner += size(r, p.Slice.Offset)
		}
		if p.Slice.Length != nil {
			inner += size(r, p.Slice.Length)
		}
	case p.Repl != nil:
		pat, with := sizeOfWord(r, p.Repl.Orig), sizeOfWord(r, p.Repl.With)
		times := 1
		if p.Repl.All {
			times = value + 1
		}
		if pat > maxPattern || pat*one > maxMatch || with*times > maxExpansion {
			return tooLarge
		}
		return value + with*times
	case p.Exp != nil:
		arg := 0
		if p.Exp.Word != nil {
			arg = size(r, p.Exp.Word)
		}
		switch p.Exp.Op {
		case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
			syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
			if arg = sizeOfWord(r, p.Exp.Word); arg > maxPattern || arg*one > maxMatch {
				return tooLarge
			}
		case syntax.OtherParamOps:
			return 8 * value
		}
		inner += arg
	}
	return min(value+inner, tooLarge)
}

// sizeOfWord is size for a pattern or its replacement. A command substitution in it
// counts as maxExpansion.
func sizeOfWord(r *Runner, w *syntax.Word) int {
	if w == nil {
		return 0
	}
	runs := false
	syntax.Walk(w, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CmdSubst); ok && len(c.Stmts) > 0 {
			runs = true
		}
		return !runs
	})
	if runs {
		return maxExpansion
	}
	return size(r, w)
}

// sizeOfVar returns the number of bytes of a parameter, and that of its longest element.
func sizeOfVar(r *Runner, p *syntax.ParamExp) (all, one int) {
	if p.Param == nil || p.Param.Value == "" {
		return maxValue, maxValue
	}
	v := r.lookupVar(p.Param.Value)
	if p.Excl { // the variable whose name is the value of another one
		return maxValue, maxValue
	}
	if name, target := v.Resolve(r.writeEnv); name != "" {
		v = target
	}
	return sizeOfVariable(v)
}

func sizeOfVariable(v expand.Variable) (all, one int) {
	all, one = len(v.Str), len(v.Str)
	for _, e := range v.List {
		all += len(e) + 1
		one = max(one, len(e))
	}
	for k, e := range v.Map {
		all += len(k) + len(e) + 2
		one = max(one, len(k), len(e))
	}
	return all, one
}

// limited is the writer for the output of a command substitution.
type limited struct {
	w   io.Writer
	r   *Runner    // the runner of the expansion
	sub *Runner    // the runner that prints
	mu  sync.Mutex // background jobs print too
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.r.printed -= len(p); l.r.printed < 0 {
		err := l.r.bounds.Refuse("a command in $(…) prints more than 8 MiB; use a file or a pipe")
		l.sub.exit.fatal(err)
		return 0, err
	}
	return l.w.Write(p)
}

// printed returns an upper bound of the bytes that printf writes for one use of a format.
func printed(format string, args []string) int {
	n := 4 * len(format)
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("+- #0123456789.*", format[i]) >= 0; {
			width := 0
			for i < len(format) && format[i] >= '0' && format[i] <= '9' {
				width = min(width*10+int(format[i]-'0'), tooLarge)
				i++
			}
			if n += width; n > maxExpansion {
				return tooLarge
			}
			if i < len(format) && (format[i] < '0' || format[i] > '9') && strings.IndexByte("+- #.*", format[i]) >= 0 {
				i++
			}
		}
		if len(args) > 0 {
			n += 4 * len(args[0])
			args = args[1:]
		}
	}
	return n
}
