package markdown

import (
	"bytes"
	"strconv"
)

// plain shows text as it is, with a note that says why.
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
		why = "more than " + strconv.Itoa(maxElements) + " elements in one block"
	case "References":
		why = "more than " + strconv.Itoa(l.References) + " definitions"
	default:
		kind, limit, why = Broken, "block", "it could not be rendered safely"
	}
	w.report.add(kind, limit, 1)
	w.WriteString(`<p class="bailey-note">Shown as plain text: ` + why + "</p>\n" + `<pre class="bailey-plain">`)
	if bytes.HasPrefix(text, []byte("\n")) {
		w.WriteByte(' ') // or a parser takes the line break away
	}
	w.code = true
	w.escape(text)
	w.code = false
	w.WriteString("</pre>\n")
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
