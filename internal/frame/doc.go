// Package frame builds the two nested frames around all untrusted content: an outer frame with
// a policy, and an inner one for the content that is shown or the code that runs. Both are
// sandboxed without allow-same-origin, so each has a unique opaque origin. The package contains
// the frames' scripts and their hashes, the srcdoc around them, the handshake, and the messages
// between host and frame. An exception is the sandbox proxy of MCP Apps (proxy.js), an outer frame
// with an origin of its own.
//
// It trusts the scripts embedded here, and no message from a frame. The length and the fields
// of every message are checked before it is used. The first message is accepted only from the
// frame that was just made.
package frame
