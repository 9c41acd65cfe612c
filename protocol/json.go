package protocol

import (
	"strconv"
	"strings"
)

// JSONLimits are the limits of [ParseJSON] and of the other functions of this package that read or
// write JSON. A field that is zero or less has its default. No limit can be switched off.
type JSONLimits struct {
	Bytes int // of the whole text, by default 1 MiB
	Depth int // nesting of arrays and objects, by default 64 and at most 256
	Nodes int // values, members and elements together, by default 200,000

	// Rest, if set, is called after each 256 values, members and elements, and after each 64 KiB of
	// a string or of white space. It can yield to the page. If it returns an error, [ParseJSON]
	// stops and returns that error.
	Rest func() error
}

const (
	defaultJSONBytes = 1 << 20
	defaultJSONDepth = 64
	maxJSONDepth     = 256 // far below 15,000 frames, where a recursion in wasm dies
	defaultJSONNodes = 200_000
)

func (l JSONLimits) filled() JSONLimits {
	if l.Bytes <= 0 {
		l.Bytes = defaultJSONBytes
	}
	if l.Depth <= 0 {
		l.Depth = defaultJSONDepth
	}
	l.Depth = min(l.Depth, maxJSONDepth)
	if l.Nodes <= 0 {
		l.Nodes = defaultJSONNodes
	}
	return l
}

// ParseJSON returns the value of one JSON text, made of nil, bool, float64, string, []any and
// map[string]any. It is stricter than most parsers, so that no two parsers can disagree about a
// text. These are errors: a key that occurs twice in an object, a lone surrogate, text that is not
// UTF-8, a number too large for a float64, the keys __proto__, constructor and prototype, and text
// after the value. They are [ErrInvalidParams], or [ErrSecurityViolation] for the keys. Text over
// the limits is [ErrResourceLimit]. The text of an error contains the path.
func ParseJSON(text string, limits JSONLimits) (any, error) { return parseJSON(text, limits, false) }

func parseJSON(text string, limits JSONLimits, tagged bool) (any, error) {
	l := limits.filled()
	if len(text) > l.Bytes {
		return nil, Errorf(ErrResourceLimit, "decode", "", "the text has %d bytes; the limit is %d", len(text), l.Bytes)
	}
	p := parser{s: text, nodes: l.Nodes, tagged: tagged, rest: l.Rest, look: len(text) + 1}
	if p.rest != nil {
		p.look = restBytes
	}
	p.space()
	v, err := p.value(l.Depth)
	if err == nil {
		if p.space(); p.i < len(p.s) {
			err = p.bad("there is something behind the value")
		}
	}
	switch {
	case p.ended != nil:
		return nil, p.ended
	case err != nil:
		return nil, err
	}
	return v, nil
}

type parser struct {
	s      string
	i      int
	nodes  int
	tagged bool // objects with the key "$" are values without a form in JSON

	rest  func() error // nil to parse without a rest
	look  int          // the position in a string or in white space of the next rest
	ended error        // the error of rest
}

const (
	restNodes = 256
	restBytes = 64 << 10
)

// node counts a value, a member or an element. It calls rest after many of them.
func (p *parser) node() *jsonError {
	if p.nodes--; p.nodes < 0 {
		return p.over("there are more values than the limit allows")
	}
	if p.nodes%restNodes == 0 {
		return p.turn(p.i)
	}
	return nil
}

// turn calls rest at a position in the text.
func (p *parser) turn(at int) *jsonError {
	if p.rest == nil {
		return nil
	}
	p.look = at + restBytes
	if p.ended = p.rest(); p.ended != nil {
		return p.bad("the reading was ended")
	}
	return nil
}

// jsonError is an error whose path grows while it is returned through the levels of nesting.
type jsonError struct {
	code Code
	path string
	at   int
	text string
}

func (e *jsonError) Error() string {
	where := "the value"
	if e.path != "" {
		where = "$" + e.path
	}
	return e.text + " (at " + where + ", byte " + strconv.Itoa(e.at) + ")"
}

func (e *jsonError) Is(target error) bool { return target == e.code || e.code.Is(target) }

func (e *jsonError) Unwrap() error { return e.code }

func (e *jsonError) within(elem string) *jsonError {
	if len(e.path) < 400 {
		e.path = elem + e.path
	}
	return e
}

func member(key string) string {
	if len(key) > 60 {
		key = key[:60]
	}
	for i := 0; i < len(key); i++ {
		if c := key[i]; c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return "[" + quote(key) + "]"
		}
	}
	return "." + key
}

func element(i int) string { return "[" + strconv.Itoa(i) + "]" }

func (p *parser) bad(text string) *jsonError {
	return &jsonError{code: ErrInvalidParams, at: p.i, text: text}
}

func (p *parser) over(text string) *jsonError {
	return &jsonError{code: ErrResourceLimit, at: p.i, text: text}
}

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			if p.i++; p.i >= p.look && p.turn(p.i) != nil {
				p.i = len(p.s) // no more text is read there
			}
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (any, *jsonError) {
	if err := p.node(); err != nil {
		return nil, err
	}
	if p.i >= len(p.s) {
		return nil, p.bad("the text ends where a value should be")
	}
	switch c := p.s[p.i]; {
	case c == '{':
		if depth == 0 {
			return nil, p.over("it is nested deeper than the limit allows")
		}
		return p.object(depth - 1)
	case c == '[':
		if depth == 0 {
			return nil, p.over("it is nested deeper than the limit allows")
		}
		return p.array(depth - 1)
	case c == '"':
		return p.str()
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	}
	switch p.s[p.i] {
	case 'n':
		return nil, p.word("null")
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	}
	return nil, p.bad("this is not JSON")
}

func (p *parser) word(w string) *jsonError {
	if !strings.HasPrefix(p.s[p.i:], w) {
		return p.bad("this is not JSON")
	}
	p.i += len(w)
	return nil
}

func (p *parser) array(depth int) (any, *jsonError) {
	p.i++
	out := []any{}
	if p.space(); p.i < len(p.s) && p.s[p.i] == ']' {
		p.i++
		return out, nil
	}
	for {
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return nil, err.within(element(len(out)))
		}
		out = append(out, v)
		more, err := p.next(']')
		if err != nil || !more {
			return out, err
		}
	}
}

func (p *parser) object(depth int) (any, *jsonError) {
	start := p.i
	p.i++
	out, special := map[string]any{}, false
	if p.space(); p.i < len(p.s) && p.s[p.i] == '}' {
		p.i++
		return out, nil
	}
	for {
		p.space()
		if p.i >= len(p.s) || p.s[p.i] != '"' {
			return nil, p.bad("a key should be here, in double quotes")
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if reservedKey(key) {
			return nil, &jsonError{code: ErrSecurityViolation, at: p.i, text: "the key " + key + " is refused; use a Map for keys that somebody else chooses"}
		}
		special = special || key == tagKey
		if err := p.node(); err != nil {
			return nil, err
		}
		if p.space(); p.i >= len(p.s) || p.s[p.i] != ':' {
			return nil, p.bad("a colon should be here")
		}
		p.i++
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return nil, err.within(member(key))
		}
		// One access to the map instead of three. The map is most of the time for a large text.
		n := len(out)
		if out[key] = v; len(out) == n {
			return nil, p.bad("the key " + quote(key) + " is there twice")
		}
		more, err := p.next('}')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if special && p.tagged {
		v, problem := untag(out)
		if problem != "" {
			return nil, &jsonError{code: ErrInvalidParams, at: start, text: problem}
		}
		return v, nil
	}
	return out, nil
}

// reservedKey reports whether key reaches a prototype when JavaScript code copies it into an object
// without care.
func reservedKey(key string) bool {
	return key == "__proto__" || key == "constructor" || key == "prototype"
}

// next reads a comma or the closing bracket.
func (p *parser) next(closing byte) (more bool, err *jsonError) {
	p.space()
	if p.i >= len(p.s) {
		return false, p.bad("the text ends too early")
	}
	switch p.s[p.i] {
	case ',':
		p.i++
		return true, nil
	case closing:
		p.i++
		return false, nil
	}
	return false, p.bad("a comma or " + string(closing) + " should be here")
}
