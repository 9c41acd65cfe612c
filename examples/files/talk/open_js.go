package talk

import (
	"context"

	"github.com/bailey-go/bailey/iframe"
)

// OpenLink shows the address of a link, and asks before it is opened in a new tab. It is for links to
// addresses, and not to files.
func OpenLink(ctx context.Context, l iframe.Link) { link(ctx, l, func(string) {}) }
