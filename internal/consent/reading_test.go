package consent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// through sees a question's lines as a user who presses the key "next" does, in a box with a number of lines. It
// returns the number of presses.
func through(q *Question, box int) (keys int) {
	look := func(top float64) {
		for i := range q.Lines {
			from, to := max(top-float64(i), 0), min(top+float64(box)-float64(i), 1)
			if to > from {
				q.Reading.See(i, from, to)
			}
		}
	}
	look(0)
	for {
		line, at := q.Reading.Next()
		if line < 0 || keys > 10_000 {
			return keys
		}
		keys++
		if at == 1 {
			look(max(float64(line+1-box), 0))
		} else {
			look(min(float64(line)+at, max(float64(len(q.Lines)-box), 0)))
		}
	}
}

func lines(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, text+"\n", i)
	}
	return b.String()
}

// edited returns a file with a number of parts, before and after a change of one line in each.
func edited(parts int) (was, now []byte) {
	for i := range parts {
		part := lines(20, "part "+fmt.Sprint(i)+" line %d")
		was = append(was, part...)
		now = append(now, strings.Replace(part, "line 9", "changed", 1)...)
	}
	return was, now
}

// The number of lines to see, and of presses in a box of 12 lines.
func TestReading(t *testing.T) {
	request := func(risk protocol.Risk, was, now []byte) sandbox.Request {
		return sandbox.Request{Tool: "write", Unified: true, Title: "write x", Risk: risk, Diff: unified(t, "a/x", "b/x", was, now)}
	}
	many := func(n int) []sandbox.Request {
		var list []sandbox.Request
		for i := range n {
			list = append(list, request(protocol.RiskLow, nil, []byte(lines(3, fmt.Sprint(i)+" %d"))))
		}
		return list
	}
	script := func(n int, risk protocol.Risk) sandbox.Request {
		return sandbox.Request{Tool: "bash", Title: "bash", Risk: risk, Diff: lines(n, "echo %d"), Args: map[string]any{"command": lines(n, "echo %d")}}
	}
	was3, now3 := edited(3)
	was50, now50 := edited(50)
	was51, now51 := edited(51)
	for _, c := range []struct {
		name    string
		ask     []sandbox.Request
		changes int
		keys    int
		words   string
	}{
		{"nothing to read", []sandbox.Request{{Tool: "mkdir", Title: "make x"}}, 0, 0, ""},
		{"a small edit", []sandbox.Request{request(protocol.RiskMedium, []byte("a\nb\n"), []byte("a\nc\n"))}, 1, 0, ""},
		{"a small script", []sandbox.Request{script(12, protocol.RiskHigh)}, 1, 0, ""},
		{"a long new file", []sandbox.Request{request(protocol.RiskLow, nil, []byte(lines(400, "%d")))}, 1, 1, ""},
		{"a long file that goes", []sandbox.Request{request(protocol.RiskHigh, []byte(lines(400, "%d")), nil)}, 1, 1, ""},
		{"a long script", []sandbox.Request{script(120, protocol.RiskHigh)}, 1, 9, ""},
		{"a long script of low risk", []sandbox.Request{script(120, protocol.RiskLow)}, 1, 1, ""},
		{"a long new file of high risk", []sandbox.Request{request(protocol.RiskHigh, nil, []byte(lines(100, "%d")))}, 1, 8, ""},
		{"three parts of a file", []sandbox.Request{request(protocol.RiskMedium, was3, now3)}, 3, 2, ""},
		{"ten new files", many(10), 10, 4, ""},
		{"at the limit of lines", []sandbox.Request{script(400, protocol.RiskHigh)}, 1, 33, ""},
		{"above it", []sandbox.Request{script(401, protocol.RiskHigh)}, 1, 1, "more than 400 lines: only the beginning and the end of each change have to be seen"},
		{"long lines count for more", []sandbox.Request{{Tool: "bash", Title: "bash", Risk: protocol.RiskHigh, Diff: lines(4, strings.Repeat("ab", 5000)+"%d")}}, 1, 0, "more than 400 lines: only the beginning and the end of each change have to be seen"},
		{"at the limit of changes", []sandbox.Request{request(protocol.RiskMedium, was50, now50)}, 50, 33, ""},
		{"above it", []sandbox.Request{request(protocol.RiskMedium, was51, now51)}, 2, 1, "more than 50 changes: only the first one and the end have to be seen"},
	} {
		q := Of(sandbox.Prompt{Requests: c.ask})
		if _, of := q.Reading.Left(); of != c.changes {
			t.Errorf("%s: %d changes, want %d", c.name, of, c.changes)
		}
		if n := through(&q, 12); n > c.keys || c.keys > 0 && n == 0 {
			t.Errorf("%s: %d keys, want %d", c.name, n, c.keys)
		}
		if left, _ := q.Reading.Left(); left > 0 {
			t.Errorf("%s: %d changes are left at the end", c.name, left)
		}
		if !strings.HasSuffix(q.Counts, c.words) || c.words == "" && strings.Contains(q.Counts, "more than") {
			t.Errorf("%s: it says %q, want %q", c.name, q.Counts, c.words)
		}
	}
}

// TestAttackUnseenInTheMiddle hides the harmful line in the middle of a change. The control requires only the first
// changed line.
func TestAttackUnseenInTheMiddle(t *testing.T) {
	table := attack.Start(t, "view")
	was, now := edited(9)
	for name, r := range map[string]sandbox.Request{
		"in the fifth of nine changes": {Tool: "edit", Unified: true, Title: "edit x", Risk: protocol.RiskMedium, Diff: unified(t, "a/x", "b/x", was, now)},
		"in the middle of a script":    {Tool: "bash", Title: "bash", Risk: protocol.RiskHigh, Diff: lines(90, "echo %d")},
		"in the middle of a new file":  {Tool: "write", Unified: true, Title: "write .bashrc", Risk: protocol.RiskCritical, Diff: unified(t, "/dev/null", "b/.bashrc", nil, []byte(lines(90, "x %d")))},
		"in a long line's middle":      {Tool: "bash", Title: "bash", Risk: protocol.RiskHigh, Diff: strings.Repeat("echo ok; ", 2000)},
		"at the end of a text":         {Tool: "mcp_x", Title: "x", Risk: protocol.RiskCritical, Untrusted: true, Args: map[string]any{"text": lines(60, "%d")}},
	} {
		q := one(r)
		first := slices.IndexFunc(q.Lines, func(l Line) bool { return l.Kind == Added || l.Kind == Removed || l.Kind == Skipped })
		seen := first < 0
		see := func(line int, from, to float64) {
			q.Reading.See(line, from, to)
			seen = seen || line == first
		}
		for i := range q.Lines {
			switch {
			case name == "in a long line's middle":
				see(i, 0, .1)
				see(i, .9, 1)
			case i < 12, i >= len(q.Lines)-12 && name != "at the end of a text": // the beginning, and then the key End
				see(i, 0, 1)
			}
		}
		left, _ := q.Reading.Left()
		table.Try(name, left == 0)
		table.Off(name, seen)
		through(&q, 12)
		if left, _ := q.Reading.Left(); left > 0 {
			t.Errorf("%s: it can't be allowed after all of it was seen", name)
		}
	}
}

// A line that is higher than its box is seen once all of it was, without a gap.
func TestReadingOfATallLine(t *testing.T) {
	q := one(sandbox.Request{Tool: "bash", Title: "bash", Risk: protocol.RiskHigh, Diff: strings.Repeat("x y ", 2000)})
	for _, step := range []struct{ from, to, next float64 }{{.2, .4, 0}, {0, .25, .25}, {.3, .5, .25}, {.25, .6, .6}, {.7, 1, .6}} {
		q.Reading.See(0, step.from, step.to)
		if line, at := q.Reading.Next(); line != 0 || at != step.next {
			t.Errorf("after %v to %v: line %d at %v, want %v", step.from, step.to, line, at, step.next)
		}
	}
	q.Reading.See(0, .6, 1)
	if line, _ := q.Reading.Next(); line != -1 {
		t.Errorf("line %d is left", line)
	}
	q.Reading.See(99, 0, 1) // no such line
	var none Reading
	none.See(0, 0, 1)
	if left, of := none.Left(); left+of != 0 {
		t.Error("nothing asks for something")
	}
}

// In a box of any height in pixels, the key leads to the end, also if the visible part of a line is too small to
// count.
func TestKeyLeadsToTheEnd(t *testing.T) {
	text := lines(60, "echo %d")
	for _, height := range []float64{19, 22.15, 600} { // of a line
		for box := 24.0; box < 420; box += 7.3 {
			q := Of(sandbox.Prompt{Requests: []sandbox.Request{{Tool: "bash", Title: "bash", Risk: protocol.RiskHigh, Diff: text, Args: map[string]any{"command": text}}}})
			top := 0.0
			look := func() {
				for i := range q.Lines {
					from, to := float64(i)*height-top, float64(i+1)*height-top
					low, high := max(from, 0), min(to, box)
					if high-low >= Least {
						q.Reading.See(i, (low-from)/height, (high-from)/height)
					}
				}
			}
			look()
			keys := 0
			for line, at := q.Reading.Next(); line >= 0; line, at = q.Reading.Next() {
				if keys++; keys > 10_000 {
					t.Fatalf("lines of %v in a box of %v: no end at line %d, %v", height, box, line, at)
				}
				top += Scroll(at, float64(line)*height-top, float64(line+1)*height-top, 0, box)
				top = min(max(top, 0), max(float64(len(q.Lines))*height-box, 0))
				look()
			}
		}
	}
}

// Each of the lines of All has to be seen whole, in any order.
func TestAll(t *testing.T) {
	r := All(3)
	for _, step := range []struct {
		line       int
		from, to   float64
		left, next int
		at         float64
		note       string
	}{
		{1, .5, 1, 3, 0, 0, "the end of a line is not all of it"},
		{0, 0, 1, 2, 1, 0, "a whole line"},
		{1, 0, .4, 2, 1, .4, "the beginning of a line is not all of it"},
		{2, 0, 1, 1, 1, .4, "a later line"},
		{1, .4, 1, 0, -1, 0, "the rest"},
	} {
		r.See(step.line, step.from, step.to)
		left, of := r.Left()
		if line, at := r.Next(); left != step.left || of != 3 || line != step.next || at != step.at {
			t.Errorf("%s: %d of %d are left, the next is %d at %v; want %d, %d, %v", step.note, left, of, line, at, step.left, step.next, step.at)
		}
	}
	none := All(0)
	if left, of := none.Left(); left+of != 0 {
		t.Error("nothing asks for something")
	}
}
