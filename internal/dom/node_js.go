package dom

import (
	"math"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Node is an element, or another object of a page. The zero Node is undefined.
type Node struct{ v jsx.Value }

// Of returns the Node of a value.
func Of(v jsx.Value) Node { return Node{v} }

// Global returns the page's global object.
func Global() Node { return Node{jsx.Global()} }

// Document returns the page's document.
func Document() Node { return Global().Get("document") }

// Create returns a new element with a text and attributes, which are names and values. It is not in
// the page yet.
func Create(tag, text string, attributes ...string) Node {
	n := Document().Call("createElement", tag)
	if text != "" {
		n.Set("textContent", text)
	}
	for i := 0; i < len(attributes); i += 2 {
		n.Call("setAttribute", attributes[i], attributes[i+1])
	}
	return n
}

// Focused returns the element with the focus, also within shadow trees. It is null or the body if no
// element has it.
func Focused() Node {
	at := Document().Get("activeElement")
	for {
		within := at.Get("shadowRoot").Get("activeElement")
		if !within.OK() {
			return at
		}
		at = within
	}
}

// Value returns the value of n.
func (n Node) Value() jsx.Value { return n.v }

// OK reports whether n is neither undefined nor null.
func (n Node) OK() bool { return !jsx.Nullish(n.v) }

// Is reports whether n and o are the same object.
func (n Node) Is(o Node) bool { return n.v.Equal(o.v) }

// Get returns a property.
func (n Node) Get(name string) Node {
	v, _ := jsx.Get(n.v, name)
	return Node{v}
}

// Set sets a property to a Node, or to anything that jsx.ToJS accepts.
func (n Node) Set(name string, x any) { _ = jsx.Set(n.v, name, plain(x)) }

// Call calls a method with Nodes, or with anything that jsx.ToJS accepts.
func (n Node) Call(method string, args ...any) Node {
	for i, a := range args {
		args[i] = plain(a)
	}
	v, _ := jsx.Call(n.v, method, args...)
	return Node{v}
}

func plain(x any) any {
	if n, ok := x.(Node); ok {
		return n.v
	}
	return x
}

// Text returns a string, or "" for another value.
func (n Node) Text() string {
	s, _ := jsx.String(n.v, 0)
	return s
}

// Number returns a number, or NaN for another value.
func (n Node) Number() float64 {
	f, err := jsx.Float64(n.v)
	if err != nil {
		return math.NaN()
	}
	return f
}

// Int returns a whole number, or 0 for another value.
func (n Node) Int() int {
	i, _ := jsx.Int(n.v)
	return i
}

// True reports whether n is true.
func (n Node) True() bool {
	b, _ := jsx.Bool(n.v)
	return b
}

// IsText reports whether n is a string.
func (n Node) IsText() bool { return jsx.TypeOf(n.v) == "string" }

// Each returns the items of an array or of a list of nodes.
func (n Node) Each() []Node {
	length, _ := jsx.Length(n.v)
	out := make([]Node, length)
	for i := range out {
		out[i] = n.At(i)
	}
	return out
}

// At returns an item of an array or of a list of nodes.
func (n Node) At(i int) Node {
	v, _ := jsx.Index(n.v, i)
	return Node{v}
}
