package strictjson

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits are the limits of reading and writing. A field that is zero or less has its default. No
// limit can be switched off.
type Limits struct {
	Bytes int // of the whole text, by default 1 MiB
	Depth int // nesting of arrays and objects, by default 64 and at most 256
	Nodes int // values, members and elements together, by default 200,000

	// Rest, if set, is called after each 256 values, members and elements, and after each 64 KiB of
	// a string or of white space. It can yield to the page. If it returns an error, [Parse] stops
	// and returns that error.
	Rest func() error
}

// Dialect is the part of the form that the caller chooses: the errors, and values without a form in
// JSON.
type Dialect struct {
	Invalid error // for text or a value that has not the form
	Limit   error // for text or a value over the limits
	Refused error // for a key that only an attack sends, see [Reserved]

	// Tag returns the tagged form of a value without a form in JSON, and reports whether v is one.
	// If Tag is nil, the text is plain JSON, and an object with the key "$" is an object.
	Tag func(v any) (Tagged, bool)
	// Untag returns the value of an object with the key "$", or the problem with it. It must be set
	// if Tag is.
	Untag func(object map[string]any) (v any, problem string)
	// Kind returns the name of the type of a value, such as "a BigInt", for the errors of
	// [Unmarshal]. It is called only for values that no plain JSON has, and may be nil.
	Kind func(v any) string
}

// Tagged is a value without a form in JSON. Its text is an object with the one key "$" and an array
// of the name and the parts, such as {"$":["bigint","12"]}. Array and Bytes are set instead of Parts
// for bytes: {"$":["bytes","Int8Array","AAE="]}. If Problem is set, the value cannot be written.
type Tagged struct {
	Name    string
	Parts   []any
	Array   string // the name of the array's class
	Bytes   []byte
	Problem string
}

// TagKey is the key of a tagged value.
const TagKey = "$"

const (
	defaultBytes = 1 << 20
	defaultDepth = 64
	defaultNodes = 200_000
)

// Filled returns the limits with the defaults filled in.
func (l Limits) Filled() Limits {
	if l.Bytes <= 0 {
		l.Bytes = defaultBytes
	}
	if l.Depth <= 0 {
		l.Depth = defaultDepth
	}
	l.Depth = min(l.Depth, MaxDepth)
	if l.Nodes <= 0 {
		l.Nodes = defaultNodes
	}
	return l
}

// Parse returns the value of one JSON text, made of nil, bool, float64, string, []any and
// map[string]any, and of the values that d.Untag returns. It is stricter than most parsers, so that
// no two parsers can disagree about a text. These are errors: a key that occurs twice in an object, a
// lone surrogate, text that is not UTF-8, a number too large for a float64, the keys of [Reserved],
// and text after the value. An error is an *[Error], or the error of limits.Rest.
func Parse(text string, limits Limits, d *Dialect) (any, error) {
	l := limits.Filled()
	if len(text) > l.Bytes {
		return nil, &Error{Code: d.Limit, Text: "the text has " + strconv.Itoa(len(text)) + " bytes; the limit is " + strconv.Itoa(l.Bytes), whole: true}
	}
	p := NewReader(text, l, d)
	p.space()
	v, err := p.Value(l.Depth)
	if err == nil {
		if p.space(); p.i < len(p.s) {
			err = p.Bad("there is something behind the value")
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

// Reader reads a text part by part. [Parse] is all that most callers need.
type Reader struct {
	s     string
	i     int
	nodes int
	d     *Dialect

	rest  func() error // nil to parse without a rest
	look  int          // the position in a string or in white space of the next rest
	ended error        // the error of rest
}

// NewReader returns a reader of text, at its start. It does not check limits.Bytes. The depth is
// given to [Reader.Value].
func NewReader(text string, limits Limits, d *Dialect) *Reader {
	l := limits.Filled()
	p := &Reader{s: text, nodes: l.Nodes, d: d, rest: l.Rest, look: len(text) + 1}
	if p.rest != nil {
		p.look = restBytes
	}
	return p
}

// At returns the position in the text, in bytes.
func (p *Reader) At() int { return p.i }

// Left returns the text that was not read yet.
func (p *Reader) Left() string { return p.s[p.i:] }

// Skip reads prefix if it comes next, and reports whether it did.
func (p *Reader) Skip(prefix string) bool {
	if !strings.HasPrefix(p.s[p.i:], prefix) {
		return false
	}
	p.i += len(prefix)
	return true
}

// Count counts n values, members or elements that the caller read itself.
func (p *Reader) Count(n int) { p.nodes -= n }

const (
	restNodes = 256
	restBytes = 64 << 10
)

// node counts a value, a member or an element. It calls rest after many of them.
func (p *Reader) node() *Error {
	if p.nodes--; p.nodes < 0 {
		return p.Over("there are more values than the limit allows")
	}
	if p.nodes%restNodes == 0 {
		return p.turn(p.i)
	}
	return nil
}

// turn calls rest at a position in the text.
func (p *Reader) turn(at int) *Error {
	if p.rest == nil {
		return nil
	}
	p.look = at + restBytes
	if p.ended = p.rest(); p.ended != nil {
		return p.Bad("the reading was ended")
	}
	return nil
}

// Error is a problem with a text or a value. Its path grows while it is returned through the levels
// of nesting.
type Error struct {
	Code error  // one of the errors of the [Dialect]
	Path string // such as .list[0]
	At   int    // the position in the text, in bytes
	Text string

	whole bool // the error is not about a place
}

// Error returns the problem with its place, such as "this is not JSON (at $.list[0], byte 12)".
func (e *Error) Error() string {
	if e.whole {
		return e.Text
	}
	where := "the value"
	if e.Path != "" {
		where = "$" + e.Path
	}
	return e.Text + " (at " + where + ", byte " + strconv.Itoa(e.At) + ")"
}

// Unwrap returns e.Code.
func (e *Error) Unwrap() error { return e.Code }

// Within puts elem, a result of [Member] or [Element], before the path of e and returns e.
func (e *Error) Within(elem string) *Error {
	if len(e.Path) < 400 {
		e.Path = elem + e.Path
	}
	return e
}

// Member returns the element of a path for a key, such as .name or ["a b"].
func Member(key string) string {
	if len(key) > 60 {
		key = key[:60]
	}
	for i := 0; i < len(key); i++ {
		if c := key[i]; c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return "[" + Quote(key) + "]"
		}
	}
	return "." + key
}

// Element returns the element of a path for an index, such as [0].
func Element(i int) string { return "[" + strconv.Itoa(i) + "]" }

// Bad returns the error Invalid at the position.
func (p *Reader) Bad(text string) *Error {
	return &Error{Code: p.d.Invalid, At: p.i, Text: text}
}

// Over returns the error Limit at the position.
func (p *Reader) Over(text string) *Error {
	return &Error{Code: p.d.Limit, At: p.i, Text: text}
}

func (p *Reader) space() {
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

// Value reads a value that is nested at most depth deep.
func (p *Reader) Value(depth int) (any, *Error) {
	if err := p.node(); err != nil {
		return nil, err
	}
	if p.i >= len(p.s) {
		return nil, p.Bad("the text ends where a value should be")
	}
	switch c := p.s[p.i]; {
	case c == '{':
		if depth == 0 {
			return nil, p.Over("it is nested deeper than the limit allows")
		}
		return p.object(depth - 1)
	case c == '[':
		if depth == 0 {
			return nil, p.Over("it is nested deeper than the limit allows")
		}
		return p.array(depth - 1)
	case c == '"':
		return p.str()
	case c == '-' || '0' <= c && c <= '9':
		return p.Number()
	}
	switch p.s[p.i] {
	case 'n':
		return nil, p.word("null")
	case 't':
		return true, p.word("true")
	case 'f':
		return false, p.word("false")
	}
	return nil, p.Bad("this is not JSON")
}

func (p *Reader) word(w string) *Error {
	if !strings.HasPrefix(p.s[p.i:], w) {
		return p.Bad("this is not JSON")
	}
	p.i += len(w)
	return nil
}

func (p *Reader) array(depth int) (any, *Error) {
	p.i++
	out := []any{}
	if p.space(); p.i < len(p.s) && p.s[p.i] == ']' {
		p.i++
		return out, nil
	}
	for {
		p.space()
		v, err := p.Value(depth)
		if err != nil {
			return nil, err.Within(Element(len(out)))
		}
		out = append(out, v)
		more, err := p.next(']')
		if err != nil || !more {
			return out, err
		}
	}
}

func (p *Reader) object(depth int) (any, *Error) {
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
			return nil, p.Bad("a key should be here, in double quotes")
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if Reserved(key) {
			return nil, &Error{Code: p.d.Refused, At: p.i, Text: "the key " + key + " is refused; use a Map for keys that somebody else chooses"}
		}
		special = special || key == TagKey
		if err := p.node(); err != nil {
			return nil, err
		}
		if p.space(); p.i >= len(p.s) || p.s[p.i] != ':' {
			return nil, p.Bad("a colon should be here")
		}
		p.i++
		p.space()
		v, err := p.Value(depth)
		if err != nil {
			return nil, err.Within(Member(key))
		}
		// One access to the map instead of three. The map is most of the time for a large text.
		n := len(out)
		if out[key] = v; len(out) == n {
			return nil, p.Bad("the key " + Quote(key) + " is there twice")
		}
		more, err := p.next('}')
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if special && p.d.Tag != nil {
		v, problem := p.d.Untag(out)
		if problem != "" {
			return nil, &Error{Code: p.d.Invalid, At: start, Text: problem}
		}
		return v, nil
	}
	return out, nil
}

// Reserved reports whether key reaches a prototype when JavaScript code copies it into an object
// without care.
func Reserved(key string) bool {
	return key == "__proto__" || key == "constructor" || key == "prototype"
}

// next reads a comma or the closing bracket.
func (p *Reader) next(closing byte) (more bool, err *Error) {
	p.space()
	if p.i >= len(p.s) {
		return false, p.Bad("the text ends too early")
	}
	switch p.s[p.i] {
	case ',':
		p.i++
		return true, nil
	case closing:
		p.i++
		return false, nil
	}
	return false, p.Bad("a comma or " + string(closing) + " should be here")
}

// Number reads a number.
func (p *Reader) Number() (any, *Error) {
	start := p.i
	if p.s[p.i] == '-' {
		p.i++
	}
	whole := p.digits()
	if whole == 0 || whole > 1 && p.s[p.i-whole] == '0' {
		return nil, p.Bad("this is not a number")
	}
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		if p.digits() == 0 {
			return nil, p.Bad("this is not a number")
		}
	}
	if p.i < len(p.s) && p.s[p.i]|0x20 == 'e' {
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if p.digits() == 0 {
			return nil, p.Bad("this is not a number")
		}
	}
	if p.i-start < 16 && whole == p.i-start { // most numbers, but not -0
		n := 0
		for _, c := range []byte(p.s[start:p.i]) {
			n = 10*n + int(c-'0')
		}
		return float64(n), nil
	}
	if p.i-start > 400 {
		return nil, p.Bad("the number is longer than 400 characters")
	}
	f, err := strconv.ParseFloat(p.s[start:p.i], 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, p.Bad("the number is too large")
	}
	return f, nil
}

func (p *Reader) digits() int {
	start := p.i
	for p.i < len(p.s) && '0' <= p.s[p.i] && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i - start
}

// str reads a string. p.i is the position of its opening quote.
func (p *Reader) str() (string, *Error) {
	start, text, high := p.i+1, p.s, byte(0)
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			p.i = i + 1
			s := text[start:i]
			if high < utf8.RuneSelf {
				return s, nil
			}
			return s, p.valid(s)
		case c == '\\':
			p.i = i
			return p.escaped(start)
		case c < 0x20:
			p.i = i
			return "", p.Bad("a control character in a string must be escaped")
		default:
			high |= c
		}
		if i >= p.look {
			if err := p.turn(i); err != nil {
				return "", err
			}
		}
	}
	return "", p.Bad("the string has no end")
}

func (p *Reader) escaped(start int) (string, *Error) {
	b := make([]byte, 0, 2*(p.i-start)+16)
	b = append(b, p.s[start:p.i]...)
	for p.i < len(p.s) {
		if p.i >= p.look {
			if err := p.turn(p.i); err != nil {
				return "", err
			}
		}
		c := p.s[p.i]
		p.i++
		switch {
		case c == '"':
			s := string(b)
			return s, p.valid(s)
		case c < 0x20:
			return "", p.Bad("a control character in a string must be escaped")
		case c != '\\':
			b = append(b, c)
			continue
		}
		if p.i >= len(p.s) {
			break
		}
		c = p.s[p.i]
		p.i++
		switch c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, ok := p.hex4()
			if ok && 0xD800 <= r && r <= 0xDFFF {
				lo := rune(0)
				if ok = r < 0xDC00 && strings.HasPrefix(p.s[p.i:], `\u`); ok {
					p.i += 2
					lo, ok = p.hex4()
					ok = ok && 0xDC00 <= lo && lo <= 0xDFFF
				}
				if !ok {
					return "", p.Bad("a lone surrogate is not text")
				}
				r = (r-0xD800)<<10 | (lo - 0xDC00) + 0x10000
			}
			if !ok {
				return "", p.Bad("\\u must be followed by four hexadecimal digits")
			}
			b = utf8.AppendRune(b, r)
		default:
			return "", p.Bad("no such escape")
		}
	}
	return "", p.Bad("the string has no end")
}

// valid returns an error for a string that is not UTF-8.
func (p *Reader) valid(s string) *Error {
	for len(s) > restBytes && p.rest != nil {
		n := restBytes
		for n > restBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n--
		}
		if !utf8.ValidString(s[:n]) {
			break
		}
		if err := p.turn(p.i); err != nil {
			return err
		}
		s = s[n:]
	}
	if !utf8.ValidString(s) {
		return p.Bad("the string is not UTF-8")
	}
	return nil
}

func (p *Reader) hex4() (rune, bool) {
	if p.i+4 > len(p.s) {
		return 0, false
	}
	n := rune(0)
	for _, c := range []byte(p.s[p.i : p.i+4]) {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	p.i += 4
	return n, true
}
