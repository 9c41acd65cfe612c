package enclave

import (
	"github.com/bailey-go/bailey/internal/ids"
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// Encoding and decoding share the check methods. They return the first problem, or an empty text.

func (m *MsgStart) check() string {
	switch {
	case !ids.Valid(m.Run):
		return "the run must have an id"
	case m.Limits.Validate() != nil:
		return m.Limits.Validate().Error()
	case len(m.Tools) > 10_000:
		return "there are too many tools"
	}
	for name := range m.Context {
		if !validIdentifier(name) {
			return "the constant " + strictjson.Quote(name) + " is not a JavaScript identifier that may be used"
		}
	}
	for _, name := range m.Tools {
		if err := protocol.ValidToolName(name); err != nil {
			return err.Error()
		}
	}
	for server, tools := range m.Servers {
		if protocol.ValidToolName(server) != nil {
			return "the server's name " + strictjson.Quote(server) + " is not allowed"
		}
		for _, name := range tools {
			if err := protocol.ValidToolName(name); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}

func (m *MsgToolCall) check() string {
	if m.CallID < 1 || m.CallID > maxID {
		return "callId must be a whole number from 1"
	}
	if err := protocol.ValidToolName(m.Tool); err != nil {
		return err.Error()
	}
	return ""
}

func (m *MsgToolResponse) check() string {
	switch {
	case m.CallID < 1 || m.CallID > maxID:
		return "callId must be a whole number from 1"
	case m.Error != nil && m.Result != nil:
		return "an answer has a result or an error, not both"
	case m.Error != nil && (!m.Error.Code.Valid() || !m.Error.Reason.Valid()):
		return "the error has an unknown code or reason"
	case m.Error != nil && len(m.Error.Message) > maxMessageText:
		return "the error's message is too long"
	}
	return ""
}

func (m *MsgResult) check() string {
	switch {
	case m.Success && m.Error != nil || !m.Success && (m.Error == nil || m.Value != nil):
		return "a result has a value or an error, as success says"
	case m.Error != nil && !m.Error.Code.Valid():
		return "the error has an unknown code"
	case m.Error != nil && max(len(m.Error.Message), len(m.Error.Stack), 256*len(m.Error.Name)) > maxMessageText:
		return "the error's name, message or stack is too long"
	case m.Heap < 0:
		return "a count can't be negative"
	}
	return ""
}

func (m *MsgViolation) check() string {
	if protocol.ValidToolName(m.Layer) != nil || len(m.Layer) > 64 || !m.Code.Valid() {
		return "a violation must name its layer and code"
	}
	return ""
}

// validIdentifier reports whether name can be declared as a constant: ASCII letters, digits, _ and
// $, not a word of the language, and not a name of the runtime.
func validIdentifier(name string) bool {
	if name == "" || len(name) > 64 || strictjson.Reserved(name) {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && c != '$' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	for _, word := range reservedWords() {
		if name == word {
			return false
		}
	}
	return true
}

// reservedWords returns the words that no constant may have: the words of the language, and the
// names that the runtime promises to the code.
func reservedWords() []string {
	return []string{
		"arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum",
		"eval", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in", "instanceof", "interface",
		"let", "new", "null", "package", "private", "protected", "public", "return", "static", "super", "switch", "this", "throw", "true",
		"try", "typeof", "undefined", "NaN", "Infinity", "var", "void", "while", "with", "yield", "async", "of", "get", "set",
		"callTool", "mcp", "parallel", "console", "args", "sleep", "signal",
	}
}
