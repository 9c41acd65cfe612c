package iframe

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
)

// ParentDOMOptions configure [ParentDOM].
type ParentDOMOptions struct {
	// Consent is asked before each look at the page, with the selector; an error
	// refuses it. It must be set.
	Consent func(ctx context.Context, selector string) error

	// Root is the element in which is looked, itself not included. The default is
	// the page's body.
	Root Element

	// MaxText is the most UTF-16 units of an element's text and of each of its attributes;
	// what is longer is cut. The default is 10,000, the most 1,000,000.
	MaxText int
}

// maxSelector is the most bytes of a selector, maxAttributes the most attributes
// of an element that are told.
const (
	maxSelector   = 1000
	maxAttributes = 64
)

const parentDOMSchema = `{"type":"object","properties":{"selector":{"type":"string","minLength":1,"maxLength":1000}},"required":["selector"],"additionalProperties":false}`

// ParentDOM is the tool dom_querySelector: with the host's consent to each look, code in an
// enclave gets a description of the first element of the page that a CSS selector
// finds, or null: {tagName, id, className, textContent, attributes}. It is text that
// was copied: code never gets hold of the page. The values of fields that the person fills in are
// left out, for the text of a page is what the app put there, and they are not.
func ParentDOM(opts ParentDOMOptions) (protocol.Tool, error) {
	if opts.Consent == nil {
		return protocol.Tool{}, protocol.Errorf(protocol.ErrInvalidParams, "dom_querySelector", "", "ParentDOMOptions.Consent must be set: nothing is looked at without it")
	}
	if opts.MaxText < 0 || opts.MaxText > 1_000_000 {
		return protocol.Tool{}, protocol.Errorf(protocol.ErrInvalidParams, "dom_querySelector", "", "MaxText is %d; it must be 0 to 1,000,000", opts.MaxText)
	}
	if opts.MaxText == 0 {
		opts.MaxText = 10_000
	}
	return protocol.Tool{
		ID: "dom_querySelector", Server: "dom", Parameters: parentDOMSchema,
		Description: "Describes the first element of the page that a CSS selector finds.",
		Requires:    []protocol.Grant{{Capability: protocol.DOMRead}},
		Execute: func(ctx context.Context, args any) (any, error) {
			selector, _ := args.(map[string]any)["selector"].(string)
			if len(selector) > maxSelector {
				return nil, protocol.Errorf(protocol.ErrInvalidParams, "dom_querySelector", "", "the selector has %d bytes; the limit is %d", len(selector), maxSelector)
			}
			if err := opts.Consent(ctx, selector); err != nil {
				return nil, err
			}
			return describe(opts, selector)
		},
	}, nil
}
