package markdown

import (
	"fmt"
	"net/url"
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// Renderer turns Markdown into [HTML]. It may be used by many goroutines and
// serve many streams.
type Renderer struct {
	opts   Options
	base   *url.URL
	once   sync.Once
	conv   *converter
	policy *bluemonday.Policy

	unlabelled bool // tests show with it what the real target beside a link is for
}

// New returns a Renderer. Options that make no sense are an error that names
// each. Parsers and policies are built with the first rendering.
func New(opts Options) (*Renderer, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Renderer{opts: opts}
	if opts.Base != "" {
		r.base, err = url.Parse(opts.Base)
		if err != nil || r.base.Host == "" || r.base.Scheme != "https" && r.base.Scheme != "http" {
			return nil, fmt.Errorf("markdown: Options.Base is %q: want an http or https URL", opts.Base)
		}
	}
	return r, nil
}

func (r *Renderer) prepare() {
	r.once.Do(func() {
		r.conv = newConverter(r.opts.Extensions)
		r.policy = ourPolicy()
	})
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
