package markdown

import (
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
)

// A drawing of a formula is MathML of a library. cleanMathML writes it again from a list of elements and attributes
// that lay out a formula and nothing else: no links, no actions, no styles, no colours, no HTML.

// maxMathDepth is the nesting depth of a formula's elements.
const maxMathDepth = 60

// maxMathElements is the number of elements of a formula.
const maxMathElements = 3000

// mathClasses are the classes of formulas, which the document's style gives a meaning: alignment of cells, and lines.
const mathClasses = " tml-left tml-right tml-jot tml-gap tml-fbox tml-overline tml-underline "

// cleanMathML returns a formula with the allowed elements and attributes. It returns an error if there are others
// among its elements, or if it is not one formula.
func cleanMathML(s string, display bool) (string, error) {
	z := html.NewTokenizer(strings.NewReader(s))
	w := &sink{code: true}
	var stack []string
	elements, skip, back := 0, 0, 0.0
	ended := false
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			if len(stack) > 0 || !ended || z.Raw() != nil && len(z.Raw()) > 0 {
				return "", errDrawing
			}
			return w.String(), nil
		case html.TextToken:
			text := z.Text()
			switch {
			case skip > 0, isBlank(text) && (len(stack) == 0 || !token(stack[len(stack)-1])):
			case len(stack) == 0 || !token(stack[len(stack)-1]):
				return "", errDrawing
			default:
				w.escape([]byte(strings.ToValidUTF8(string(text), replacement)))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := string(name)
			if tag == "annotation" || tag == "annotation-xml" { // the source
				if kind == html.StartTagToken {
					skip++
				}
				continue
			}
			if skip > 0 {
				continue
			}
			el, ok := formulaElement(tag)
			if elements++; !ok || el.class != formulaPart && el.class != formulaToken || ended || elements > maxMathElements || len(stack) >= maxMathDepth ||
				(len(stack) == 0) != (tag == "math") || len(stack) > 0 && token(stack[len(stack)-1]) {
				return "", errDrawing
			}
			w.WriteString("<" + tag)
			if tag == "math" && display {
				w.WriteString(` display="block"`)
			}
			seen := " display "
			var classes []string
			for more {
				var k, v []byte
				k, v, more = z.TagAttr()
				name, val := string(k), strings.TrimSpace(string(v))
				switch name {
				case "class":
					for c := range strings.FieldsSeq(val) {
						if hasWord(mathClasses, c) {
							classes = append(classes, c)
						}
					}
				case "style": // the few that mean one of the classes
					switch {
					case tag == "mtd" && (strings.Contains(val, "padding-left:1em") || strings.Contains(val, "padding-left:2em")):
						classes = append(classes, "tml-gap")
					case strings.HasPrefix(val, "padding:3pt;border:1px solid;"):
						classes = append(classes, "tml-fbox")
					}
				default:
					if hasWord(seen, name) || !attrAllowed(el, name) || !goodFormulaValue(name, val) {
						continue
					}
					if n := ems(val); n < 0 {
						if back -= n; back > maxBack {
							continue
						}
					}
					seen += name + " "
					w.attr(name, val)
				}
			}
			if len(classes) > 0 {
				w.attr("class", strings.Join(classes, " "))
			}
			w.WriteByte('>')
			if kind == html.SelfClosingTagToken {
				w.WriteString("</" + tag + ">")
				ended = ended || len(stack) == 0
				continue
			}
			stack = append(stack, tag)
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := string(name)
			if tag == "annotation" || tag == "annotation-xml" {
				if skip--; skip < 0 {
					return "", errDrawing
				}
				continue
			}
			if skip > 0 {
				continue
			}
			if len(stack) == 0 || stack[len(stack)-1] != tag {
				return "", errDrawing
			}
			stack = stack[:len(stack)-1]
			w.WriteString("</" + tag + ">")
			ended = len(stack) == 0
		default:
			return "", errDrawing
		}
	}
}

// maxBack is how far the spaces of a formula may lead back, in em, all together. Otherwise it could cover the text before it.
const maxBack = 2.0

func token(tag string) bool {
	el, _ := formulaElement(tag)
	return el.class == formulaToken
}

// goodLength reports whether s is a length of MathML from least to most, in em.
func goodLength(s string, least, most float64) bool {
	if len(s) > 12 || strings.TrimLeft(s, "-.0123456789abcdefghijklmnopqrstuvwxyz%") != "" {
		return false
	}
	number, unit := s, ""
	if i := strings.IndexFunc(s, func(r rune) bool { return r >= 'a' || r == '%' }); i >= 0 {
		number, unit = s[:i], s[i:]
	}
	switch unit {
	case "em", "ex", "px", "pt", "%":
	case "":
		if number != "0" {
			return false
		}
	default:
		return false
	}
	digits := strings.TrimPrefix(number, "-")
	if digits == "" || strings.Trim(digits, "0123456789.") != "" || strings.Count(digits, ".") > 1 || digits == "." {
		return false
	}
	n := ems(s)
	return n >= least && n <= most
}

// ems returns a length in em, of which an ex is a half, and 0 for any other text.
func ems(s string) float64 {
	n, frac, sign, i := 0.0, 0.0, 1.0, 0
	if strings.HasPrefix(s, "-") {
		sign, i = -1, 1
	}
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case isDigit(c) && frac == 0:
			n = n*10 + float64(c-'0')
		case isDigit(c):
			n += float64(c-'0') * frac
			frac /= 10
		case c == '.' && frac == 0:
			frac = .1
		default:
			switch s[i:] {
			case "em":
				return sign * n
			case "ex":
				return sign * n / 2
			case "px":
				return sign * n / 16
			case "pt":
				return sign * n / 12
			case "%":
				return sign * n / 100
			}
			return 0
		}
	}
	return 0
}

// formulaElement returns the description of an element of a formula. No listed element loads, leads anywhere or has HTML in it.
func formulaElement(name string) (element, bool) {
	switch name {
	case "math":
		return element{class: formulaPart, attrs: " display "}, true
	case "mrow", "msqrt", "mroot", "mphantom", "msub", "msup", "msubsup", "mmultiscripts", "mprescripts", "none", "mtr", "semantics", "merror", "mpadded":
		return element{class: formulaPart}, true
	case "mstyle":
		return element{class: formulaPart, attrs: " displaystyle scriptlevel "}, true
	case "mfrac":
		return element{class: formulaPart, attrs: " linethickness displaystyle "}, true
	case "munder", "mover", "munderover":
		return element{class: formulaPart, attrs: " accent accentunder displaystyle "}, true
	case "menclose":
		return element{class: formulaPart, attrs: " notation "}, true
	case "mtable":
		return element{class: formulaPart, attrs: " columnalign rowspacing columnspacing columnlines rowlines displaystyle "}, true
	case "mtd":
		return element{class: formulaPart, attrs: " columnspan rowspan columnalign "}, true
	case "mi", "mn", "ms", "mtext":
		return element{class: formulaToken, attrs: " mathvariant "}, true
	case "mo":
		return element{class: formulaToken, attrs: " mathvariant form fence separator lspace rspace stretchy symmetric minsize maxsize largeop movablelimits accent "}, true
	case "mspace":
		return element{class: formulaToken, attrs: " width "}, true
	}
	return element{}, false
}

// goodFormulaValue reports whether an attribute of a formula may have this value.
func goodFormulaValue(name, val string) bool {
	switch name {
	case "class":
		for c := range strings.SplitSeq(val, " ") {
			if !hasWord(mathClasses, c) {
				return false
			}
		}
		return true
	case "width":
		return goodLength(val, -.3, 4)
	case "display":
		return val == "block"
	case "displaystyle", "fence", "separator", "stretchy", "symmetric", "largeop", "movablelimits", "accent", "accentunder":
		return val == "true" || val == "false"
	case "mathvariant":
		return goodToken(val, 30, "-")
	case "form":
		return val == "prefix" || val == "infix" || val == "postfix"
	case "scriptlevel":
		return goodNumber(strings.TrimLeft(val, "+-"), 3) && len(val) < 3
	case "lspace", "rspace":
		return goodLength(val, -.3, 2)
	case "minsize", "maxsize":
		return goodLength(val, 0, 5)
	case "linethickness":
		return goodLength(val, 0, .5)
	case "notation", "columnalign", "columnlines", "rowlines":
		return goodToken(val, 100, " ")
	case "rowspacing", "columnspacing":
		for part := range strings.SplitSeq(val, " ") {
			if len(val) > 200 || !goodLength(part, 0, 4) {
				return false
			}
		}
		return true
	case "columnspan", "rowspan":
		return goodNumber(val, 20) && val != "0"
	}
	return false
}

// allowFormulas adds the elements of formulas to our policy, listed independently.
func allowFormulas(p *bluemonday.Policy) {
	number := regexp.MustCompile(`^[0-9]{1,2}$`)
	formulas := strings.Fields("math mrow msqrt mroot mphantom msub msup msubsup mmultiscripts mprescripts none mtr semantics merror mpadded mstyle mfrac munder mover munderover menclose mtable mtd mi mn ms mtext mo mspace")
	p.AllowElements(formulas...)
	p.AllowNoAttrs().OnElements(formulas...)
	length := regexp.MustCompile(`^-?[0-9.]{1,9}(em|ex|px|pt|%)?( -?[0-9.]{1,9}(em|ex|px|pt|%)?)*$`)
	p.AllowAttrs("display").Matching(regexp.MustCompile("^block$")).OnElements("math")
	p.AllowAttrs(strings.Fields("displaystyle fence separator stretchy symmetric largeop movablelimits accent accentunder")...).Matching(regexp.MustCompile("^(true|false)$")).OnElements(formulas...)
	p.AllowAttrs(strings.Fields("mathvariant form scriptlevel notation columnalign columnlines rowlines")...).Matching(regexp.MustCompile(`^[a-zA-Z0-9 +-]+$`)).OnElements(formulas...)
	p.AllowAttrs(strings.Fields("lspace rspace minsize maxsize linethickness rowspacing columnspacing")...).Matching(length).OnElements(formulas...)
	p.AllowAttrs("width").Matching(length).OnElements("mspace")
	p.AllowAttrs("columnspan", "rowspan").Matching(number).OnElements("mtd")
}
