package sandbox

// Standard is the tools that work on the folder and on the session itself: read,
// write, edit, glob, grep, delete, move, mkdir, diff, undo, todo, question,
// tool_search, skill and task. Others come from where their weight is: [CodeRun],
// [ToolRun], sandbox/shell, sandbox/web.
func Standard() []Tool {
	return []Tool{
		readTool(), writeTool(), editTool(), globTool(), grepTool(),
		deleteTool(), moveTool(), mkdirTool(), diffTool(), undoTool(),
		todoTool(), questionTool(), skillTool(), toolSearchTool(), taskTool(),
	}
}

// standardIDs are the names of the tools that this module has, whether a box was given
// them or not. No server's tool may have one: a model knows them.
func standardIDs() []string {
	out := []string{"code_run", "tool_run", "bash", "web_fetch", "web_search", "plan"}
	for _, t := range Standard() {
		out = append(out, t.ID)
	}
	return out
}
