package protocol

// CheckDepth returns [ErrResourceLimit] if a JSON text is nested more than 256 deep, else nil. It
// does not check that text is JSON. Call it on untrusted data before a recursive decoder:
// encoding/json recurses up to 10,000 deep, which overflows the stack of a program in a page.
func CheckDepth[T ~[]byte | ~string](text T) error {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxJSONDepth {
				return Errorf(ErrResourceLimit, "decode", "", "the text is nested more than %d deep", maxJSONDepth)
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return nil
}
