package protocol_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

func tree(t testing.TB, text string) any {
	t.Helper()
	v, err := enclave.DecodeValue(text, protocol.JSONLimits{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		schema  string
		yes, no []string
	}{
		{`true`, []string{`1`, `null`}, nil},
		{`false`, nil, []string{`1`}},
		{`{}`, []string{`1`, `[]`, `{}`}, nil},
		{``, []string{`{}`}, []string{`{"a":1}`, `1`}},
		{`{"type":"string"}`, []string{`"a"`}, []string{`1`, `null`, `{"$":["bytes","Uint8Array",""]}`}},
		{`{"type":"integer"}`, []string{`1`, `1.0`, `-0`, `1e3`}, []string{`1.5`, `"1"`, `{"$":["bigint","1"]}`}},
		{`{"type":"number"}`, []string{`1.5`}, []string{`{"$":["NaN"]}`, `{"$":["Infinity"]}`}},
		{`{"type":["string","null"]}`, []string{`"a"`, `null`}, []string{`1`, `{"$":["undefined"]}`}},
		{`{"type":"object"}`, []string{`{}`}, []string{`[]`, `{"$":["map"]}`, `{"$":["date",0]}`}},
		{`{"type":"array"}`, []string{`[]`}, []string{`{}`, `{"$":["set"]}`}},
		{`{"enum":["a",1,null,[1],{"b":2}]}`, []string{`"a"`, `1`, `null`, `[1]`, `{"b":2}`}, []string{`"b"`, `2`, `true`, `[2]`, `{"b":3}`, `[1,1]`}},
		{`{"const":{"a":[1]}}`, []string{`{"a":[1]}`}, []string{`{"a":[1,2]}`, `{}`}},
		{`{"minimum":1,"maximum":3}`, []string{`1`, `2`, `3`, `"x"`}, []string{`0.99`, `3.01`}},
		{`{"exclusiveMinimum":1,"exclusiveMaximum":3}`, []string{`1.01`, `2.99`}, []string{`1`, `3`}},
		{`{"multipleOf":0.1}`, []string{`0.3`, `1`, `0`}, []string{`0.35`}},
		{`{"minLength":2,"maxLength":3}`, []string{`"ab"`, `"abc"`, `"😀😀"`}, []string{`"a"`, `"abcd"`, `"😀"`}},
		{`{"pattern":"^a+$"}`, []string{`"aa"`}, []string{`"ab"`}},
		{`{"minItems":1,"maxItems":2}`, []string{`[1]`, `[1,2]`}, []string{`[]`, `[1,2,3]`}},
		{`{"uniqueItems":true}`, []string{`[1,2,"1",[1],[2]]`}, []string{`[1,1]`, `[{"a":1},{"a":1}]`, `[null,null]`}},
		{`{"items":{"type":"number"}}`, []string{`[]`, `[1]`}, []string{`[1,"a"]`}},
		{`{"prefixItems":[{"type":"number"}],"items":{"type":"string"}}`, []string{`[1]`, `[1,"a"]`}, []string{`["a"]`, `[1,1]`}},
		{`{"prefixItems":[{"type":"number"}],"items":false}`, []string{`[1]`}, []string{`[1,1]`}},
		{`{"contains":{"const":1}}`, []string{`[0,1]`}, []string{`[0]`, `[]`}},
		{`{"contains":{"const":1},"minContains":2,"maxContains":3}`, []string{`[1,1]`, `[1,1,1]`}, []string{`[1]`, `[1,1,1,1]`}},
		{`{"contains":{"const":1},"minContains":0}`, []string{`[]`}, nil},
		{`{"required":["a"],"properties":{"a":{"type":"string"}}}`, []string{`{"a":"x"}`, `{"a":"x","b":1}`, `1`}, []string{`{}`, `{"a":1}`}},
		{`{"properties":{"a":{}},"additionalProperties":false}`, []string{`{}`, `{"a":1}`}, []string{`{"b":1}`}},
		{`{"properties":{"a":{}},"additionalProperties":{"type":"number"}}`, []string{`{"a":"x","b":1}`}, []string{`{"b":"x"}`}},
		{`{"patternProperties":{"^x":{"type":"number"}},"additionalProperties":false}`, []string{`{"x1":1}`}, []string{`{"x1":"a"}`, `{"y":1}`}},
		{`{"propertyNames":{"pattern":"^[a-z]+$"}}`, []string{`{"a":1}`}, []string{`{"A":1}`}},
		{`{"minProperties":1,"maxProperties":2}`, []string{`{"a":1}`, `{"a":1,"b":1}`}, []string{`{}`, `{"a":1,"b":1,"c":1}`}},
		{`{"dependentRequired":{"a":["b"]}}`, []string{`{"a":1,"b":1}`, `{}`, `{"b":1}`}, []string{`{"a":1}`}},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, []string{`{"a":1,"b":1}`}, []string{`{"a":1}`}},
		{`{"allOf":[{"minimum":1},{"maximum":2}]}`, []string{`1`, `2`}, []string{`0`, `3`}},
		{`{"anyOf":[{"type":"string"},{"minimum":5}]}`, []string{`"a"`, `5`}, []string{`4`}},
		{`{"oneOf":[{"type":"number"},{"minimum":5}]}`, []string{`4`, `"a"`}, []string{`5`}},
		{`{"not":{"type":"string"}}`, []string{`1`}, []string{`"a"`}},
		{`{"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"number"}}`, []string{`"a"`, `1`}, []string{`""`, `null`}},
		{`{"$defs":{"n":{"type":"number"}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, []string{`{"a":1}`}, []string{`{"a":"x"}`}},
		{`{"$defs":{"a/b":{"type":"number"}},"$ref":"#/$defs/a~1b"}`, []string{`1`}, []string{`"x"`}},
		{`{"properties":{"next":{"$ref":"#"},"v":{"type":"number"}},"additionalProperties":false}`, []string{`{"next":{"next":{"v":1}}}`}, []string{`{"next":{"next":{"v":"x"}}}`}},
		{`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"null"}},"$ref":"#/$defs/a"}`, []string{`null`}, []string{`1`}},
		{`{"$schema":"x","title":"t","description":"d","default":1,"examples":[1],"format":"uri","x-own":1}`, []string{`1`}, nil},
	} {
		s, err := protocol.ParseSchema(c.schema)
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		for _, v := range c.yes {
			if err := s.Validate(tree(t, v)); err != nil {
				t.Errorf("%s on %s: %v", c.schema, v, err)
			}
		}
		for _, v := range c.no {
			if err := s.Validate(tree(t, v)); !errors.Is(err, protocol.ErrInvalidParams) {
				t.Errorf("%s takes %s: %v", c.schema, v, err)
			}
		}
	}
}

func TestSchemaErrorsNameThePath(t *testing.T) {
	s, err := protocol.ParseSchema(`{"type":"object","required":["q"],"properties":{"q":{"type":"array","items":{"type":"object","properties":{"header":{"type":"string"},"n":{"enum":[1,2]}},"additionalProperties":false}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`{}`:                                "$: q is missing",
		`{"q":[{"header":1}]}`:              "$.q[0].header: must be string, and is a number",
		`{"q":[{},{"n":3}]}`:                "$.q[1].n: must be one of 1, 2",
		`{"q":[{"head-er":1}]}`:             `$.q[0]["head-er"]: is not known; known are header, n`,
		`{"q":{}}`:                          "$.q: must be array, and is an object",
		`{"q":[{"header":1},{"header":2}]}`: "$.q[0].header: must be string, and is a number; $.q[1].header: must be string, and is a number",
	} {
		if err := s.Validate(tree(t, value)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", value, err, want)
		}
	}
	if err := s.Validate(tree(t, `{"q":[`+strings.Repeat(`{"header":1},`, 50)+`{}]}`)); strings.Count(err.Error(), "must be string") != 5 {
		t.Errorf("not five problems: %v", err)
	}
	var none *protocol.Schema
	if none.Validate(1) == nil {
		t.Error("no schema takes anything")
	}
}

func TestBadSchemas(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"not":`, n) + `true` + strings.Repeat(`}`, n)
	}
	for _, s := range []string{
		`1`, `"string"`, `[]`, `null`, `{`, `{"type":"text"}`, `{"type":1}`, `{"type":[]}`, `{"enum":[]}`, `{"enum":1}`, `{"minimum":"1"}`,
		`{"multipleOf":0}`, `{"minLength":-1}`, `{"minLength":1.5}`, `{"pattern":"("}`, `{"pattern":"(?=a)"}`, `{"required":"a"}`, `{"required":[1]}`,
		`{"properties":[]}`, `{"properties":{"a":1}}`, `{"items":[]}`, `{"anyOf":[]}`, `{"anyOf":{}}`, `{"$ref":"http://x"}`, `{"$ref":"#/nope"}`, `{"$ref":"#a"}`,
		`{"$ref":"#/$defs/x","$defs":{}}`, `{"requird":["a"]}`, `{"unevaluatedProperties":false}`, `{"$dynamicRef":"#a"}`, `{"uniqueItems":1}`,
		`{"patternProperties":{"(":{}}}`, `{"dependentRequired":{"a":"b"}}`, deep(33), `{"x":` + strings.Repeat(" ", protocol.MaxSchema) + `1}`,
	} {
		if _, err := protocol.ParseSchema(s); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%.80s: %v", s, err)
		}
	}
	if _, err := protocol.ParseSchema(deep(32)); err != nil {
		t.Errorf("at the limit of depth: %v", err)
	}
}

// Schemas and values made to take for ever, or to recurse until the program dies.
func TestSchemasEnd(t *testing.T) {
	for name, c := range map[string][2]string{
		"a reference to itself": {`{"$ref":"#"}`, `1`},
		"two references":        {`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `1`},
		"allOf itself":          {`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`, `1`},
		"anyOf itself":          {`{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}`, `1`},
		"a tree of choices":     {`{"anyOf":[{"items":{"$ref":"#"},"minItems":3},{"items":{"$ref":"#"},"minItems":2}]}`, strings.Repeat("[", 60) + strings.Repeat("]", 60)},
		"unique objects":        {`{"uniqueItems":true}`, `[` + strings.Repeat(`[1],[2],[3],`, 1) + strings.TrimSuffix(strings.Repeat(`{"a":1,"b":[2]},`, 1), ",") + `]`},
	} {
		s, err := protocol.ParseSchema(c[0])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		err = s.Validate(tree(t, c[1]))
		if name != "unique objects" && err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	many := make([]any, 2000)
	for i := range many {
		many[i] = []any{float64(i)}
	}
	s, _ := protocol.ParseSchema(`{"uniqueItems":true}`)
	if err := s.Validate(many); !errors.Is(err, protocol.ErrResourceLimit) {
		t.Errorf("2,000 arrays compared with one another: %v", err)
	}
	if err := s.Validate(many[:100]); err != nil {
		t.Errorf("100 arrays: %v", err)
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":1}`)
	f.Add(`{"anyOf":[{"$ref":"#"},{"items":{"$ref":"#"}}],"$defs":{"x":{}}}`, `[[1]]`)
	f.Add(`{"patternProperties":{"^a":{"multipleOf":0.1}},"uniqueItems":true}`, `{"a":0.3}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := protocol.ParseSchema(schema)
		if err != nil {
			return
		}
		v, err := enclave.DecodeValue(value, protocol.JSONLimits{Bytes: 4096})
		if err != nil {
			return
		}
		first := s.Validate(v)
		if second := s.Validate(v); (first == nil) != (second == nil) {
			t.Errorf("%s on %s: %v, then %v", schema, value, first, second)
		}
	})
}
