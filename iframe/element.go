package iframe

// Element is a handle of an element of the page, so that portable signatures
// hold no JavaScript value. The zero value is no element. In a browser build
// [ElementOf] makes one out of a js.Value.
type Element struct{ impl elementImpl }

// ElementByID returns the page's element with this id, or an error that says
// which id was not there.
func ElementByID(id string) (Element, error) { return elementByID(id) }
