package dialects_test

import (
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/wire/dialects"
	"github.com/bailey-go/bailey/protocol"
)

func TestEnclaveOptions(t *testing.T) {
	o, err := dialects.ParseEnclaveOptions(`{"securityLevel":"STANDARD","timeout":30000,"maxToolCalls":7,"maxConsoleCalls":8,"maxConsoleOutputBytes":9,"maxIterations":10,"memoryLimit":1048576}`)
	if err != nil || o.Level != protocol.Standard {
		t.Fatal(o, err)
	}
	want := protocol.Limits{Time: 30 * time.Second, ToolCalls: 7, ConsoleCalls: 8, ConsoleBytes: 9, HeapMemory: 1 << 20}
	if o.Limits != want {
		t.Errorf("%+v", o.Limits)
	}
	if o, err := dialects.ParseEnclaveOptions(`{}`); err != nil || o.Limits.Or(o.Level.Limits()) != protocol.Strict.Limits() {
		t.Errorf("%+v, %v", o, err)
	}
	for _, text := range []string{
		``, `[]`, `{"securitylevel":"STRICT"}`, `{"securityLevel":"NONE"}`, `{"timeout":"1"}`, `{"timeout":300001}`, `{"timeout":1}`, `{"maxToolCalls":0}`,
		`{"maxToolCalls":-1}`, `{"maxToolCalls":1000001}`, `{"memoryLimit":1.5}`, `{"allowFunctionsInGlobals":true}`,
	} {
		if o, err := dialects.ParseEnclaveOptions(text); err == nil {
			t.Errorf("%s is taken: %+v", text, o)
		}
	}
}

func TestPMLNames(t *testing.T) {
	for name, want := range map[string]protocol.Code{"SyntaxError": protocol.ErrInvalidParams, "PermissionError": protocol.ErrCapabilityDenied, "RPC_TIMEOUT": protocol.ErrTimeout,
		"CODE_ERROR": protocol.ErrExecution, "WORKER_TERMINATED": protocol.ErrSandbox, "?": protocol.ErrExecution} {
		if got := dialects.FromPML(name); got != want {
			t.Errorf("%s: %s", name, string(got))
		}
	}
	if dialects.PMLName(protocol.ErrTimeout) != "TimeoutError" || dialects.PMLName(protocol.ErrSession) != "RuntimeError" {
		t.Error("PMLName")
	}
}
