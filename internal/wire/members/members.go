// Package members reads the members of an untrusted JSON object one by one. Each read removes its
// member, so that the members that remain are unknown, and an error. The codecs of other systems'
// messages and configurations use it.
package members

import (
	"maps"
	"math"
	"slices"

	"github.com/bailey-go/bailey/protocol"
)

// Object is a JSON object that is being read. It stores the first problem.
type Object struct {
	op  string
	m   map[string]any
	err error
}

// Open returns the object of a text. op is the operation that errors name.
func Open(op, text string, limits protocol.JSONLimits) (*Object, error) {
	v, err := protocol.ParseJSON(text, limits)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, op, "", "a message must be an object")
	}
	return &Object{op: op, m: m}, nil
}

// Fail stores a problem with the member key, unless there is one already.
func (o *Object) Fail(key, what string) {
	if o.err == nil {
		o.err = protocol.Errorf(protocol.ErrInvalidParams, o.op, key, "%s", what)
	}
}

// Has reports whether the object has the member and it was not read yet.
func (o *Object) Has(key string) bool {
	_, ok := o.m[key]
	return ok
}

// Keys returns the keys of the members that were not read yet, sorted.
func (o *Object) Keys() []string { return slices.Sorted(maps.Keys(o.m)) }

// Any returns the value of a member, or nil if the object lacks it.
func (o *Object) Any(key string) any {
	v := o.m[key]
	delete(o.m, key)
	return v
}

// Text returns the string of a member. A string of more than most bytes is a problem.
func (o *Object) Text(key string, most int) string {
	s, ok := o.Any(key).(string)
	if !ok || len(s) > most {
		o.Fail(key, "must be a string that is not too long")
	}
	return s
}

// Whole returns the whole number of a member, from 0 to most.
func (o *Object) Whole(key string, most float64) int {
	n, ok := o.Any(key).(float64)
	if !ok || n != math.Trunc(n) || n < 0 || n > most {
		o.Fail(key, "must be a whole number in its range")
		return 0
	}
	return int(n)
}

// ID returns the id of a member, which is a string or a whole number, as a string.
func (o *Object) ID(key string) string {
	switch v := o.Any(key).(type) {
	case string:
		if ValidID(v) {
			return v
		}
	case float64:
		if v == math.Trunc(v) && v >= 0 && v <= 1<<53 {
			text, _ := protocol.EncodeJSON(v, protocol.JSONLimits{})
			return text
		}
	}
	o.Fail(key, "must be an id: 1 to 128 letters, digits, -, _, :, . or a whole number")
	return ""
}

// ValidID reports whether s is a valid id: 1 to 128 letters, digits, -, _, : and periods.
func ValidID(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '-' && c != '_' && c != '.' && c != ':' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// Object returns the object of a member. Call Close with it after its members are read.
func (o *Object) Object(key string) *Object {
	m, ok := o.Any(key).(map[string]any)
	if !ok {
		o.Fail(key, "must be an object")
	}
	return &Object{op: o.op, m: m}
}

// Close stores the problem of an inner object.
func (o *Object) Close(inner *Object) {
	if err := inner.Done(); err != nil && o.err == nil {
		o.err = err
	}
}

// Done returns the first problem. A member that was not read is [protocol.ErrSecurityViolation].
func (o *Object) Done() error {
	if o.err != nil {
		return o.err
	}
	keys := o.Keys()
	if len(keys) == 0 {
		return nil
	}
	return protocol.Errorf(protocol.ErrSecurityViolation, o.op, keys[0], "the key does not belong to this message")
}
