package protocol

import mathbits "math/bits"

// glob reports whether tokens match all of s or, with subtree, some leading folders of s. It
// follows all ways through the tokens at once, so that no pattern is slow.
func glob(tokens []token, s string, subtree bool) bool {
	ok, _ := simulate(tokens, s, subtree, false)
	return ok
}

// prefix reports whether tokens could match some text that begins with s.
func prefix(tokens []token, s string) bool {
	_, alive := simulate(tokens, s, false, false)
	return alive
}

// simulate runs tokens over s and reports whether they match, and whether they could match if s
// went on. With gaps, s is a result of longNames. The work is at most one machine word of 64 tokens
// for each character, plus one test of each token for each different character and each gap.
func simulate(tokens []token, s string, subtree, gaps bool) (match, alive bool) {
	var few [6]uint64
	m := newMachine(tokens, gaps, few[:])
	m.now.add(0)
	m.enter()
	end := len(tokens)
	for _, r := range s {
		if gaps && r <= anyDots {
			m.gap(r)
			continue
		}
		if subtree && r == '/' && m.now.has(end) {
			return true, true
		}
		if !m.step(r) {
			return false, false
		}
	}
	return m.now.has(end), true
}

// bits is a set of positions in a pattern.
type bits []uint64

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) add(i int)      { b[i/64] |= 1 << (i % 64) }

// machine reads a path and follows all ways through a pattern at once. If position i is in now,
// tokens[i:] are still to be read. If position i is in inside, a **/ has read the start of a
// folder's name and needs its slash.
type machine struct {
	tokens          []token
	gaps            bool
	now, inside     bits
	star, any, dirs bits // the positions of tokens of these kinds
	one             bits // the tokens that accept the current character, of those that read one
	known           map[rune]bits
}

// newMachine returns a machine. It uses few for the sets if few is long enough.
func newMachine(tokens []token, gaps bool, few []uint64) machine {
	words := len(tokens)/64 + 1
	if len(few) < 6*words {
		few = make([]uint64, 6*words)
	}
	next := func() bits { b := few[:words:words]; few = few[words:]; return b }
	m := machine{tokens: tokens, gaps: gaps, now: next(), inside: next(), star: next(), any: next(), dirs: next(), one: next()}
	for i, t := range tokens {
		switch t.kind {
		case tokStar:
			m.star.add(i)
		case tokAny:
			m.any.add(i)
		case tokDirs:
			m.dirs.add(i)
		}
	}
	return m
}

// takes returns the tokens that accept the character r. For a pattern of one word it tests only the
// tokens at the machine's positions. For a longer pattern it stores the result for the next r.
func (m *machine) takes(r rune) bits {
	if len(m.now) == 1 {
		m.one[0] = 0
		for left := m.now[0]; left != 0; left &= left - 1 {
			if i := mathbits.TrailingZeros64(left); i < len(m.tokens) && m.takesAt(i, r) {
				m.one.add(i)
			}
		}
		return m.one
	}
	b, ok := m.known[r]
	if !ok {
		b = make(bits, len(m.now))
		for i := range m.tokens {
			if m.takesAt(i, r) {
				b.add(i)
			}
		}
		if m.known == nil {
			m.known = make(map[rune]bits)
		}
		if len(m.known) < 256 {
			m.known[r] = b
		}
	}
	return b
}

func (m *machine) takesAt(i int, r rune) bool {
	switch t := m.tokens[i]; t.kind {
	case tokStar, tokAny, tokDirs:
		return false
	default:
		return t.one(r) || m.gaps && r <= anyDots && (t.kind != tokRune || unknown(r, t.r))
	}
}

// enter makes the moves that read no character: over a *, a ** or a **/. Two of them may follow
// each other.
func (m *machine) enter() {
	for more := true; more; {
		more = false
		var carry uint64
		for w := range m.now {
			over := m.now[w] & (m.star[w] | m.any[w] | m.dirs[w])
			moved := over<<1 | carry
			carry = over >> 63
			more = more || moved&^m.now[w] != 0
			m.now[w] |= moved
		}
	}
}

// step reads a character and reports whether anything can still match.
func (m *machine) step(r rune) (alive bool) {
	one := m.takes(r)
	var carry, left uint64
	for w := range m.now {
		now, dirs := m.now[w], (m.now[w]|m.inside[w])&m.dirs[w]
		read := now & one[w]
		next := read<<1 | carry | now&m.any[w]
		carry = read >> 63
		if r == '/' {
			next, dirs = next|dirs, 0
		} else {
			next |= now & m.star[w]
		}
		m.now[w], m.inside[w] = next, dirs
		left |= next | dirs
	}
	m.enter()
	return left != 0
}

// gap reads any number of unknown characters. A token leads only to itself or to the next one, so
// one pass finds all positions.
func (m *machine) gap(r rune) {
	for i := range m.tokens {
		if !m.now.has(i) {
			continue
		}
		switch m.tokens[i].kind {
		case tokDirs:
			m.inside.add(i)
			m.now.add(i + 1)
		case tokStar, tokAny:
			m.now.add(i + 1)
		default:
			if m.takesAt(i, r) {
				m.now.add(i + 1)
			}
		}
	}
}
