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

const srcdocStyleHash = "'sha256-3EH0tR9/B6kfmGQztYAmpAKUWzf6s3al9x3GhlC8jEM='"

// srcdocPolicy is the policy of the outer document, which the inner one inherits. A policy in
// the same document as the text would come too late for resources that a parser loads while it
// reads, such as srcset in Firefox.
const srcdocPolicy = "default-src 'none'; img-src data:; style-src " + srcdocStyleHash +
	"; base-uri 'none'; form-action 'none'; frame-src 'none'"

// Srcdoc is a document that shows HTML inside two frames without any script. It is for servers
// and for pages without scripts. Its text is the value of an iframe's srcdoc attribute. Nothing
// in it runs, loads or navigates. Links are shown as text, and images without a data: URL as
// their alternative text. The zero value is empty.
//
// A Srcdoc can be used like any value in html/template, which escapes it correctly: <iframe
// sandbox srcdoc="{{.}}">. [Srcdoc.Frame] returns the whole element.
type Srcdoc struct {
	doc  string
	opts SrcdocOptions
}

// SrcdocOptions configure a Srcdoc. The zero value is safe.
type SrcdocOptions struct {
	// Label is the accessible name of the frames, at most 1,000 bytes without control
	// characters. Default "Text".
	Label string

	// Lang is the language of the text as a BCP 47 tag, such as "en". Empty means unknown.
	Lang string

	// Scheme is "light", "dark" or "". Empty follows the user's preference.
	Scheme string

	// Height is the height of the frame in CSS pixels, for [Srcdoc.Frame]. Without a script the
	// frame cannot follow the height of its content, so taller content scrolls inside. Default
	// 400, at most 1,048,576.
	Height int
}

const maxSrcdocHeight = 1 << 20

// NewSrcdoc returns the document that shows h. It returns an error if an option is invalid.
func NewSrcdoc(h markdown.HTML, opts SrcdocOptions) (Srcdoc, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Srcdoc{}, err
	}
	return Srcdoc{opts.document(h.String()), opts}, nil
}

// document returns the outer document, which contains the inner one with text in it.
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

// StyleHash returns the hash of the style of every Srcdoc, as a CSP source expression. If a page's own
// style-src does not list it, the text is shown without that style, because srcdoc frames inherit the
// policy of the page. It can be an item of StyleHashes in package headers.
func (Srcdoc) StyleHash() string { return srcdocStyleHash }

// String returns the document, not escaped for an attribute. html/template and the DOM property
// srcdoc accept it unchanged.
func (s Srcdoc) String() string { return s.doc }

// Frame returns the whole <iframe> element as HTML, for a page that is not made with
// html/template. For the zero Srcdoc it returns "".
func (s Srcdoc) Frame() string {
	if s.doc == "" {
		return ""
	}
	var b strings.Builder
	frameElement(&b, s.opts.Label, strconv.Itoa(s.opts.Height), s.doc)
	return b.String()
}

// frameElement writes a frame in which no script runs. sandbox="" also makes its origin opaque.
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

// attributeText escapes s for an attribute in double quotes. It is correct for documents in
// attributes at any depth. HTML parsers convert \r to \n, so \r is written as a character
// reference. No other character changes on the way.
func attributeText(s string) string {
	return strings.ReplaceAll(html.EscapeString(s), "\r", "&#13;")
}

func (o SrcdocOptions) head(b *strings.Builder, policy string) {
	b.WriteString("<!doctype html><html")
	if o.Lang != "" {
		b.WriteString(` lang="` + attributeText(o.Lang) + `"`)
	}
	b.WriteString("><head>")
	if policy != "" { // before everything else: a policy applies only to content parsed after it
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
	if o.Height < 1 || o.Height > maxSrcdocHeight {
		errs = append(errs, fmt.Errorf("iframe: SrcdocOptions.Height is %d CSS pixels: want 1 to %d, or 0 for 400", o.Height, maxSrcdocHeight))
	}
	return o, errors.Join(errs...)
}
