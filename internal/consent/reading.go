package consent

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
)

// The limits of the lines that the user must have seen before an answer that allows counts.
//
// A change is a run of added or removed lines, or a text that is not a diff, such as a script. The
// beginning and the end of each change must have been in view. For requests of high or critical
// risk, such as each third-party tool's, every added line and every line of a script must have been
// in view, because the harmful part can be in the middle. Removed lines are exempt, because they
// can be restored.
//
// A question that fits into the sheet is in view at once, and costs no key press. Beyond these
// limits users would only press the key to go on. So less is required, and the question states
// that.
const (
	MaxChanges = 50  // changes whose beginning and end must be seen
	MaxRead    = 400 // added lines of high risk that must be seen, each counted once more per 100 characters
)

// Settle is the number of looks in a row during which a question must be in view, and the user must
// not press a key or use the pointer, before an answer counts. So a key that was meant for another
// element is no answer. Looks are counted, not time, because a page that was blocked receives the keys
// of that time afterwards.
const Settle = 5

// Soon is the time between two looks until a question can be answered.
const Soon = 100 * time.Millisecond

// Reading records which lines of a question have been in view. Its zero value requires none.
type Reading struct {
	changes int
	items   []item // in the order of their lines
	lines   map[int]*extent
}

// item is a requirement: the part of a line that must be seen.
type item struct {
	line, change int
	part         part
}

type part uint8

const (
	beginning part = iota
	end
	whole
)

// extent is the part of a line that has been in view. A line can be higher than its box.
type extent struct {
	to         float64 // the part seen from the beginning on, without a gap, from 0 to 1
	began, end bool
}

// sheet collects the lines of a question and their requirements.
type sheet struct {
	lines []Line
	need  []bool // the line belongs to a change
	each  []bool // the whole line must be seen
}

// add appends lines. If they are a text and not a diff, all of them are a change.
func (s *sheet) add(lines []Line, text bool, risk protocol.Risk) {
	for _, l := range Fold(lines) {
		change := text || l.Kind == Added || l.Kind == Removed || l.Kind == Skipped
		s.lines = append(s.lines, l)
		s.need = append(s.need, change)
		s.each = append(s.each, change && l.Kind != Removed && rank(risk) >= rank(protocol.RiskHigh))
	}
}

// reading returns the Reading. If the lines exceed a limit, it also returns the text that states
// the reduced requirement.
func (s *sheet) reading() (r Reading, words string) {
	type run struct{ from, to int }
	var runs []run
	long := 0
	for i, yes := range s.need {
		switch {
		case !yes:
			continue
		case i > 0 && s.need[i-1]:
			runs[len(runs)-1].to = i
		default:
			runs = append(runs, run{i, i})
		}
		if s.each[i] {
			long += 1 + utf8.RuneCountInString(s.lines[i].Text)/100
		}
	}
	if len(runs) > MaxChanges {
		words = "more than " + Count(MaxChanges, "change") + ": only the first one and the end have to be seen"
		runs = []run{{runs[0].from, runs[0].from}, {len(s.need) - 1, len(s.need) - 1}}
	} else if long > MaxRead {
		words = "more than " + Count(MaxRead, "line") + ": only the beginning and the end of each change have to be seen"
	}
	r = Reading{changes: len(runs), lines: map[int]*extent{}}
	for n, c := range runs {
		r.items = append(r.items, item{c.from, n, beginning})
		if words == "" {
			for i := c.from; i <= c.to; i++ {
				if s.each[i] {
					r.items = append(r.items, item{i, n, whole})
				}
			}
		}
		r.items = append(r.items, item{c.to, n, end})
	}
	return r, words
}

// All returns a Reading that requires all of n lines, each as a change of its own.
func All(n int) Reading {
	r := Reading{changes: n, lines: map[int]*extent{}}
	for i := range n {
		r.items = append(r.items, item{i, i, whole})
	}
	return r
}

// See records that a line is in view between two heights, each from 0 (its top) to 1 (its bottom).
// A line without a requirement is ignored.
func (r *Reading) See(line int, from, to float64) {
	const gap = .001
	i, _ := slices.BinarySearchFunc(r.items, line, func(it item, line int) int { return it.line - line })
	if i == len(r.items) || r.items[i].line != line {
		return
	}
	e := r.lines[line]
	if e == nil {
		e = &extent{}
		r.lines[line] = e
	}
	e.began = e.began || from <= gap
	e.end = e.end || to >= 1-gap
	if from <= e.to+gap {
		e.to = max(e.to, to)
	}
}

func (r *Reading) seen(it item) bool {
	e := r.lines[it.line]
	switch {
	case e == nil:
		return false
	case it.part == beginning:
		return e.began
	case it.part == end:
		return e.end
	}
	return e.to >= .999
}

// Left returns the number of changes that have not been seen as required, and the number of all
// changes.
func (r *Reading) Left() (left, of int) {
	last := -1
	for _, it := range r.items {
		if it.change != last && !r.seen(it) {
			left++
			last = it.change
		}
	}
	return left, r.changes
}

// Next returns the next line to show, and the height of it, from 0 to 1, that belongs at the top of
// the box. For the height 1 it belongs at the bottom. It returns -1 if nothing is left.
func (r *Reading) Next() (line int, at float64) {
	for _, it := range r.items {
		if r.seen(it) {
			continue
		}
		switch e := r.lines[it.line]; {
		case it.part == end:
			return it.line, 1
		case it.part == whole && e != nil:
			return it.line, e.to
		}
		return it.line, 0
	}
	return -1, 0
}

// Least is the height in pixels of a line that must be in view before it counts: half a line of
// text.
const Least = 8

// Scroll returns the number of pixels by which to scroll a box to the result of [Reading.Next]. The
// line lies from top to bottom, and the box from boxTop to boxBottom. A line that fits is shown
// whole. Of a higher line, the last half line that has been in view is shown again, so that the
// rest counts.
func Scroll(at, top, bottom, boxTop, boxBottom float64) float64 {
	const edge = 2
	switch height := bottom - top; {
	case at == 1:
		return bottom - boxBottom + edge
	case at > 0 && height > boxBottom-boxTop-2*edge:
		return top + at*height - boxTop - edge - Least
	}
	return top - boxTop - edge
}
