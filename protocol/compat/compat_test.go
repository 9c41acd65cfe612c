package compat_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/protocol/compat"
)

var limits = protocol.JSONLimits{}

func TestEnclaveOptions(t *testing.T) {
	o, err := compat.ParseEnclaveOptions(`{"securityLevel":"STANDARD","timeout":30000,"maxToolCalls":7,"maxConsoleCalls":8,"maxConsoleOutputBytes":9,"maxIterations":10,"memoryLimit":1048576}`)
	if err != nil || o.Level != protocol.Standard {
		t.Fatal(o, err)
	}
	want := protocol.Limits{Time: 30 * time.Second, ToolCalls: 7, ConsoleCalls: 8, ConsoleBytes: 9, HeapMemory: 1 << 20}
	if o.Limits != want {
		t.Errorf("%+v", o.Limits)
	}
	if o, err := compat.ParseEnclaveOptions(`{}`); err != nil || o.Limits.Or(o.Level.Limits()) != protocol.Strict.Limits() {
		t.Errorf("%+v, %v", o, err)
	}
	for _, text := range []string{
		``, `[]`, `{"securitylevel":"STRICT"}`, `{"securityLevel":"NONE"}`, `{"timeout":"1"}`, `{"timeout":300001}`, `{"timeout":1}`, `{"maxToolCalls":0}`,
		`{"maxToolCalls":-1}`, `{"maxToolCalls":1000001}`, `{"memoryLimit":1.5}`, `{"allowFunctionsInGlobals":true}`,
	} {
		if o, err := compat.ParseEnclaveOptions(text); err == nil {
			t.Errorf("%s is taken: %+v", text, o)
		}
	}
}

func TestBTCPDialect(t *testing.T) {
	for text, want := range map[string]compat.BTCPMessage{
		`{"id":"1","type":"execute","toolCode":"return 1","args":{"a":1},"capabilities":["dom:read","network:fetch:https://api.example.com"]}`: {
			Kind: compat.BTCPExecute, ID: "1", ToolCode: "return 1", Args: map[string]any{"a": 1.0},
			Capabilities: []protocol.Grant{{Capability: protocol.DOMRead}, {Capability: protocol.NetFetch, Scope: []string{"api.example.com:443"}}}},
		`{"id":"8f14e45f-ceea-467f-a0e6-0e02b2c3d479","type":"result","result":[1]}`:  {Kind: compat.BTCPResult, ID: "8f14e45f-ceea-467f-a0e6-0e02b2c3d479", Result: []any{1.0}},
		`{"id":"1","type":"error","error":{"code":"EXECUTION_ERROR","message":"no"}}`: {Kind: compat.BTCPError, ID: "1", Error: &protocol.PublicError{Code: protocol.ErrExecution, Message: "no"}},
		`{"id":1,"method":"dom.querySelector","params":{"selector":"h1"}}`:            {Kind: compat.BTCPCall, ID: "1", Method: "dom.querySelector", Params: map[string]any{"selector": "h1"}},
		`{"id":"1","result":null}`:                                    {Kind: compat.BTCPReply, ID: "1"},
		`{"id":"1","error":{"code":-32001,"message":"no","data":{}}}`: {Kind: compat.BTCPReply, ID: "1", Error: &protocol.PublicError{Code: protocol.ErrCapabilityDenied, Message: "no"}},
		`{"id":"1","error":{"message":"no"}}`:                         {Kind: compat.BTCPReply, ID: "1", Error: &protocol.PublicError{Code: protocol.ErrExecution, Message: "no"}},
		`{"id":"1","type":"execute","toolCode":"","capabilities":[]}`: {Kind: compat.BTCPExecute, ID: "1"},
	} {
		got, err := compat.DecodeBTCP(text, limits)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", text, got, err, want)
			continue
		}
		out, err := compat.EncodeBTCP(got, limits)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := compat.DecodeBTCP(out, limits)
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
		if m, err := compat.DecodeBTCP(text, limits); err == nil {
			t.Errorf("%s is taken: %+v", text, m)
		}
	}
	for _, m := range []compat.BTCPMessage{{}, {ID: "1"}, {ID: "1", Kind: "x"}, {ID: "1", Kind: compat.BTCPError}, {ID: "1", Kind: compat.BTCPCall}, {ID: "?", Kind: compat.BTCPResult},
		{ID: "1", Kind: compat.BTCPExecute, Capabilities: []protocol.Grant{{Capability: protocol.FSRead, Scope: []string{"src"}}}}} {
		if text, err := compat.EncodeBTCP(m, limits); err == nil {
			t.Errorf("%+v is written as %s", m, text)
		}
	}
}

func TestBTCPCapabilities(t *testing.T) {
	grants, err := compat.ParseBTCPCapabilities([]string{"network:fetch:https://a.example.com:8443/", "network:fetch:*.b.example.com", "network:fetch:http://localhost:3000", "code:execute", "storage:local:read"})
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
	src, err := compat.ConnectSrc(grants)
	if err != nil || !slices.Equal(src, []string{"https://a.example.com:8443", "https://*.b.example.com", "http://localhost:3000"}) {
		t.Errorf("%v %v", src, err)
	}
	if src, err := compat.ConnectSrc(nil); err != nil || !slices.Equal(src, []string{"'none'"}) {
		t.Errorf("%v %v", src, err)
	}
	if _, err := compat.ConnectSrc([]protocol.Grant{{Capability: protocol.NetFetch, Scope: []string{"a.com; script-src *"}}}); err == nil {
		t.Error("a policy was injected")
	}
	none, err := compat.ParseBTCPCapabilities([]string{"network:fetch"})
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := protocol.NewAuthority(none...); a.Has(protocol.NetFetch) {
		t.Error("network:fetch without an origin reaches something")
	}
	back, err := compat.BTCPCapabilities(grants)
	if err != nil || !slices.Contains(back, "network:fetch:a.example.com:8443") || !slices.Contains(back, "code:execute") {
		t.Errorf("%v %v", back, err)
	}
	for name, want := range map[string]bool{"a_b1": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a:b": false, "a-b": false, "1a": false, "": false, "constructor": false} {
		if got := compat.ValidBTCPName(name) == nil; got != want {
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
		if compat.SpecNumber(code) != n[0] || compat.ServerNumber(code) != n[1] {
			t.Errorf("%s: %d, %d", string(code), compat.SpecNumber(code), compat.ServerNumber(code))
		}
	}
	for _, code := range protocol.Codes() {
		if n := compat.SpecNumber(code); n != -32603 && compat.FromSpec(n) != code {
			t.Errorf("the specification's %d is %s, not %s", n, string(compat.FromSpec(n)), string(code))
		}
		if n := compat.ServerNumber(code); n != -32603 && n != -32003 && compat.FromServer(n) != code {
			t.Errorf("the server's %d is %s, not %s", n, string(compat.FromServer(n)), string(code))
		}
	}
	if compat.FromSpec(-32602) != protocol.ErrInvalidParams || compat.FromServer(-32602) != protocol.ErrInvalidParams || compat.FromSpec(1) != protocol.ErrExecution ||
		compat.FromSpec(-32603) != protocol.ErrExecution || compat.FromServer(-32003) != protocol.ErrExecution || compat.SpecNumber("X") != -32603 {
		t.Error("what is not known, or is several, must be read as an execution error")
	}
	for name, want := range map[string]protocol.Code{"SyntaxError": protocol.ErrInvalidParams, "PermissionError": protocol.ErrCapabilityDenied, "RPC_TIMEOUT": protocol.ErrTimeout,
		"CODE_ERROR": protocol.ErrExecution, "WORKER_TERMINATED": protocol.ErrSandbox, "?": protocol.ErrExecution} {
		if got := compat.FromPML(name); got != want {
			t.Errorf("%s: %s", name, string(got))
		}
	}
	if compat.PMLName(protocol.ErrTimeout) != "TimeoutError" || compat.PMLName(protocol.ErrSession) != "RuntimeError" {
		t.Error("PMLName")
	}
}

func TestIframeConfig(t *testing.T) {
	base := map[string][]string{"default-src": {"'none'"}, "script-src": {"'sha256-x'"}, "img-src": {"data:", "blob:"}}
	c, err := compat.ParseIframeConfig(`{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-scripts","csp":{"default-src":"'none'","script-src":"'unsafe-inline'","img-src":"data:"}}}}`)
	if err != nil || !slices.Equal(c.Flags, []string{"allow-scripts"}) {
		t.Fatal(c, err)
	}
	got, err := c.Narrow(base)
	if err != nil || !reflect.DeepEqual(got, map[string][]string{"default-src": {"'none'"}, "script-src": {"'sha256-x'"}, "img-src": {"data:"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if !slices.Equal(base["img-src"], []string{"data:", "blob:"}) {
		t.Error("the base was changed")
	}
	for _, text := range []string{
		``, `{}`, `{"config":{}}`, `{"config":{"sandbox":"worker"}}`, `{"config":{"sandbox":"iframe","x":1}}`,
		`{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-scripts allow-same-origin"}}}`, `{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-popups"}}}`,
		`{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"ALLOW-SAME-ORIGIN"}}}`, `{"config":{"sandbox":"iframe","iframeOptions":{"csp":{"default-src":"'none'; script-src *"}}}}`,
		`{"config":{"sandbox":"iframe","iframeOptions":{"csp":{"x y":"a"}}}}`, `{"config":{"sandbox":"iframe","iframeOptions":{"csp":{"img-src":1}}}}`, `{"config":{"sandbox":"iframe","iframeOptions":{"src":"x"}}}`,
	} {
		if c, err := compat.ParseIframeConfig(text); err == nil {
			t.Errorf("%s is taken: %+v", text, c)
		}
	}
	for _, csp := range []string{`{"connect-src":"https://a.com"}`, `{"img-src":"*"}`, `{"script-src":"'unsafe-eval'"}`, `{"default-src":"*"}`, `{"font-src":"data:"}`} {
		c, err := compat.ParseIframeConfig(`{"config":{"sandbox":"iframe","iframeOptions":{"csp":` + csp + `}}}`)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Narrow(base); !errors.Is(err, protocol.ErrCapabilityDenied) {
			t.Errorf("%s widened the policy: %v, %v", csp, got, err)
		}
	}
}

func FuzzBTCP(f *testing.F) {
	f.Add(`{"id":"1","type":"execute","toolCode":"return 1","args":{},"capabilities":["dom:read","network:fetch:https://a.com"]}`)
	f.Add(`{"id":1,"method":"dom.querySelector","params":{}}`)
	f.Add(`{"id":"1","error":{"code":-32001,"message":"no"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := compat.DecodeBTCP(text, protocol.JSONLimits{Bytes: 4096})
		if err != nil {
			return
		}
		out, err := compat.EncodeBTCP(m, protocol.JSONLimits{})
		if err != nil {
			t.Fatalf("%q was read and can't be written: %v", text, err)
		}
		again, err := compat.DecodeBTCP(out, protocol.JSONLimits{})
		if err != nil || again.Kind != m.Kind || again.ID != m.ID {
			t.Fatalf("%q was written and can't be read: %v", out, err)
		}
		if src, err := compat.ConnectSrc(m.Capabilities); err != nil || strings.ContainsAny(strings.Join(src, " "), ";,\r\n") {
			t.Fatalf("connect-src %q, %v", src, err)
		}
	})
}

func FuzzIframeConfig(f *testing.F) {
	f.Add(`{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-scripts","csp":{"img-src":"data:"}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := compat.ParseIframeConfig(text)
		if err != nil {
			return
		}
		base := map[string][]string{"default-src": {"'none'"}, "img-src": {"data:"}}
		out, err := c.Narrow(base)
		if err != nil {
			return
		}
		for name, sources := range out {
			for _, s := range sources {
				if s != "'none'" && !(name == "img-src" && s == "data:") {
					t.Fatalf("%q gives %s %s", text, name, s)
				}
			}
		}
	})
}
