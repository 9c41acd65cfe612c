package iframe

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/bailey-go/bailey/iframe/internal/localpath"
)

// Link is a link that the user activated.
type Link struct {
	Section string // ID of the section with the link
	URL     string // the real target: http, https, mailto or tel. Empty for a link to a file
	Path    string // the path of a file, as in [fs.ValidPath]: notes/plan.md. Not to be trusted
	Text    string // the text of the link, at most 500 characters. Not to be trusted
}

// Host returns the part of the target to show prominently: the host of a web address, the
// number of a tel link, or all addresses of a mailto link. A host is in ASCII, so that
// look-alike letters are visible. It is empty for a link to a file. The addresses include those of to, cc and bcc, separated by
// ", ".
func (l Link) Host() string {
	if l.Path != "" {
		return ""
	}
	u, err := url.Parse(l.URL)
	if err != nil {
		return l.URL
	}
	switch {
	case u.Host != "":
		return u.Host
	case u.Scheme == "mailto":
		return strings.Join(recipients(u), ", ")
	}
	return cmp.Or(u.Opaque, u.Path)
}

// recipients returns the addresses that a mailto: URL writes to (RFC 6068).
func recipients(u *url.URL) []string {
	var list []string
	add := func(s string) {
		if plain, err := url.PathUnescape(s); err == nil {
			s = plain
		}
		for a := range strings.SplitSeq(s, ",") {
			if a = strings.Trim(a, " /"); a != "" {
				list = append(list, a)
			}
		}
	}
	add(cmp.Or(u.Opaque, u.Path))
	for field := range strings.FieldsFuncSeq(u.RawQuery, func(r rune) bool { return r == '&' || r == '?' || r == ';' }) {
		name, value, _ := strings.Cut(field, "=")
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "to", "cc", "bcc":
			add(value)
		}
	}
	return list
}

// linkTo returns the link that a frame reports. The frame writes ./ before the path of a file.
func linkTo(section, target, text string) (Link, error) {
	if file, ok := strings.CutPrefix(target, "./"); ok {
		if !localpath.Valid(file) {
			return Link{}, fmt.Errorf("iframe: link target %.80q is no path", target)
		}
		return Link{Section: section, Path: file, Text: text}, nil
	}
	l := Link{Section: section, URL: target, Text: text}
	return l, l.check()
}

// Open opens the link in a new tab without an opener or a referrer. Browsers allow it only
// shortly after a click, so call it from the confirm button. It returns an error if the link
// may not be opened, such as a tel: link with * or #, or a link to a file, which the app shows
// itself.
func (l Link) Open(ctx context.Context) error {
	if err := l.check(); err != nil {
		return err
	}
	return openLink(ctx, l.URL)
}

// check returns an error if l must not be passed to the app or opened.
func (l Link) check() error {
	if l.Path != "" {
		return fmt.Errorf("iframe: link to the file %.80q: only an address can be opened in a tab", l.Path)
	}
	u, err := url.Parse(l.URL)
	if err != nil {
		return fmt.Errorf("iframe: link target is no URL: %w", err)
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" {
			return fmt.Errorf("iframe: link target %.80q has no host", l.URL)
		}
	case "mailto":
	case "tel":
		if number, err := url.PathUnescape(l.URL); err != nil || strings.ContainsAny(number, "*#") {
			return fmt.Errorf("iframe: link target %.80q: a code with * or # would change a telephone's settings; only numbers are opened", l.URL)
		}
	default:
		return fmt.Errorf("iframe: link target %.80q: scheme %q is not http, https, mailto or tel", l.URL, u.Scheme)
	}
	if strings.ContainsAny(l.URL, "\x00\r\n\t") {
		return fmt.Errorf("iframe: link target %.80q holds control characters", l.URL)
	}
	return nil
}
