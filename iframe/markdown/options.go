package markdown

import (
	"errors"
	"fmt"

	"github.com/microcosm-cc/bluemonday"
)

// Options configure a Renderer. The zero value is safe and strict.
type Options struct {
	// Limits bound what a text may cost.
	Limits Limits

	// Extensions are extensions of the app: package extend makes one of a
	// goldmark extension. What they render is
	// treated as the raw HTML of a stranger, so that they cannot weaken the
	// sanitiser. Each top-level block is parsed on its own: an extension that
	// looks at the whole document sees one block at a time.
	Extensions []Extension

	// Policy is a further policy, run as well as ours and before it, never
	// instead: it can take away, not add.
	Policy *bluemonday.Policy

	// IDPrefix goes before every id, so that no id of the text is the name of
	// something else: letters, digits and dashes, with a dash at its end.
	// Default "user-content-".
	IDPrefix string

	// NoHeadingIDs leaves headings without the ids that links like
	// [see](#below) lead to.
	NoHeadingIDs bool

	// Schemes of links that are kept, of "http", "https", "mailto" and "tel".
	// Default: all four.
	Schemes []string

	// Base is the http or https URL that relative links are read against.
	// Without one they are dropped, and their text stays.
	Base string

	// Highlight is asked for the colours of a code block: the class and the
	// length in bytes of each run of code, in order. It returns no HTML and
	// so cannot inject any; a class is letters, digits and dashes, at most 32,
	// and appears as "hl-" + class; one that is not, "" and what the spans do
	// not cover is plain. It must depend on its arguments alone.
	Highlight func(lang, code string) []Span
}

// Span is a run of highlighted code.
type Span struct {
	Class string
	Len   int // bytes
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
