// Package mcpclient gives a box the tools of an MCP server that is reached over
// streamable HTTP. It needs nothing but package fetch, so that a page pays little for it.
//
//	client, err := mcpclient.Connect(ctx, mcpclient.Options{Name: "files", URL: "https://mcp.example/mcp"})
//	tools, err := client.Tools(ctx)
//	box, err := sandbox.New(sandbox.Options{Tools: append(sandbox.Standard(), tools...)})
//
// A tool is called <name>_<tool>, and mcp:<name>:<tool> in rules. It is untrusted: the
// person is asked before each call unless a rule says otherwise, and the policy must grant
// net.fetch to the server's host. What a server says of itself and of its tools, and what
// its tools answer, is text for the model and nothing more; a server can't ask the client's
// model, the person, or for files.
//
// It speaks the versions 2025-03-26, 2025-06-18 and 2025-11-25 of the protocol. In a page
// the server must send CORS headers, and expose Mcp-Session-Id, if it is of another origin.
package mcpclient
