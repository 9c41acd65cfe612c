package iframe

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// Link is a link that a person activated.
type Link struct {
	Section string // id of the section it stands in
	URL     string // the real target: http, https, mailto or tel
	Text    string // what it says, at most 500 characters: not to be trusted
}

// Host is the part of the target worth showing large: the host of a web
// address (in ASCII, so that no look-alike letters hide in it), the address of a
// mailto or tel link.
func (l Link) Host() string {
	u, err := url.Parse(l.URL)
	if err != nil {
		return l.URL
	}
	if u.Host != "" {
		return u.Host
	}
	return u.Opaque
}

// Open opens the link in a new tab without an opener or a referrer. Browsers
// allow it only shortly after a click: call it from the confirm button.
func (l Link) Open(ctx context.Context) error {
	if err := l.check(); err != nil {
		return err
	}
	return openLink(ctx, l.URL)
}

// check says whether l is a link that may be handed on or opened.
func (l Link) check() error {
	u, err := url.Parse(l.URL)
	if err != nil {
		return fmt.Errorf("iframe: link target is no URL: %w", err)
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" {
			return fmt.Errorf("iframe: link target %.80q has no host", l.URL)
		}
	case "mailto", "tel":
	default:
		return fmt.Errorf("iframe: link target %.80q: scheme %q is not http, https, mailto or tel", l.URL, u.Scheme)
	}
	if strings.ContainsAny(l.URL, "\x00\r\n\t") {
		return fmt.Errorf("iframe: link target %.80q holds control characters", l.URL)
	}
	return nil
}
