// Package mcpclient connects to an MCP server, over streamable HTTP or a MessagePort of the page, and
// returns its tools for a box. It needs only package fetch, so it adds little to the size of a page.
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
// [sandbox.Session.Say]. A line with the reason stands for a file beyond them.
//
// The server's resources and prompts are two more tools, so that each use passes the same question.
// The progress of a call is reported by [sandbox.ReportProgress]. A tool that is a task is asked for its
// result later, within the time of the call. A stream that is cut is continued where the server allows
// it. A server can ask the user or the app's model only if [Options].Ask or Sample lets it, and can't
// request files.
//
// [Options].Authorize makes the client sign the user in with OAuth 2.1. The tokens are sent to the server
// and its authorization server alone, and are removed from the server's answers.
//
// It supports the versions 2025-03-26, 2025-06-18 and 2025-11-25 of the protocol. For a page of
// another origin, the server must send CORS headers and expose Mcp-Session-Id, and also
// WWW-Authenticate if it wants scopes beyond those of its metadata.
package mcpclient
