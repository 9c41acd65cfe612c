package compat

import (
	"math"
	"slices"

	"github.com/bailey-go/bailey/protocol"
)

// reader takes the members of an object one by one and stores the first problem. The members that
// remain are unknown.
type reader struct {
	op  string
	m   map[string]any
	err error
}

func open(op, text string, limits protocol.JSONLimits) (*reader, error) {
	v, err := protocol.ParseJSON(text, limits)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, op, "", "a message must be an object")
	}
	return &reader{op: op, m: m}, nil
}

func (r *reader) fail(key, what string) {
	if r.err == nil {
		r.err = protocol.Errorf(protocol.ErrInvalidParams, r.op, key, "%s", what)
	}
}

func (r *reader) has(key string) bool {
	_, ok := r.m[key]
	return ok
}

func (r *reader) any(key string) any {
	v := r.m[key]
	delete(r.m, key)
	return v
}

func (r *reader) text(key string, most int) string {
	s, ok := r.any(key).(string)
	if !ok || len(s) > most {
		r.fail(key, "must be a string that is not too long")
	}
	return s
}

func (r *reader) whole(key string, most float64) int {
	n, ok := r.any(key).(float64)
	if !ok || n != math.Trunc(n) || n < 0 || n > most {
		r.fail(key, "must be a whole number in its range")
		return 0
	}
	return int(n)
}

// id reads an id, which is a text or a whole number, as text.
func (r *reader) id(key string) string {
	switch v := r.any(key).(type) {
	case string:
		if validID(v) {
			return v
		}
	case float64:
		if v == math.Trunc(v) && v >= 0 && v <= 1<<53 {
			text, _ := protocol.EncodeJSON(v, protocol.JSONLimits{})
			return text
		}
	}
	r.fail(key, "must be an id: 1 to 128 letters, digits, -, _, :, . or a whole number")
	return ""
}

func validID(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '-' && c != '_' && c != '.' && c != ':' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

func (r *reader) object(key string) *reader {
	m, ok := r.any(key).(map[string]any)
	if !ok {
		r.fail(key, "must be an object")
	}
	return &reader{op: r.op, m: m}
}

// close stores the problem of an inner object.
func (r *reader) close(inner *reader) {
	if err := inner.done(); err != nil && r.err == nil {
		r.err = err
	}
}

func (r *reader) done() error {
	if r.err != nil {
		return r.err
	}
	keys := make([]string, 0, len(r.m))
	for k := range r.m {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	return protocol.Errorf(protocol.ErrSecurityViolation, r.op, keys[0], "the key does not belong to this message")
}
