package markdown

import "strings"

// class groups elements by the way an HTML parser's tree construction treats them. The balancer
// and the last check use only the class and the name of an element.
type class uint8

const (
	phrasing class = iota + 1 // inside a line of text
	flow                      // closes an open <p>
	heading
	paragraph
	listItem // li
	defItem  // dt, dd
	rubyItem // rt, rp
	anchor   // a
	summary  // summary, only first in details
	table    // table
	caption  // caption
	columns  // colgroup
	column   // col
	rows     // thead, tbody, tfoot
	row      // tr
	cell     // td, th

	formulaPart  // math, and its elements that have others in them
	formulaToken // mi, mn, mo, ms, mtext and mspace: only text
)

type element struct {
	class class
	void  bool
	// attrs are the attributes allowed for this element in addition to the global ones.
	attrs string
}

// elementOf returns the description of an allowed element. The list contains everything that a
// page of prose needs. All other elements are refused. No listed element loads, runs, submits
// or embeds anything, or switches to another language.
func elementOf(name string) (element, bool) {
	switch name {
	case "a":
		return element{class: anchor, attrs: " data-href data-fragment data-path data-warning role tabindex "}, true
	case "abbr", "acronym", "b", "bdi", "big", "cite", "code", "dfn", "em", "font", "i", "kbd", "mark", "q", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var":
		return element{class: phrasing}, true
	case "br", "wbr":
		return element{class: phrasing, void: true}, true
	case "del", "ins", "time":
		return element{class: phrasing, attrs: " datetime "}, true
	case "img":
		return element{class: phrasing, void: true, attrs: " alt src data-image data-warning width height "}, true
	case "input":
		return element{class: phrasing, void: true, attrs: " type checked disabled "}, true
	case "rp", "rt":
		return element{class: rubyItem}, true
	case "address", "article", "aside", "blockquote", "center", "div", "dl", "figcaption", "figure", "footer", "header", "hgroup", "main", "menu", "nav", "pre", "section", "ul":
		return element{class: flow}, true
	case "dd", "dt":
		return element{class: defItem}, true
	case "details":
		return element{class: flow, attrs: " open "}, true
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return element{class: heading}, true
	case "hr":
		return element{class: flow, void: true}, true
	case "li":
		return element{class: listItem, attrs: " value "}, true
	case "ol":
		return element{class: flow, attrs: " start reversed type "}, true
	case "p":
		return element{class: paragraph}, true
	case "summary":
		return element{class: summary}, true
	case "table":
		return element{class: table}, true
	case "caption":
		return element{class: caption}, true
	case "colgroup":
		return element{class: columns, attrs: " span "}, true
	case "col":
		return element{class: column, void: true, attrs: " span "}, true
	case "thead", "tbody", "tfoot":
		return element{class: rows}, true
	case "tr":
		return element{class: row}, true
	case "td":
		return element{class: cell, attrs: " colspan rowspan valign "}, true
	case "th":
		return element{class: cell, attrs: " colspan rowspan valign scope abbr "}, true
	}
	return element{}, false
}

// globalAttrs are allowed for every element.
const globalAttrs = " align class dir id lang title aria-label "

// dropped reports whether the content of an element is not prose, and is removed together with
// the tag.
func dropped(name string) bool {
	switch name {
	case "script", "style", "iframe", "noembed", "noframes", "object", "template", "title":
		return true
	}
	return false
}

func attrAllowed(el element, name string) bool {
	if el.class >= formulaPart {
		return name == "class" || hasWord(el.attrs, name)
	}
	return hasWord(globalAttrs, name) || hasWord(el.attrs, name)
}

// hasWord reports whether list contains word, between spaces.
func hasWord(list, word string) bool {
	for {
		i := strings.Index(list, word)
		if i < 0 || word == "" {
			return false
		}
		if i > 0 && list[i-1] == ' ' && i+len(word) < len(list) && list[i+len(word)] == ' ' {
			return true
		}
		list = list[i+1:]
	}
}

// goodValue reports whether an allowed attribute may have this value.
func goodValue(prefix, tag, name, val string) bool {
	switch name {
	case "align":
		return val == "left" || val == "right" || val == "center" || val == "justify"
	case "valign":
		return val == "top" || val == "middle" || val == "bottom" || val == "baseline"
	case "dir":
		return val == "ltr" || val == "rtl" || val == "auto"
	case "lang":
		return goodToken(val, 35, "-")
	case "class":
		return goodClasses(val)
	case "id":
		return strings.HasPrefix(val, prefix) && len(val) > len(prefix) && len(val) <= maxID && !strings.ContainsAny(val, " \t\n")
	case "data-fragment":
		return strings.HasPrefix(val, prefix) && len(val) <= maxID && !strings.ContainsAny(val, " \t\n")
	case "title", "alt", "aria-label", "abbr", "data-warning":
		return true
	case "data-href":
		return goodTarget(val)
	case "data-path":
		return goodPath(val)
	case "data-image":
		return goodImageName(val)
	case "src":
		return goodDataImage(val)
	case "role":
		return val == "link"
	case "tabindex":
		return val == "0"
	case "type":
		if tag == "input" {
			return val == "checkbox"
		}
		return len(val) == 1 && strings.Contains("1aAiI", val)
	case "checked", "disabled", "open", "reversed":
		return val == ""
	case "start", "value":
		return goodNumber(strings.TrimPrefix(val, "-"), 999999999)
	case "colspan", "rowspan", "span":
		return goodNumber(val, 100) && val != "0"
	case "width", "height":
		return goodNumber(strings.TrimSuffix(val, "%"), 4096)
	case "datetime":
		return goodToken(val, 40, "-:.+TZ ")
	case "scope":
		return val == "row" || val == "col" || val == "rowgroup" || val == "colgroup"
	}
	return false
}

const maxID = 200 // bytes of an id, including its prefix

func goodNumber(s string, most int) bool {
	if s == "" || len(s) > 9 {
		return false
	}
	n := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n <= most
}

// goodToken reports whether s has 1 to most bytes, each a letter, a digit or one of more.
func goodToken(s string, most int, more string) bool {
	if s == "" || len(s) > most {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) && strings.IndexByte(more, s[i]) < 0 {
			return false
		}
	}
	return true
}

// goodClasses reports whether all classes in s are allowed. The host's own classes would
// imitate its design, so only the classes of this package are allowed.
func goodClasses(s string) bool {
	for c := range strings.SplitSeq(s, " ") {
		switch {
		case strings.HasPrefix(c, "language-"):
			if !goodLanguage(c[len("language-"):]) {
				return false
			}
		case strings.HasPrefix(c, "hl-"):
			if !goodToken(c[len("hl-"):], 32, "-") {
				return false
			}
		case c == "bailey-tex", c == "bailey-display", strings.HasPrefix(c, "bailey-alert") && hasWord(" bailey-alert bailey-alert-title bailey-alert-note bailey-alert-tip bailey-alert-important bailey-alert-warning bailey-alert-caution ", c), c == "bailey-note", c == "bailey-plain", c == "bailey-target", c == "bailey-footnotes", c == "bailey-backlink":
		default:
			return false
		}
	}
	return true
}

// goodLanguage reports whether s can be the name of a language, in any script.
func goodLanguage(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return !strings.ContainsAny(s, " \t\n<>\"'`&=") && !strings.ContainsFunc(s, silent)
}
