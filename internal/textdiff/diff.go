package textdiff

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Limits of a diff by lines, for both texts together.
const (
	DiffLimit = 4 << 20 // bytes
	diffLines = 200_000
	diffApart = 40_000 // lines between the first and the last difference. More lines become one replacement
)

// Unified returns the change from a to b in the unified format, like diff -u with three
// lines of context. For a missing side, pass /dev/null as its name. If a content is not
// UTF-8, contains a NUL, or both together exceed 4 MiB or 200,000 lines, the result is one
// line with the sizes. UnifiedDiff lets the page run at least every 10 ms, so do not call
// it in a callback. It returns only the error of ctx.
func Unified(ctx context.Context, aName, bName string, a, b []byte) (string, error) {
	d := &differ{ctx: ctx}
	text := d.unified(aName, bName, a, b)
	return text, d.err
}

var newline = []byte{10}

// Question is [Unified] for a question to the user. Every differing byte of the new
// content b is in the result, for any kind and size of content, so the user sees everything
// that would be written. Control characters are not escaped, so the caller should mark them.
//
// There is one exception: in a new content of more than 64 KiB of which less than 70 % is
// text, the runs of bytes that cannot be text are counted and not shown. An old content a
// that is not text, or has more than 4 MiB or 200,000 lines, is replaced by one line with
// its size, which begins with a backslash. A new content beyond those limits is returned as
// it is, without marks.
func Question(ctx context.Context, aName, bName string, a, b []byte) (string, error) {
	d := &differ{ctx: ctx}
	text := d.question(aName, bName, a, b)
	return text, d.err
}

// A differ compares two texts in pieces and lets the page run between them. After its
// context is done, err is set, and the remaining work is as short as possible.
type differ struct {
	ctx    context.Context
	budget jsx.Budget
	err    error
}

// spend counts n steps, and reports whether the work may go on.
func (d *differ) spend(n int) bool {
	if d.err == nil {
		d.err = d.budget.Steps(d.ctx, n)
	}
	return d.err == nil
}

const diffPiece = 64 << 10 // bytes compared together

// same returns the number of bytes that two texts have in common at the beginning.
func (d *differ) same(a, b []byte) int {
	n, end := 0, min(len(a), len(b))
	for n < end && d.spend(diffPiece/32) {
		piece := min(diffPiece, end-n)
		if bytes.Equal(a[n:n+piece], b[n:n+piece]) {
			n += piece
			continue
		}
		for a[n] == b[n] {
			n++
		}
		break
	}
	return n
}

// sameEnd returns the number of bytes that two texts have in common at the end.
func (d *differ) sameEnd(a, b []byte) int {
	n, end := 0, min(len(a), len(b))
	for n < end && d.spend(diffPiece/32) {
		piece := min(diffPiece, end-n)
		if bytes.Equal(a[len(a)-n-piece:len(a)-n], b[len(b)-n-piece:len(b)-n]) {
			n += piece
			continue
		}
		for a[len(a)-1-n] == b[len(b)-1-n] {
			n++
		}
		break
	}
	return n
}

func (d *differ) equal(a, b []byte) bool { return len(a) == len(b) && d.same(a, b) == len(a) }

// lines returns the number of line ends.
func (d *differ) lines(data []byte) (n int) {
	for len(data) > 0 && d.spend(diffPiece/16) {
		piece := data[:min(diffPiece, len(data))]
		n += bytes.Count(piece, newline)
		data = data[len(piece):]
	}
	return n
}

func (d *differ) unified(aName, bName string, a, b []byte) string {
	if d.equal(a, b) {
		return ""
	}
	head := "--- " + aName + "\n+++ " + bName + "\n"
	if len(a)+len(b) > DiffLimit || !d.isText(a) || !d.isText(b) || d.lines(a)+d.lines(b) > diffLines {
		return head + fmt.Sprintf("Binary or large files differ: %d bytes, then %d bytes.\n", len(a), len(b))
	}
	x, y := d.splitLines(a), d.splitLines(b)
	var out strings.Builder
	out.WriteString(head)
	d.writeHunks(&out, 0, x, y, d.editScript(x, y))
	return out.String()
}

func (d *differ) question(aName, bName string, a, b []byte) string {
	if d.equal(a, b) {
		return ""
	}
	head := "--- " + aName + "\n+++ " + bName + "\n"
	line, a, b := d.withoutSame(a, b)
	var out strings.Builder
	out.WriteString(head)
	if len(a) > DiffLimit || !d.mostlyText(a) || d.lines(a) > diffLines {
		fmt.Fprintf(&out, "\\ %d bytes of the old content are replaced, and not shown\n", len(a))
		a = nil
	}
	if len(b) > 64<<10 && !d.mostlyText(b) {
		b = d.textOf(b)
	}
	if len(b) > DiffLimit || d.lines(b) > diffLines { // the caller shows or refuses a text of that size, as it does any other
		out.Write(b)
		return out.String()
	}
	x, y := d.splitLines(a), d.splitLines(b)
	d.writeHunks(&out, line, x, y, d.editScript(x, y))
	return out.String()
}

// withoutSame removes the common lines at the beginning and the end of two large texts,
// except three of each. line is the number of lines removed at the beginning.
func (d *differ) withoutSame(a, b []byte) (line int, x, y []byte) {
	if len(a)+len(b) <= DiffLimit && d.lines(a)+d.lines(b) <= diffLines {
		return 0, a, b
	}
	n := d.same(a, b)
	n = bytes.LastIndexByte(a[:n], '\n') + 1
	for range 3 {
		if n > 0 {
			n = bytes.LastIndexByte(a[:n-1], '\n') + 1
		}
	}
	line = d.lines(a[:n])
	a, b = a[n:], b[n:]
	// The end is cut after the third line that is completely equal.
	end := len(a) - d.sameEnd(a, b)
	for range 4 {
		i := bytes.IndexByte(a[end:], '\n')
		if i < 0 {
			return line, a, b
		}
		end += i + 1
	}
	return line, a[:end], b[:len(b)-(len(a)-end)]
}

// mostlyText reports whether at least 70 % of the bytes are characters of a text.
func (d *differ) mostlyText(data []byte) bool {
	n := 0
	for i := 0; i < len(data) && d.spend(1); {
		r, size := utf8.DecodeRune(data[i:])
		if !(r == utf8.RuneError && size == 1) && (r >= ' ' && r != 0x7f || r == '\n' || r == '\t' || r == '\r') {
			n += size
		}
		i += size
	}
	return n*10 >= len(data)*7
}

// textOf returns the parts of binary data that may be text: runs of at least four
// characters, also with a zero byte after each (UTF-16). It replaces the bytes between by
// their number.
func (d *differ) textOf(data []byte) []byte {
	var out []byte
	hidden := 0
	flush := func() {
		if hidden > 0 {
			out = fmt.Appendf(out, "⟨%d bytes that are no text⟩\n", hidden)
			hidden = 0
		}
	}
	for i := 0; i < len(data) && d.spend(1); {
		end, chars := i, 0
		for end < len(data) && d.spend(1) {
			r, size := utf8.DecodeRune(data[end:])
			if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
				break
			}
			end += size
			chars++
			if end < len(data) && data[end] == 0 {
				end++
			}
		}
		if chars < 4 {
			n := max(1, end-i)
			hidden += n
			i += n
			continue
		}
		flush()
		out = append(out, data[i:end]...)
		if out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		i = end
	}
	flush()
	return out
}

// isText reports whether data is valid UTF-8 without NUL.
func (d *differ) isText(data []byte) bool {
	for len(data) > 0 && d.spend(diffPiece/8) {
		end := min(diffPiece, len(data))
		for cut := 0; end < len(data) && cut < utf8.UTFMax && !utf8.RuneStart(data[end]); cut++ {
			end--
		}
		if bytes.IndexByte(data[:end], 0) >= 0 || !utf8.Valid(data[:end]) {
			return false
		}
		data = data[end:]
	}
	return true
}

func (d *differ) splitLines(data []byte) []string {
	var lines []string
	for text := string(data); text != "" && d.spend(1); {
		end := strings.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		lines, text = append(lines, text[:end]), text[end:]
		d.spend(end / 32)
	}
	return lines
}

// numbered returns equal numbers for equal lines, so that a long line is read only once.
func (d *differ) numbered(x, y []string) (a, b []int) {
	numbers := make(map[string]int, len(x))
	number := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			if !d.spend(4 + len(l)/32) {
				break
			}
			n, ok := numbers[l]
			if !ok {
				n = len(numbers)
				numbers[l] = n
			}
			out[i] = n
		}
		return out
	}
	return number(x), number(y)
}

// edit is a run of lines in which x[a0:a1] is replaced by y[b0:b1].
// An Edit replaces the lines from A0 to A1 of the old text by those from B0 to B1 of the new one.
type Edit struct{ A0, A1, B0, B1 int }

// Edits returns the edits from the lines x to the lines y.
func Edits(ctx context.Context, x, y []string) ([]Edit, error) {
	d := &differ{ctx: ctx}
	var out []Edit
	for _, e := range d.editScript(x, y) {
		out = append(out, Edit{e.a0, e.a1, e.b0, e.b1})
	}
	return out, d.err
}

type edit struct{ a0, a1, b0, b1 int }

// editScript returns the differences, by Myers' algorithm up to a limit. Beyond the limit
// the middle is one replacement, which is correct but not minimal.
func (d *differ) editScript(x, y []string) []edit {
	pre := 0
	for pre < len(x) && pre < len(y) && x[pre] == y[pre] && d.spend(1+len(x[pre])/32) {
		pre++
	}
	suf := 0
	for suf < len(x)-pre && suf < len(y)-pre && x[len(x)-1-suf] == y[len(y)-1-suf] && d.spend(1+len(x[len(x)-1-suf])/32) {
		suf++
	}
	x, y = x[pre:len(x)-suf], y[pre:len(y)-suf]
	mid := []edit{{0, len(x), 0, len(y)}}
	if len(x)+len(y) <= diffApart {
		mid = d.myers(d.numbered(x, y))
	}
	for i := range mid {
		mid[i].a0 += pre
		mid[i].a1 += pre
		mid[i].b0 += pre
		mid[i].b1 += pre
	}
	return mid
}

const myersBound = 1000 // edits. The memory of the trace grows with its square

func (d *differ) myers(x, y []int) []edit {
	n, m := len(x), len(y)
	if n == 0 && m == 0 {
		return nil
	}
	if n == 0 || m == 0 {
		return []edit{{0, n, 0, m}}
	}
	limit := min(n+m, myersBound)
	v := make([]int, 2*limit+3)
	var trace [][]int
	mid := limit + 1
	for e := 0; e <= limit && d.spend(e); e++ {
		trace = append(trace, append([]int(nil), v[mid-e-1:mid+e+2]...))
		for k := -e; k <= e; k += 2 {
			var i int
			if k == -e || k != e && v[mid+k-1] < v[mid+k+1] {
				i = v[mid+k+1]
			} else {
				i = v[mid+k-1] + 1
			}
			from := i
			for i < n && i-k < m && x[i] == y[i-k] {
				i++
			}
			if !d.spend((i - from) / 8) {
				break
			}
			if v[mid+k] = i; i >= n && i-k >= m {
				return backtrack(trace, n, m)
			}
		}
	}
	return []edit{{0, n, 0, m}}
}

func backtrack(trace [][]int, i, j int) []edit {
	var out []edit
	add := func(a0, a1, b0, b1 int) {
		if k := len(out) - 1; k >= 0 && out[k].a0 == a1 && out[k].b0 == b1 {
			out[k].a0, out[k].b0 = a0, b0
			return
		}
		out = append(out, edit{a0, a1, b0, b1})
	}
	for d := len(trace) - 1; d > 0; d-- {
		at := func(k int) int { return trace[d][k+d+1] }
		k := i - j
		prev := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			prev = k + 1
		}
		pi := at(prev)
		pj := pi - prev
		for i > pi && j > pj && !(i == pi+1 && j == pj) && !(j == pj+1 && i == pi) {
			i--
			j--
		}
		add(pi, i, pj, j)
		i, j = pi, pj
	}
	for a, b := 0, len(out)-1; a < b; a, b = a+1, b-1 {
		out[a], out[b] = out[b], out[a]
	}
	return out
}

// writeHunks writes the edits. line is the number of equal lines that were cut before x and
// y.
func (d *differ) writeHunks(out *strings.Builder, line int, x, y []string, edits []edit) {
	const around = 3
	for s := 0; s < len(edits) && d.spend(16); {
		e := s + 1
		for e < len(edits) && edits[e].a0-edits[e-1].a1 <= 2*around {
			e++
		}
		first, last := edits[s], edits[e-1]
		a0, a1 := max(0, first.a0-around), min(len(x), last.a1+around)
		b0, b1 := max(0, first.b0-around), min(len(y), last.b1+around)
		fmt.Fprintf(out, "@@ -%s +%s @@\n", span(line+a0, line+a1), span(line+b0, line+b1))
		at := a0
		for _, ed := range edits[s:e] {
			d.writeLines(out, ' ', x[at:ed.a0])
			d.writeLines(out, '-', x[ed.a0:ed.a1])
			d.writeLines(out, '+', y[ed.b0:ed.b1])
			at = ed.a1
		}
		d.writeLines(out, ' ', x[at:a1])
		s = e
	}
}

func span(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func (d *differ) writeLines(out *strings.Builder, mark byte, lines []string) {
	for _, l := range lines {
		if !d.spend(1 + len(l)/32) {
			return
		}
		out.WriteByte(mark)
		out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
