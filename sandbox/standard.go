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
