package btcp_test

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/btcp"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
)

// A page offers two of its tools to agents that get the session's name from the user.
func ExampleServe() {
	var box *sandbox.Box // of this page
	session := rand.Text()
	go func() {
		err := btcp.Serve(context.Background(), box, btcp.Options{
			URL: "https://relay.example", Session: session, Token: "the page's token", Tools: []string{"read", "grep"},
			OnState: func(err error) { fmt.Println("connected:", err == nil) },
		})
		fmt.Println("ended:", err)
	}()
}

// A box gets the tools that another page offers.
func ExampleJoin() {
	ctx := context.Background()
	const relay = "https://relay.example"
	t, err := btcp.Join(btcp.Options{URL: relay, Session: "the name that the page's user gave", Token: "the agent's token"})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := mcpclient.Connect(ctx, mcpclient.Options{Name: "page", URL: relay, Transport: t})
	if err != nil {
		fmt.Println(err)
		return
	}
	tools, err := client.Tools(ctx)
	fmt.Println(len(tools), err) // such as page_read
	// Output: btcp.Options.Session: want 16 to 128 letters, digits, dots, underscores and hyphens, made at random (INVALID_PARAMS)
}

// A message of another system's sandbox is answered by an enclave. Here a function stands for it.
func ExampleExecute() {
	run := func(_ context.Context, code string, args any) (any, error) { return fmt.Sprint("ran with ", args), nil }
	fmt.Println(btcp.Execute(context.Background(), `{"id":"1","type":"execute","toolCode":"return args","args":7,"capabilities":[]}`, nil, run))
	fmt.Println(btcp.Execute(context.Background(), `{"id":"2","type":"execute","toolCode":"return args","args":7,"capabilities":["dom:read"]}`, nil, run))
	// Output:
	// {"id":"1","result":"ran with 7","type":"result"}
	// {"error":{"code":"CAPABILITY_DENIED","message":"execute dom:read: the page does not grant this capability"},"id":"2","type":"error"}
}

// A page lets agents of a relay read and change a part of it. Each call asks the user, unless a rule of the policy decides.
func ExamplePage() {
	tools, err := btcp.Page{Root: "#report", Storage: "tools."}.Tools()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tools {
		fmt.Print(t.ID, " ")
	}
	// Output: dom_querySelector dom_observe dom_setText storage_get storage_set clipboard_read clipboard_write
}
