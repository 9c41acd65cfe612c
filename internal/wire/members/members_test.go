package members_test

import (
	"errors"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/members"
	"github.com/bailey-go/bailey/protocol"
)

func TestObject(t *testing.T) {
	for text, want := range map[string]error{
		`{"id":7,"name":"a","n":3,"in":{"x":null}}`:       nil,
		`{"id":"a-1","name":"a","n":0,"in":{"x":1}}`:      nil,
		`{"id":"a b","name":"a","n":3,"in":{"x":1}}`:      protocol.ErrInvalidParams,
		`{"id":1.5,"name":"a","n":3,"in":{"x":1}}`:        protocol.ErrInvalidParams,
		`{"id":"1","name":"abcde","n":3,"in":{"x":1}}`:    protocol.ErrInvalidParams,
		`{"id":"1","name":"a","n":4,"in":{"x":1}}`:        protocol.ErrInvalidParams,
		`{"id":"1","name":"a","n":-1,"in":{"x":1}}`:       protocol.ErrInvalidParams,
		`{"id":"1","name":"a","n":3,"in":[]}`:             protocol.ErrInvalidParams,
		`{"id":"1","name":"a","n":3}`:                     protocol.ErrInvalidParams,
		`{"id":"1","name":"a","n":3,"in":{"x":1,"y":2}}`:  protocol.ErrSecurityViolation,
		`{"id":"1","name":"a","n":3,"in":{"x":1},"b":[]}`: protocol.ErrSecurityViolation,
		`[]`: protocol.ErrInvalidParams,
		`{`:  protocol.ErrInvalidParams,
	} {
		o, err := members.Open("test", text, protocol.JSONLimits{})
		if err == nil {
			o.ID("id")
			o.Text("name", 4)
			o.Whole("n", 3)
			in := o.Object("in")
			in.Any("x")
			o.Close(in)
			err = o.Done()
		}
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}
