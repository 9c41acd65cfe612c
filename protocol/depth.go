package protocol

// CheckDepth is an error if a JSON text is nested more than 256 deep. Decoders that call
// themselves for each level, as encoding/json does up to 10,000, would end a page's program
// by its stack: look at what strangers sent before handing it to one.
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
