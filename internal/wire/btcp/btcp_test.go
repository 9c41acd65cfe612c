package btcp_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
)

var limits = protocol.JSONLimits{}

func TestBTCPDialect(t *testing.T) {
	for text, want := range map[string]btcp.Message{
		`{"id":"1","type":"execute","toolCode":"return 1","args":{"a":1},"capabilities":["dom:read","network:fetch:https://api.example.com"]}`: {
			Kind: btcp.Execute, ID: "1", ToolCode: "return 1", Args: map[string]any{"a": 1.0},
			Capabilities: []protocol.Grant{{Capability: protocol.DOMRead}, {Capability: protocol.NetFetch, Scope: []string{"api.example.com:443"}}}},
		`{"id":"8f14e45f-ceea-467f-a0e6-0e02b2c3d479","type":"result","result":[1]}`:  {Kind: btcp.Result, ID: "8f14e45f-ceea-467f-a0e6-0e02b2c3d479", Result: []any{1.0}},
		`{"id":"1","type":"error","error":{"code":"EXECUTION_ERROR","message":"no"}}`: {Kind: btcp.Error, ID: "1", Error: &protocol.PublicError{Code: protocol.ErrExecution, Message: "no"}},
		`{"id":1,"method":"dom.querySelector","params":{"selector":"h1"}}`:            {Kind: btcp.Call, ID: "1", Method: "dom.querySelector", Params: map[string]any{"selector": "h1"}},
		`{"id":"1","result":null}`:                                    {Kind: btcp.Reply, ID: "1"},
		`{"id":"1","error":{"code":-32001,"message":"no","data":{}}}`: {Kind: btcp.Reply, ID: "1", Error: &protocol.PublicError{Code: protocol.ErrCapabilityDenied, Message: "no"}},
		`{"id":"1","error":{"message":"no"}}`:                         {Kind: btcp.Reply, ID: "1", Error: &protocol.PublicError{Code: protocol.ErrExecution, Message: "no"}},
		`{"id":"1","type":"execute","toolCode":"","capabilities":[]}`: {Kind: btcp.Execute, ID: "1"},
	} {
		got, err := btcp.Decode(text, limits)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", text, got, err, want)
			continue
		}
		out, err := btcp.Encode(got, limits)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := btcp.Decode(out, limits)
		if err != nil || again.Kind != got.Kind || again.ID != got.ID || !reflect.DeepEqual(again.Result, got.Result) || !reflect.DeepEqual(again.Error, got.Error) || len(again.Capabilities) != len(got.Capabilities) {
			t.Errorf("%s → %s: %+v, %v", text, out, again, err)
		}
	}
	for _, text := range []string{
		``, `[]`, `{}`, `{"id":"1"}`, `{"id":"a b","result":1}`, `{"type":"result","result":1}`, `{"id":"1","type":"eval"}`, `{"id":"1","type":1}`,
		`{"id":"1","type":"result","result":1,"x":1}`, `{"id":"1","result":1,"error":{"message":""}}`, `{"id":"1","error":"no"}`, `{"id":"1","error":{"code":true,"message":""}}`,
		`{"id":"1","method":"a b","params":1}`, `{"id":"1","method":"","params":1}`, `{"id":"1","method":"dom.__proto__","params":1}`, `{"id":"1","method":".a"}`,
		`{"id":"1","type":"execute","toolCode":1,"capabilities":[]}`, `{"id":"1","type":"execute","toolCode":"","capabilities":"dom:read"}`,
		`{"id":"1","type":"execute","toolCode":"","capabilities":["dom:reed"]}`, `{"id":"1","type":"execute","toolCode":"","capabilities":[1]}`,
		`{"id":"1","type":"execute","toolCode":"","capabilities":["network:fetch:*"]}`, `{"id":"1","type":"execute","toolCode":""}`,
		`{"id":"1","type":"execute","toolCode":"","capabilities":["network:fetch:http://example.com"]}`,
	} {
		if m, err := btcp.Decode(text, limits); err == nil {
			t.Errorf("%s is taken: %+v", text, m)
		}
	}
	for _, m := range []btcp.Message{{}, {ID: "1"}, {ID: "1", Kind: "x"}, {ID: "1", Kind: btcp.Error}, {ID: "1", Kind: btcp.Call}, {ID: "?", Kind: btcp.Result},
		{ID: "1", Kind: btcp.Execute, Capabilities: []protocol.Grant{{Capability: protocol.FSRead, Scope: []string{"src"}}}}} {
		if text, err := btcp.Encode(m, limits); err == nil {
			t.Errorf("%+v is written as %s", m, text)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{"a_b1": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a:b": false, "a-b": false, "1a": false, "": false, "constructor": false} {
		if got := btcp.ValidName(name) == nil; got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

func TestErrorNumbers(t *testing.T) {
	for code, n := range map[protocol.Code][2]int{
		protocol.ErrToolNotFound: {-32000, -32004}, protocol.ErrInvalidParams: {-32004, -32005}, protocol.ErrCapabilityDenied: {-32001, -32006},
		protocol.ErrTimeout: {-32002, -32001}, protocol.ErrExecution: {-32603, -32003}, protocol.ErrSandbox: {-32003, -32003}, protocol.ErrSession: {-32603, -32002},
		protocol.ErrResourceLimit: {-32603, -32603}, protocol.ErrOutputTooLarge: {-32603, -32603}, protocol.ErrSecurityViolation: {-32603, -32603}, protocol.ErrAborted: {-32603, -32603},
	} {
		if btcp.ServerNumber(code) != n[1] {
			t.Errorf("%s: %d", string(code), btcp.ServerNumber(code))
		}
		if back := btcp.FromSpec(n[0]); n[0] != -32603 && back != code {
			t.Errorf("the specification's %d is %s, not %s", n[0], string(back), string(code))
		}
	}
	if btcp.FromSpec(-32602) != protocol.ErrInvalidParams || btcp.FromSpec(1) != protocol.ErrExecution || btcp.FromSpec(-32603) != protocol.ErrExecution {
		t.Error("what is not known, or is several, must be read as an execution error")
	}
}

func FuzzBTCP(f *testing.F) {
	f.Add(`{"id":"1","type":"execute","toolCode":"return 1","args":{},"capabilities":["dom:read","network:fetch:https://a.com"]}`)
	f.Add(`{"id":1,"method":"dom.querySelector","params":{}}`)
	f.Add(`{"id":"1","error":{"code":-32001,"message":"no"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := btcp.Decode(text, protocol.JSONLimits{Bytes: 4096})
		if err != nil {
			return
		}
		out, err := btcp.Encode(m, protocol.JSONLimits{})
		if err != nil {
			t.Fatalf("%q was read and can't be written: %v", text, err)
		}
		again, err := btcp.Decode(out, protocol.JSONLimits{})
		if err != nil || again.Kind != m.Kind || again.ID != m.ID {
			t.Fatalf("%q was written and can't be read: %v", out, err)
		}
	})
}

func TestCapabilities(t *testing.T) {
	grants, err := btcp.ParseCapabilities([]string{"network:fetch:https://a.example.com:8443/", "network:fetch:*.b.example.com", "network:fetch:http://localhost:3000", "code:execute", "dom:read"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := protocol.NewAuthority(grants...)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{"a.example.com:8443": true, "a.example.com:443": false, "x.b.example.com:443": true, "localhost:3000": true, "localhost:80": false} {
		if got := a.Check(protocol.NetFetch, host) == nil; got != want {
			t.Errorf("%s: %t", host, got)
		}
	}
	none, err := btcp.ParseCapabilities([]string{"network:fetch"})
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := protocol.NewAuthority(none...); a.Has(protocol.NetFetch) {
		t.Error("network:fetch without an origin reaches something")
	}
	back, err := btcp.Capabilities(grants)
	if err != nil || !slices.Contains(back, "network:fetch:a.example.com:8443") || !slices.Contains(back, "code:execute") {
		t.Errorf("%v %v", back, err)
	}
}
