// Package extend adapts goldmark extensions to package markdown. It is a separate package
// because goldmark itself, with its HTML renderer, would be added to every page that shows
// Markdown.
//
// The output of an extension is filtered like raw HTML of the text, so it cannot weaken the
// sanitiser. Each top-level block is parsed separately, so an extension that processes the
// whole document receives one block at a time.
package extend

import (
	"errors"
	"io"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// Goldmark returns e as an extension for [markdown.Options.Extensions]. It returns nil if e is
// nil.
func Goldmark(e goldmark.Extender) markdown.Extension {
	if e == nil {
		return nil
	}
	return extension{e}
}

type extension struct{ e goldmark.Extender }

func (x extension) Extend(p parser.Parser, options func(...renderer.Option)) {
	x.e.Extend(&shim{p, options})
}

// shim is a goldmark.Markdown that extensions register with. Its methods for converting return
// errShim.
type shim struct {
	p       parser.Parser
	options func(...renderer.Option)
}

var errShim = errors.New("extend: use markdown.Renderer")

func (s *shim) Convert([]byte, io.Writer, ...parser.ParseOption) error { return errShim }
func (s *shim) Parser() parser.Parser                                  { return s.p }
func (s *shim) SetParser(parser.Parser)                                {}
func (s *shim) Renderer() renderer.Renderer                            { return s }
func (s *shim) SetRenderer(renderer.Renderer)                          {}
func (s *shim) Render(io.Writer, []byte, ast.Node) error               { return errShim }
func (s *shim) AddOptions(opts ...renderer.Option)                     { s.options(opts...) }
