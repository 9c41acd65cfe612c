package web

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// The limits of a conversion. A server chooses the page; the work is in the number of its bytes.
const (
	maxMarkdown = 8 << 20   // bytes of the result; what is beyond is left out, and the text says so
	maxToken    = 1 << 20   // bytes of one tag, comment or text
	maxOpen     = 64        // lists and quotations inside one another; deeper ones are read as their content
	maxShown    = 12        // of these are indented
	maxAddress  = 4 << 10   // bytes of a link's address; a longer one is left out
	maxCells    = 200       // of a table's row
	maxTag      = 64        // bytes of a tag's name
	stretch     = 16 << 10  // bytes between two looks at the clock
	maxPre      = 512 << 10 // bytes of one block of code
)

const leftOut = "\n\n(The rest of the page is left out: it is too long.)"

// markdown is HTML as Markdown. It reads the page once from its beginning to its end, without a tree: the
// time goes with the length of the text, and the page gets its turn between any two tokens. It ends
// with ctx.
func markdown(ctx context.Context, text string) (string, error) {
	return newConverter(ctx, text).markdown()
}

func newConverter(ctx context.Context, text string) *converter {
	c := &converter{ctx: ctx, z: html.NewTokenizer(strings.NewReader(text)), start: true}
	c.z.SetMaxBuf(maxToken)
	return c
}

func (c *converter) markdown() (string, error) {
	err := c.run()
	full := errors.Is(err, errFull) || errors.Is(err, html.ErrBufferExceeded)
	if err != nil && !full {
		return "", err
	}
	c.finish()
	if full {
		c.out.WriteString(leftOut)
	}
	return c.out.String(), nil
}

var errFull = protocol.Errorf(protocol.ErrOutputTooLarge, "web_fetch", "", "the page is too long")

// container is a list, an item of a list, or a quotation.
type container struct {
	tag    string
	indent string // before each line in it
	count  int    // items so far, of a list
}

type converter struct {
	ctx    context.Context
	z      *html.Tokenizer
	out    strings.Builder
	budget jsx.Budget
	work   int
	yields int // how often the clock was looked at; tests count it

	start   bool // nothing is written yet
	gap     int  // line ends due before the next text
	space   bool // a space is due before it
	marks   string
	opened  string // signs of emphasis that wait for their text
	open    []container
	prefix  string
	marksAt string // prefix before the first of marks
	last    rune

	skip       string // the element whose content is left out
	skipped    int    // elements of that name inside it
	strong, em int
	link       string
	inLink     bool
	pre        int
	language   string
	verbatim   strings.Builder // of pre or code
	code       bool
	table      int
	cells      int
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
			return c.ctx.Err()
		}
		if c.work += len(c.z.Raw()) + 64; c.work >= stretch {
			c.work = 0
			c.yields++
			if err := c.budget.Spend(c.ctx); err != nil {
				return context.Cause(c.ctx)
			}
		}
		if c.out.Len() > maxMarkdown {
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
			c.tag(string(name), more, t == html.SelfClosingTagToken)
		case html.EndTagToken:
			name, _ := c.z.TagName()
			if len(name) <= maxTag {
				c.end(string(name))
			}
		}
	}
}

// attributes are those of a tag that matter here.
func (c *converter) attributes(more bool) (href, alt, class string) {
	for range 100 {
		if !more {
			break
		}
		var k, v []byte
		k, v, more = c.z.TagAttr()
		switch string(k) {
		case "href", "src":
			if href == "" && len(v) <= maxAddress {
				href = string(v)
			}
		case "alt":
			alt = string(v[:min(len(v), maxAddress)])
		case "class":
			class = string(v[:min(len(v), 200)])
		}
	}
	return href, alt, class
}

func (c *converter) tag(name string, more, closed bool) {
	if c.skip == "head" && !inHead(name) {
		c.skip = "" // a head that nobody closed ends here
	}
	if c.skip != "" {
		if name == c.skip && !closed {
			c.skipped++
		}
		return
	}
	switch name {
	case "script", "style", "noscript", "template", "svg", "math", "head", "iframe", "object", "select", "textarea", "button", "audio", "video", "canvas", "title":
		if !closed {
			c.skip, c.skipped = name, 0
		}
	case "br":
		if c.pre > 0 || c.code {
			c.verbatim.WriteByte('\n')
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
	case "p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "figure", "figcaption", "address", "form", "fieldset", "details", "summary", "dl", "center":
		c.block(2)
	case "dt", "dd", "legend", "option":
		c.block(1)
	case "ul", "ol", "menu":
		if c.inList() {
			c.block(1)
		} else {
			c.block(2)
		}
		c.push(container{tag: name})
	case "li":
		c.block(1)
		c.pop("li")
		mark := "- "
		for i := len(c.open) - 1; i >= 0; i-- {
			if t := c.open[i].tag; t == "ul" || t == "ol" || t == "menu" {
				if c.open[i].count++; t == "ol" {
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
	case "pre", "listing", "xmp":
		if c.pre++; c.pre == 1 {
			_, _, class := c.attributes(more)
			c.language = languageOf(class)
			c.code = false
			c.verbatim.Reset()
		}
	case "code", "tt", "kbd", "samp":
		switch {
		case c.pre > 0:
			_, _, class := c.attributes(more)
			if c.language == "" && c.verbatim.Len() == 0 {
				c.language = languageOf(class)
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
		href, _, _ := c.attributes(more)
		if c.pre == 0 && !c.code && usable(href) {
			c.link, c.inLink = href, true
			c.sign("[")
		}
	case "img":
		href, alt, _ := c.attributes(more)
		if c.pre > 0 || c.code {
			break
		}
		alt = strings.Join(strings.Fields(alt), " ")
		switch {
		case usable(href) && !strings.HasPrefix(strings.ToLower(href), "data:"):
			c.raw("![" + escape(alt, 'x') + "](" + linkAddress(href) + ")")
		case alt != "":
			c.raw(escape(alt, 'x'))
		}
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
				c.raw("|")
			}
			c.space, c.inCell = true, true
		} else {
			c.space = true
		}
	}
}

func inHead(name string) bool {
	switch name {
	case "head", "title", "meta", "link", "base", "script", "style", "noscript", "template":
		return true
	}
	return false
}

func (c *converter) end(name string) {
	if c.skip != "" {
		if name == c.skip {
			if c.skipped--; c.skipped < 0 {
				c.skip = ""
			}
		} else if name == "html" || name == "body" && c.skip != "head" {
			c.skip = ""
		}
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
	case "p", "div", "section", "article", "header", "footer", "main", "nav", "aside", "figure", "figcaption", "address", "form", "fieldset", "details", "summary", "dl", "center":
		c.block(2)
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
	case "pre", "listing", "xmp":
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

// finish closes what the page left open.
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
}

func (c *converter) endRow() {
	if c.cells == 0 {
		return
	}
	c.closeSigns()
	c.inCell = false
	c.space = true
	c.raw("|")
	if c.rows++; c.rows == 1 {
		c.gap = 1
		c.raw("|" + strings.Repeat(" --- |", c.cells))
	}
	c.cells = 0
	c.gap = 1
}

// flat reports whether the text is in a link or a cell, where no block may begin.
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

// pop closes the innermost element of a name, if nothing that holds it is nearer: an item ends at its list.
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

// raw writes what is Markdown already, behind the line ends, marks and signs that are due.
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

// sign opens emphasis or a link, once there is text in it.
func (c *converter) sign(s string) {
	if c.pre == 0 && !c.code && len(c.opened) < 16 {
		c.opened += s
	}
}

// unsign closes emphasis; one that had no text is forgotten.
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
	c.out.WriteString("](" + linkAddress(c.link) + ")")
	c.last = ')'
}

// text writes text, with its white space made one, and what Markdown would read as a sign escaped.
func (c *converter) text(s string) error {
	if c.pre > 0 || c.code {
		if c.verbatim.Len()+len(s) > maxPre {
			s = s[:max(maxPre-c.verbatim.Len(), 0)]
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
		c.raw(escape(word, last))
		if c.work += len(word); c.work >= stretch {
			c.work = 0
			c.yields++
			if err := c.budget.Spend(c.ctx); err != nil {
				return context.Cause(c.ctx)
			}
			if c.out.Len() > maxMarkdown {
				return errFull
			}
		}
	}
	return nil
}

func blank(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' }

// escape writes a word so that Markdown reads it as text. last is the sign before it, or 0 at the beginning of
// a line.
func escape(word string, last rune) string {
	if !strings.ContainsAny(word, "\\`*_[]<#>+-.)|~") {
		return word
	}
	var b strings.Builder
	line := last == 0
	runes := 0
	digits := true
	for rest := word; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
		after, _ := utf8.DecodeRuneInString(rest)
		end := rest == ""
		switch r {
		case '\\', '`', '*', '[', ']', '<', '|', '~':
			b.WriteByte('\\')
		case '_':
			if !letter(last) || end || !letter(after) {
				b.WriteByte('\\')
			}
		case '#', '>', '+', '-':
			if line && runes == 0 && (end || r == '>' || after == r) {
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

// usable reports whether an address is worth telling: script and anchors in the page are not.
func usable(href string) bool {
	h := strings.TrimSpace(strings.ToLower(href))
	return h != "" && !strings.HasPrefix(h, "javascript:") && !strings.HasPrefix(h, "vbscript:")
}

func linkAddress(href string) string {
	return strings.NewReplacer(" ", "%20", "\n", "", "\r", "", "\t", "", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\\", "%5C").Replace(strings.TrimSpace(href))
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

// longest is the longest run of back quotes in a text.
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
	c.raw(ticks + text + ticks)
}

// fence writes a block of code.
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
		if c.out.Len() > maxMarkdown {
			break
		}
		c.out.WriteString("\n" + c.prefix + line)
	}
	c.out.WriteString("\n" + c.prefix + ticks)
	c.gap = 2
}
