package mcpclient_test

import (
	"context"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
)

// This example adds the tools of a server to those of a box. The user is asked about each call,
// unless a rule of the policy decides otherwise.
func ExampleConnect() {
	connect := func(ctx context.Context, o sandbox.Options) (*sandbox.Box, error) {
		client, err := mcpclient.Connect(ctx, mcpclient.Options{Name: "issues", URL: "https://mcp.example.org/mcp"})
		if err != nil {
			return nil, err
		}
		tools, err := client.Tools(ctx)
		if err != nil {
			return nil, err
		}
		o.Tools = append(sandbox.Standard(), tools...)
		return sandbox.New(o)
	}
	_ = connect
}
