// Package trust holds the proof types that a page's injection sinks accept.
// A value of one of them says: this text may become HTML, or be loaded as a
// script. There is no conversion from string but the functions here, and the
// packages that may import this one are listed in Importers, which a test
// holds the whole repository to. So who may mint a proof is read in one place.
//
// What it trusts: its importers, to pass only what the function's name says.
// What it never does: check or sanitise anything.
package trust

// Importers are the packages, below the module's path, whose code imports this one: no
// other does, and each of these does. Add to it only with a reason in RATIONALE.md.
var Importers = []string{
	"iframe/markdown", // what the sanitiser made
	"internal/frame",  // srcdoc and scripts of the walls, from embedded text
	"internal/jsx",    // the sinks
}

// HTML may be parsed as HTML.
type HTML struct{ s string }

// SanitisedHTML takes the output of Bailey's sanitiser.
func SanitisedHTML(s string) HTML { return HTML{s} }

// AuthoredHTML takes text written by Bailey, such as a frame's srcdoc, in
// which everything that came from elsewhere has been escaped.
func AuthoredHTML(s string) HTML { return HTML{s} }

// String returns the text.
func (h HTML) String() string { return h.s }

// ScriptURL may be loaded as a script or worker.
type ScriptURL struct{ s string }

// AuthoredScriptURL takes the URL of a script written by Bailey: a blob: URL of
// embedded text, or a file that the loader put beside the program.
func AuthoredScriptURL(s string) ScriptURL { return ScriptURL{s} }

// String returns the URL.
func (u ScriptURL) String() string { return u.s }
