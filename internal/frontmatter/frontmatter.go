package frontmatter

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// The limits of a front matter. The size is in bytes, with both marks.
const (
	MaxSize   = 16 << 10
	MaxDepth  = 8
	MaxValues = 1000
	MaxKey    = 64
)

// Kind is the kind of a [Value].
type Kind uint8

// The kinds of values. The zero value of Value is an empty text.
const (
	Text Kind = iota
	List
	Map
)

// Value is a value of a front matter.
type Value struct {
	Kind  Kind
	Line  int    // the number of its first line in the file, from 1
	Text  string // of a Text
	Items []*Value
	Keys  []string // of a Map, one for each of Items
}

// Error is the reason why a front matter can't be read.
type Error struct {
	Line int // the number of the line in the file, from 1
	Why  string
}

// Error returns the line and the reason.
func (e *Error) Error() string { return "line " + strconv.Itoa(e.Line) + ": " + e.Why }

// Split returns the front matter without its marks, and the text after it. The file must begin with a
// line "---", after an optional byte order mark. The front matter ends at the next such line. A mark may
// have white space behind it. Lines may end with CRLF. If the file does not begin with a mark, ok is
// false. If there is no second mark, or it comes after more than MaxSize bytes, the error is an *Error.
func Split(file string) (head, body string, ok bool, err error) {
	rest := strings.TrimPrefix(file, "\ufeff")
	line, rest, more := strings.Cut(rest, "\n")
	if !isMark(line) {
		return "", file, false, nil
	}
	for left := rest; more; {
		if len(rest)-len(left) > MaxSize {
			return "", "", true, &Error{1, "the front matter is longer than " + strconv.Itoa(MaxSize) + " bytes"}
		}
		end := len(rest) - len(left)
		line, left, more = strings.Cut(left, "\n")
		if isMark(line) {
			if end > MaxSize {
				break
			}
			return rest[:end], left, true, nil
		}
	}
	return "", "", true, &Error{1, `the front matter has no end: a line "---" is missing`}
}

func isMark(line string) bool {
	rest, ok := strings.CutPrefix(line, "---")
	return ok && strings.Trim(rest, " \t\r") == ""
}

// ParseYAML reads the front matter that [Split] returns, and returns its map. An error is an *Error.
func ParseYAML(head string) (*Value, error) { return parse(head, nil, false) }

// Parse is [ParseYAML], except for two common mistakes in a value of the outer map that is one line. A plain
// text may contain ": ", as in "description: Use this when: a file is large". The guide for clients of
// Agent Skills recommends to read it. The values of the keys in asIs are text also where they begin
// with a bracket, because the documented form of argument-hint, "[file] [format]", is no YAML.
func Parse(head string, asIs ...string) (*Value, error) { return parse(head, asIs, true) }

// parser reads lines. Each function that reads a value leaves i at the first line behind it.
type parser struct {
	lines   []string
	i       int
	values  int
	asIs    []string
	lenient bool
}

type failure struct{ err *Error }

// fail ends parse with an error about a line.
func (p *parser) fail(line int, why string) {
	panic(failure{&Error{line + 2, why}}) // line 1 is the mark
}

func parse(head string, asIs []string, lenient bool) (v *Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			v, err = nil, f.err
		}
	}()
	p := &parser{asIs: asIs, lenient: lenient}
	if len(head) > MaxSize {
		p.fail(-1, "the front matter is longer than "+strconv.Itoa(MaxSize)+" bytes")
	}
	p.lines = strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	for i, l := range p.lines {
		l = strings.TrimSuffix(l, "\r")
		p.lines[i] = l
		if (strings.HasPrefix(l, "---") || strings.HasPrefix(l, "...")) && (len(l) == 3 || l[3] == ' ' || l[3] == '\t') {
			p.fail(i, "a second YAML document begins here")
		}
		if strings.Contains(l, "\t") && strings.Trim(l, " \t") == "" {
			p.fail(i, "an empty line has a tab")
		}
		for j, c := range l {
			if c == utf8.RuneError && !strings.HasPrefix(l[j:], "\ufffd") {
				p.fail(i, "this is not UTF-8")
			}
			if !printable(c) {
				p.fail(i, "there is a control character, U+"+hex(c))
			}
		}
	}
	v = &Value{Kind: Map, Line: 2}
	if p.skip() {
		if n := p.indent(); n > 0 {
			p.fail(p.i, "the first line is indented")
		}
		v = p.block(-1, 0)
		if v.Kind != Map {
			p.fail(v.Line-2, "this is no line of the form \"key: value\"")
		}
		if p.skip() {
			p.fail(p.i, "this line does not belong to the value before it")
		}
	}
	return v, nil
}

func hex(c rune) string { return strings.ToUpper(strconv.FormatInt(int64(c)+1<<16, 16)[1:]) }

// printable reports whether a character may stand in a front matter. Line ends other than LF are not among
// them, because YAML 1.1 and 1.2 disagree about these.
func printable(c rune) bool {
	return c == '\t' || c >= ' ' && c < 0x7f || c >= 0xa0 && c != 0x2028 && c != 0x2029 && c != 0xfeff && c&0xfffe != 0xfffe
}

// skip goes to the next line that is neither empty nor a comment, and reports whether there is one.
func (p *parser) skip() bool {
	for ; p.i < len(p.lines); p.i++ {
		if t := strings.TrimLeft(p.lines[p.i], " "); t != "" && t[0] != '#' {
			if t[0] != '\t' {
				return true
			}
			p.fail(p.i, "a tab may not indent a line")
		}
	}
	return false
}

func (p *parser) indent() int {
	l := p.lines[p.i]
	return len(l) - len(strings.TrimLeft(l, " "))
}

// count counts a value.
func (p *parser) count(depth int) {
	if p.values++; p.values > MaxValues {
		p.fail(p.i, "there are more than "+strconv.Itoa(MaxValues)+" values")
	}
	if depth > MaxDepth {
		p.fail(p.i, "maps and lists are nested deeper than "+strconv.Itoa(MaxDepth))
	}
}

// block reads the value that begins with the present line. parent is the indentation of the line that it
// belongs to.
func (p *parser) block(parent, depth int) *Value {
	n := p.indent()
	text := p.lines[p.i][n:]
	if isDash(text) {
		return p.list(n, depth)
	}
	if _, _, ok := p.key(text); ok {
		return p.mapping(n, depth)
	}
	return p.value(text, parent, depth, "")
}

func isDash(text string) bool {
	return text == "-" || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "-\t")
}

// key returns the key at the beginning of a line, and the text behind its colon.
func (p *parser) key(text string) (key, rest string, ok bool) {
	switch text[0] {
	case '"', '\'':
		end := quotedEnd(text)
		if end < 0 {
			return "", "", false
		}
		rest, ok := strings.CutPrefix(strings.TrimLeft(text[end:], " "), ":")
		if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			return "", "", false
		}
		key = p.quoted(text[:end], -1, nil)
		return key, rest, true
	case '[', '{', '|', '>':
		return "", "", false
	}
	at := colon(text)
	if hash := comment(text); at < 0 || hash >= 0 && hash < at {
		return "", "", false
	}
	key = strings.TrimRight(text[:at], " \t")
	if key == "" {
		p.fail(p.i, "there is no key before the colon")
	}
	p.plain(key)
	if key == "<<" {
		p.fail(p.i, "maps can't be merged with <<")
	}
	return key, text[at+1:], true
}

// colon returns the index of the first colon that ends a plain key, or -1.
func colon(text string) int {
	for i := range len(text) {
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t') {
			return i
		}
	}
	return -1
}

// comment returns the index of the white space before a comment in a plain text, or -1.
func comment(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return i - 1
		}
	}
	return -1
}

// quotedEnd returns the index behind a quoted text that ends on its first line, or -1.
func quotedEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			if text[0] == '"' || i+1 == len(text) || text[i+1] != '\'' {
				return i + 1
			}
			i++
		}
	}
	return -1
}

// addKey adds a key to a map. seen are its keys.
func (p *parser) addKey(v *Value, seen map[string]bool, key string) {
	switch {
	case seen[key]:
		p.fail(p.i, "the key "+strconv.Quote(key)+" is there twice")
	case len(key) > MaxKey:
		p.fail(p.i, "a key is longer than "+strconv.Itoa(MaxKey)+" bytes")
	}
	seen[key] = true
	v.Keys = append(v.Keys, key)
}

func (p *parser) mapping(n, depth int) *Value {
	v, seen := &Value{Kind: Map, Line: p.i + 2}, map[string]bool{}
	p.count(depth + 1)
	for p.skip() && p.indent() >= n {
		if p.indent() > n {
			p.fail(p.i, "this line is indented more than the value before it allows")
		}
		text := p.lines[p.i][n:]
		if isDash(text) {
			p.fail(p.i, "there is a list where a key is expected")
		}
		key, rest, ok := p.key(text)
		if !ok {
			p.fail(p.i, "this is no line of the form \"key: value\"")
		}
		p.addKey(v, seen, key)
		if rest = strings.TrimLeft(rest, " "); strings.HasPrefix(rest, "\t") {
			p.fail(p.i, "there is a tab behind the colon")
		}
		top := ""
		if n == 0 && depth == 0 {
			top = key
		}
		v.Items = append(v.Items, p.after(rest, n, depth+1, true, top))
	}
	return v
}

func (p *parser) list(n, depth int) *Value {
	v := &Value{Kind: List, Line: p.i + 2}
	p.count(depth + 1)
	for p.skip() && p.indent() >= n {
		line := p.lines[p.i]
		text := line[n:]
		switch {
		case p.indent() > n:
			p.fail(p.i, "this line is indented more than the value before it allows")
		case !isDash(text):
			return v // a key of the map that the list belongs to, which the caller checks
		}
		rest := strings.TrimLeft(text[1:], " ")
		if strings.HasPrefix(rest, "\t") {
			p.fail(p.i, "there is a tab behind the dash")
		}
		if rest != "" && rest[0] != '#' {
			if _, _, ok := p.key(rest); ok || isDash(rest) {
				// A map or a list that begins behind the dash is indented by its place.
				at := len(line) - len(rest)
				p.lines[p.i] = strings.Repeat(" ", at) + rest
				v.Items = append(v.Items, p.block(n, depth+1))
				continue
			}
		}
		v.Items = append(v.Items, p.after(rest, n, depth+1, false, ""))
	}
	return v
}

// after reads the value behind a colon or a dash, which may begin on a later line. n is the indentation of the
// key or of the dash.
func (p *parser) after(rest string, n, depth int, inMap bool, top string) *Value {
	if rest != "" && rest[0] != '#' {
		return p.value(rest, n, depth, top)
	}
	at := p.i
	p.i++
	if p.skip() {
		if m := p.indent(); m > n || inMap && m == n && isDash(p.lines[p.i][m:]) {
			return p.block(n, depth)
		}
	}
	p.count(depth)
	return &Value{Line: at + 2}
}

// value reads the value that begins with text on the present line. n is the indentation of the line that
// it belongs to, and top is its key if it belongs to the outer map.
func (p *parser) value(text string, n, depth int, top string) *Value {
	v := &Value{Line: p.i + 2}
	for _, key := range p.asIs {
		if key == top && top != "" && (text[0] == '[' || text[0] == '<') {
			return p.line(text, n)
		}
	}
	switch text[0] {
	case '|', '>':
		p.count(depth)
		v.Text = p.literal(text, n)
		return v
	case '"', '\'':
		p.count(depth)
		end := ""
		v.Text = p.quoted(text, n, &end)
		p.end(end)
		return v
	case '[', '{':
		f := &flow{p: p, text: text, n: n}
		v = f.value(depth)
		p.end(f.text)
		return v
	}
	if top != "" && p.lenient && colon(text) >= 0 {
		return p.line(text, n)
	}
	p.count(depth)
	v.Text = p.folded(text, n)
	return v
}

// end goes to the next line. The rest of the present one must be empty or a comment.
func (p *parser) end(rest string) {
	if t := strings.TrimLeft(rest, " \t"); t != "" && (t[0] != '#' || t == rest) {
		p.fail(p.i, "there is text behind the end of the value")
	}
	p.i++
}

// line reads a text of one line as it stands.
func (p *parser) line(text string, n int) *Value {
	v := &Value{Line: p.i + 2}
	p.count(0)
	if at := comment(text); at >= 0 {
		text = text[:at]
	}
	if text[0] != '[' && text[0] != '<' {
		p.start(text, false)
	}
	v.Text = strings.TrimRight(text, " \t")
	p.i++
	if p.skip() && p.indent() > n {
		p.fail(v.Line-2, "a text that contains \": \" must be in quotation marks if it has more than one line")
	}
	return v
}

// start checks the beginning of a plain text.
func (p *parser) start(text string, inFlow bool) {
	next := byte(' ')
	if len(text) > 1 {
		next = text[1]
	}
	bad := ""
	switch c := text[0]; c {
	case '&', '*':
		bad = "anchors and aliases are not supported"
	case '!':
		bad = "tags are not supported"
	case '%', '@', '`', ',', ']', '}', '[', '{', '#', '|', '>', '"', '\'':
		bad = "a plain text can't begin with " + string(c)
	case '-', '?', ':':
		if next == ' ' || next == '\t' || inFlow && (c == ':' || strings.IndexByte(",[]{}", next) >= 0) {
			bad = "a plain text can't begin like this"
		}
	}
	if bad != "" {
		p.fail(p.i, bad+": put the text in quotation marks")
	}
}

// plain checks a plain text of one line, without its comment.
func (p *parser) plain(text string) {
	p.start(text, false)
	if colon(text) >= 0 {
		p.fail(p.i, "a text that contains \": \" must be in quotation marks")
	}
}

// folded reads a plain text, which may continue on lines that are indented by more than n.
func (p *parser) folded(text string, n int) string {
	var out []byte
	empty := 0
	for {
		at := comment(text)
		if at >= 0 {
			text = text[:at]
		}
		text = strings.TrimRight(text, " \t")
		if out == nil {
			p.plain(text)
		} else if colon(text) >= 0 || isDash(text) || strings.HasPrefix(text, "? ") {
			p.fail(p.i, "this line looks like a key or like an item of a list, and not like a text that goes on")
		}
		if out != nil {
			out = lineEnd(out, empty)
		}
		out = append(out, text...)
		empty = 0
		for p.i++; p.i < len(p.lines) && strings.Trim(p.lines[p.i], " ") == ""; p.i++ {
			empty++
		}
		if p.i == len(p.lines) {
			return string(out)
		}
		text = strings.TrimLeft(p.lines[p.i], " ")
		if p.indent() <= n {
			return string(out)
		}
		if at >= 0 || text[0] == '#' {
			if p.skip() && p.indent() > n {
				p.fail(p.i, "a text can't go on behind a comment")
			}
			return string(out)
		}
		if text[0] == '\t' {
			p.fail(p.i, "a tab may not indent a line")
		}
	}
}

// lineEnd folds a line end: it becomes a space, and empty lines become line ends.
func lineEnd(out []byte, empty int) []byte {
	if empty == 0 {
		return append(out, ' ')
	}
	for range empty {
		out = append(out, '\n')
	}
	return out
}

// literal reads a block of text behind | or >.
func (p *parser) literal(header string, n int) string {
	fold, chomp, width := header[0] == '>', byte(0), 0
	rest := header[1:]
	for ; rest != "" && rest[0] != ' ' && rest[0] != '\t'; rest = rest[1:] {
		switch c := rest[0]; {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
		case c >= '1' && c <= '9' && width == 0:
			width = max(n, 0) + int(c-'0')
		default:
			p.fail(p.i, "behind "+header[:1]+" there may be +, - and a digit alone: the text begins on the next line")
		}
	}
	p.end(rest)
	var out strings.Builder
	end, empty, before, widest := "", 0, false, 0
	for ; p.i < len(p.lines); p.i++ {
		line := p.lines[p.i]
		m := p.indent()
		if m == len(line) && (width == 0 || m <= width) {
			empty++
			widest = max(widest, m)
			continue
		}
		if width == 0 && m > n {
			if width = m; widest > m {
				p.fail(p.i, "an empty line before the text is indented more than the text")
			}
			if line[m] == '\t' {
				p.fail(p.i, "a tab may not indent a line")
			}
		}
		if m < width || width == 0 {
			if line[m] == '\t' {
				p.fail(p.i, "a tab may not indent a line")
			}
			break
		}
		line = line[width:]
		blank := line[0] == ' ' || line[0] == '\t'
		if fold && end != "" && !before && !blank {
			if empty == 0 {
				out.WriteByte(' ')
			}
		} else {
			out.WriteString(end)
		}
		out.WriteString(strings.Repeat("\n", empty))
		out.WriteString(line)
		end, empty, before = "\n", 0, blank
	}
	if chomp != '-' {
		out.WriteString(end)
	}
	if chomp == '+' {
		out.WriteString(strings.Repeat("\n", empty))
	}
	return out.String()
}

// quoted reads a quoted text that begins with text, and stores the text behind it in end. Lines that continue
// it are indented by more than n. If end is nil, the text ends on its line.
func (p *parser) quoted(text string, n int, end *string) string {
	var out []byte
	quote, first := text[0], p.i
	text = text[1:]
	for {
		kept := len(out) // the length of out up to which white space before a line end is kept
		for text != "" {
			c := text[0]
			switch {
			case c == quote && quote == '\'' && strings.HasPrefix(text, "''"):
				out = append(out, '\'')
				text = text[2:]
			case c == quote:
				if end != nil {
					*end = text[1:]
				}
				return string(out)
			case c == '\\' && quote == '"' && len(text) > 1:
				out, text = p.escape(out, text)
				kept = len(out)
				continue
			case c == '\\' && quote == '"':
				kept = -1
				text = ""
				continue
			default:
				out = append(out, c)
				text = text[1:]
			}
		}
		for kept >= 0 && len(out) > kept && (out[len(out)-1] == ' ' || out[len(out)-1] == '\t') {
			out = out[:len(out)-1]
		}
		empty := 0
		for p.i++; p.i < len(p.lines) && strings.Trim(p.lines[p.i], " ") == ""; p.i++ {
			empty++
		}
		switch {
		case p.i == len(p.lines):
			p.fail(first, "a quotation mark is not closed")
		case p.indent() <= n:
			p.fail(p.i, "a text in quotation marks goes on, so this line must be indented more")
		case kept < 0 && empty > 0:
			p.fail(p.i, "an empty line may not follow a backslash at the end of a line")
		}
		text = strings.TrimLeft(p.lines[p.i], " ")
		if text[0] == '\t' {
			p.fail(p.i, "a tab may not indent a line")
		}
		if kept >= 0 {
			out = lineEnd(out, empty)
		}
	}
}

// escape appends the character of an escape to out, and returns the text behind it.
func (p *parser) escape(out []byte, text string) ([]byte, string) {
	digits := 0
	switch c := text[1]; c {
	case 't', '\t':
		out = append(out, '\t')
	case 'n':
		out = append(out, '\n')
	case ' ', '"', '\\':
		out = append(out, c)
	case '_':
		out = append(out, "\u00a0"...)
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		p.fail(p.i, "this escape is not supported: \\"+string(text[1:1+len(firstRune(text[1:]))]))
	}
	if digits > 0 {
		n, err := uint64(0), error(strconv.ErrSyntax)
		if len(text) >= 2+digits {
			n, err = strconv.ParseUint(text[2:2+digits], 16, 31)
		}
		if err != nil || !utf8.ValidRune(rune(n)) || !printable(rune(n)) && n != '\n' {
			p.fail(p.i, "this escape is no character, or a control character")
		}
		out = utf8.AppendRune(out, rune(n))
	}
	return out, text[2+digits:]
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// flow reads a list or a map in brackets. text is the rest of the present line.
type flow struct {
	p    *parser
	text string
	n    int
}

// space goes to the next character that is neither white space nor part of a comment, and returns it.
func (f *flow) space() byte {
	for {
		t := strings.TrimLeft(f.text, " ")
		if t != "" && t[0] != '\t' && (t[0] != '#' || t == f.text) {
			f.text = t
			return t[0]
		}
		if t = strings.TrimLeft(t, " \t"); t != "" && t[0] != '#' {
			f.p.fail(f.p.i, "there is a tab between brackets")
		}
		first := f.p.i
		f.p.i++
		if !f.p.skip() {
			f.p.fail(first, "a bracket is not closed")
		}
		f.text = f.p.lines[f.p.i][f.p.indent():]
		if m := f.p.indent(); m < f.n || m == f.n && f.text[0] != ']' && f.text[0] != '}' {
			f.p.fail(f.p.i, "a bracket is not closed, so this line must be indented more")
		}
	}
}

func (f *flow) value(depth int) *Value {
	p := f.p
	v := &Value{Line: p.i + 2}
	switch f.text[0] {
	case '[':
		v.Kind = List
	case '{':
		v.Kind = Map
	default:
		p.count(depth)
		v.Text = f.scalar()
		return v
	}
	p.count(depth + 1)
	seen := map[string]bool{}
	end := f.text[0] + 2 // ] and } are two behind [ and { in ASCII
	f.text = f.text[1:]
	for f.space() != end {
		if v.Kind == Map {
			if f.text[0] == '[' || f.text[0] == '{' {
				p.fail(p.i, "a key must be a text")
			}
			quoted := f.text[0] == '"' || f.text[0] == '\''
			key := f.scalar()
			if key == "<<" {
				p.fail(p.i, "maps can't be merged with <<")
			}
			p.addKey(v, seen, key)
			at := p.i
			if f.space() != ':' || p.i > at || !quoted && len(f.text) > 1 && f.text[1] != ' ' {
				p.fail(p.i, "a key between brackets needs a colon and a space behind it")
			}
			f.text = f.text[1:]
			if c := f.space(); c == ',' || c == '}' {
				p.fail(p.i, "a key between brackets has no value")
			}
		}
		v.Items = append(v.Items, f.value(depth+1))
		switch f.space() {
		case ',':
			f.text = f.text[1:]
		case end:
		default:
			p.fail(p.i, "between brackets a comma or "+string(end)+" is expected")
		}
	}
	f.text = f.text[1:]
	return v
}

// scalar reads a text between brackets. It is on one line.
func (f *flow) scalar() string {
	p := f.p
	if c := f.text[0]; c == '"' || c == '\'' {
		end := quotedEnd(f.text)
		if end < 0 {
			p.fail(p.i, "between brackets a text in quotation marks must end on its line")
		}
		text := p.quoted(f.text[:end], -1, nil)
		f.text = f.text[end:]
		return text
	}
	p.start(f.text, true)
	end := strings.IndexAny(f.text, ",[]{}")
	if end < 0 {
		end = len(f.text)
	}
	text := f.text[:end]
	if at := comment(text); at >= 0 {
		text = text[:at]
	}
	if at := colon(text + " "); at >= 0 && at < len(text) {
		text = text[:at]
	}
	if strings.Contains(text, "?") {
		p.fail(p.i, "between brackets a text with a question mark must be in quotation marks")
	}
	f.text = f.text[len(text):]
	return strings.TrimRight(text, " \t")
}
