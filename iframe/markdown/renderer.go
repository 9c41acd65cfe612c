package markdown

import (
	"bytes"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// Renderer turns Markdown into [HTML]. It may be used by many goroutines and
// serve many streams.
type Renderer struct {
	opts   Options
	once   sync.Once
	md     goldmark.Markdown
	policy *bluemonday.Policy
}

// New returns a Renderer. Options that make no sense are an error that names
// each. Policies are built with the first rendering.
func New(opts Options) (*Renderer, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Renderer{opts: opts}, nil
}

func (r *Renderer) render(src []byte) string {
	r.once.Do(func() {
		r.md = goldmark.New(goldmark.WithExtensions(extension.GFM))
		r.policy = bluemonday.StrictPolicy().AllowElements("p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br",
			"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "del")
	})
	var b bytes.Buffer
	if err := r.md.Convert(src, &b); err != nil {
		return ""
	}
	return r.policy.Sanitize(b.String())
}

// Render renders a whole text. The report lists what was stopped; the error is
// for a Renderer that cannot work at all, never for the text.
func (r *Renderer) Render(src []byte) (HTML, Report, error) {
	s := r.NewStream()
	if _, err := s.Write(src); err != nil {
		return HTML{}, Report{}, err
	}
	if err := s.Close(); err != nil {
		return HTML{}, Report{}, err
	}
	return s.HTML(), s.Report(), nil
}
