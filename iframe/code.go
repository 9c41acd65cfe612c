package iframe

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// codeText returns the code and its language in the nth <pre> of a block's HTML, counted from 0. A copy button
// copies this text. It comes from the host's own HTML, so a compromised frame can't choose the
// content of the clipboard. Only a <pre><code> that contains nothing but coloured text has such
// a text. Code in a closed <details>, or code laid out in another direction, has none, because
// it differs from the text that the user sees beside the button. Line breaks at the end are
// removed: a shell would run a line that ends in one as soon as it is pasted.
func codeText(block string, n int) (text, lang string, ok bool) {
	z := html.NewTokenizer(strings.NewReader(block))
	for n >= 0 {
		switch z.Next() {
		case html.ErrorToken:
			return "", "", false
		case html.StartTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.Pre {
				n--
			}
		}
	}
	var b strings.Builder
	code := 0 // 1: inside <code>, 2: after it
	for {
		switch z.Next() {
		case html.StartTagToken:
			name, more := z.TagName()
			for more {
				var attribute, value []byte
				switch attribute, value, more = z.TagAttr(); string(attribute) {
				case "dir":
					return "", "", false
				case "class":
					if class, ok := strings.CutPrefix(string(value), "language-"); ok {
						lang = class
					}
				}
			}
			switch {
			case atom.Lookup(name) == atom.Code && code == 0:
				code = 1
			case atom.Lookup(name) == atom.Span && code == 1:
			default:
				return "", "", false
			}
		case html.EndTagToken:
			switch name, _ := z.TagName(); atom.Lookup(name) {
			case atom.Code:
				code = 2
			case atom.Pre:
				return strings.TrimRight(b.String(), "\n"), lang, code == 2
			}
		case html.TextToken:
			t := z.Text()
			if code == 1 {
				b.Write(t)
			} else if strings.TrimSpace(string(t)) != "" {
				return "", "", false
			}
		default:
			return "", "", false
		}
	}
}

// fileName returns the name of the file that code of a language is saved as.
func fileName(lang string) string {
	const longer = " python:py javascript:js typescript:ts rust:rs ruby:rb markdown:md bash:sh shell:sh kotlin:kt csharp:cs haskell:hs powershell:ps1 latex:tex math:tex yaml:yml perl:pl "
	lang = strings.ToLower(lang)
	if _, rest, ok := strings.Cut(longer, " "+lang+":"); ok && lang != "" {
		lang, _, _ = strings.Cut(rest, " ")
	}
	if lang == "" || len(lang) > 8 || strings.Trim(lang, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		lang = "txt"
	}
	return "code." + lang
}

// tableCSV returns the nth table of a block's HTML as CSV (RFC 4180), counted from 0. A spreadsheet would run a cell that
// begins like a formula, so such a cell gets an apostrophe before it, unless it is a number.
func tableCSV(block string, n int) (string, bool) {
	z := html.NewTokenizer(strings.NewReader(block))
	var csv, cell strings.Builder
	depth, cells, in := 0, 0, false
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return "", false
		case html.TextToken:
			if in {
				cell.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			start := kind == html.StartTagToken
			switch atom.Lookup(name) {
			case atom.Table:
				switch {
				case start && n == 0:
					depth++
				case start:
					n--
				case depth > 0:
					if depth--; depth == 0 {
						return csv.String(), true
					}
				}
			case atom.Tr:
				if depth == 1 && start {
					cells = 0
				} else if depth == 1 {
					csv.WriteString("\r\n")
				}
			case atom.Td, atom.Th:
				if depth != 1 {
					continue
				}
				if in = start; start {
					cell.Reset()
					continue
				}
				if cells++; cells > 1 {
					csv.WriteByte(',')
				}
				csv.WriteString(csvCell(cell.String()))
			}
		}
	}
}

func csvCell(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && strings.IndexByte("=+-@", s[0]) >= 0 && strings.Trim(s[1:], "0123456789.,%") != "" {
		s = "'" + s
	}
	if strings.ContainsAny(s, ",\"\n\r") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
