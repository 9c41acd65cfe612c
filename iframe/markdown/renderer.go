package markdown

import (
	"fmt"
	"net/url"
	"sync"

	"github.com/microcosm-cc/bluemonday"
)

// Renderer converts Markdown to [HTML]. It may be used by several goroutines and serve many
// streams at the same time.
type Renderer struct {
	opts   Options
	base   *url.URL
	once   sync.Once
	conv   *converter
	policy *bluemonday.Policy

	gallery gallery // makes the drawings, nil without them

	unlabelled bool // for tests that show the purpose of the target beside a link
	unbounded  bool // for tests that show the purpose of the bounds of the layout
}

// New returns a Renderer. It returns an error that describes the invalid options, if there are
// any. Parsers and policies are built when the first text is rendered.
func New(opts Options) (*Renderer, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Renderer{opts: opts}
	if opts.gallery != nil {
		r.gallery = opts.gallery(opts)
	}
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
		r.conv = newConverter(r.opts.Extensions, r.opts.NoMath)
		r.policy = ourPolicy()
		if r.gallery != nil {
			r.gallery.allow(r.policy)
		}
	})
}

// Render renders a whole text. It waits for the drawings of Options.Draw. The report lists the stopped content. The error never depends on
// the text: it is reserved for a Renderer that cannot work at all.
func (r *Renderer) Render(src []byte) (HTML, Report, error) {
	s := r.NewStream()
	if _, err := s.Write(src); err != nil {
		return HTML{}, Report{}, err
	}
	if err := s.Close(); err != nil {
		return HTML{}, Report{}, err
	}
	came := make(chan struct{}, 1)
	s.OnDrawn(func() {
		select {
		case came <- struct{}{}:
		default:
		}
	})
	html := s.HTML()
	for s.Drawing() || s.d.drawn.came.Load() {
		<-came
		html = s.HTML()
	}
	return html, s.Report(), nil
}
