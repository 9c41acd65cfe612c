package compat

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// BTCPKind is the kind of a message of BTCP's iframe sandbox.
type BTCPKind string

const (
	BTCPExecute BTCPKind = "execute" // host → frame: run a tool's code
	BTCPResult  BTCPKind = "result"  // frame → host: it succeeded
	BTCPError   BTCPKind = "error"   // frame → host: it failed
	BTCPCall    BTCPKind = "call"    // frame → host: {id, method, params}, without a type
	BTCPReply   BTCPKind = "reply"   // host → frame: {id, result} or {id, error}, without a type
)

// BTCPMessage is a message of BTCP's dialect. Its Kind determines which fields are set.
type BTCPMessage struct {
	Kind         BTCPKind
	ID           string
	ToolCode     string
	Args         any
	Capabilities []protocol.Grant
	Result       any
	Error        *protocol.PublicError
	Method       string
	Params       any
}

// DecodeBTCP returns the message of a text. An unknown capability gives
// [protocol.ErrInvalidParams]. A key that does not belong to the message gives
// [protocol.ErrSecurityViolation].
func DecodeBTCP(text string, limits protocol.JSONLimits) (BTCPMessage, error) {
	r, err := open("btcp message", text, limits)
	if err != nil {
		return BTCPMessage{}, err
	}
	m := BTCPMessage{ID: r.id("id")}
	switch {
	case r.has("type"):
		m.Kind = BTCPKind(r.text("type", 32))
		switch m.Kind {
		case BTCPExecute:
			m.ToolCode, m.Args = r.text("toolCode", 16<<20), r.any("args")
			list, ok := r.any("capabilities").([]any)
			if !ok {
				r.fail("capabilities", "must be an array")
			}
			texts := make([]string, 0, len(list))
			for _, v := range list {
				s, ok := v.(string)
				if !ok {
					r.fail("capabilities", "must hold texts")
				}
				texts = append(texts, s)
			}
			if m.Capabilities, err = ParseBTCPCapabilities(texts); err != nil {
				return BTCPMessage{}, err
			}
		case BTCPResult:
			m.Result = r.any("result")
		case BTCPError:
			m.Error = r.btcpError()
		default:
			r.fail("type", "unknown")
		}
	case r.has("method"):
		m.Kind, m.Method, m.Params = BTCPCall, r.text("method", 128), r.any("params")
		if !validMethod(m.Method) {
			r.fail("method", "must be names parted by dots")
		}
	default:
		m.Kind = BTCPReply
		if r.has("error") == r.has("result") {
			r.fail("result", "a reply has a result or an error")
		}
		if r.has("error") {
			m.Error = r.btcpError()
		} else {
			m.Result = r.any("result")
		}
	}
	if err := r.done(); err != nil {
		return BTCPMessage{}, err
	}
	return m, nil
}

func validMethod(s string) bool {
	for _, part := range strings.Split(s, ".") {
		if err := ValidBTCPName(part); err != nil {
			return false
		}
	}
	return true
}

// btcpError reads an error whose code is a word, a number of the specification, or missing.
func (r *reader) btcpError() *protocol.PublicError {
	e := r.object("error")
	out := &protocol.PublicError{Code: protocol.ErrExecution}
	switch c := e.any("code").(type) {
	case nil:
	case string:
		if protocol.Code(c).Valid() {
			out.Code = protocol.Code(c)
		}
	case float64:
		out.Code = FromSpec(int(max(min(c, 1e9), -1e9)))
	default:
		e.fail("code", "must be a word or a number")
	}
	out.Message = e.text("message", 64<<10)
	e.any("data") // its content is the other side's
	r.close(e)
	return out
}

// EncodeBTCP returns the text of a message. The code of an error is its word, as in the messages of
// BTCP's frame. A message that is not valid for its Kind gives [protocol.ErrInvalidParams].
func EncodeBTCP(m BTCPMessage, limits protocol.JSONLimits) (string, error) {
	out := map[string]any{"id": m.ID}
	bad := func(what string) (string, error) {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "btcp message", string(m.Kind), "%s", what)
	}
	if !validID(m.ID) {
		return bad("it must have an id")
	}
	if m.Kind != BTCPCall && m.Kind != BTCPReply {
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
	case BTCPExecute:
		names, err := BTCPCapabilities(m.Capabilities)
		if err != nil {
			return "", err
		}
		out["toolCode"], out["args"], out["capabilities"] = m.ToolCode, m.Args, names
	case BTCPResult:
		out["result"] = m.Result
	case BTCPError:
		if !failed() {
			return bad("it must have an error")
		}
	case BTCPCall:
		if !validMethod(m.Method) {
			return bad("it must have a method")
		}
		out["method"], out["params"] = m.Method, m.Params
	case BTCPReply:
		if !failed() {
			out["result"] = m.Result
		}
	default:
		return bad("unknown kind")
	}
	return protocol.EncodeJSON(out, limits)
}

// ValidBTCPName returns nil if name may be the name of a tool in BTCP, else an error. A name has 1
// to 64 bytes: an ASCII letter, then ASCII letters, digits and underscores.
func ValidBTCPName(name string) error {
	if len(name) > 64 || strings.ContainsAny(name, ":-") {
		return protocol.Errorf(protocol.ErrInvalidParams, "tool name", name, "BTCP takes 1 to 64 letters, digits and underscores")
	}
	return protocol.ValidToolName(name)
}

// ParseBTCPCapabilities returns the grants of capabilities in the colon form. An origin may follow
// network:fetch, as in network:fetch:https://api.example.com. Without an origin, network:fetch
// grants no host. An unknown capability or a bad origin is an error.
func ParseBTCPCapabilities(texts []string) ([]protocol.Grant, error) {
	var out []protocol.Grant
	add := func(c protocol.Capability, scope ...string) {
		i := slices.IndexFunc(out, func(g protocol.Grant) bool { return g.Capability == c })
		if i < 0 {
			out = append(out, protocol.Grant{Capability: c})
			i = len(out) - 1
		}
		out[i].Scope = append(out[i].Scope, scope...)
	}
	for _, text := range texts {
		origin, fetch := strings.CutPrefix(text, "network:fetch:")
		if !fetch {
			c, err := protocol.ParseCapability(text)
			if err != nil {
				return nil, err
			}
			add(c)
			continue
		}
		host, err := originHost(origin)
		if err != nil {
			return nil, err
		}
		add(protocol.NetFetch, host)
	}
	return out, nil
}

// originHost returns the host pattern of an https origin or of a bare host. An http origin is an
// error unless it is this machine.
func originHost(origin string) (string, error) {
	host, secure := strings.CutPrefix(origin, "https://")
	plain := false
	if !secure {
		host, plain = strings.CutPrefix(host, "http://")
	}
	host = strings.TrimSuffix(host, "/")
	name, port, err := protocol.SplitHost(strings.TrimPrefix(host, "*."))
	if err != nil {
		return "", err
	}
	if plain && name != "localhost" && name != "127.0.0.1" && name != "[::1]" {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "origin", origin, "use https; http is for this machine only")
	}
	switch {
	case port != 0:
	case secure:
		host += ":443"
	case plain:
		host += ":80"
	}
	if _, err := protocol.ParseHost(host); err != nil {
		return "", err
	}
	return host, nil
}

// BTCPCapabilities returns grants in the colon form. A scope that the form cannot express gives
// [protocol.ErrInvalidParams], because a grant without it would be wider.
func BTCPCapabilities(grants []protocol.Grant) ([]string, error) {
	out := []string{}
	for _, g := range grants {
		name := strings.ReplaceAll(string(g.Capability), ".", ":")
		switch g.Capability {
		case protocol.NetFetch:
			if len(g.Scope) == 0 {
				out = append(out, "network:fetch")
			}
			for _, host := range g.Scope {
				out = append(out, "network:fetch:"+host)
			}
			continue
		case protocol.CodeRun:
			name = "code:execute"
		}
		if len(g.Scope) > 0 {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "capability", string(g.Capability), "BTCP's form has no place for its scope")
		}
		out = append(out, name)
	}
	return out, nil
}

// ConnectSrc returns the sources for the connect-src directive of an enclave's outer frame, for the
// hosts in its grants. Without a host it returns "'none'".
func ConnectSrc(grants []protocol.Grant) ([]string, error) {
	var out []string
	for _, g := range grants {
		if g.Capability != protocol.NetFetch {
			continue
		}
		for _, text := range g.Scope {
			if _, err := protocol.ParseHost(text); err != nil {
				return nil, err
			}
			scheme := "https://"
			for _, own := range []string{"localhost", "127.0.0.1", "[::1]"} {
				if text == own || strings.HasPrefix(text, own+":") {
					scheme = "http://"
				}
			}
			out = append(out, scheme+strings.ToLower(text))
		}
	}
	if out == nil {
		out = []string{"'none'"}
	}
	return out, nil
}
