package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// converter is the parser, together with the render functions of extensions.
type converter struct {
	p     parser.Parser
	funcs map[ast.NodeKind]renderer.NodeRendererFunc
}

// Extension extends the parser and renders the nodes that it adds. Package extend makes one
// from a goldmark extension.
type Extension interface {
	Extend(p parser.Parser, options func(...renderer.Option))
}

func newConverter(extensions []Extension, noMath bool) *converter {
	c := &converter{p: parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(boxParser{}, 0),
			util.Prioritized(noteParser{}, 150),
			util.Prioritized(strikeParser{}, 500),
			util.Prioritized(autoLinkParser{}, 999),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithParagraphTransformers(util.Prioritized(tableTransformer{}, 200)),
	), funcs: map[ast.NodeKind]renderer.NodeRendererFunc{}}
	if !noMath {
		c.p.AddOptions(
			parser.WithBlockParsers(util.Prioritized(formulaParser{}, 650)),
			parser.WithInlineParsers(util.Prioritized(formulaInline{}, 50)),
		)
	}
	for _, e := range extensions {
		e.Extend(c.p, c.addOptions)
	}
	return c
}

// addOptions registers the node renderers of an extension. Those with the smallest priority
// number win, as in goldmark.
func (c *converter) addOptions(opts ...renderer.Option) {
	config := renderer.NewConfig()
	for _, o := range opts {
		o.SetConfig(config)
	}
	config.NodeRenderers.Sort()
	for i := len(config.NodeRenderers) - 1; i >= 0; i-- {
		v := config.NodeRenderers[i]
		if nr, ok := v.Value.(renderer.NodeRenderer); ok {
			if so, ok := v.Value.(renderer.SetOptioner); ok {
				for name, value := range config.Options {
					so.SetOption(name, value)
				}
			}
			nr.RegisterFuncs(c)
		}
	}
}

// Register implements renderer.NodeRendererFuncRegisterer.
func (c *converter) Register(kind ast.NodeKind, f renderer.NodeRendererFunc) { c.funcs[kind] = f }

// extended returns the function with which an extension renders nodes of a kind, or nil.
func (c *converter) extended(kind ast.NodeKind) renderer.NodeRendererFunc {
	if len(c.funcs) == 0 {
		return nil
	}
	return c.funcs[kind]
}

// blockContext is goldmark's context for one segment, with the references of the whole text.
type blockContext struct {
	parser.Context
	d     *doc
	p     *part
	pipes []int // positions of backslashes before a | in code, in table cells
	rough bool  // neither define nor record: the segment is not complete
}

func (c *blockContext) Reference(label string) (parser.Reference, bool) {
	if ref, ok := c.d.refs[label]; ok {
		return ref, true
	}
	// The unfinished end of a text uses its own definitions.
	if c.rough {
		return c.Context.Reference(label)
	}
	c.p.miss(label)
	return nil, false
}

func (c *blockContext) AddReference(ref parser.Reference) {
	if c.rough {
		c.Context.AddReference(ref)
		return
	}
	c.d.define(c.p, ref)
}

// parse returns the tree of a segment.
func (c *converter) parse(src []byte, ctx parser.Context) ast.Node {
	return c.p.Parse(text.NewReader(src), parser.WithContext(ctx))
}

// underlined reports whether goldmark makes a heading of a paragraph's last line.
func underlined(r *Renderer, paragraph []byte) bool {
	tree := r.conv.parse(paragraph, &blockContext{Context: parser.NewContext(), d: &doc{r: r}, rough: true})
	return tree.LastChild() != nil && tree.LastChild().Kind() == ast.KindHeading
}
