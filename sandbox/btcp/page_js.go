package btcp

import (
	"context"
	"reflect"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// missing is the reason why the tools of a page are not there.
const missing = ""

// root returns the element that the tools see.
func (p Page) root() (jsx.Value, error) {
	document, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return document, err
	}
	root, err := jsx.Call(document, "querySelector", p.Root)
	if err == nil && jsx.Nullish(root) {
		err = protocol.Errorf(protocol.ErrExecution, "page", "", "the page does not have the element that the app has chosen")
	}
	return root, err
}

// selectAll returns the elements below a root that match.
func selectAll(root jsx.Value, selector string) ([]jsx.Value, error) {
	list, err := jsx.Call(root, "querySelectorAll", selector)
	if err != nil {
		return nil, err
	}
	n, err := jsx.Length(list)
	if err != nil {
		return nil, err
	}
	out := make([]jsx.Value, n)
	for i := range out {
		if out[i], err = jsx.Index(list, i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// emptied are the elements without their content in the copy. Fields lose their state too.
const (
	emptied = "script, style, noscript, template, iframe, object, textarea, select, datalist, [contenteditable]"
	fields  = "input, textarea, select, option"
)

// copied returns a copy of the root in another document, without all that the user has typed or chosen. It has the same elements at
// the same places, apart from those in emptied ones. Nothing in it loads or runs.
func (p Page) copied() (jsx.Value, error) {
	root, err := p.root()
	if err != nil || p.off.copied {
		return root, err
	}
	all, err := jsx.Call(root, "getElementsByTagName", "*")
	if err != nil {
		return root, err
	}
	n, err := jsx.Length(all)
	if err != nil {
		return root, err
	}
	if n > maxElements {
		return root, protocol.Errorf(protocol.ErrResourceLimit, "page", "", "the page has %d elements; the limit is %d", n, maxElements)
	}
	impl, err := jsx.Lookup(jsx.Global(), "document.implementation")
	if err != nil {
		return root, err
	}
	other, err := jsx.Call(impl, "createHTMLDocument", "")
	if err != nil {
		return root, err
	}
	clone, err := jsx.Call(other, "importNode", root, true)
	if err != nil {
		return root, err
	}
	list, err := selectAll(clone, emptied)
	if err != nil {
		return root, err
	}
	for _, el := range list {
		if _, err := jsx.Call(el, "replaceChildren"); err != nil {
			return root, err
		}
	}
	if list, err = selectAll(clone, fields); err != nil {
		return root, err
	}
	for _, el := range list {
		if err := fresh(other, el); err != nil {
			return root, err
		}
	}
	return clone, nil
}

// fresh puts a new field without a state in the place of one, with its attributes but for those of its content.
func fresh(document, el jsx.Value) error {
	tag, err := jsx.GetString(el, "localName", 100)
	if err != nil {
		return err
	}
	field, err := jsx.Call(document, "createElement", tag)
	if err != nil {
		return err
	}
	names, err := attributeNames(el)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "value" || name == "checked" || name == "selected" {
			continue
		}
		v, err := jsx.Call(el, "getAttribute", name)
		if err != nil {
			return err
		}
		if _, err := jsx.Call(field, "setAttribute", name, v); err != nil {
			return err
		}
	}
	_, err = jsx.Call(el, "replaceWith", field)
	return err
}

func attributeNames(el jsx.Value) ([]string, error) {
	list, err := jsx.Call(el, "getAttributeNames")
	if err != nil {
		return nil, err
	}
	n, err := jsx.Length(list)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range min(n, maxAttributes) {
		v, err := jsx.Index(list, i)
		if err != nil {
			return nil, err
		}
		name, err := jsx.String(v, 200)
		if err != nil {
			continue // no one needs a name of that length
		}
		out = append(out, name)
	}
	return out, nil
}

// find returns the first element of the copy that matches, or null.
func find(root jsx.Value, selector string) (jsx.Value, error) {
	el, err := jsx.Call(root, "querySelector", selector)
	if err != nil {
		return el, protocol.Errorf(protocol.ErrInvalidParams, "selector", "", "the selector can't be read")
	}
	return el, nil
}

// describe returns the description of the first element that matches selector, or nil.
func (p Page) describe(selector string) (any, error) {
	root, err := p.copied()
	if err != nil {
		return nil, err
	}
	el, err := find(root, selector)
	if err != nil || jsx.Nullish(el) {
		return nil, err
	}
	out := map[string]any{}
	for _, name := range []string{"tagName", "id", "className", "textContent"} {
		v, err := jsx.Get(el, name)
		if err != nil {
			return nil, err
		}
		if out[name], err = cutText(v, p.MaxText); err != nil {
			return nil, err
		}
	}
	names, err := attributeNames(el)
	if err != nil {
		return nil, err
	}
	attributes := map[string]any{}
	for _, name := range names {
		// A nonce is trusted by the page's policy. Keys of prototypes are refused by the message format.
		if name == "value" || name == "nonce" || strings.HasPrefix(name, "__") || name == "constructor" || name == "prototype" {
			continue
		}
		v, err := jsx.Call(el, "getAttribute", name)
		if err != nil {
			return nil, err
		}
		if attributes[name], err = cutText(v, p.MaxText); err != nil {
			return nil, err
		}
	}
	out["attributes"] = attributes
	return out, nil
}

// cutText returns the first most UTF-16 units of a string. For any other value, such as the className of an SVG element, it
// returns "".
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
	return jsx.String(v, 0)
}

// changed waits until the description of an element differs from the present one, or ctx ends.
func (p Page) changed(ctx context.Context, selector string) (element any, changed bool, err error) {
	before, err := p.describe(selector)
	if err != nil {
		return nil, false, err
	}
	root, err := p.root()
	if err != nil {
		return nil, false, err
	}
	scope := jsx.NewScope(jsx.ScopeOptions{})
	defer scope.Close()
	wake := make(chan struct{}, 1)
	f, _, err := scope.Func(func([]jsx.Value) {
		select {
		case wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return nil, false, err
	}
	observer, err := jsx.NewGlobal("MutationObserver", f)
	if err != nil {
		return nil, false, err
	}
	defer func() { _, _ = jsx.Call(observer, "disconnect") }()
	if _, err := jsx.Call(observer, "observe", root, map[string]any{"subtree": true, "childList": true, "characterData": true, "attributes": true}); err != nil {
		return nil, false, err
	}
	for {
		after, err := p.describe(selector)
		if err != nil || !reflect.DeepEqual(before, after) {
			return after, err == nil, err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			if context.Cause(ctx) != context.DeadlineExceeded {
				return nil, false, context.Cause(ctx)
			}
			return after, false, nil
		}
		if err := jsx.Yield(ctx); err != nil { // a page that changes all the time is not held up
			return after, false, nil
		}
	}
}

// change sets the text of an element if it may be set, and if do is true.
func (p Page) change(selector, from, to string, do bool) error {
	refused := func(format string, args ...any) *protocol.Error {
		return protocol.Errorf(protocol.ErrInvalidParams, "dom_setText", selector, format, args...)
	}
	root, err := p.copied()
	if err != nil {
		return err
	}
	el, err := find(root, selector)
	if err != nil {
		return err
	}
	if jsx.Nullish(el) {
		return refused("the page has no such element").WithReason(protocol.ReasonNotFound)
	}
	if el, err = p.real(root, el); err != nil {
		return err
	}
	ok, err := jsx.Call(el, "matches", forText)
	if err != nil {
		return err
	}
	if yes, _ := jsx.Bool(ok); !yes && !p.off.kinds {
		return refused("only the text of elements for text can be changed, such as p, td and h1")
	}
	if n, err := jsx.GetInt(el, "childElementCount"); (err != nil || n > 0) && !p.off.kinds {
		return refused("the element has others in it, which would be lost")
	}
	within, err := jsx.Call(el, "closest", control)
	if err != nil {
		return err
	}
	if !jsx.Nullish(within) && !p.off.controls {
		return refused("the element is a part of a control, whose words the user acts on")
	}
	text, err := jsx.GetString(el, "textContent", 0)
	if err != nil {
		return err
	}
	if text != from && !p.off.from {
		return refused("the element has another text than from").WithReason(protocol.ReasonStale)
	}
	if !do {
		return nil
	}
	return jsx.Set(el, "textContent", to)
}

// real returns the element of the page for one of its copy.
func (p Page) real(clone, el jsx.Value) (jsx.Value, error) {
	if p.off.copied {
		return el, nil
	}
	var path []int
	for at := el; !at.Equal(clone); {
		parent, err := jsx.Get(at, "parentElement")
		if err != nil || jsx.Nullish(parent) || len(path) > maxElements {
			return el, protocol.Errorf(protocol.ErrExecution, "page", "", "the element has no place in the page")
		}
		i := 0
		for before := at; ; i++ {
			if before, err = jsx.Get(before, "previousElementSibling"); err != nil {
				return el, err
			}
			if jsx.Nullish(before) {
				break
			}
		}
		path, at = append(path, i), parent
	}
	at, err := p.root()
	for i := len(path) - 1; i >= 0 && err == nil; i-- {
		var children jsx.Value
		if children, err = jsx.Get(at, "children"); err == nil {
			at, err = jsx.Index(children, path[i])
		}
		if err == nil && jsx.Nullish(at) {
			err = protocol.Errorf(protocol.ErrExecution, "page", "", "the element has no place in the page")
		}
	}
	return at, err
}

func storage() (jsx.Value, error) {
	v, err := jsx.Get(jsx.Global(), "localStorage")
	if err == nil && jsx.Nullish(v) {
		err = protocol.Errorf(protocol.ErrExecution, "storage", "", "this browser stores nothing for the page")
	}
	return v, err
}

func stored(key string) (value string, ok bool, err error) {
	s, err := storage()
	if err != nil {
		return "", false, err
	}
	v, err := jsx.Call(s, "getItem", key)
	if err != nil || jsx.Nullish(v) {
		return "", false, err
	}
	value, err = jsx.String(v, 0)
	return value, err == nil, err
}

// store stores a value, or removes it.
func (p Page) store(key string, value *string) error {
	s, err := storage()
	if err != nil {
		return err
	}
	if value == nil {
		_, err := jsx.Call(s, "removeItem", key)
		return err
	}
	n, err := jsx.Length(s)
	if err != nil {
		return err
	}
	keys, size := 1, len(key)+len(*value)
	for i := range n {
		v, err := jsx.Call(s, "key", i)
		if err != nil {
			return err
		}
		name, err := jsx.String(v, 0)
		if err != nil || !strings.HasPrefix(name, p.Storage) || name == key {
			continue
		}
		old, _, err := stored(name)
		if err != nil {
			return err
		}
		keys, size = keys+1, size+len(name)+len(old)
	}
	if (keys > maxKeys || size > maxStored) && !p.off.quota {
		return protocol.Errorf(protocol.ErrResourceLimit, "storage_set", "", "there would be %d keys of %d bytes; the limits are %d and %d", keys, size, maxKeys, maxStored)
	}
	if _, err := jsx.Call(s, "setItem", key, *value); err != nil {
		return protocol.Errorf(protocol.ErrResourceLimit, "storage_set", "", "the browser does not store it: %w", err)
	}
	return nil
}

func clipboard() (jsx.Value, error) {
	v, err := jsx.Lookup(jsx.Global(), "navigator.clipboard")
	if err == nil && jsx.Nullish(v) {
		err = protocol.Errorf(protocol.ErrExecution, "clipboard", "", "this page has no clipboard: it is for https alone")
	}
	return v, err
}

func readClipboard(ctx context.Context, most int) (string, error) {
	c, err := clipboard()
	if err != nil {
		return "", err
	}
	v, err := jsx.CallAwait(ctx, c, "readText")
	if err != nil {
		return "", protocol.Errorf(protocol.ErrExecution, "clipboard_read", "", "the browser does not let the page read it: %w", err)
	}
	return cutText(v, most)
}

func writeClipboard(ctx context.Context, text string) error {
	c, err := clipboard()
	if err != nil {
		return err
	}
	if _, err := jsx.CallAwait(ctx, c, "writeText", text); err != nil {
		return protocol.Errorf(protocol.ErrExecution, "clipboard_write", "", "the browser does not let the page write it: %w", err)
	}
	return nil
}
