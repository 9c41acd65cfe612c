package sandbox

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// A Tool is a [protocol.Tool] that declares the effects of each call before the call runs, and has
// them with a permit. [Func] makes one of a function. [New] sets Execute and replaces a given one.
type Tool struct {
	protocol.Tool

	// Needs returns the effects that a call will have, computed from its arguments alone. For
	// example, the tool write returns one need to write its path. A nil Needs declares no effect
	// outside of the session. Each capability in the result must be in Requires. An error fails the
	// call.
	Needs func(ctx context.Context, c *Call) ([]policy.Need, error)
	// Preview returns a title of one line for the question, and the content that the call would
	// change, send or run. It is called only if the user is asked. The call's permit then covers
	// reading alone. The question appends every need whose words differ from title. If title is
	// empty, the question is made from the needs alone. Preview must return the same result for the
	// same arguments and files: the box calls it again right before Run, and fails the call if the
	// result differs from the one that the user agreed to.
	Preview func(ctx context.Context, c *Call) (title, diff string)
	// Precheck, if set, is called before the user is asked. If it returns an error, the call fails
	// with it and no question is shown. Use it for failures that no answer can change, such as a
	// stale version. It is called only if the session may read all files of the call without
	// asking. The call's permit then covers reading alone. If Precheck panics, the user is asked as
	// usual.
	Precheck func(ctx context.Context, c *Call) error
	// Run does the work. Its result must be a value as of [protocol.Tool.Execute].
	Run func(ctx context.Context, c *Call) (any, error)

	// App is the tool's own page, or nil. A host shows it with the input and the result of a call, see
	// iframe.NewApp, and package mcp serves it to other hosts.
	App *protocol.App
	// ForApps lets the pages of tools of the same server call the tool, by [Box.CallForApp]. For a tool
	// without a server these are the app's own pages. Served is the server's own name of the tool, or
	// empty.
	ForApps bool
	Served  string
	// NotForModel hides the tool from models and from their code. With ForApps, only pages call it.
	NotForModel bool

	// Text and Rows name the member of the result that is cut if it is too long. Text names a
	// string, such as "content". Rows names a list, such as "matches". The limit is 200 KiB, for
	// glob also 1,000 rows, and for grep 200.
	Text, Rows string
	// Missing is the reason why the tool can't work here. If it is set, [Box.Available] lists the
	// tool with this reason, and the tool can't be called.
	Missing string

	// content returns the bytes that a call would write to its path, if they follow from the
	// arguments.
	content func(c *Call) []byte
	// turn reports that Run changes files in one go, exactly as the question showed. Only one such
	// call runs at a time.
	turn    bool
	bad     error // of a tool that Func could not make
	browser bool  // it works in a browser alone
	unified bool  // what Preview returns is a diff, see Request
	// also adds effects to a question that is shown in any case.
	also func(ctx context.Context, c *Call, r *gate.Request)
}

// Standard returns the tools that work on the folder and on the session itself: read, write, edit,
// glob, grep, delete, move, mkdir, diff, undo, todo, question, tool_search, skill and task. The
// package's other tools are [CodeRun] and [ToolRun]. The packages sandbox/shell and sandbox/web
// have more.
func Standard() []Tool {
	return []Tool{
		readTool(), writeTool(), editTool(), globTool(), grepTool(),
		deleteTool(), moveTool(), mkdirTool(), diffTool(), undoTool(),
		todoTool(), questionTool(), skillTool(), toolSearchTool(), taskTool(),
	}
}

// standardIDs returns the names of all tools of this module, including those that a box was not
// given. No tool of a server may have one of these names, since a model would take it for this
// module's tool.
func standardIDs() []string {
	out := []string{"code_run", "tool_run", "bash", "web_fetch", "web_search", "web_request", "secrets", "plan"}
	for _, t := range Standard() {
		out = append(out, t.ID)
	}
	return out
}

// builtinName returns the name of this package's tool for a built-in MCP name of Casys PML. For
// example, "mcp.filesystem.read_file" becomes "read". Any other name is returned unchanged.
func builtinName(name string) string {
	switch name {
	case "mcp.filesystem.read_file":
		return "read"
	case "mcp.filesystem.write_file":
		return "write"
	case "mcp.fetch.fetch":
		return "web_fetch"
	case "mcp.shell.run_command":
		return "bash"
	}
	return name
}
