package protocol

import (
	"errors"
	"regexp/syntax"
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
		m, err := (&compiler{}).expression("(x+x+)+y|x", "")
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

// The patterns of a schema have a bounded number of instructions together, which are counted before they are compiled.
func TestPatternsOfASchemaAreBounded(t *testing.T) {
	patterns := func(text string, n int) string {
		return `{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"pattern":"`+text+`"},`, n), ",") + `]}`
	}
	for _, text := range []string{"a{500}", "^[0-9a-f]{8}-[0-9a-f]{4}$", `^\p{L}{1,255}$`, "(?:ab|cd|e)*f+g?", "((a{10}){10}){10}b", "(?i)hello", "a|b|c", ""} {
		m, err := new(compiler).expression(text, "")
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if len(prog.Inst) > m.size+4 {
			t.Errorf("%s: %d instructions, counted as %d", text, len(prog.Inst), m.size)
		}
	}
	one := &compiler{}
	if _, err := one.expression("a{500}", ""); err != nil {
		t.Fatal(err)
	}
	most := maxExpressions / one.instructions
	long := strings.Repeat("k", 8<<10)
	paths := func(n int) string { // each path has the long key
		return `{"properties":{"` + long + `":{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"type":"null"},`, n), ",") + `]}}}`
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"one": {patterns("a{500}", 1), true}, "at the limit": {patterns("a{500}", most), true}, "over it": {patterns("a{500}", most+1), false}, "usual ones": {patterns("^[0-9a-f]{8}-[0-9a-f]{4}$", 100), true},
		"one that is written out to a million": {patterns("(?:"+strings.Repeat("a", 900)+"){1000}", 1), false}, "nested repetitions": {patterns("((a{10}){10}){10}b{1000}(c{1000})", 8), false}, "names": {`{"patternProperties":{"` + strings.Repeat("a", 900) + `{1000}(bcdef){1000}(bcdef){1000}(bcdef){1000}":{}}}`, false},
		"letters": {patterns(`^\\p{L}{1,255}$`, 15), true}, "paths": {paths(100), true}, "long paths": {paths(200), false},
	} {
		if _, err := ParseSchema(c.text); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrResourceLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
