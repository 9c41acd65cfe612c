// Package btcp reads and writes the messages of the iframe sandbox of the Browser Tool Calling
// Protocol (BTCP), and has its numbers of errors. Bailey's own frames never send these messages.
//
// The package trusts a message no more than package protocol does. The same strict reader decodes
// it, and a key that does not belong to the message is an error. It runs no code and sends nothing.
package btcp

import (
	"strings"

	"github.com/bailey-go/bailey/internal/wire/members"
	"github.com/bailey-go/bailey/protocol"
)

// Kind is the kind of a message of BTCP's iframe sandbox.
type Kind string

const (
	Execute Kind = "execute" // host → frame: run a tool's code
	Result  Kind = "result"  // frame → host: it succeeded
	Error   Kind = "error"   // frame → host: it failed
	Call    Kind = "call"    // frame → host: {id, method, params}, without a type
	Reply   Kind = "reply"   // host → frame: {id, result} or {id, error}, without a type
)

// Message is a message of BTCP's dialect. Its Kind determines which fields are set.
type Message struct {
	Kind         Kind
	ID           string
	ToolCode     string
	Args         any
	Capabilities []protocol.Grant
	Result       any
	Error        *protocol.PublicError
	Method       string
	Params       any
}

// Decode returns the message of a text. An unknown capability gives
// [protocol.ErrInvalidParams]. A key that does not belong to the message gives
// [protocol.ErrSecurityViolation].
func Decode(text string, limits protocol.JSONLimits) (Message, error) {
	r, err := members.Open("btcp message", text, limits)
	if err != nil {
		return Message{}, err
	}
	m := Message{ID: r.ID("id")}
	switch {
	case r.Has("type"):
		m.Kind = Kind(r.Text("type", 32))
		switch m.Kind {
		case Execute:
			m.ToolCode, m.Args = r.Text("toolCode", 16<<20), r.Any("args")
			list, ok := r.Any("capabilities").([]any)
			if !ok {
				r.Fail("capabilities", "must be an array")
			}
			texts := make([]string, 0, len(list))
			for _, v := range list {
				s, ok := v.(string)
				if !ok {
					r.Fail("capabilities", "must hold texts")
				}
				texts = append(texts, s)
			}
			if m.Capabilities, err = ParseCapabilities(texts); err != nil {
				return Message{}, err
			}
		case Result:
			m.Result = r.Any("result")
		case Error:
			m.Error = problem(r)
		default:
			r.Fail("type", "unknown")
		}
	case r.Has("method"):
		m.Kind, m.Method, m.Params = Call, r.Text("method", 128), r.Any("params")
		if !validMethod(m.Method) {
			r.Fail("method", "must be names parted by dots")
		}
	default:
		m.Kind = Reply
		if r.Has("error") == r.Has("result") {
			r.Fail("result", "a reply has a result or an error")
		}
		if r.Has("error") {
			m.Error = problem(r)
		} else {
			m.Result = r.Any("result")
		}
	}
	if err := r.Done(); err != nil {
		return Message{}, err
	}
	return m, nil
}

func validMethod(s string) bool {
	for _, part := range strings.Split(s, ".") {
		if err := ValidName(part); err != nil {
			return false
		}
	}
	return true
}

// problem reads an error whose code is a word, a number of the specification, or missing.
func problem(r *members.Object) *protocol.PublicError {
	e := r.Object("error")
	out := &protocol.PublicError{Code: protocol.ErrExecution}
	switch c := e.Any("code").(type) {
	case nil:
	case string:
		if protocol.Code(c).Valid() {
			out.Code = protocol.Code(c)
		}
	case float64:
		out.Code = FromSpec(int(max(min(c, 1e9), -1e9)))
	default:
		e.Fail("code", "must be a word or a number")
	}
	out.Message = e.Text("message", 64<<10)
	e.Any("data") // its content is the other side's
	r.Close(e)
	return out
}

// Encode returns the text of a message. The code of an error is its word, as in the messages of
// BTCP's frame. A message that is not valid for its Kind gives [protocol.ErrInvalidParams].
func Encode(m Message, limits protocol.JSONLimits) (string, error) {
	out := map[string]any{"id": m.ID}
	bad := func(what string) (string, error) {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "btcp message", string(m.Kind), "%s", what)
	}
	if !members.ValidID(m.ID) {
		return bad("it must have an id")
	}
	if m.Kind != Call && m.Kind != Reply {
		out["type"] = string(m.Kind)
	}
	failed := func() bool {
		if m.Error == nil {
			return false
		}
		out["error"] = map[string]any{"code": string(m.Error.Code), "message": m.Error.Message}
		return true
	}
	switch m.Kind {
	case Execute:
		names, err := Capabilities(m.Capabilities)
		if err != nil {
			return "", err
		}
		out["toolCode"], out["args"], out["capabilities"] = m.ToolCode, m.Args, names
	case Result:
		out["result"] = m.Result
	case Error:
		if !failed() {
			return bad("it must have an error")
		}
	case Call:
		if !validMethod(m.Method) {
			return bad("it must have a method")
		}
		out["method"], out["params"] = m.Method, m.Params
	case Reply:
		if !failed() {
			out["result"] = m.Result
		}
	default:
		return bad("unknown kind")
	}
	return protocol.EncodeJSON(out, limits)
}

// ValidSession reports whether a text may name a session of a relay: 16 to 128 ASCII letters, digits, dots,
// underscores and hyphens. BTCP has no rule. Whoever knows the name can join, so a short one is none.
func ValidSession(s string) bool {
	return len(s) >= 16 && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
	})
}

// ValidName returns nil if name may be the name of a tool in BTCP, else an error. A name has 1
// to 64 bytes: an ASCII letter, then ASCII letters, digits and underscores.
func ValidName(name string) error {
	if len(name) > 64 || strings.ContainsAny(name, ":-") {
		return protocol.Errorf(protocol.ErrInvalidParams, "tool name", name, "BTCP takes 1 to 64 letters, digits and underscores")
	}
	return protocol.ValidToolName(name)
}
