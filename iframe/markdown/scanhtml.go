package markdown

import (
	"bytes"
	"strings"
)

// htmlStarts returns the type of the HTML block (CommonMark, "HTML blocks") that begins with s,
// or 0 if there is none.
func htmlStarts(s []byte, inParagraph bool) int {
	if len(s) < 2 {
		return 0
	}
	switch {
	case bytes.HasPrefix(s, []byte("<!--")):
		return 2
	case s[1] == '?':
		return 3
	case bytes.HasPrefix(s, []byte("<![CDATA[")):
		return 5
	case s[1] == '!':
		if len(s) > 2 && s[2] >= 'A' && s[2] <= 'Z' {
			return 4
		}
		return 0
	}
	i := 1
	closing := s[i] == '/'
	if closing {
		i++
		for i < len(s) && s[i] == ' ' {
			i++
		}
	}
	from := i
	if i == len(s) || !isLetter(s[i]) {
		return 0
	}
	for i < len(s) && (isLetter(s[i]) || isDigit(s[i]) || s[i] == '-') {
		i++
	}
	name := strings.ToLower(string(s[from:i]))
	rest := s[i:]
	ends := len(rest) == 0 || rest[0] == '\n' || rest[0] == '>' || bytes.HasPrefix(rest, []byte("/>"))
	switch name {
	case "script", "pre", "style", "textarea":
		if !closing && (ends || rest[0] == ' ' || rest[0] == '\t') {
			return 1
		}
	}
	if hasWord(blockNames, name) {
		if ends || rest[0] == ' ' || wholeTag(rest, closing) {
			return 6
		}
		return 0
	}
	if !inParagraph && name != "script" && name != "style" && name != "pre" && wholeTag(rest, closing) {
		return 7
	}
	return 0
}

// wholeTag reports whether s, the text after a tag's name, consists of its attributes and its
// end, and nothing else on the line.
func wholeTag(s []byte, closing bool) bool {
	for {
		n := 0
		for n < len(s) && (s[n] == ' ' || s[n] == '\t') {
			n++
		}
		s = s[n:]
		if len(s) == 0 {
			return false
		}
		if s[0] == '>' || bytes.HasPrefix(s, []byte("/>")) {
			s = s[bytes.IndexByte(s, '>')+1:]
			return isBlank(s) && bytes.IndexByte(s, '\t') < 0
		}
		if closing || n == 0 || !isLetter(s[0]) && s[0] != '_' && s[0] != ':' {
			return false
		}
		i := 1
		for i < len(s) && (isLetter(s[i]) || isDigit(s[i]) || strings.IndexByte(":._-", s[i]) >= 0) {
			i++
		}
		s = s[i:]
		v := bytes.TrimLeft(s, " \t\n")
		if len(v) == 0 || v[0] != '=' {
			continue
		}
		v = bytes.TrimLeft(v[1:], " \t\n")
		if len(v) == 0 {
			return false
		}
		switch v[0] {
		case '"', '\'':
			end := bytes.IndexByte(v[1:], v[0])
			if end < 0 {
				return false
			}
			s = v[end+2:]
		default:
			i := 0
			for i < len(v) && v[i] > ' ' && strings.IndexByte("\"'=<>`", v[i]) < 0 {
				i++
			}
			if i == 0 {
				return false
			}
			s = v[i:]
			if bytes.HasSuffix(v[:i], []byte("/")) && bytes.HasPrefix(s, []byte(">")) && isBlank(s[1:]) {
				return true
			}
		}
	}
}

// longestEnd is the length of the longest end that htmlEnds looks for.
const longestEnd = len("</textarea>")

// htmlEnds reports whether s contains the end of an HTML block of the given type, 1 to 5.
func htmlEnds(kind int, s []byte) bool {
	switch kind {
	case 1:
		for {
			i := bytes.Index(s, []byte("</"))
			if i < 0 {
				return false
			}
			s = s[i+2:]
			for _, name := range [...]string{"script>", "pre>", "style>", "textarea>"} {
				if len(s) >= len(name) && strings.EqualFold(string(s[:len(name)]), name) {
					return true
				}
			}
		}
	case 2:
		return bytes.Contains(s, []byte("-->"))
	case 3:
		return bytes.Contains(s, []byte("?>"))
	case 4:
		return bytes.IndexByte(s, '>') >= 0
	case 5:
		return bytes.Contains(s, []byte("]]>"))
	}
	return false
}

// blockNames are the elements that begin an HTML block of type 6.
const blockNames = " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div " +
	"dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main " +
	"menu menuitem meta nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul "
