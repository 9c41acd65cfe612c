package protocol

import mathbits "math/bits"

// glob reports whether tokens match all of s or, with subtree, a leading run of
// its folders. It walks all ways at once, so that no pattern is slow.
func glob(tokens []token, s string, subtree bool) bool {
	ok, _ := simulate(tokens, s, subtree, false)
	return ok
}

// prefix reports whether tokens could match something that begins with s.
func prefix(tokens []token, s string) bool {
	_, alive := simulate(tokens, s, false, false)
	return alive
}

// simulate runs tokens over s. With gaps, s is what longNames returned. The work is at most
// a machine word of 64 tokens for each character, and a look at each token for each different
// character and each gap.
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

// bits is a set of places in a pattern.
type bits []uint64

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) add(i int)      { b[i/64] |= 1 << (i % 64) }

// machine is a pattern that is read along a path, in all ways at once. Place i of now:
// tokens[i:] are still to be read. Place i of inside: a **/ has begun a folder's name and waits
// for its slash.
type machine struct {
	tokens          []token
	gaps            bool
	now, inside     bits
	star, any, dirs bits // where these kinds of tokens are
	one             bits // the tokens that take the character, of those that read one
	known           map[rune]bits
}

// newMachine makes a machine, in the words of few if they are enough.
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

// takes are the tokens that read the character r. Of a short pattern only those where the
// machine is are looked at; of a long one they are kept for the next r.
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

// enter makes the moves that read nothing: over a *, a ** or a **/, of which two may stand
// behind each other.
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

// step reads a character, and reports whether anything can still match.
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

// gap reads any number of characters that are not known. As a token leads to itself or to the
// next one, one way through them finds all places.
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
