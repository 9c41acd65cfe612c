package protocol

// App is the page of a tool, which a host shows with the input and the result of a call: an MCP App
// (SEP-1865). HTML is a whole document for common browsers. It runs behind walls, see package
// iframe, and reaches the host by the messages of the protocol alone.
type App struct {
	URI  string // of the resource, such as ui://weather/chart
	HTML string // empty for a server's page that has not been read yet

	// Connect and Resources are the origins that the page wants: for fetch and sockets, and for
	// scripts, styles, images, fonts and media. A host grants none of them unless the user agrees.
	Connect, Resources []string

	// Frames are the origins of the frames that it wants to show, and Permissions the features of the
	// browser: "camera", "clipboard-write", "geolocation" and "microphone".
	Frames, Permissions []string

	// Border reports whether the page wants a visible border.
	Border bool
}
