package protocol

import (
	"errors"
	"strings"
	"testing"
)

// A server's pattern over a model's text does a bounded amount of work: below, at and above the limit.
func TestMatchingIsBounded(t *testing.T) {
	for _, c := range []struct {
		schema string
		value  func(n int) any
	}{
		{`{"type":"string","pattern":"(x+x+)+y|x"}`, func(n int) any { return strings.Repeat("x", n) }},
		{`{"anyOf":[{"pattern":"(x+x+)+y|x"}]}`, func(n int) any { return strings.Repeat("x", n) }},
		{`{"type":"object","patternProperties":{"(x+x+)+y|x":{}}}`, func(n int) any { return map[string]any{strings.Repeat("x", n): 1.0} }},
	} {
		s, err := ParseSchema(c.schema)
		if err != nil {
			t.Fatal(err)
		}
		m, err := expression("(x+x+)+y|x", "")
		if err != nil {
			t.Fatal(err)
		}
		most := maxMatching/m.size - 1
		for n, ok := range map[int]bool{1: true, most - 1: true, most: true, most + 1: false, 16 << 20: false} {
			if err := s.Validate(c.value(n)); (err == nil) != ok || !ok && !errors.Is(err, ErrResourceLimit) {
				t.Errorf("%s, %d bytes: %v", c.schema, n, err)
			}
		}
	}
	s, err := ParseSchema(`{"type":"array","items":{"pattern":"^[a-z]+$"}}`)
	if err != nil {
		t.Fatal(err)
	}
	var list []any
	for range 100_000 {
		list = append(list, "abc")
	}
	if err := s.Validate(list[:1000]); err != nil {
		t.Error(err)
	}
	if err := s.Validate(list); !errors.Is(err, ErrResourceLimit) {
		t.Errorf("many short texts: %v", err)
	}
}
