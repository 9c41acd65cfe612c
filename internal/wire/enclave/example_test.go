package enclave_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// A host checks a run from outside of it. It does not rely on the code's own reports.
func ExampleRunState() {
	run, _ := enclave.NewRunState(protocol.Limits{ToolCalls: 1}, time.Now)
	take := func(text string) error {
		batch, err := enclave.DecodeBatch(text, enclave.BrokerToHost, run.Limits().JSON())
		for i, m := range batch.Messages {
			if err == nil {
				err = run.Receive(m, batch.Sizes[i])
			}
		}
		return err
	}
	fmt.Println(take(`{"v":1,"gen":1,"msgs":[{"type":"ready"}]}`))
	fmt.Println(run.Send(&enclave.MsgStart{Run: "r1"}))
	fmt.Println(take(`{"v":1,"gen":1,"msgs":[{"type":"tool-call","callId":1,"toolName":"read"}]}`))
	err := take(`{"v":1,"gen":1,"msgs":[{"type":"tool-call","callId":2,"toolName":"read"}]}`)
	fmt.Println(err, errors.Is(err, protocol.ErrResourceLimit))
	code, ended := run.Outcome()
	fmt.Println(string(code), ended)
	// Output:
	// <nil>
	// <nil>
	// <nil>
	// receive tool-call: more than 1 tool calls (RESOURCE_LIMIT) true
	// RESOURCE_LIMIT true
}
