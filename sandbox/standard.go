package sandbox

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
	out := []string{"code_run", "tool_run", "bash", "web_fetch", "web_search", "plan"}
	for _, t := range Standard() {
		out = append(out, t.ID)
	}
	return out
}
