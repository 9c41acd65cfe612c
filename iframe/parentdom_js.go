package iframe

import (
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// describe returns the description of the first element that matches selector, or nil.
func describe(opts ParentDOMOptions, selector string) (any, error) {
	root, err := opts.Root.impl.v, error(nil)
	if !jsx.InstanceOf(root, "HTMLElement") {
		if root, err = jsx.Lookup(jsx.Global(), "document.body"); err != nil {
			return nil, err
		}
	}
	el, err := jsx.Call(root, "querySelector", selector)
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "dom_querySelector", "", "the selector can't be read")
	}
	if jsx.Nullish(el) {
		return nil, nil
	}
	out := map[string]any{}
	for _, name := range []string{"tagName", "id", "className", "textContent"} {
		if name == "textContent" && filled(el) {
			continue
		}
		v, err := jsx.Get(el, name)
		if err != nil {
			return nil, err
		}
		if out[name], err = cutText(v, opts.MaxText); err != nil {
			return nil, err
		}
	}
	out["attributes"], err = attributes(el, opts.MaxText)
	return out, err
}

// filled reports whether el is a form field, whose value comes from the user.
func filled(el jsx.Value) bool {
	for _, class := range []string{"HTMLInputElement", "HTMLTextAreaElement", "HTMLSelectElement"} {
		if jsx.InstanceOf(el, class) {
			return true
		}
	}
	return false
}

func attributes(el jsx.Value, most int) (map[string]any, error) {
	list, err := jsx.Get(el, "attributes")
	if err != nil {
		return nil, err
	}
	n, err := jsx.Length(list)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for i := range min(n, maxAttributes) {
		attr, err := jsx.Index(list, i)
		if err != nil {
			return nil, err
		}
		v, err := jsx.Get(attr, "name")
		if err != nil {
			return nil, err
		}
		name, err := jsx.String(v, 200)
		// For value see filled. A nonce is trusted by the page's policy. Keys of prototypes are
		// refused by the message format.
		if err != nil || name == "value" || name == "nonce" || strings.HasPrefix(name, "__") || name == "constructor" || name == "prototype" {
			continue
		}
		if v, err = jsx.Get(attr, "value"); err != nil {
			return nil, err
		}
		if out[name], err = cutText(v, most); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cutText returns the first most UTF-16 units of a string. For any other value, such as the
// className of an SVG element, it returns "".
func cutText(v jsx.Value, most int) (string, error) {
	if jsx.TypeOf(v) != "string" {
		return "", nil
	}
	slice, err := jsx.NewMethod("String.prototype.slice")
	if err != nil {
		return "", err
	}
	if v, err = slice.Call(v, 0, most); err != nil {
		return "", err
	}
	return jsx.String(v, most)
}
