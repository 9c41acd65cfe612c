package protocol_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

type inner struct {
	N int `json:"n"`
}

type outer struct {
	inner2
	Name  string            `json:"name"`
	Opt   *string           `json:"opt,omitempty"`
	List  []inner           `json:"list"`
	Map   map[string]uint8  `json:"map,omitempty"`
	Any   any               `json:"any,omitempty"`
	When  time.Time         `json:"when,omitzero"`
	Level protocol.Level    `json:"level"`
	F     float32           `json:"f,omitempty"`
	Skip  string            `json:"-"`
	Named map[string]string `json:"named,omitempty"`
	Plain bool
}

type inner2 struct {
	Embedded int `json:"embedded"`
}

func TestUnmarshal(t *testing.T) {
	var o outer
	err := protocol.Unmarshal(tree(t, `{"embedded":3,"name":"x","opt":"y","list":[{"n":1},{"n":-2}],"map":{"a":255},"any":[1],"when":"2026-11-20T10:00:00Z","level":"SECURE","f":1.5,"Plain":true}`), &o)
	if err != nil || o.Embedded != 3 || *o.Opt != "y" || o.List[1].N != -2 || o.Map["a"] != 255 || o.When.Hour() != 10 || o.Level != protocol.Secure || !o.Plain {
		t.Fatalf("%v %+v", err, o)
	}
	text, err := protocol.EncodeJSON(o, protocol.JSONLimits{})
	std, _ := json.Marshal(o)
	if err != nil || text != string(std) {
		t.Errorf("%v\n%s\n%s", err, text, std)
	}
	if err := protocol.Unmarshal(tree(t, `{"opt":null,"list":null,"name":null}`), &o); err != nil || o.Opt != nil || o.Name != "x" {
		t.Errorf("null: %v %+v", err, o)
	}
	for text, want := range map[string]string{
		`{"nam":"x"}`:           "$.nam",
		`{"Name":"x"}`:          "$.Name",
		`{"Skip":"x"}`:          "$.Skip",
		`{"inner2":{}}`:         "$.inner2",
		`{"name":1}`:            "$.name",
		`{"list":[{"n":1.5}]}`:  "$.list[0].n",
		`{"list":[{"n":1e30}]}`: "$.list[0].n",
		`{"list":[{"m":1}]}`:    "$.list[0].m",
		`{"map":{"a":256}}`:     "$.map.a",
		`{"map":{"a":-1}}`:      "$.map.a",
		`{"map":[]}`:            "$.map",
		`{"when":"yesterday"}`:  "$.when",
		`{"level":"NONE"}`:      "$.level",
		`{"Plain":1}`:           "$.Plain",
		`{"f":"1"}`:             "$.f",
		`[]`:                    "the value",
	} {
		var o outer
		if err := protocol.Unmarshal(tree(t, text), &o); !errors.Is(err, protocol.ErrInvalidParams) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if protocol.Unmarshal(1.0, nil) == nil || protocol.Unmarshal(1.0, o) == nil || protocol.Unmarshal(1.0, (*int)(nil)) == nil {
		t.Error("a destination that can't be written to")
	}
	var b []byte
	if err := protocol.Unmarshal(tree(t, `{"$":["bytes","Uint8Array","AAE="]}`), &b); err != nil || len(b) != 2 {
		t.Errorf("%v %v", b, err)
	}
	var a any
	if err := protocol.Unmarshal(nil, &a); err != nil {
		t.Error(err)
	}
}
