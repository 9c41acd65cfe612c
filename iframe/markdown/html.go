package markdown

// HTML is HTML that is safe to insert into a page: it loads nothing, runs
// nothing, navigates nowhere, and closes all that it opens. Only this package
// can make one. The zero value is empty.
//
// A page that inserts it still wants a frame and a policy round it: see package
// iframe.
type HTML struct{ s string }

// String returns the HTML.
func (h HTML) String() string { return h.s }

// IsZero reports whether h is empty.
func (h HTML) IsZero() bool { return h.s == "" }
