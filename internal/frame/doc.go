// Package frame builds the two walls: an outer frame that holds a policy and an
// inner one that holds what is shown or run, both sandboxed without
// allow-same-origin, so that each has an origin of its own that nothing else
// has. It knows the frames' scripts and their hashes, the srcdoc that carries
// them, the handshake, and the words that pass between host and frame.
//
// It trusts the scripts embedded here and nothing that comes out of a frame:
// every message is checked for its length and its fields before it is believed,
// and only a message whose source is the frame just made is looked at.
package frame
