package dialects

import (
	"time"

	"github.com/bailey-go/bailey/internal/wire/members"
	"github.com/bailey-go/bailey/protocol"
)

// EnclaveOptions are the options of Enclave's library, as types of package protocol.
type EnclaveOptions struct {
	Level  protocol.Level
	Limits protocol.Limits // zero for options that are not set, see [protocol.Limits.Or]
}

// ParseEnclaveOptions returns the options of a JSON object with securityLevel, timeout (ms),
// maxToolCalls, maxConsoleCalls, maxConsoleOutputBytes, maxIterations and memoryLimit (an estimate
// of the bytes that repeat, join and fill may request). All are optional. Another key is an error.
// maxIterations is checked and not used: a time limit ends an endless loop.
func ParseEnclaveOptions(text string) (EnclaveOptions, error) {
	r, err := members.Open("enclave options", text, protocol.JSONLimits{})
	if err != nil {
		return EnclaveOptions{}, err
	}
	var o EnclaveOptions
	if r.Has("securityLevel") {
		if o.Level, err = protocol.ParseLevel(r.Text("securityLevel", 16)); err != nil {
			return EnclaveOptions{}, err
		}
	}
	if r.Has("timeout") {
		o.Limits.Time = time.Duration(r.Whole("timeout", 300_000)) * time.Millisecond
	}
	for key, to := range map[string]*int{
		"maxToolCalls": &o.Limits.ToolCalls, "maxConsoleCalls": &o.Limits.ConsoleCalls, "maxConsoleOutputBytes": &o.Limits.ConsoleBytes,
		"maxIterations": new(int), "memoryLimit": &o.Limits.HeapMemory,
	} {
		if r.Has(key) {
			if *to = r.Whole(key, 1<<31-1); *to == 0 {
				r.Fail(key, "must be at least 1")
			}
		}
	}
	if err := r.Done(); err != nil {
		return EnclaveOptions{}, err
	}
	return o, o.Limits.Validate()
}
