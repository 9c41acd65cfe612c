// Package network is the page's way to other servers for the model: the web tools, over the user's relay
// or to the sites that the user named, and the tools of the user's MCP servers.
package network
