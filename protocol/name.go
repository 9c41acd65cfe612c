package protocol

// maxToolName is the maximum length of a tool's name, in bytes.
const maxToolName = 256

// ValidToolName returns nil if name may be the name of a tool, else an error. A name has 1 to 256
// bytes: an ASCII letter, then ASCII letters, digits, colons, underscores and hyphens. The names
// __proto__, constructor and prototype give [ErrSecurityViolation], because they reach a prototype
// in JavaScript. Other bad names give [ErrInvalidParams].
func ValidToolName(name string) error {
	switch {
	case name == "":
		return Errorf(ErrInvalidParams, "tool name", "", "it is empty")
	case len(name) > maxToolName:
		return Errorf(ErrInvalidParams, "tool name", quote(name), "it is longer than %d bytes", maxToolName)
	case !validName(name):
		return Errorf(ErrInvalidParams, "tool name", quote(name), "it must be a letter, then letters, digits, :, _ or -")
	case reservedKey(name):
		return Errorf(ErrSecurityViolation, "tool name", name, "the name reaches a prototype in JavaScript")
	}
	return nil
}

func validName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != ':' && c != '_' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= maxToolName
}
