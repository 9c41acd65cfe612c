package iframe

import (
	"strings"
	"unicode"
	"unicode/utf8"

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

// fileName returns the name of the file that code of a language is saved as. The text chooses the language, so only
// endings of source code and data are taken from it. A file that a system runs when it is opened, such as code.bat, is
// saved as code.txt.
func fileName(lang string) string {
	const longer = " python:py javascript:js typescript:ts rust:rs ruby:rb markdown:md bash:sh shell:sh zsh:sh kotlin:kt csharp:cs haskell:hs powershell:ps1 latex:tex math:tex yaml:yml perl:pl " +
		"golang:go c++:cpp c#:cs f#:fs fsharp:fs elixir:ex erlang:erl clojure:clj ocaml:ml protobuf:proto graphql:gql objectivec:m matlab:m julia:jl mermaid:mmd makefile:mk jsonc:json "
	const known = " awk c cc clj cmake cpp cs css csv dart diff elm erl ex fs go gql groovy h hpp hs html ini java jl js json jsx kt less lisp lua m md mk ml mmd mjs nix patch php pl proto ps1 py r rb rs scala scss sh " +
		"sql svelte svg swift tex toml ts tsv tsx vim vue xml yml zig "
	lang = strings.ToLower(lang)
	if strings.ContainsAny(lang, " :") {
		return "code.txt"
	}
	if _, rest, ok := strings.Cut(longer, " "+lang+":"); ok {
		lang, _, _ = strings.Cut(rest, " ")
	}
	if lang == "" || !strings.Contains(known, " "+lang+" ") {
		lang = "txt"
	}
	return "code." + lang
}

// tableCSV returns the nth table of a block's HTML as CSV (RFC 4180), counted from 0. A spreadsheet would run a cell that
// begins like a formula, so such a cell gets an apostrophe before it, unless it is a number. A table with a part that can be
// closed has no CSV, because the CSV would differ from the table that the user sees.
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
			case atom.Details:
				if depth > 0 {
					return "", false
				}
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
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
	if formula(s) && (s[0] >= utf8.RuneSelf || strings.Trim(s[1:], "0123456789.,%") != "") {
		s = "'" + s
	}
	// In some countries a semicolon separates cells, and pasted text a tab, and quotes within a cell do not hold it together then.
	for i := 0; i < len(s); i++ {
		if rest := strings.TrimLeft(s[i+1:], " \"'"); (s[i] == ';' || s[i] == '\t') && formula(rest) {
			s = s[:i+1] + "'" + rest
		}
	}
	if strings.ContainsAny(s, ",;\t\"\n\r") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// formula reports whether a spreadsheet takes a cell for a formula: it begins with = + - or @, also in their wide forms.
func formula(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("=+-@＝＋－＠", r) && s != ""
}
