package iframe

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
)

// ParentDOMOptions configure [ParentDOM].
type ParentDOMOptions struct {
	// Consent is called with the selector before each access to the page. If it returns an
	// error, the access is refused. It must be set.
	Consent func(ctx context.Context, selector string) error

	// Root is the element to search in. Root itself is not found. The default is the page's
	// body.
	Root Element

	// MaxText is the maximum length of an element's text, and of each of its attributes, in
	// UTF-16 units. Longer text is cut. The default is 10,000, the maximum 1,000,000.
	MaxText int
}

// maxSelector is the maximum length of a selector in bytes. maxAttributes is the maximum number
// of attributes in the description of an element.
const (
	maxSelector   = 1000
	maxAttributes = 64
)

const parentDOMSchema = `{"type":"object","properties":{"selector":{"type":"string","minLength":1,"maxLength":1000}},"required":["selector"],"additionalProperties":false}`

// ParentDOM returns the tool dom_querySelector. It gives code in an enclave a description of
// the first element of the page that matches a CSS selector, or null: {tagName, id, className,
// textContent, attributes}. The host must consent to each access. The description is copied
// text, so the code never gets a reference to the page. The values of form fields are left out.
// The app chose the other text of its page, but the user may have typed anything into a field.
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
