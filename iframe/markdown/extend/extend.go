// Package extend adapts goldmark extensions to package markdown. It is a package of
// its own because goldmark itself, with its renderer of HTML, would add to every
// page that shows Markdown.
//
// What an extension renders is treated as the raw HTML of a stranger, so that it
// cannot weaken the sanitiser. Each top-level block is parsed on its own: an
// extension that looks at the whole document sees one block at a time.
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

// Goldmark makes a goldmark extension one of package markdown.
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

// shim is a goldmark.Markdown for extensions to extend. It converts nothing.
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
