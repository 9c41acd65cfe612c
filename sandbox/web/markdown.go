package web

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// The limits of a conversion. A server chooses the page, and the work is proportional to its bytes.
const (
	maxMarkdown = 8 << 20   // bytes of the result (the rest is omitted, with a note)
	maxToken    = 1 << 20   // bytes of one tag, comment or text
	maxOpen     = 64        // nested lists and quotations (deeper ones become their content)
	maxShown    = 12        // levels of indentation
	maxAddress  = 4 << 10   // bytes of a link's address (a longer one is omitted)
	maxCells    = 200       // cells of a table row
	maxTag      = 64        // bytes of a tag's name
	stretch     = 16 << 10  // bytes between two checks of the clock
	maxPre      = 512 << 10 // bytes of one block of code
)

const leftOut = "\n\n(The rest of the page is left out: it is too long.)"

// markdown converts HTML to Markdown. It reads the page once from beginning to end, without a tree.
// The time is proportional to the length of the text, and it yields to the page between tokens. It
// ends with ctx. at is the page's address.
func markdown(ctx context.Context, text, at string) (string, error) {
	c := newConverter(ctx, text)
	c.at = at
	return c.markdown()
}

func newConverter(ctx context.Context, text string) *converter {
	c := &converter{ctx: ctx, start: true, most: maxMarkdown}
	c.z = html.NewTokenizer(&pieces{c, text})
	c.z.SetMaxBuf(maxToken)
	return c
}

// pieces gives the tokenizer the page, with turns for the browser also within a long token.
type pieces struct {
	c    *converter
	text string
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), stretch)], p.text)
	p.text = p.text[n:]
	return n, p.c.rest(n)
}

// rest counts n bytes of work, and gives the browser its turn when a stretch is full.
func (c *converter) rest(n int) error {
	if c.work += n; c.work < stretch {
		return nil
	}
	c.work = 0
	c.yields++
	if err := c.budget.Spend(c.ctx); err != nil {
		return context.Cause(c.ctx)
	}
	return nil
}

func (c *converter) markdown() (string, error) {
	err := c.run()
	full := errors.Is(err, errFull) || errors.Is(err, html.ErrBufferExceeded)
	if err != nil && !full {
		return "", err
	}
	c.finish()
	if full || c.cut {
		c.out.WriteString(leftOut)
	}
	return c.out.String(), nil
}

var errFull = protocol.Errorf(protocol.ErrOutputTooLarge, "web_fetch", "", "the page is too long")

// container is a list, an item of a list, or a quotation.
type container struct {
	tag    string
	indent string // before each of its lines
	count  int    // items so far, in a list
}

type converter struct {
	ctx    context.Context
	z      *html.Tokenizer
	out    strings.Builder
	budget jsx.Budget
	most   int // maximum bytes of the result: maxMarkdown, or less in tests
	work   int
	yields int // number of checks of the clock, for tests

	start   bool // nothing was written yet
	gap     int  // line ends to write before the next text
	space   bool // write a space before the next text
	marks   string
	opened  string // signs of emphasis to write before their text
	open    []container
	prefix  string
	marksAt string // prefix of the line with the first of marks
	last    rune

	at      string   // the page's address
	base    *url.URL // of the page's links, from an element base
	cut     bool     // some text was omitted
	skip    string   // the element whose content is omitted
	skipped int      // nested elements of that name
	hidden  bool     // it is omitted because the page hides it
	inner   int      // nested lists and tables

	strong, em int
	struck     int
	small      string // separates a sub- or superscript number from the number before it
	link       string
	inLink     bool
	pre        int
	language   string
	verbatim   strings.Builder // the text of pre or code
	code       bool
	table      int
	cells      int
	over       int // columns of the last cell after the first
	rows       int
	inCell     bool
	title      bool
}

func (c *converter) run() error {
	for {
		t := c.z.Next()
		if t == html.ErrorToken {
			if err := c.z.Err(); errors.Is(err, html.ErrBufferExceeded) {
				return err
			}
			return context.Cause(c.ctx)
		}
		if err := c.rest(64); err != nil {
			return err
		}
		if c.out.Len() > c.most {
			return errFull
		}
		switch t {
		case html.TextToken:
			if c.skip != "" {
				continue
			}
			if err := c.text(string(c.z.Text())); err != nil {
				return err
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := c.z.TagName()
			if len(name) > maxTag {
				continue
			}
			c.tag(string(name), c.attributes(more), t == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := c.z.TagName()
			if len(name) <= maxTag {
				c.end(string(name))
			}
		}
	}
}

// attributes are the relevant attributes of a tag.
type attributes struct {
	href, alt, class   string
	span, start, value int
	hidden             bool
}

func (c *converter) attributes(more bool) (a attributes) {
	for range 100 {
		if !more {
			break
		}
		var k, v []byte
		k, v, more = c.z.TagAttr()
		number := func() int {
			n, _ := strconv.Atoi(strings.TrimSpace(string(v[:min(len(v), 10)])))
			return min(max(n, 0), 99_999_999)
		}
		switch string(k) {
		case "href", "src":
			if a.href == "" && len(v) <= maxAddress {
				a.href = string(v)
			}
		case "alt":
			a.alt = strings.ToValidUTF8(string(v[:min(len(v), maxAddress)]), "")
		case "class":
			a.class = string(v[:min(len(v), 200)])
		case "colspan":
			a.span = number()
		case "start":
			a.start = number()
		case "value":
			a.value = number()
		case "hidden":
			a.hidden = a.hidden || !strings.EqualFold(strings.TrimSpace(string(v[:min(len(v), 20)])), "until-found")
		case "style":
			style := strings.ToLower(strings.Join(strings.Fields(string(v[:min(len(v), maxAddress)])), ""))
			a.hidden = a.hidden || unseen(style)
		}
	}
	return a
}

// hides starts omitting an element that the page hides. It returns false if the element must not be
// omitted.
func (c *converter) hides(name string) bool {
	if among(" area base br col embed hr img input link meta param source track wbr ", name) {
		return true // it has no content
	}
	switch name {
	case "html", "body", "table", "tbody", "thead", "tfoot":
		if name != "table" {
			return false // some pages hide their whole content until a script has run
		}
	case "head":
		return false // it is never shown, and ends with the first shown text or element
	}
	c.skip, c.skipped, c.hidden, c.inner = name, 0, true, 0
	return true
}

// endsHidden reports whether a tag ends the hidden element that it is in, for elements with an
// optional end tag.
func (c *converter) endsHidden(name string, end bool) bool {
	outer := func(names string) bool { return c.inner == 0 && among(names, name) }
	switch name {
	case "ul", "ol", "menu", "dl", "table":
		defer func() {
			if end {
				c.inner--
			} else {
				c.inner++
			}
		}()
	}
	switch c.skip {
	case "p":
		return !end && block(name) || end && outer(" div section article main aside li td blockquote body ")
	case "li":
		return !end && outer(" li ") || end && outer(" ul ol menu ")
	case "dt", "dd":
		return !end && outer(" dt dd ") || end && outer(" dl ")
	case "td", "th":
		return !end && outer(" td th tr ") || end && outer(" tr table tbody thead ")
	case "tr":
		return !end && outer(" tr tbody ") || end && outer(" table tbody thead ")
	case "option":
		return !end && outer(" option optgroup hr select input textarea ") || end && outer(" optgroup select ")
	case "optgroup":
		return !end && outer(" optgroup hr select input textarea ") || end && outer(" select ")
	case "select":
		return !end && outer(" select input textarea ")
	}
	return false
}

// among reports whether a name is one of a list's words, which have a space before and behind. A list is a
// tenth of the code of a switch over as many names.
//
//go:noinline
func among(list, name string) bool { return strings.Contains(list, " "+name+" ") }

// parts are elements that end a paragraph, and have an empty line before and behind.
const parts = " p div section article header footer main nav aside figure figcaption address form fieldset details summary dl center caption "

// block reports whether an element ends a paragraph.
func block(name string) bool {
	return among(parts, name) || among(" h1 h2 h3 h4 h5 h6 ul ol menu li dt dd table blockquote pre listing hr ", name)
}

func (c *converter) tag(name string, a attributes, closed bool) {
	closed = closed && (name == "svg" || name == "math") // other elements stay open, whatever their tag says
	switch {
	case c.skip == "button" && !c.hidden && name == "button": // a button ends where the next begins
		c.skip = ""
	case (c.skip == "svg" || c.skip == "math") && (block(name) || name == "span" || name == "b" || name == "img"): // a drawing too
		c.skip = ""
	case c.hidden && c.skip != "" && c.endsHidden(name, false):
		c.skip = ""
	case name == "base" && c.skip == "" && c.base == nil && a.href != "":
		if u, err := url.Parse(c.at); err == nil {
			if u, err = u.Parse(stripped(a.href)); err == nil {
				c.base = u
			}
		}
	}
	if c.skip == "" && a.hidden && c.hides(name) {
		return
	}
	if c.skip != "" {
		if name == c.skip && !closed {
			c.skipped++
		}
		if c.skip == "button" && !c.hidden && holds(name) {
			c.inner++
		}
		return
	}
	if among(" script style noscript template svg math iframe object textarea button audio video canvas title noembed noframes datalist ", name) {
		if !closed && !(name == "button" && c.title) { // a button in a heading opens and closes its section
			c.skip, c.skipped, c.hidden, c.inner = name, 0, false, 0
		}
		return
	}
	if among(parts, name) {
		c.block(2)
		return
	}
	switch name {
	case "br":
		if c.pre > 0 || c.code {
			c.verbatim.WriteByte('\n')
		} else if c.title {
			c.space = true
		} else if c.gap == 0 {
			c.block(1)
		}
	case "hr":
		c.block(2)
		c.raw("* * *")
		c.block(2)
	case "h1", "h2", "h3", "h4", "h5", "h6":
		c.block(2)
		if !c.flat() {
			c.title = true
			c.opened = strings.Repeat("#", int(name[1]-'0')) + " "
		}
	case "dt", "dd", "legend", "select", "optgroup", "option":
		c.block(1)
	case "ul", "ol", "menu":
		if c.inList() {
			c.block(1)
		} else {
			c.block(2)
		}
		c.push(container{tag: name, count: max(a.start, 1) - 1})
	case "li":
		c.block(1)
		c.pop("li")
		mark := "- "
		for i := len(c.open) - 1; i >= 0; i-- {
			if t := c.open[i].tag; t == "ul" || t == "ol" || t == "menu" {
				c.open[i].count++
				if a.value > 0 {
					c.open[i].count = a.value
				}
				if t == "ol" {
					mark = strconv.Itoa(c.open[i].count) + ". "
				}
				break
			}
		}
		c.push(container{tag: "li", indent: strings.Repeat(" ", len(mark))})
		if !c.flat() && len(c.open) <= maxShown {
			if c.marks == "" {
				c.marksAt = c.prefixOf(len(c.open) - 1)
			}
			c.marks += mark
		}
	case "blockquote":
		c.block(2)
		c.push(container{tag: name, indent: "> "})
	case "pre", "listing", "xmp", "plaintext":
		if c.pre++; c.pre == 1 {
			if c.code {
				c.inlineCode()
			}
			c.language = languageOf(a.class)
			c.verbatim.Reset()
		}
	case "code", "tt", "kbd", "samp":
		switch {
		case c.pre > 0:
			if c.language == "" && c.verbatim.Len() == 0 {
				c.language = languageOf(a.class)
			}
		case !c.code:
			c.code = true
			c.verbatim.Reset()
		}
	case "b", "strong":
		if c.strong++; c.strong == 1 {
			c.sign("**")
		}
	case "i", "em":
		if c.em++; c.em == 1 {
			c.sign("*")
		}
	case "a":
		c.closeLink()
		if href := c.address(a.href); c.pre == 0 && !c.code && href != "" {
			c.link, c.inLink = href, true
			c.sign("[")
		}
	case "img":
		if c.pre > 0 || c.code {
			break
		}
		alt := strings.Join(strings.Fields(a.alt), " ")
		if src := c.address(a.href); src != "" {
			c.raw("![" + escape(alt, len(alt), 'x') + "](" + src + ")")
		} else if alt != "" {
			_ = c.text(alt) // the context is checked again at the next tag
		}
	case "del", "s", "strike":
		if c.struck++; c.struck == 1 {
			c.sign("~~")
		}
	case "sup":
		c.small = "^"
	case "sub":
		c.small = "_"
	case "table":
		c.block(2)
		if c.table++; c.table == 1 {
			c.rows, c.cells, c.inCell = 0, 0, false
		}
	case "tr":
		if c.table == 1 {
			c.endRow()
			c.block(1)
		} else {
			c.block(1)
		}
	case "td", "th":
		if c.table == 1 && c.cells < maxCells {
			c.cells++
			c.inCell = false
			if c.cells == 1 {
				c.gap = max(c.gap, 1)
				c.raw("|")
			} else {
				c.closeSigns()
				c.space = true
				c.raw(strings.Repeat("| ", c.over) + "|")
			}
			c.over = 0
			for ; a.span > 1 && c.cells < maxCells; a.span-- {
				c.over++ // columns under the same heading
				c.cells++
			}
			c.space, c.inCell = true, true
		} else {
			c.space = true
		}
	}
}

// holds reports whether an element contains others and is ended by its own end tag only.
func holds(name string) bool {
	return block(name) && !among(" p li dt dd hr ", name)
}

func (c *converter) end(name string) {
	if c.skip != "" && c.hidden && name != c.skip && c.endsHidden(name, true) {
		c.skip = ""
	}
	if c.skip == "button" && !c.hidden && holds(name) {
		if c.inner--; c.inner < 0 { // the button's parent ends, and the button with it
			c.skip = ""
		}
	}
	if c.skip != "" {
		if name == c.skip {
			if c.skipped--; c.skipped < 0 {
				c.skip = ""
			}
		} else if name == "html" || name == "body" {
			c.skip = ""
		}
		return
	}
	if among(parts, name) {
		c.block(2)
		return
	}
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if c.title {
			c.title = false
			if strings.HasPrefix(c.opened, "#") {
				c.opened = "" // it was empty
			}
		}
		c.block(2)
	case "select":
		c.block(1)
	case "ul", "ol", "menu":
		c.pop(name)
		if c.inList() {
			c.block(1)
		} else {
			c.block(2)
		}
	case "li":
		c.block(1)
		c.pop("li")
	case "blockquote":
		c.block(2)
		c.pop(name)
	case "pre", "listing", "xmp", "plaintext":
		if c.pre > 0 {
			if c.pre--; c.pre == 0 {
				c.fence()
			}
		}
	case "code", "tt", "kbd", "samp":
		if c.pre == 0 && c.code {
			c.inlineCode()
		}
	case "b", "strong":
		if c.strong > 0 {
			if c.strong--; c.strong == 0 {
				c.unsign("**")
			}
		}
	case "i", "em":
		if c.em > 0 {
			if c.em--; c.em == 0 {
				c.unsign("*")
			}
		}
	case "del", "s", "strike":
		if c.struck > 0 {
			if c.struck--; c.struck == 0 {
				c.unsign("~~")
			}
		}
	case "sup", "sub":
		c.small = ""
	case "a":
		c.closeLink()
	case "tr":
		if c.table == 1 {
			c.endRow()
		}
	case "td", "th":
		if c.table == 1 {
			c.closeSigns()
			c.inCell = false
		}
	case "table":
		if c.table == 1 {
			c.endRow()
		}
		c.table = max(c.table-1, 0)
		c.block(2)
	}
}

// finish closes the elements that the page left open.
func (c *converter) finish() {
	if c.pre > 0 {
		c.pre = 0
		c.fence()
	} else if c.code {
		c.inlineCode()
	}
	c.closeSigns()
	if c.table == 1 {
		c.endRow()
	}
}

func (c *converter) closeSigns() {
	c.closeLink()
	if c.strong > 0 {
		c.strong = 0
		c.unsign("**")
	}
	if c.em > 0 {
		c.em = 0
		c.unsign("*")
	}
	if c.struck > 0 {
		c.struck = 0
		c.unsign("~~")
	}
}

func (c *converter) endRow() {
	if c.cells == 0 {
		return
	}
	c.closeSigns()
	c.inCell = false
	c.space = true
	c.raw(strings.Repeat("| ", c.over) + "|")
	c.over = 0
	if c.rows++; c.rows == 1 {
		c.gap = 1
		c.raw("|" + strings.Repeat(" --- |", c.cells))
	}
	c.cells = 0
	c.gap = 1
}

// flat reports whether the text is in a link or a table cell, which can't contain blocks.
func (c *converter) flat() bool { return c.inLink || c.inCell }

func (c *converter) block(n int) {
	switch {
	case c.pre > 0:
	case c.code:
		c.verbatim.WriteByte(' ')
	case c.flat():
		c.space = true
	default:
		c.gap, c.space = max(c.gap, n), false
	}
}

func (c *converter) inList() bool {
	return len(c.open) > 0 && c.open[len(c.open)-1].tag != "blockquote"
}

func (c *converter) push(o container) {
	if len(c.open) < maxOpen {
		c.open = append(c.open, o)
		c.prefix = c.prefixOf(len(c.open))
	}
}

// pop closes the innermost open element of a name. A list item is closed only inside its own list.
func (c *converter) pop(tag string) {
	for i := len(c.open) - 1; i >= 0; i-- {
		t := c.open[i].tag
		if t == tag {
			c.open = c.open[:i]
			c.prefix = c.prefixOf(i)
			if len(c.open) < maxShown {
				c.marks = ""
			}
			return
		}
		if tag == "li" {
			return
		}
	}
}

func (c *converter) prefixOf(n int) string {
	var b strings.Builder
	for _, o := range c.open[:min(n, maxShown)] {
		b.WriteString(o.indent)
	}
	return b.String()
}

// raw writes Markdown, after the pending line ends, marks and signs.
func (c *converter) raw(s string) {
	if s == "" {
		return
	}
	if c.gap > 0 || c.start {
		if !c.start {
			for i := range c.gap {
				c.out.WriteByte('\n')
				if i < c.gap-1 {
					c.out.WriteString(strings.TrimRight(c.linePrefix(), " "))
				}
			}
		}
		c.out.WriteString(c.linePrefix())
		c.out.WriteString(c.marks)
		c.marks, c.last = "", ' '
	} else if c.space && c.last != ' ' {
		c.out.WriteByte(' ')
	} else if c.last == '!' && strings.HasPrefix(c.opened+s, "[") || c.last == '`' && strings.HasPrefix(c.opened+s, "`") {
		c.out.WriteByte(' ') // otherwise it would be an image, or a single piece of code
	}
	c.start, c.gap, c.space = false, 0, false
	c.out.WriteString(c.opened)
	c.opened = ""
	c.out.WriteString(s)
	c.last, _ = utf8.DecodeLastRuneInString(s)
}

func (c *converter) linePrefix() string {
	if c.marks != "" {
		return c.marksAt
	}
	return c.prefix
}

// sign opens emphasis or a link as soon as it has text.
func (c *converter) sign(s string) {
	if c.pre == 0 && !c.code && len(c.opened) < 16 {
		c.opened += s
	}
}

// unsign closes emphasis. Emphasis without text is dropped.
func (c *converter) unsign(s string) {
	if c.pre > 0 || c.code {
		return
	}
	if strings.HasSuffix(c.opened, s) {
		c.opened = strings.TrimSuffix(c.opened, s)
		return
	}
	if c.opened != "" || c.start {
		return
	}
	c.out.WriteString(s)
	c.last = '*'
}

func (c *converter) closeLink() {
	if !c.inLink {
		return
	}
	c.inLink = false
	if i := strings.Index(c.opened, "["); i >= 0 {
		c.opened = c.opened[:i] + c.opened[i+1:]
		return
	}
	c.out.WriteString("](" + c.link + ")")
	c.last = ')'
}

// text writes text with collapsed white space and escaped Markdown signs.
func (c *converter) text(s string) error {
	if c.pre > 0 || c.code {
		if c.verbatim.Len()+len(s) > maxPre {
			s = s[:max(maxPre-c.verbatim.Len(), 0)]
			c.cut = true
		}
		c.verbatim.WriteString(s)
		return nil
	}
	for len(s) > 0 {
		i := strings.IndexFunc(s, blank)
		if i == 0 {
			c.space = true
			s = strings.TrimLeftFunc(s, blank)
			continue
		}
		word := s
		if i > 0 {
			word = s[:i]
		}
		s = s[len(word):]
		last := c.last
		if c.gap > 0 || c.start {
			last = 0
		} else if c.space {
			last = ' '
		}
		if c.small != "" {
			if r, _ := utf8.DecodeRuneInString(word); unicode.IsDigit(last) && unicode.IsDigit(r) {
				c.raw(c.small) // 10 to the power of 5 is not 105
			}
			c.small = ""
		}
		for ; word != ""; last = c.last {
			n := wholeRunes(word, stretch)
			c.raw(escape(word, n, last))
			word = word[n:]
			if err := c.rest(n); err != nil {
				return err
			}
			if c.out.Len() > c.most {
				return errFull
			}
		}
	}
	return nil
}

func blank(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' }

// wholeRunes returns the length of the longest prefix of s that has at most n bytes and cuts no character.
func wholeRunes(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for i := n; i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

// escape returns the first n bytes of a word in a form that Markdown reads as plain text. last is the character
// before them, or 0 at the beginning of a line.
func escape(word string, n int, last rune) string {
	if !strings.ContainsAny(word[:n], "\\`*_[]<#>+-.)|~&=:") {
		return word[:n]
	}
	var b strings.Builder
	line := last == 0
	runes := 0
	digits := true
	for rest := word; len(word)-len(rest) < n; {
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		after, _ := utf8.DecodeRuneInString(rest)
		end := rest == ""
		switch r {
		case '\\', '`', '*', '[', ']', '<', '|', '~':
			b.WriteByte('\\')
		case '_':
			if !letter(last) || end || !letter(after) {
				b.WriteByte('\\')
			}
		case '&':
			if reference(rest) {
				b.WriteByte('\\')
			}
		case '#', '>', '+', '-', '=', ':':
			if line && runes == 0 && (end && r != ':' || r == '>' || after == r && r != ':' || r == ':' && after == '-') {
				b.WriteByte('\\')
			}
		case '.', ')':
			if line && runes > 0 && runes < 10 && digits && end {
				b.WriteByte('\\')
			}
		}
		digits = digits && r >= '0' && r <= '9'
		b.WriteRune(r)
		last = r
		runes++
	}
	return b.String()
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// reference reports whether "&" followed by s begins with a character reference.
func reference(s string) bool {
	i := strings.IndexByte(s[:min(len(s), 40)], ';')
	return i > 0 && !strings.ContainsFunc(s[:i], func(r rune) bool { return r != '#' && (r >= 0x80 || !letter(r)) })
}

// stripped returns an address as browsers read it: without control characters and spaces around it,
// and without line ends and tabs inside.
func stripped(href string) string {
	href = strings.TrimFunc(href, func(r rune) bool { return r <= ' ' })
	return strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(href)
}

// address returns a link's address for Markdown, or "" for addresses without information: scripts,
// data URLs and fragments of the page.
func (c *converter) address(href string) string {
	href = stripped(href)
	for _, scheme := range [...]string{"javascript:", "vbscript:", "data:", "#"} {
		if len(href) >= len(scheme) && strings.EqualFold(href[:len(scheme)], scheme) {
			return ""
		}
	}
	if href != "" && c.base != nil {
		if u, err := c.base.Parse(href); err == nil {
			href = u.String()
		}
	}
	var b strings.Builder
	for i := 0; i < len(href); i++ {
		switch r := href[i]; {
		case r <= ' ', r == 0x7f, strings.IndexByte("()<>\\`|\"", r) >= 0:
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(r)+0x100, 16)[1:]))
		case r == '&' && reference(href[i+1:]):
			b.WriteString("&amp;")
		default:
			b.WriteByte(r)
		}
	}
	return b.String()
}

func languageOf(class string) string {
	for _, f := range strings.Fields(class) {
		for _, p := range []string{"language-", "lang-"} {
			if l, ok := strings.CutPrefix(f, p); ok && !strings.ContainsAny(l, "`\n") {
				return l
			}
		}
	}
	return ""
}

// longest returns the length of the longest run of backquotes in a text.
func longest(s string) int {
	most, now := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			now = 0
			continue
		}
		now++
		most = max(most, now)
	}
	return most
}

func (c *converter) inlineCode() {
	c.code = false
	text := c.verbatim.String()
	c.verbatim.Reset()
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return
	}
	ticks := strings.Repeat("`", longest(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	if c.inCell {
		text = strings.ReplaceAll(text, "|", `\|`)
	}
	c.raw(ticks + text + ticks)
}

// fence writes a code block.
func (c *converter) fence() {
	text := strings.Trim(strings.ReplaceAll(c.verbatim.String(), "\r", ""), "\n")
	c.verbatim.Reset()
	if c.flat() {
		c.code = true
		c.verbatim.WriteString(text)
		c.inlineCode()
		return
	}
	c.gap, c.space = 2, false
	ticks := strings.Repeat("`", max(longest(text)+1, 3))
	c.raw(ticks + c.language)
	c.language = ""
	for line := range strings.SplitSeq(text, "\n") {
		if c.out.Len() > c.most {
			break
		}
		c.out.WriteString("\n" + c.prefix + line)
	}
	c.out.WriteString("\n" + c.prefix + ticks)
	c.gap = 2
}

// unseen reports whether an inline style hides its element from people. Words in it would be for the model
// alone. Styles in sheets are not known here.
func unseen(style string) bool {
	for rule := range strings.SplitSeq(strings.ReplaceAll(style, "!important", ""), ";") {
		name, value, _ := strings.Cut(rule, ":")
		switch name {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		case "opacity", "font-size":
			value = strings.TrimSuffix(strings.TrimPrefix(value, "calc("), ")")
			n, err := strconv.ParseFloat(strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz%"), 64)
			if err == nil && (n == 0 || n < 0 && name == "opacity") { // CSS makes it 0, and ignores a negative size
				return true
			}
		case "content-visibility":
			if value == "hidden" {
				return true
			}
		}
	}
	return false
}
