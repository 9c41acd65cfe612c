package posix

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// maxStates is the most states of a dfa. A pattern that needs more is left to Go's engine.
const maxStates = 1_000

// dfa decides whether a line has a match, with one look at a table for each character. Go's engine follows all ways through the pattern
// for each character. A state is the set of the instructions that may be next. States are made when a line first leads to them.
type dfa struct {
	prog   *syntax.Prog
	states map[string]*dfaState
	begin  *dfaState
	whole  bool // it matches at the beginning of a line only
	seen   []bool
	stack  []uint32
}

type dfaState struct {
	insts []uint32 // instructions that read a character, or that need the end of the line
	match bool     // there is a match
	next  [utf8.RuneSelf]*dfaState
	more  map[rune]*dfaState // for characters that are not of ASCII
}

// newDFA returns nil for a pattern with conditions inside of a line, such as \b.
func newDFA(prog *syntax.Prog) *dfa {
	const edges = syntax.EmptyBeginText | syntax.EmptyEndText
	for i := range prog.Inst {
		if in := &prog.Inst[i]; in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&^edges != 0 {
			return nil
		}
	}
	d := &dfa{prog: prog, states: map[string]*dfaState{}, whole: prog.StartCond()&syntax.EmptyBeginText != 0, seen: make([]bool, len(prog.Inst))}
	d.begin = d.state(func(add func(pc uint32)) { add(uint32(prog.Start)) }, syntax.EmptyBeginText)
	return d
}

// state returns the state with the instructions that from adds, and those that follow without reading. It is nil if there are too many.
func (d *dfa) state(from func(add func(pc uint32)), at syntax.EmptyOp) *dfaState {
	s := &dfaState{}
	clear(d.seen)
	from(func(pc uint32) {
		d.follow(pc, at, func(pc uint32, in *syntax.Inst) {
			switch {
			case in.Op == syntax.InstMatch:
				s.match = true
			case in.Op != syntax.InstEmptyWidth || syntax.EmptyOp(in.Arg)&syntax.EmptyEndText != 0:
				s.insts = append(s.insts, pc)
			}
		})
	})
	slices.Sort(s.insts)
	key := make([]byte, 0, 3*len(s.insts)+1)
	if s.match {
		key = append(key, 1)
	}
	for _, pc := range s.insts {
		key = append(key, byte(pc>>16), byte(pc>>8), byte(pc))
	}
	if old := d.states[string(key)]; old != nil {
		return old
	}
	if len(d.states) >= maxStates {
		return nil
	}
	d.states[string(key)] = s
	return s
}

// step returns the state after a character, or nil if there are too many states.
func (d *dfa) step(s *dfaState, r rune) *dfaState {
	return d.state(func(add func(pc uint32)) {
		for _, pc := range s.insts {
			if in := &d.prog.Inst[pc]; in.Op != syntax.InstEmptyWidth && in.MatchRune(r) {
				add(in.Out)
			}
		}
		if !d.whole {
			add(uint32(d.prog.Start))
		}
	}, 0)
}

// ends reports whether there is a match if the line ends in a state. empty is for a line without characters.
func (d *dfa) ends(s *dfaState, empty bool) bool {
	if s.match {
		return true
	}
	at := syntax.EmptyEndText
	if empty {
		at |= syntax.EmptyBeginText
	}
	for _, pc := range s.insts {
		if in := &d.prog.Inst[pc]; in.Op == syntax.InstEmptyWidth && d.reaches(in, at) {
			return true
		}
	}
	return false
}

// reaches reports whether an instruction leads to a match without reading.
func (d *dfa) reaches(in *syntax.Inst, at syntax.EmptyOp) (found bool) {
	if syntax.EmptyOp(in.Arg)&^at != 0 {
		return false
	}
	clear(d.seen)
	d.follow(in.Out, at, func(_ uint32, in *syntax.Inst) { found = found || in.Op == syntax.InstMatch })
	return found
}

// follow calls found for each instruction that another one leads to without reading: those that read a character, those that wait for a condition
// which at has not, and the match. Instructions of d.seen are left out.
func (d *dfa) follow(pc uint32, at syntax.EmptyOp, found func(pc uint32, in *syntax.Inst)) {
	d.stack = append(d.stack[:0], pc)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.seen[pc] {
			continue
		}
		d.seen[pc] = true
		switch in := &d.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			d.stack = append(d.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			d.stack = append(d.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^at == 0 {
				d.stack = append(d.stack, in.Out)
			} else {
				found(pc, in)
			}
		case syntax.InstFail:
		default:
			found(pc, in)
		}
	}
}

// match reports whether a line has a match. ok is false if the pattern has too many states. re counts the work.
func (d *dfa) match(line []byte, re *Regexp) (found, ok bool) {
	s := d.begin
	for i := 0; i < len(line); {
		if s.match {
			return true, true
		}
		c := line[i]
		if c < utf8.RuneSelf {
			next := s.next[c]
			if next == nil {
				re.spend(8 * len(d.prog.Inst))
				if next = d.step(s, rune(c)); next == nil {
					return false, false
				}
				s.next[c] = next
			}
			s = next
			i++
		} else {
			r, n := utf8.DecodeRune(line[i:])
			next := s.more[r]
			if next == nil {
				if next = d.add(s, r, re); next == nil {
					return false, false
				}
			}
			s = next
			i += n
		}
		if i&(1<<14-1) == 0 {
			re.spend(1 << 14)
		}
	}
	return d.ends(s, len(line) == 0), true
}

// line returns the beginning and the end of the first line of a text that has a match, or -1. Lines end in a line break, and the last one
// at the end of the text. ok is false if the pattern has too many states.
func (d *dfa) line(text []byte, re *Regexp) (from, to int, ok bool) {
	s, work := d.begin, 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case s.match || c == '\n' && d.ends(s, i == from):
			if end := bytes.IndexByte(text[i:], '\n'); end >= 0 {
				return from, i + end, true
			}
			return from, len(text), true
		case c == '\n':
			s = d.begin
			i++
			from = i
			if i-work > 1<<14 {
				re.spend(i - work)
				work = i
			}
		case c < utf8.RuneSelf:
			next := s.next[c]
			if next == nil {
				re.spend(8 * len(d.prog.Inst))
				if next = d.step(s, rune(c)); next == nil {
					return 0, 0, false
				}
				s.next[c] = next
			}
			s = next
			i++
		default:
			r, n := utf8.DecodeRune(text[i:])
			next := s.more[r]
			if next == nil {
				if next = d.add(s, r, re); next == nil {
					return 0, 0, false
				}
			}
			s = next
			i += n
		}
	}
	if from < len(text) && d.ends(s, false) {
		return from, len(text), true
	}
	return -1, -1, true
}

// add makes the state after a character that is not of ASCII.
func (d *dfa) add(s *dfaState, r rune, re *Regexp) *dfaState {
	re.spend(8 * len(d.prog.Inst))
	next := d.step(s, r)
	if next != nil && len(s.more) < 256 {
		if s.more == nil {
			s.more = map[rune]*dfaState{}
		}
		s.more[r] = next
	}
	return next
}

// Line returns the beginning and the end of the first line of a text that has a match, or -1. ok is false if the pattern can't be searched for
// in more than a line at once.
func (re *Regexp) Line(text []byte) (from, to int, ok bool) {
	if re.dfa == nil {
		return 0, 0, false
	}
	if from, to, ok = re.dfa.line(text, re); !ok {
		re.dfa = nil
	}
	return from, to, ok
}
