package strictjson

// MaxDepth is the maximum nesting of any text. It is far below 15,000 frames, where a recursion in a
// page's WebAssembly ends the program.
const MaxDepth = 256

// TooDeep reports whether a JSON text is nested more than [MaxDepth] deep. It does not check that
// text is JSON. Call it on untrusted data before a recursive decoder: encoding/json recurses up to
// 10,000 deep.
func TooDeep[T ~[]byte | ~string](text T) bool {
	if len(text) <= MaxDepth { // a byte opens one level
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}
