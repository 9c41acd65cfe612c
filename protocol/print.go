package protocol

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	printDepth   = 8
	printDefault = 10_000
)

// PrintValue returns a value from code as text for users, at most most bytes long, or 10,000 if
// most is 0 or less. It accepts any value and never fails. It calls no method of the value, except
// for the time of a date. Text over the limit, and values nested deeper than 8, end with "…". A
// string at the top is written without quotes. Characters that do not print, or that turn the
// direction of text, become escapes such as \u202e. Other values look like JavaScript: {a: 1, b:
// [true, 2n]}.
func PrintValue(v any, most int) string {
	if most <= 0 {
		most = printDefault
	}
	p := printer{left: most}
	if s, ok := v.(string); ok {
		p.text(s, false)
	} else {
		p.value(v, 0)
	}
	return p.String()
}

// Text returns the row as a console shows it: its arguments as [PrintValue] writes them, separated
// by spaces, at most most bytes long, or 10,000 if most is 0 or less.
func (r ConsoleRow) Text(most int) string {
	if most <= 0 {
		most = printDefault
	}
	p := printer{left: most}
	for i, v := range r.Args {
		if i > 0 {
			p.put(" ")
		}
		if s, ok := v.(string); ok {
			p.text(s, false)
		} else {
			p.value(v, 0)
		}
	}
	return p.String()
}

// printer writes text until its limit of bytes is reached.
type printer struct {
	strings.Builder
	left int
	full bool
}

// put writes s. If there is no room, it writes "…" and ignores all later text.
func (p *printer) put(s string) {
	if p.full {
		return
	}
	if len(s) > p.left-len("…") && !(len(s) <= p.left && s == "…") {
		p.full = true
		if p.left >= len("…") {
			p.WriteString("…")
		}
		return
	}
	p.left -= len(s)
	p.WriteString(s)
}

// text writes s with escapes. A string inside another value is quoted.
func (p *printer) text(s string, quoted bool) {
	if quoted {
		p.put(`"`)
	}
	for len(s) > 0 && !p.full {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			p.put(fmt.Sprintf(`\x%02x`, s[0]))
		case quoted && (r == '"' || r == '\\'):
			p.put(`\` + s[:size])
		case quoted && r == '\n':
			p.put(`\n`)
		case quoted && r == '\t':
			p.put(`\t`)
		case shows(r):
			p.put(s[:size])
		case r > 0xffff:
			p.put(fmt.Sprintf(`\u{%x}`, r))
		default:
			p.put(fmt.Sprintf(`\u%04x`, r))
		}
		s = s[size:]
	}
	if quoted {
		p.put(`"`)
	}
}

// shows reports whether r may be shown to users as it is. The two joiners are shown, because
// letters and emoji are made with them.
func shows(r rune) bool {
	switch r {
	case '\n', '\t', 0x200c, 0x200d:
		return true
	case 0x2028, 0x2029, 0x115f, 0x1160, 0x3164, 0xffa0: // line separators, and letters that are blank
		return false
	}
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Variation_Selector, r) || 0xfe00 <= r && r <= 0xfe0f
}

func (p *printer) value(v any, depth int) {
	if p.full {
		return
	}
	if depth > printDepth {
		p.put("…")
		return
	}
	switch v := v.(type) {
	case nil:
		p.put("null")
	case Undefined:
		p.put("undefined")
	case InvalidDate:
		p.put("Invalid Date")
	case bool:
		p.put(strconv.FormatBool(v))
	case float64:
		p.number(v)
	case float32:
		p.number(float64(v))
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		p.put(fmt.Sprintf("%d", v))
	case BigInt:
		p.text(string(v), false)
		p.put("n")
	case string:
		p.text(v, true)
	case time.Time:
		p.put(v.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	case []byte:
		p.put("Uint8Array(" + strconv.Itoa(len(v)) + ")")
	case *TypedArray:
		if v == nil || v.Kind.Size() == 0 {
			p.put("bytes")
			return
		}
		p.put(string(v.Kind) + "(" + strconv.Itoa(len(v.Data)/v.Kind.Size()) + ")")
	case *ErrorValue:
		if v == nil {
			p.put("null")
			return
		}
		if v.Name != "" {
			p.text(v.Name, false)
			p.put(": ")
		}
		p.text(v.Message, false)
	case []any:
		p.list("[", v, "]", depth)
	case Set:
		p.list("Set {", v, "}", depth)
	case *Map:
		if v == nil {
			p.put("null")
			return
		}
		p.put("Map {")
		for i, e := range v.Entries {
			p.comma(i)
			p.value(e.Key, depth+1)
			p.put(" => ")
			p.value(e.Value, depth+1)
			if p.full {
				return
			}
		}
		p.put("}")
	case map[string]any:
		p.object(v, depth)
	default:
		p.put(fmt.Sprintf("[%T]", v))
	}
}

func (p *printer) comma(i int) {
	if i > 0 {
		p.put(", ")
	}
}

func (p *printer) list(open string, list []any, end string, depth int) {
	p.put(open)
	for i, v := range list {
		p.comma(i)
		p.value(v, depth+1)
		if p.full {
			return
		}
	}
	p.put(end)
}

func (p *printer) object(m map[string]any, depth int) {
	p.put("{")
	for i, k := range slices.Sorted(maps.Keys(m)) {
		p.comma(i)
		if isWord(k) {
			p.put(k)
		} else {
			p.text(k, true)
		}
		p.put(": ")
		p.value(m[k], depth+1)
		if p.full {
			return
		}
	}
	p.put("}")
}

func isWord(s string) bool {
	for i, r := range s {
		if r != '_' && r != '$' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

func (p *printer) number(f float64) {
	switch {
	case math.IsNaN(f):
		p.put("NaN")
	case math.IsInf(f, 1):
		p.put("Infinity")
	case math.IsInf(f, -1):
		p.put("-Infinity")
	case f == 0 && math.Signbit(f):
		p.put("-0")
	case math.Abs(f) >= 1e21 || f != 0 && math.Abs(f) < 1e-6:
		p.put(strconv.FormatFloat(f, 'e', -1, 64))
	default:
		p.put(strconv.FormatFloat(f, 'f', -1, 64))
	}
}
