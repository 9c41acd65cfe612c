package shell

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

// The limits of the commands.
const (
	maxFile  = 64 << 20 // bytes of one file, read or written
	maxInput = 16 << 20 // bytes of a text that is split into lines or words
	maxLines = 2_000_000
	maxHeld  = 96 << 20 // bytes that all commands of a script hold at once
	maxSeq   = 1_000_000
	maxSet   = 65_536 // characters in a set of tr
	// maxReplace bounds the length of a line times the steps of an expression that
	// replaces in it.
	maxReplace = 4 << 20
	// maxAtOnce bounds the same product for a match that can't be interrupted.
	maxAtOnce = 256 << 10
)

// tooMuch is the panic value of a command that exceeds a limit, with the message.
// contained makes an error of it. A panic is used because the limits are checked deep
// inside the commands.
type tooMuch string

// ended is the panic value of a command whose script has ended.
type ended struct{}

// contained runs a command. If it panics with tooMuch or ended, contained returns an exit
// code.
func (t *task) contained(run func() error) (err error) {
	defer func() {
		t.s.w.release(t.held)
		switch v := recover().(type) {
		case nil:
		case tooMuch:
			t.errorf("%s", string(v))
			err = interp.ExitStatus(1)
		case ended:
			err = interp.ExitStatus(130)
		default:
			panic(v) // contained by the interpreter
		}
	}()
	return run()
}

// spend counts n bytes of work, and yields to the page after each 16 KiB. It panics with
// ended if the script has ended.
func (t *task) spend(n int) {
	if t.work += n; t.work < 16<<10 {
		return
	}
	t.work = 0
	if t.s.w.breathe() != nil {
		panic(ended{})
	}
}

// hold counts n bytes as held until the command ends. It panics with tooMuch over
// maxHeld.
func (t *task) hold(n int) {
	if !t.s.w.hold(n) {
		panic(tooMuch("the commands of the script hold more than 96 MiB at once"))
	}
	t.held += n
}

// breathe yields to the page if the time slice is used up. It returns an error if the
// script has ended.
func (w *watched) breathe() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad != nil {
		return w.bad
	}
	w.breaths++
	return w.budget.Spend(w.Context)
}

func (w *watched) hold(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n < 0 || w.held+n > maxHeld {
		return false
	}
	w.held += n
	w.most = max(w.most, w.held)
	return true
}

func (w *watched) release(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held -= n
}

// readAll returns the command's whole input. It panics with tooMuch over maxFile.
func (t *task) readAll() []byte {
	// One growing buffer would be copied at a stretch each time that it grows.
	var parts [][]byte
	size := 0
	buf := make([]byte, 32<<10)
	for {
		n, err := t.in.Read(buf)
		if n > 0 {
			if size += n; size > maxFile {
				panic(tooMuch("the input is longer than 64 MiB"))
			}
			t.hold(n)
			if last := len(parts) - 1; last >= 0 && len(parts[last])+n <= cap(parts[last]) {
				parts[last] = append(parts[last], buf[:n]...)
			} else {
				parts = append(parts, append(make([]byte, 0, max(n, min(size, 1<<20))), buf[:n]...))
			}
			t.spend(n)
		}
		if err != nil {
			break // a broken pipe ends the input
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	out := make([]byte, 0, size)
	for _, part := range parts {
		for piece := range slices.Chunk(part, restBytes) {
			out = append(out, piece...)
			t.spend(len(piece) / 8)
		}
	}
	return out
}

const restBytes = 64 << 10 // the most bytes that are counted or copied without a pause

// text returns data as a string, and the number of its line ends. It panics with tooMuch if data is too large to be
// split into lines.
func (t *task) text(data []byte) (string, int) {
	if len(data) > maxInput {
		panic(tooMuch("the input is longer than 16 MiB or 2,000,000 lines"))
	}
	t.hold(len(data))
	var text strings.Builder
	text.Grow(len(data))
	ends := 0
	for piece := range slices.Chunk(data, restBytes) {
		text.Write(piece)
		ends += bytes.Count(piece, []byte("\n"))
		t.spend(len(piece) / 8)
	}
	if ends > maxLines {
		panic(tooMuch("the input is longer than 16 MiB or 2,000,000 lines"))
	}
	return text.String(), ends
}

// pattern is an expression whose matching can yield to the page.
type pattern struct {
	*regexp.Regexp
	steps int // steps of its compiled program
}

// match reports whether a line has a match. A long line is read character by character,
// so that the match can yield to the page.
func (p *pattern) match(t *task, line string) bool {
	t.spend(len(line) + 64)
	if len(line)*p.steps <= maxAtOnce {
		return p.MatchString(line)
	}
	return p.MatchReader(&slowReader{t: t, s: line, steps: p.steps})
}

// replaceable panics with tooMuch if a line is too long to find all matches in it.
func (p *pattern) replaceable(t *task, line string) {
	t.spend(len(line)*4 + 64)
	if len(line)*p.steps > maxReplace {
		panic(tooMuch("a line is too long for the expression"))
	}
}

type slowReader struct {
	t     *task
	s     string
	steps int
}

func (r *slowReader) ReadRune() (rune, int, error) {
	if r.s == "" {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.s)
	r.s = r.s[n:]
	r.t.spend(n * r.steps)
	return c, n, nil
}

// joined returns the sum of sizes. It panics with tooMuch if the sum is over most.
func joined(most int, sizes ...int) int {
	total := 0
	for _, n := range sizes {
		if total += n; n < 0 || total > most {
			panic(tooMuch("the output is longer than 16 MiB"))
		}
	}
	return total
}

// replaceAll is strings.ReplaceAll, with a check of the result's size before the
// replacement.
func replaceAll(s, from, to string) string {
	joined(maxInput, len(s)+strings.Count(s, from)*max(len(to)-len(from), 0))
	return strings.ReplaceAll(s, from, to)
}
