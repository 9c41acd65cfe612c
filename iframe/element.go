package iframe

// Element is a handle of an HTML element of the page. It keeps JavaScript values out of
// portable signatures. The zero value is no element. In a browser build [ElementOf] makes one
// from a js.Value.
type Element struct{ impl elementImpl }

// ElementByID returns the element of the page with this id. If there is none, the error
// contains the id. Outside a browser the error matches [errors.ErrUnsupported].
func ElementByID(id string) (Element, error) { return elementByID(id) }
