package markdown

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// A drawing of a diagram is SVG of a library. cleanSVG writes it again from a list of shapes and text: no scripts, no
// styles, no links, no images, nothing that refers to another element but the marker of a line. The document shows it as
// an image, in which a browser runs and loads nothing.

const (
	maxSVG         = 128 << 10 // bytes of a diagram of a renderer
	maxSVGElements = 3000
	maxSVGDepth    = 30
	maxSVGSize     = 4096 // CSS pixels of a diagram's width and height
	maxSVGNumber   = 1e5
	maxSVGWords    = 300 // bytes of its alternative text
)

// svgStyle gives diagrams the colours of a document, and black on white on paper.
const svgStyle = `<style>svg{--bailey-text:#1d2127;--bailey-muted:#59616c;--bailey-border:#aab1bc;--bailey-surface:#f4f6f8;--bailey-background:#fff;` +
	`color:var(--bailey-text);font-family:system-ui,sans-serif}` +
	`@media(prefers-color-scheme:dark){svg{--bailey-text:#e4e6ea;--bailey-muted:#a3abb6;--bailey-border:#59616c;--bailey-surface:#1c2127;--bailey-background:#14171b}}</style>`

// diagram is a clean SVG.
type diagram struct {
	svg           string
	width, height int
	words         string // its texts
}

// cleanSVG returns a diagram with the allowed elements and attributes. It returns an error if there are others among its
// elements, or if it is not one diagram.
func cleanSVG(s string) (d diagram, err error) {
	z := html.NewTokenizer(strings.NewReader(s))
	w := &sink{code: true}
	var stack, words []string
	elements, skip, size := 0, "", 0
	ended := false
	for {
		kind := z.Next()
		name, more := []byte(nil), false
		if kind == html.StartTagToken || kind == html.SelfClosingTagToken || kind == html.EndTagToken {
			name, more = z.TagName()
		}
		tag := string(name)
		if skip != "" { // the content of an element that is left out
			if kind == html.ErrorToken {
				return d, errDrawing
			}
			if kind == html.EndTagToken && tag == skip {
				skip = ""
			}
			continue
		}
		switch kind {
		case html.ErrorToken:
			if len(stack) > 0 || !ended || len(z.Raw()) > 0 {
				return d, errDrawing
			}
			d.svg, d.words = w.String(), strings.Join(words, ", ")
			return d, nil
		case html.TextToken:
			text := strings.ToValidUTF8(string(z.Text()), replacement)
			if strings.TrimSpace(text) == "" {
				continue
			}
			if len(stack) == 0 || stack[len(stack)-1] != "text" && stack[len(stack)-1] != "tspan" {
				return d, errDrawing
			}
			w.escapeString(text)
			if text = strings.Join(strings.Fields(text), " "); size+len(text) <= maxSVGWords {
				size += len(text) + 2
				words = append(words, text)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			switch tag {
			case "title", "desc", "style", "metadata":
				if skip = tag; kind == html.SelfClosingTagToken {
					skip = ""
				}
				continue
			}
			if elements++; !hasWord(svgElements, tag) || ended || elements > maxSVGElements || len(stack) >= maxSVGDepth || (len(stack) == 0) != (tag == "svg") {
				return d, errDrawing
			}
			if top := len(stack) - 1; top >= 0 && (stack[top] == "text" || stack[top] == "tspan") != (tag == "tspan") {
				return d, errDrawing
			}
			w.WriteString("<" + tag)
			seen := " "
			attributes := map[string]string{}
			for more {
				var k, v []byte
				k, v, more = z.TagAttr()
				name := string(k)
				if hasWord(seen, name) {
					continue
				}
				seen += name + " "
				if val := svgValue(name, strings.TrimSpace(string(v))); val != "" {
					attributes[name] = val
					if tag != "svg" {
						w.attr(svgName(name), val)
					}
				}
			}
			if tag == "svg" {
				if d.width, d.height, err = svgSize(attributes); err != nil {
					return d, err
				}
				w.WriteString(` xmlns="http://www.w3.org/2000/svg" viewBox="` + attributes["viewbox"] + `" width="` + strconv.Itoa(d.width) + `" height="` + strconv.Itoa(d.height) + `">` + svgStyle)
			} else {
				w.WriteByte('>')
			}
			if kind == html.SelfClosingTagToken {
				w.WriteString("</" + tag + ">")
				ended = ended || len(stack) == 0
				continue
			}
			stack = append(stack, tag)
		case html.EndTagToken:
			if len(stack) == 0 || stack[len(stack)-1] != tag {
				return d, errDrawing
			}
			stack = stack[:len(stack)-1]
			w.WriteString("</" + tag + ">")
			ended = len(stack) == 0
		default:
			return d, errDrawing
		}
	}
}

const svgElements = " svg g defs marker path polygon polyline line rect circle ellipse text tspan "

// svgName returns the name of an attribute, which a tokenizer of HTML writes in lower case.
func svgName(name string) string {
	switch name {
	case "viewbox":
		return "viewBox"
	case "refx":
		return "refX"
	case "refy":
		return "refY"
	case "markerwidth":
		return "markerWidth"
	case "markerheight":
		return "markerHeight"
	case "markerunits":
		return "markerUnits"
	}
	return name
}

// svgSize returns the size of a diagram as it is shown. Both sides shrink if one is too large.
func svgSize(attributes map[string]string) (width, height int, err error) {
	box := strings.Fields(attributes["viewbox"])
	if len(box) != 4 {
		return 0, 0, errDrawing
	}
	w, _ := strconv.ParseFloat(box[2], 64) // svgValue wrote them
	h, _ := strconv.ParseFloat(box[3], 64)
	if w < 1 || h < 1 || w/h > 1000 || h/w > 1000 {
		return 0, 0, errDrawing
	}
	if most := max(w, h); most > maxSVGSize {
		w, h = w*maxSVGSize/most, h*maxSVGSize/most
	}
	return max(1, int(math.Round(w))), max(1, int(math.Round(h))), nil
}

// svgValue returns the value of an attribute written again, or "" if the attribute is left out.
func svgValue(name, val string) string {
	switch name {
	case "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "dx", "dy", "width", "height", "stroke-width", "font-size", "refx", "refy",
		"markerwidth", "markerheight", "opacity", "fill-opacity", "stroke-opacity":
		if number, ok := strings.CutSuffix(val, "em"); ok && (name == "dx" || name == "dy") {
			if n := svgNumber(number); n != "" {
				return n + "em"
			}
			return ""
		}
		return svgNumber(strings.TrimSuffix(val, "px"))
	case "points", "viewbox", "stroke-dasharray":
		var list []string
		for part := range strings.FieldsFuncSeq(val, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
			n := svgNumber(part)
			if n == "" {
				return ""
			}
			list = append(list, n)
		}
		return strings.Join(list, " ")
	case "d":
		if strings.Trim(val, "MmLlHhVvCcSsQqTtAaZz0123456789.,+- \n\te") != "" {
			return ""
		}
		return val
	case "fill", "stroke":
		return svgColour(val)
	case "text-anchor":
		return oneOf(val, " start middle end ")
	case "font-style":
		return oneOf(val, " normal italic ")
	case "font-weight":
		return oneOf(val, " normal bold 100 200 300 400 500 600 700 800 900 ")
	case "text-decoration":
		return oneOf(val, " underline line-through ")
	case "dominant-baseline":
		return oneOf(val, " auto middle central hanging ")
	case "stroke-linecap", "stroke-linejoin":
		return oneOf(val, " butt round square miter bevel ")
	case "orient":
		if val := oneOf(val, " auto auto-start-reverse "); val != "" {
			return val
		}
		return svgNumber(val)
	case "markerunits":
		return oneOf(val, " strokeWidth userSpaceOnUse ")
	case "id":
		if goodToken(val, 40, "-_") {
			return val
		}
	case "marker-start", "marker-mid", "marker-end":
		if id, ok := strings.CutPrefix(val, "url(#"); ok && goodToken(strings.TrimSuffix(id, ")"), 40, "-_") && strings.HasSuffix(id, ")") {
			return val
		}
	case "transform":
		if svgTransform(val) {
			return val
		}
	}
	return ""
}

// svgTransform reports whether s is a list of translations, rotations and scales.
func svgTransform(s string) bool {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		name, rest, ok := strings.Cut(s, "(")
		args, after, ok2 := strings.Cut(rest, ")")
		if !ok || !ok2 || !hasWord(" translate rotate scale ", name) || svgValue("points", args) == "" {
			return false
		}
		s = after
	}
	return true
}

func oneOf(val, list string) string {
	if hasWord(list, val) {
		return val
	}
	return ""
}

// svgNumber returns a number with at most two decimals, or "" if s is none, or is too large.
func svgNumber(s string) string {
	if s == "" || len(s) > 30 || strings.Trim(s, "0123456789.-") != "" {
		return ""
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(n) > maxSVGNumber {
		return ""
	}
	n = math.Round(n*100) / 100
	if n == 0 {
		return "0" // and not -0
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// svgColour returns a colour: none, one in hexadecimal digits, or one of the document.
func svgColour(s string) string {
	if hex, ok := strings.CutPrefix(s, "#"); ok && (len(hex) == 3 || len(hex) == 6) && strings.Trim(hex, "0123456789abcdefABCDEF") == "" {
		return s
	}
	return oneOf(s, " none currentColor var(--bailey-text) var(--bailey-muted) var(--bailey-border) var(--bailey-surface) var(--bailey-background) ")
}

const svgData = "data:image/svg+xml;base64,"

// picture returns a diagram as it is kept.
func (d diagram) picture() *picture {
	return &picture{image: svgData + base64.StdEncoding.EncodeToString([]byte(d.svg)), width: d.width, height: d.height, words: d.words}
}

// goodSVG reports whether s, the value of src, is a diagram as this package writes it.
func goodSVG(s string) bool {
	body, ok := strings.CutPrefix(s, svgData)
	if !ok {
		return false
	}
	svg, err := base64.StdEncoding.Strict().DecodeString(body)
	if err != nil {
		return false
	}
	d, err := cleanSVG(string(svg))
	return err == nil && d.svg == string(svg)
}
