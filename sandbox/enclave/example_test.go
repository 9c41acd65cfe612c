package enclave_test

import (
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/enclave"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// The model's own code runs in an enclave whose level and limits are the policy's, and each
// tool it calls is decided like a call of the model's.
func ExampleNew() {
	var o sandbox.Options // with the folder and who is asked
	o.Policy = policy.Careful()
	runner := enclave.New(o.Policy)
	o.Tools = append(sandbox.Standard(), sandbox.CodeRun(runner))
	box, err := sandbox.New(o)
	_, _ = box, err
	defer runner.Close()
}
