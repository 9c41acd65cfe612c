// Package mcpclient connects to an MCP server over streamable HTTP and returns its tools for a box.
// It needs only package fetch, so it adds little to the size of a page.
//
//	client, err := mcpclient.Connect(ctx, mcpclient.Options{Name: "files", URL: "https://mcp.example/mcp"})
//	tools, err := client.Tools(ctx)
//	box, err := sandbox.New(sandbox.Options{Tools: append(sandbox.Standard(), tools...)})
//
// A tool is named <name>_<tool>, and mcp:<name>:<tool> in rules. For example, the tool put of the
// server "files" is files_put, and mcp:files:put in rules. It is untrusted: the user is asked
// before each call unless a rule decides otherwise, and the policy must grant net.fetch for the
// server's host. The server's descriptions and the results of its tools are only text for the
// model, and files that it sees: images, audio and the contents of resources, within the limits of
// [sandbox.Session.Say]. A line with the reason stands for a file beyond them. A server can't send requests to the client's model or to the user, and can't request
// files.
//
// It supports the versions 2025-03-26, 2025-06-18 and 2025-11-25 of the protocol. For a page of
// another origin, the server must send CORS headers and expose Mcp-Session-Id.
package mcpclient
