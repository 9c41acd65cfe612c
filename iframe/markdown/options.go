package markdown

import (
	"errors"
	"fmt"

	"github.com/microcosm-cc/bluemonday"
)

// Options configure a Renderer. The zero value is safe and strict.
type Options struct {
	// Limits bound the cost of a text.
	Limits Limits

	// Extensions are extensions of the parser. Package extend makes them from goldmark
	// extensions. Their output is filtered like raw HTML of the text, so they cannot weaken the
	// sanitiser. Each top-level block is parsed separately, so an extension that processes the
	// whole document receives one block at a time.
	Extensions []Extension

	// Policy is an additional policy, applied before the package's own policy. It can remove
	// content but not add any.
	Policy *bluemonday.Policy

	// IDPrefix is put before every id, so that no id of the text equals another name in the
	// page. It begins with a letter, contains letters, digits and dashes, ends with a dash and
	// has at most 64 characters. Default "user-content-".
	IDPrefix string

	// NoHeadingIDs omits the ids of headings, which are the targets of links like
	// [see](#below).
	NoHeadingIDs bool

	// NoMath leaves $…$, $$…$$, \(…\) and \[…\] to Markdown. By default they are formulas in
	// TeX, which are shown as they were written.
	NoMath bool

	// Schemes are the link schemes to keep, a subset of "http", "https", "mailto" and "tel".
	// Default: all four.
	Schemes []string

	// Base is the http or https URL that relative links are resolved against. Without it
	// a relative link leads to a file: its path is in data-path.
	Base string

	gallery func(Options) gallery // set by Draw
}

func (o Options) withDefaults() (Options, error) {
	var errs []error
	var err error
	if o.Limits, err = o.Limits.withDefaults(); err != nil {
		errs = append(errs, err)
	}
	if o.IDPrefix == "" {
		o.IDPrefix = "user-content-"
	}
	if !goodPrefix(o.IDPrefix) {
		errs = append(errs, fmt.Errorf("markdown: Options.IDPrefix is %q: want a letter, then letters, digits and dashes, a dash at the end, at most 64", o.IDPrefix))
	}
	if o.Schemes == nil {
		o.Schemes = []string{"http", "https", "mailto", "tel"}
	}
	for _, s := range o.Schemes {
		switch s {
		case "http", "https", "mailto", "tel":
		default:
			errs = append(errs, fmt.Errorf("markdown: Options.Schemes has %q: want some of \"http\", \"https\", \"mailto\" and \"tel\"", s))
		}
	}
	for i, e := range o.Extensions {
		if e == nil {
			errs = append(errs, fmt.Errorf("markdown: Options.Extensions[%d] is nil", i))
		}
	}
	return o, errors.Join(errs...)
}

func goodPrefix(s string) bool {
	if len(s) < 2 || len(s) > 64 || s[len(s)-1] != '-' || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !isDigit(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
