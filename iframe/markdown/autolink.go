package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// autoLinkParser finds the extended autolinks of GFM: web addresses with a scheme or www., and
// mail addresses. goldmark's own parser examines every word with regular expressions, which
// costs as much as the rest of parsing. This one examines only the text around a : . or @.
type autoLinkParser struct{}

func (autoLinkParser) Trigger() []byte { return []byte{':', '.', '@'} }

func (autoLinkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if pc.IsInLinkLabel() {
		return nil
	}
	line, seg := block.PeekLine()
	src := block.Source()
	at := seg.Start
	if seg.Padding > 0 {
		return nil
	}
	switch line[0] {
	case ':':
		if !bytes.HasPrefix(line, []byte("://")) {
			return nil
		}
		for _, scheme := range [...]string{"https", "http", "ftp"} {
			if from := at - len(scheme); startsWord(src, from, parent, scheme) {
				end := webEnd(line, 3)
				if end == 0 {
					return nil
				}
				return takeLink(parent, block, pc, from, at, end, ast.AutoLinkURL, nil)
			}
		}
	case '.':
		if from := at - 3; startsWord(src, from, parent, "www") {
			if end := webEnd(line, 1); end > 0 {
				return takeLink(parent, block, pc, from, at, end, ast.AutoLinkURL, []byte("http"))
			}
		}
	case '@':
		from := at
		for from > 0 && at-from < 64 && isLocal(src[from-1]) {
			from--
		}
		if from == at || !boundary(src, from) {
			return nil
		}
		if end := mailEnd(line); end > 0 {
			return takeLink(parent, block, pc, from, at, end, ast.AutoLinkEmail, nil)
		}
	}
	return nil
}

// startsWord reports whether src has word at from, at the start of a word, and completely
// inside the text node that was read last.
func startsWord(src []byte, from int, parent ast.Node, word string) bool {
	if from < 0 || from+len(word) > len(src) || string(src[from:from+len(word)]) != word || !boundary(src, from) {
		return false
	}
	t, ok := parent.LastChild().(*ast.Text)
	return ok && t.Segment.Start <= from && t.Segment.Stop == from+len(word)
}

// boundary reports whether an autolink may begin at i: at the start of the text, or after a
// blank or one of * _ ~ and (.
func boundary(src []byte, i int) bool {
	if i == 0 {
		return true
	}
	switch src[i-1] {
	case ' ', '\t', '\n', '*', '_', '~', '(':
		return true
	}
	return false
}

func isLocal(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '.' || c == '-' || c == '_' || c == '+'
}

// webEnd returns the end of the address whose domain begins at s[i:], or 0 if there is no
// domain. An address ends at a blank or <, without the punctuation that ends a sentence.
func webEnd(s []byte, i int) int {
	from, dots := i, 0
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' {
			dots++
		} else if !isLetter(c) && !isDigit(c) && c != '-' && c != '_' && c < 0x80 {
			break
		}
	}
	domain := bytes.TrimRight(s[from:i], ".-_")
	if len(domain) == 0 || dots == 0 || bytes.IndexByte(domain, '.') < 0 && from == 3 {
		return 0
	}
	last := domain
	if k := bytes.LastIndexByte(domain, '.'); k >= 0 {
		last = domain[k+1:]
		if bytes.IndexByte(domain[bytes.LastIndexByte(domain[:k], '.')+1:], '_') >= 0 {
			return 0 // no underscore in the last two parts
		}
	}
	if len(last) == 0 {
		return 0
	}
	for i < len(s) && s[i] > ' ' && s[i] != '<' {
		i++
	}
	return trimLink(s, i)
}

// trimLink returns the end of a link without the characters that more likely belong to the
// sentence.
func trimLink(s []byte, end int) int {
	open := bytes.Count(s[:end], []byte{'('})
	shut := bytes.Count(s[:end], []byte{')'})
	for end > 0 {
		switch s[end-1] {
		case '?', '!', '.', ',', ':', '*', '_', '~':
			end--
			continue
		case ')':
			if shut > open {
				shut--
				end--
				continue
			}
		case ';':
			j := end - 2
			for j > 0 && (isLetter(s[j]) || isDigit(s[j])) {
				j--
			}
			if j >= 0 && j < end-2 && s[j] == '&' {
				end = j
				continue
			}
		}
		break
	}
	return end
}

// mailEnd returns the end of the address whose domain begins after the @ at s[0], or 0.
func mailEnd(s []byte) int {
	i, dots := 1, 0
	for ; i < len(s) && i < 256 && (isLocal(s[i]) && s[i] != '+'); i++ {
		if s[i] == '.' {
			if i+1 == len(s) || !isLetter(s[i+1]) && !isDigit(s[i+1]) {
				break
			}
			dots++
		}
	}
	if dots == 0 || s[i-1] == '-' || s[i-1] == '_' || s[1] == '.' {
		return 0
	}
	return i
}

// takeLink makes a link of the text from from to at, which is already in text nodes, and of the
// next n bytes. Underscores in it were parsed as delimiters.
func takeLink(parent ast.Node, block text.Reader, pc parser.Context, from, at, n int, kind ast.AutoLinkType, protocol []byte) ast.Node {
	pos := at
	for last := parent.LastChild(); pos > from; last = last.PreviousSibling() {
		switch t := last.(type) {
		case *ast.Text:
			if t.Segment.Stop != pos || t.SoftLineBreak() || t.HardLineBreak() || t.Segment.Padding > 0 {
				return nil
			}
			pos = max(t.Segment.Start, from)
		case *parser.Delimiter:
			if t.Segment.Stop != pos || t.Segment.Start < from {
				return nil
			}
			pos = t.Segment.Start
		default:
			return nil
		}
	}
	for last := parent.LastChild(); last != nil; {
		d, ok := last.(*parser.Delimiter)
		if t, isText := last.(*ast.Text); isText && t.Segment.Start <= from {
			break
		}
		before := last.PreviousSibling()
		if ok {
			if d.Segment.Stop <= from {
				break
			}
			pc.RemoveDelimiter(d) // becomes text
		}
		last = before
	}
	for pos = at; pos > from; {
		t := parent.LastChild().(*ast.Text)
		pos = t.Segment.Start
		if pos >= from {
			parent.RemoveChild(parent, t)
		} else {
			t.Segment = t.Segment.WithStop(from)
		}
	}
	block.Advance(n)
	link := ast.NewAutoLink(kind, ast.NewTextSegment(text.NewSegment(from, at+n)))
	link.Protocol = protocol
	return link
}
