package sandbox

// Resolve is the tool that other systems' names for the same mean: Casys PML's
// built-in MCP names. Any other name is itself.
func Resolve(name string) string {
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
