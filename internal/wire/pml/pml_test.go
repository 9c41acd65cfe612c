package pml_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/pml"
	"github.com/bailey-go/bailey/protocol"
)

func TestMessages(t *testing.T) {
	m, err := pml.DecodeInit(`{"type":"init","code":"return 1","toolDefinitions":[{"server":"filesystem","name":"read_file","description":"","inputSchema":{}},
		{"server":"fs","name":"ls","description":"","inputSchema":{},"isCapability":true,"capabilityFqdn":"local.default.fs.ls.a7f3"}],"context":{"a":1},"capabilityContext":"const x = 1;","parentTraceId":"t"}`)
	want := pml.Init{Code: "return 1", Tools: []pml.Tool{{"filesystem", "read_file"}, {"fs", "ls"}}, Context: map[string]any{"a": 1.0}, Inline: "const x = 1;"}
	if err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, text := range []string{
		``, `{}`, `[]`, `{"type":"init"}`, `{"type":"init","code":1,"toolDefinitions":[]}`, `{"type":"init","code":""}`, `{"type":"init","code":"","toolDefinitions":[1]}`,
		`{"type":"init","code":"","toolDefinitions":[{"server":"a"}]}`, `{"type":"init","code":"","toolDefinitions":[],"x":1}`, `{"type":"rpc_call","code":"","toolDefinitions":[]}`,
		`{"type":"init","code":"","toolDefinitions":[],"context":[]}`, `{"type":"init","code":"","toolDefinitions":[` + strings.Repeat(`{"server":"a","name":"b"},`, 1000) + `{"server":"a","name":"b"}]}`,
	} {
		if m, err := pml.DecodeInit(text); err == nil {
			t.Errorf("%.60s is taken: %+v", text, m)
		}
	}
	text, err := pml.EncodeCall(pml.Call{ID: "7", Tool: pml.Tool{"a", "b"}})
	if err != nil || text != `{"args":{},"id":"7","server":"a","tool":"b","type":"rpc_call"}` {
		t.Errorf("%s, %v", text, err)
	}
	if c, err := pml.DecodeCall(text); err != nil || c.ID != "7" || c.Tool != (pml.Tool{"a", "b"}) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, text := range []string{``, `{"type":"rpc_call","id":"a b","server":"a","tool":"b"}`, `{"type":"rpc_call","id":"1","tool":"b"}`, `{"type":"rpc_call","id":"1","server":"a","tool":"b","x":1}`} {
		if c, err := pml.DecodeCall(text); err == nil {
			t.Errorf("%s is taken: %+v", text, c)
		}
	}
	for text, want := range map[string]pml.Result{
		`{"type":"rpc_result","id":"1","success":true,"result":[1]}`: {ID: "1", Value: []any{1.0}},
		`{"type":"rpc_result","id":"1","success":true}`:              {ID: "1"},
	} {
		if r, err := pml.DecodeResult(text); err != nil || !reflect.DeepEqual(r, want) {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	for text, want := range map[string]protocol.Code{"PermissionError: no": protocol.ErrCapabilityDenied, "RPC_TIMEOUT: no": protocol.ErrTimeout, "CODE_ERROR: no": protocol.ErrExecution,
		"WORKER_TERMINATED: no": protocol.ErrSandbox, "no": protocol.ErrExecution, "MemoryError": protocol.ErrResourceLimit} {
		if r, err := pml.DecodeResult(`{"type":"rpc_result","id":"1","success":false,"error":"` + text + `"}`); err != nil || !errors.Is(r.Err, want) {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	for _, text := range []string{``, `{"type":"rpc_result","id":"1"}`, `{"type":"rpc_result","id":"1","success":false}`, `{"type":"rpc_result","id":"1","success":true,"error":"x"}`,
		`{"type":"rpc_result","success":true}`, `{"type":"rpc_result","id":"1","success":1}`} {
		if r, err := pml.DecodeResult(text); err == nil {
			t.Errorf("%s is taken: %+v", text, r)
		}
	}
	for want, r := range map[string]pml.Result{
		`{"id":"1","result":null,"success":true,"type":"rpc_result"}`:                          {ID: "1"},
		`{"result":2,"success":true,"type":"execution_complete"}`:                              {Value: 2.0},
		`{"error":"TimeoutError: late","success":false,"type":"execution_complete"}`:           {Err: protocol.Errorf(protocol.ErrTimeout, "run", "", "late")},
		`{"error":"PermissionError: call a: no","id":"1","success":false,"type":"rpc_result"}`: {ID: "1", Err: protocol.Errorf(protocol.ErrCapabilityDenied, "call", "a", "no")},
	} {
		if got := pml.EncodeResult(r); got != want {
			t.Errorf("%.200s, want %s", got, want)
		}
	}
	if got := pml.EncodeResult(pml.Result{Value: func() {}}); !strings.Contains(got, `"success":false`) {
		t.Errorf("a value without a form in JSON: %s", got)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(`{"type":"init","code":"return 1","toolDefinitions":[{"server":"a","name":"b"}],"context":{"a":1}}`)
	f.Add(`{"type":"rpc_call","id":"1","server":"a","tool":"b","args":{}}`)
	f.Add(`{"type":"rpc_result","id":"1","success":false,"error":"TimeoutError: x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = pml.DecodeInit(text)
		if c, err := pml.DecodeCall(text); err == nil {
			again, err := pml.EncodeCall(c)
			if err != nil {
				t.Fatalf("%q was read and can't be written: %v", text, err)
			}
			if d, err := pml.DecodeCall(again); err != nil || d.ID != c.ID || d.Tool != c.Tool {
				t.Fatalf("%q → %q: %+v, %v", text, again, d, err)
			}
		}
		if r, err := pml.DecodeResult(text); err == nil && r.ID == "" {
			t.Fatalf("%q: a result without an id", text)
		}
	})
}
