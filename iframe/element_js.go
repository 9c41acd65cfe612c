package iframe

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/internal/jsx"
)

type elementImpl struct{ v jsx.Value }

// ElementOf returns an Element for a js.Value that is an HTML element. For any other value it
// returns the zero Element, which NewDocument refuses.
func ElementOf(v js.Value) Element {
	element := jsx.FromRaw(v)
	if !jsx.InstanceOf(element, "HTMLElement") {
		return Element{}
	}
	return Element{elementImpl{element}}
}

// Value returns the element. It is undefined for the zero Element.
func (e Element) Value() js.Value { return jsx.ToRaw(e.impl.v) }

func elementByID(id string) (Element, error) {
	document, err := jsx.Get(jsx.Global(), "document")
	if err != nil || jsx.Nullish(document) {
		return Element{}, fmt.Errorf("iframe: element #%s: there is no document here (a worker?)", id)
	}
	v, err := jsx.Call(document, "getElementById", id)
	if err != nil {
		return Element{}, err
	}
	if jsx.Nullish(v) {
		return Element{}, fmt.Errorf("iframe: the page has no element with the id %q", id)
	}
	return Element{elementImpl{v}}, nil
}

func openLink(_ context.Context, url string) error {
	_, err := jsx.Call(jsx.Global(), "open", url, "_blank", "noopener,noreferrer")
	return err
}
