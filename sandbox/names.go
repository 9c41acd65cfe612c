package sandbox

// Resolve returns the name of this package's tool for a built-in MCP name of Casys PML. For
// example, "mcp.filesystem.read_file" becomes "read". Any other name is returned unchanged.
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
