package consent

import (
	"slices"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
)

// What a person has to have seen of a question's lines before an answer that allows counts.
//
// A change is a run of lines that are added or removed, or a text that is no difference, such
// as a script. Of each change the beginning and the end have to have been in view. Where the
// risk is high, and so with each tool of a stranger's, it is each line that is added and each
// of a script: what harms can stand in the middle. Removed lines are no more than their change,
// as they can be put back.
//
// What fits into the sheet is in view at once, and costs nobody a key. Beyond these limits
// people only press the key to go on, so that less is asked for, and the question says so.
const (
	MaxChanges = 50  // changes that have to be seen one by one
	MaxRead    = 400 // lines of 100 characters that have to be seen one by one
)

// Reading follows which lines of a question have been in view. Its zero value asks for none.
type Reading struct {
	changes int
	items   []item // by their lines
	lines   map[int]*extent
}

// item is what has to be seen of a line.
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

// extent is what has been in view of a line, which may be higher than its box.
type extent struct {
	to         float64 // from its beginning on, without a gap
	began, end bool
}

// sheet gathers the lines of a question and what has to be seen of them.
type sheet struct {
	lines []Line
	need  []bool // it belongs to a change
	each  []bool // it has to be seen by itself
}

// add puts lines to the others. A text is no difference: all of it counts.
func (s *sheet) add(lines []Line, text bool, risk protocol.Risk) {
	for _, l := range Fold(lines) {
		change := text || l.Kind == Added || l.Kind == Removed || l.Kind == Skipped
		s.lines = append(s.lines, l)
		s.need = append(s.need, change)
		s.each = append(s.each, change && l.Kind != Removed && rank(risk) >= rank(protocol.RiskHigh))
	}
}

// reading makes the Reading, and says in words what is too much to be seen line by line.
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

// See notes that a line is in view from one place to another, as parts of its height.
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

// Left returns how many changes have not been seen as they have to be, and how many there are.
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

// Next returns where to go on: a line, and the part of its height that should come to the top
// of the box, or to its bottom if it is 1. It returns -1 if nothing is left.
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

// Least is how many pixels of a line have to be in view before it counts: half a line of text.
const Least = 8

// Scroll returns by how many pixels a box has to be scrolled for what [Reading.Next] returned.
// The line and the box are from top to bottom. What has been in view of the line is shown again
// by so much that what is left of it counts: all of a line that fits, and half a line of another.
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
