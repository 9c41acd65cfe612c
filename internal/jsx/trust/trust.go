// Package trust contains the proof types that a page's injection sinks accept. A value of one of
// them proves that its text may become HTML, or be loaded as a script. Only the functions of this
// package convert a string to them. Only the packages in Importers may import it, which a test
// enforces in the whole repository. So the packages that can create a proof are listed in one
// place.
//
// The package trusts its importers to pass only text that fits the name of the function. It does
// not check or sanitise anything.
package trust

// Importers are the packages, below the module's path, that import this one. Each of them must
// import it, and no other package may. Add to the list only with a reason in RATIONALE.md.
var Importers = []string{
	"iframe/markdown",        // for the output of the sanitiser
	"internal/frame",         // for srcdoc and scripts of the frames, from embedded text
	"internal/jsx",           // for the sinks
	"internal/wire/document", // for orders that carry HTML to a frame
}

// HTML is text that may be parsed as HTML.
type HTML struct{ s string }

// SanitisedHTML returns s as HTML. s must be the output of Bailey's sanitiser.
func SanitisedHTML(s string) HTML { return HTML{s} }

// AuthoredHTML returns s as HTML. s must be text written by Bailey, such as a frame's srcdoc, in
// which all text from elsewhere has been escaped.
func AuthoredHTML(s string) HTML { return HTML{s} }

// String returns the text.
func (h HTML) String() string { return h.s }

// ScriptURL is a URL that may be loaded as a script or worker.
type ScriptURL struct{ s string }

// AuthoredScriptURL returns s as a ScriptURL. s must be the URL of a script written by Bailey: a
// blob: URL of embedded text, or a file that the loader put beside the program.
func AuthoredScriptURL(s string) ScriptURL { return ScriptURL{s} }

// String returns the URL.
func (u ScriptURL) String() string { return u.s }
