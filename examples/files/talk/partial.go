package talk

import "github.com/bailey-go/bailey/protocol"

// partial returns the arguments in the beginning of a JSON object. What is open is closed, and what is not whole is
// left out, but for the beginning of a text.
func partial(text string) (map[string]any, bool) {
	var open []byte // the brackets that close what is open
	cut, end := 0, ""
	// mark notes that text[:at] is a whole object with these characters behind it.
	mark := func(at int, more string) {
		b := []byte(more)
		for i := len(open) - 1; i >= 0; i-- {
			b = append(b, open[i])
		}
		cut, end = at, string(b)
	}
	inText, key, names, skip := false, false, false, 0
	for i := range len(text) {
		c := text[i]
		switch {
		case inText && skip > 0: // of an escape
			if skip--; skip == 0 && c == 'u' {
				skip = 4
				continue
			}
		case inText && c == '\\':
			skip = 1
		case inText && c == '"':
			if inText = false; !key {
				mark(i+1, "")
			}
			continue
		case c == '"':
			inText, key = true, names
		case inText:
		case c == '{' || c == '[':
			if names = c == '{'; len(open) > 64 {
				return nil, false
			}
			open = append(open, c+2)
			mark(i+1, "")
		case c == '}' || c == ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return nil, false
			}
			open = open[:len(open)-1]
			mark(i+1, "")
		case c == ',':
			mark(i, "")
			names = len(open) > 0 && open[len(open)-1] == '}'
		case c == ':':
			names = false
		}
		if inText && !key && skip == 0 && (i+1 == len(text) || text[i+1]&0xC0 != 0x80) { // not within a character
			mark(i+1, `"`)
		}
	}
	v, err := protocol.ParseJSON(text[:cut]+end, protocol.JSONLimits{})
	args, ok := v.(map[string]any)
	return args, err == nil && ok
}
