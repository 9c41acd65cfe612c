package guard

import (
	"bytes"
	"compress/gzip"
	"html"
	"io"
	"slices"
	"strings"
)

// markupWindow is the number of bytes of markup that are inspected at a time. The page runs
// between two windows.
const markupWindow = 16 << 10

// markupOverlap is the number of bytes of a window that are inspected again with the next
// one. Runs of white space are one space by then, so it is longer than any pattern.
const markupOverlap = 256

// decodeText returns UTF-16 and UTF-32 text as bytes in which ASCII characters are single
// bytes. Without it, those encodings would hide markup from a search for bytes.
func decodeText(b []byte) []byte {
	step, at := 0, 0
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe\x00\x00")):
		step = 4
	case bytes.HasPrefix(b, []byte("\x00\x00\xfe\xff")):
		step, at = 4, 3
	case bytes.HasPrefix(b, []byte("\xff\xfe")), len(b) > 3 && b[0] == '<' && b[1] == 0:
		step = 2
	case bytes.HasPrefix(b, []byte("\xfe\xff")), len(b) > 3 && b[0] == 0 && b[1] == '<':
		step, at = 2, 1
	default:
		return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	}
	out := make([]byte, 0, len(b)/step)
	for i := at; i < len(b); i += step {
		out = append(out, b[i])
	}
	return bytes.TrimPrefix(bytes.TrimPrefix(out, []byte("\xff")), []byte("\xfe"))
}

// markupExt are the extensions that browsers show as HTML, SVG or XML.
const markupExt = "html htm htmls ehtml xhtml xht xhtm shtml shtm svg svgz mht mhtml xml xsl xslt xbl htc rdf rss atom hta"

// isMarkup reports whether a browser may take text for markup, by its extension or its
// first characters.
func isMarkup(ext string, text []byte) bool {
	if slices.Contains(strings.Fields(markupExt), ext) {
		return true
	}
	trim := bytes.TrimLeft(text, " \t\r\n\f\x00")
	low := bytes.ToLower(trim[:min(len(trim), 16)])
	for _, p := range []string{"<!doctype", "<html", "<svg", "<?xml", "<script", "<head", "<body", "<iframe", "<!--", "<object", "<embed", "<math", "<style", "<a ", "<img", "<table", "<div", "<p>", "<meta", "<link", "<title"} {
		if bytes.HasPrefix(low, []byte(p)) {
			return true
		}
	}
	return false
}

// Patterns of markup that does something when it is displayed, in lower case.
var (
	// activeText can be anywhere. "&#" can encode any text, and no page needs it.
	activeText = []string{"http-equiv", "srcdoc", "&#"}
	// activeScheme is the beginning of an address.
	activeScheme = []string{"javascript:", "vbscript:", "data:text/html", "data:image/svg", "data:application/xhtml", "data:text/xml", "data:application/xml"}
	// activeTag is the beginning of a tag, after "<" or, in XML, after the ":" of a name
	// space.
	activeTag = []string{"script", "iframe", "frame", "object", "embed", "applet", "foreignobject", "handler", "animate", "?xml-stylesheet", "!entity", "portal", "xsl:", "listener", "fencedframe", "discard"}
	// activeName is the whole name of an element, because other names begin with it.
	activeName = []string{"set", "use", "form", "base"}
)

// activeMarkup reports whether text contains active markup. It prefers false alarms: a page
// that only writes about scripts counts too. All of text is inspected.
func (l *inspection) activeMarkup(ext string, text []byte) bool {
	if !isMarkup(ext, text) {
		return false
	}
	var m markup
	for len(text) > 0 {
		n := min(len(text), markupWindow)
		if m.active(text[:n]) {
			return true
		}
		if text = text[n:]; !l.spend(4 * n) {
			return true
		}
	}
	return false
}

// markup inspects a text window by window.
type markup struct {
	// text and address are the ends of the windows before. address lacks tabs, line feeds
	// and carriage returns, because browsers drop these in addresses.
	text, address []byte
	space         bool // the last byte was white space, and one space of a run is kept
}

func (m *markup) active(window []byte) bool {
	for _, c := range window {
		switch {
		case c == 0x1b:
			return true // an escape of ISO-2022-JP: the following bytes may be other letters than in ASCII
		case c == 0:
			continue // browsers drop it, or do not read it as a letter
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			if !m.space {
				m.text = append(m.text, ' ')
			}
			if m.space = true; c != ' ' {
				continue
			}
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
			fallthrough
		default:
			m.space = false
			m.text = append(m.text, c)
		}
		m.address = append(m.address, c)
	}
	if oddCharset(m.text) || hasHandler(m.text) || hasActive(m.text) || hasScheme(m.address) || hasScheme(decoded(m.address)) {
		return true
	}
	m.text, m.address = tail(m.text), tail(m.address)
	return false
}

func tail(b []byte) []byte {
	return append(b[:0], b[max(0, len(b)-markupOverlap):]...)
}

// decoded returns an address with its character references replaced. "&Tab;" and
// "&NewLine;" are dropped.
func decoded(text []byte) []byte {
	if bytes.IndexByte(text, '&') < 0 {
		return nil
	}
	// Names of references have upper and lower case, but the text is in lower case already.
	s := strings.NewReplacer("&tab;", "", "&newline;", "", "&colon;", ":", "&lpar;", "(", "&sol;", "/").Replace(string(text))
	s = html.UnescapeString(s)
	return []byte(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s))
}

func hasActive(text []byte) bool {
	for _, p := range activeText {
		if bytes.Contains(text, []byte(p)) {
			return true
		}
	}
	for rest := text; ; {
		i := bytes.IndexAny(rest, "<:")
		if i < 0 {
			return false
		}
		space := rest[i] == ':' // the colon of a name space
		rest = rest[i+1:]
		for _, p := range activeTag {
			// In prose a colon precedes words too. "frame" and "?xml" have no name space.
			if bytes.HasPrefix(rest, []byte(p)) && (!space || p == "script" || endsName(rest[len(p):])) {
				return true
			}
		}
		for _, p := range activeName {
			if bytes.HasPrefix(rest, []byte(p)) && endsName(rest[len(p):]) {
				return true
			}
		}
	}
}

func endsName(rest []byte) bool { return len(rest) > 0 && strings.IndexByte(" />", rest[0]) >= 0 }

func hasScheme(text []byte) bool {
	for _, p := range activeScheme {
		if bytes.Contains(text, []byte(p)) {
			return true
		}
	}
	return false
}

// asciiCharsets are the prefixes of charset labels in which every ASCII byte is an ASCII
// character.
var asciiCharsets = []string{"utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "iso8859-", "iso_8859-", "latin1", "latin-1", "l1", "windows-125", "windows-874", "cp125", "cp866", "ibm866", "koi8-", "macintosh", "x-mac-", "x-user-defined"}

// oddCharset reports whether text declares a charset in which its bytes may be other
// letters than in ASCII. A filter that reads ASCII would see other markup than the browser.
func oddCharset(text []byte) bool {
	for _, key := range []string{"charset", "encoding"} {
		for rest := text; ; {
			_, after, ok := bytes.Cut(rest, []byte(key))
			if !ok {
				break
			}
			rest = after
			value, ok := bytes.CutPrefix(bytes.TrimLeft(after, " "), []byte("="))
			if !ok {
				continue
			}
			value = bytes.TrimLeft(value, " \"'")
			value = value[:min(len(value), 20)]
			if len(value) < 20 && len(bytes.TrimLeft(after, " =\"'")) == len(value) && len(value) < 2 {
				continue // the value continues in the next window
			}
			if len(value) > 0 && (value[0] >= 'a' && value[0] <= 'z') && !slices.ContainsFunc(asciiCharsets, func(c string) bool { return bytes.HasPrefix(value, []byte(c)) }) {
				return true
			}
		}
	}
	return false
}

// hasHandler reports whether text has an attribute whose name begins with "on". Runs of
// white space are one space already.
func hasHandler(low []byte) bool {
	found, _ := handlerIn(low)
	return found
}

// handlerIn is hasHandler. It also returns the number of letters that it read, for a test.
func handlerIn(low []byte) (found bool, read int) {
	for i := 0; ; i += 2 {
		k := bytes.Index(low[i:], []byte("on"))
		if k < 0 {
			return false, read
		}
		i += k
		// "on" inside a word is no name. Its letters are skipped, and not read again for
		// each "on".
		if i > 0 && strings.IndexByte(" /\"'`", low[i-1]) < 0 {
			continue
		}
		j := i + 2
		for j < len(low) && (low[j] >= 'a' && low[j] <= 'z') {
			j++
		}
		read += j - i
		eq := j
		if eq < len(low) && low[eq] == ' ' {
			eq++
		}
		if j > i+2 && eq < len(low) && low[eq] == '=' {
			return true, read
		}
	}
}

// activeSVGZ inspects a compressed SVG. An SVG that cannot be unpacked as a whole counts as
// active.
func (l *inspection) activeSVGZ(b []byte, size int64) bool {
	if !bytes.HasPrefix(b, []byte("\x1f\x8b")) {
		return false // plain text, inspected already
	}
	if int64(len(b)) != size {
		return true
	}
	z, err := gzip.NewReader(l.read(b))
	if err != nil {
		return true
	}
	text, err := io.ReadAll(io.TeeReader(io.LimitReader(z, inspectMax+1), l))
	return err != nil || len(text) > inspectMax || l.activeMarkup("svg", decodeText(text))
}
