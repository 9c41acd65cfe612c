package btcp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	wire "github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
)

// Execute answers a message "execute" as BTCP's sandboxes do, with a message "result" or "error". run runs
// code of a tool, such as [iframe.Enclave.Run] of an enclave for the kind "worker", or of a DOM enclave for
// the kind "iframe":
//
//	answer := btcp.Execute(ctx, text, []string{"dom:read"}, func(ctx context.Context, code string, args any) (any, error) {
//		r, err := enclave.Run(ctx, code, iframe.RunOptions{Args: args})
//		return r.Value, err
//	})
//
// The code has the parameters btcp and args, as in the documents of BTCP. A capability that the message
// names and granted does not is CAPABILITY_DENIED, and nothing runs. With dom:read the code has
// btcp.parentDOM.querySelector, which calls a tool of [Page]. Other capabilities have other tools there. For them run has to
// be a call of the box's tool code_run, whose code calls the box's tools through its gate. A message has at most 16 MiB. One that can't be read, or is not "execute", is answered with
// INVALID_PARAMS.
//
// [iframe.Enclave.Run]: https://pkg.go.dev/github.com/bailey-go/bailey/iframe#Enclave.Run
func Execute(ctx context.Context, message string, granted []string, run func(ctx context.Context, code string, args any) (any, error)) string {
	limits := protocol.JSONLimits{Bytes: 16 << 20}
	m, err := wire.Decode(message, limits)
	if err != nil {
		var sender struct {
			ID string `json:"id"`
		}
		if json.Unmarshal([]byte(message), &sender) == nil && len(sender.ID) <= 128 {
			m.ID = sender.ID
		}
	}
	m.ID = cmp.Or(m.ID, "unknown")
	if err == nil && m.Kind != wire.Execute {
		err = protocol.Errorf(protocol.ErrInvalidParams, "btcp message", string(m.Kind), "want a message of type execute")
	}
	if err == nil {
		err = within(m.Capabilities, granted)
	}
	var value any
	if err == nil {
		value, err = run(ctx, wire.Code(m.ToolCode, m.Capabilities), m.Args)
	}
	if err == nil {
		var text string
		if text, err = wire.Encode(wire.Message{Kind: wire.Result, ID: m.ID, Result: value}, limits); err == nil {
			return text
		}
	}
	p := protocol.Public(err)
	text, err := wire.Encode(wire.Message{Kind: wire.Error, ID: m.ID, Error: &protocol.PublicError{Code: p.Code, Message: p.Message}}, limits)
	if err != nil {
		return `{"error":{"code":"EXECUTION_ERROR","message":"the error can't be sent"},"id":"unknown","type":"error"}`
	}
	return text
}

// within returns an error if the granted capabilities do not contain one that is asked for.
func within(asked []protocol.Grant, granted []string) error {
	names, err := wire.Capabilities(asked)
	if err != nil {
		return err
	}
	grants, err := wire.ParseCapabilities(granted)
	if err != nil {
		return err
	}
	given, err := wire.Capabilities(grants)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !slices.Contains(given, n) {
			return protocol.Errorf(protocol.ErrCapabilityDenied, "execute", n, "the page does not grant this capability")
		}
	}
	return nil
}
