package markdown

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// plain writes text as plain text, below a note with the reason.
func (w *sink) plain(text []byte, limit string, l *Limits) {
	kind, why := Limit, ""
	switch limit {
	case "Bytes":
		why = "the text is longer than " + size(l.Bytes)
	case "BlockBytes":
		why = "a block longer than " + size(l.BlockBytes)
	case "Depth":
		why = "nested deeper than " + strconv.Itoa(l.Depth) + " levels"
	case "LineBytes":
		why = "a line longer than " + size(l.LineBytes)
	case "Delimiters":
		why = "more than " + strconv.Itoa(l.Delimiters) + " special characters in one paragraph"
	case "TableCells":
		why = "a table of more than " + strconv.Itoa(l.TableCells) + " cells"
	case "elements":
		why = "more elements in one block than a browser lays out at once"
	case "directions":
		why = "the direction changes more than " + strconv.Itoa(maxTurns) + " times"
	case "References":
		why = "more than " + strconv.Itoa(l.References) + " definitions"
	default:
		kind, limit, why = Broken, "block", "it could not be rendered safely"
	}
	w.report.add(kind, limit, 1)
	w.WriteString(`<p class="bailey-note">Shown as plain text: ` + why + "</p>\n")
	w.pieces(text)
}

// Text returns HTML that shows text as it is, without Markdown. It is for the words of a user, of any length, and for a
// log. Invisible characters are shown as their codes, as in code.
func (r *Renderer) Text(text string) HTML {
	w := &sink{}
	w.pieces([]byte(strings.ToValidUTF8(text, replacement)))
	capStacksFrom(r, w, 0)
	return HTML{w.String()}
}

// pieces writes plain text, piece by piece.
func (w *sink) pieces(text []byte) {
	w.code = true
	for first := true; first || len(text) > 0; first = false {
		piece := plainPiece(text)
		text = text[len(piece):]
		w.WriteString(`<pre class="bailey-plain">`)
		if bytes.HasPrefix(piece, []byte("\n")) {
			w.WriteByte(' ') // an HTML parser would remove the line break without it
		}
		w.escape(piece)
		w.WriteString("</pre>\n")
	}
	w.code = false
}

// Plain text is laid out in pieces. If the direction or script of a paragraph changes with each
// letter, browsers need time proportional to the square of its length.
const (
	plainBytes      = 32 << 10
	plainBytesMixed = 2 << 10 // for text that is not only ASCII
)

// plainPiece returns the beginning of text to lay out at once. It ends at the end of a line or
// a word, if one ends in its second half.
func plainPiece(text []byte) []byte {
	n := min(len(text), plainBytes)
	for _, c := range text[:n] {
		if c >= utf8.RuneSelf {
			n = min(n, plainBytesMixed)
			break
		}
	}
	if n == len(text) {
		return text
	}
	if end := bytes.LastIndexByte(text[:n], '\n'); end >= n/2 {
		return text[:end+1]
	}
	if end := bytes.LastIndexAny(text[:n], " \t"); end >= n/2 {
		return text[:end+1]
	}
	for at := n; at > n/2; at-- { // not between the characters of one letter or emoji
		if r, _ := utf8.DecodeRune(text[at:]); utf8.RuneStart(text[at]) && !extends(r) && jamoKind(r) < 2 && r < 0xe0000 {
			if before, _ := utf8.DecodeLastRune(text[:at]); !draws(before) {
				return text[:at]
			}
		}
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + " KiB"
	}
	return strconv.Itoa(n) + " bytes"
}
