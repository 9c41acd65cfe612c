package iframe

import (
	_ "embed" // for the style
	"errors"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode"

	"github.com/bailey-go/bailey/iframe/markdown"
)

//go:embed srcdoc.css
var srcdocCSS string

// SrcdocStyleHash is the hash of the style of a [Srcdoc], as a CSP source
// expression. A page whose own style-src does not list it shows the text without
// that style: srcdoc frames inherit the policy of the page.
const SrcdocStyleHash = "'sha256-3EH0tR9/B6kfmGQztYAmpAKUWzf6s3al9x3GhlC8jEM='"

// srcdocPolicy stands in the outer document, so that the inner one inherits it:
// a policy in the same document as the text comes too late for what a parser
// loads while it reads (Firefox and srcset).
const srcdocPolicy = "default-src 'none'; img-src data:; style-src " + SrcdocStyleHash +
	"; base-uri 'none'; form-action 'none'; frame-src 'none'"

// Srcdoc is a document that shows HTML behind two frames without any script, for
// pages that want none and for servers: the value of an iframe's srcdoc attribute.
// Nothing in it runs, loads or leads anywhere; links and images that are not
// data: are words. The zero value is empty.
//
// In html/template it is a value like any other: <iframe sandbox srcdoc="{{.}}">
// escapes it right. [Srcdoc.Frame] makes the whole element.
type Srcdoc struct {
	doc  string
	opts SrcdocOptions
}

// SrcdocOptions configure a Srcdoc. The zero value is safe.
type SrcdocOptions struct {
	// Label is the accessible name of the frames. Default "Text".
	Label string

	// Lang is the language of the text, as BCP 47 has it; "" is unknown.
	Lang string

	// Scheme is "light", "dark", or "" to follow the person's preference.
	Scheme string

	// Height of the frame in CSS pixels, for [Srcdoc.Frame]: without a script
	// it cannot follow its content, which scrolls inside. Default 400, at most
	// MaxSrcdocHeight.
	Height int
}

// MaxSrcdocHeight bounds SrcdocOptions.Height.
const MaxSrcdocHeight = 1 << 20

// NewSrcdoc makes the document that shows h.
func NewSrcdoc(h markdown.HTML, opts SrcdocOptions) (Srcdoc, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Srcdoc{}, err
	}
	return Srcdoc{opts.document(h.String()), opts}, nil
}

// document is the outer document that holds the inner one with text in it.
func (o SrcdocOptions) document(text string) string {
	var inner, outer strings.Builder
	o.head(&inner, "")
	inner.WriteString("<body><main>" + text + "</main></body></html>")
	o.head(&outer, srcdocPolicy)
	outer.WriteString("<body>")
	frameElement(&outer, o.Label, "", inner.String())
	outer.WriteString("</body></html>")
	return outer.String()
}

// String is the document, not escaped for an attribute: html/template, or
// setting the property srcdoc, takes it as it is.
func (s Srcdoc) String() string { return s.doc }

// Frame is the whole <iframe> element as HTML, for a page that is not made by
// html/template. The zero Srcdoc has none.
func (s Srcdoc) Frame() string {
	if s.doc == "" {
		return ""
	}
	var b strings.Builder
	frameElement(&b, s.opts.Label, strconv.Itoa(s.opts.Height), s.doc)
	return b.String()
}

// frameElement writes a frame in which nothing runs: sandbox="" also takes its
// origin away.
func frameElement(b *strings.Builder, label, height, doc string) {
	b.WriteString(`<iframe sandbox="" referrerpolicy="no-referrer" title="`)
	b.WriteString(attributeText(label))
	if height != "" {
		b.WriteString(`" width="100%" height="` + height)
	}
	b.WriteString(`" srcdoc="`)
	b.WriteString(attributeText(doc))
	b.WriteString(`"></iframe>`)
}

// attributeText escapes s for an attribute in double quotes, at any depth of
// documents in attributes. Parsers of HTML turn \r into \n, so it is written as a
// reference; no other character changes on its way.
func attributeText(s string) string {
	return strings.ReplaceAll(html.EscapeString(s), "\r", "&#13;")
}

func (o SrcdocOptions) head(b *strings.Builder, policy string) {
	b.WriteString("<!doctype html><html")
	if o.Lang != "" {
		b.WriteString(` lang="` + attributeText(o.Lang) + `"`)
	}
	b.WriteString("><head>")
	if policy != "" { // first of all: it binds only what is parsed behind it
		b.WriteString(`<meta http-equiv="Content-Security-Policy" content="` + attributeText(policy) + `">`)
	}
	scheme := o.Scheme
	if scheme == "" {
		scheme = "light dark"
	}
	b.WriteString(`<meta charset="utf-8"><meta name="color-scheme" content="` + scheme + `"><title>` + attributeText(o.Label) + "</title><style>")
	b.WriteString(srcdocCSS)
	b.WriteString("</style></head>")
}

func (o SrcdocOptions) withDefaults() (SrcdocOptions, error) {
	var errs []error
	if o.Label == "" {
		o.Label = "Text"
	}
	if o.Height == 0 {
		o.Height = 400
	}
	if strings.ContainsFunc(o.Label, unicode.IsControl) || len(o.Label) > 1000 {
		errs = append(errs, fmt.Errorf("iframe: SrcdocOptions.Label %.40q: want at most 1000 bytes without control characters", o.Label))
	}
	if strings.ContainsFunc(o.Lang, func(r rune) bool {
		return !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-'))
	}) {
		errs = append(errs, fmt.Errorf("iframe: SrcdocOptions.Lang is %q: want a BCP 47 tag such as \"en\" or \"pt-BR\"", o.Lang))
	}
	if o.Scheme != "" && o.Scheme != "light" && o.Scheme != "dark" {
		errs = append(errs, fmt.Errorf("iframe: SrcdocOptions.Scheme is %q: want \"light\", \"dark\" or \"\"", o.Scheme))
	}
	if o.Height < 1 || o.Height > MaxSrcdocHeight {
		errs = append(errs, fmt.Errorf("iframe: SrcdocOptions.Height is %d CSS pixels: want 1 to %d, or 0 for 400", o.Height, MaxSrcdocHeight))
	}
	return o, errors.Join(errs...)
}
