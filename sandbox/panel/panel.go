// Package panel has a developer's view of a box in its page: the live trace, the chunks of a run, the
// explanation of any call, counters such as those of pools, and the check of the page's headers.
//
// The panel is off unless the program opens it. Its methods do nothing on a nil Panel and before Open, so
// a program calls them without conditions:
//
//	var dev panel.Panel
//	if wanted { // such as a parameter of the page's address
//		err = dev.Open(parent) // of <section id="panel" hidden></section>
//	}
//	box, err := sandbox.New(sandbox.Options{OnTrace: dev.Trace, …})
//	dev.Box(box)
//	dev.Pool("programs", func() any { return pool.Stats() })
//	for chunk, err := range dev.Chunks(box.Run(ctx, session, model, sandbox.RunOptions{})) { … }
//
// The panel shows inputs and outputs of calls, which may hold secrets of the user, and it decides nothing.
// Everything in it is shown as text. It keeps the newest 500 rows of each list, and at most 8 KB of a row.
// It needs no exception in a Content-Security-Policy and follows the page's color-scheme.
package panel

import (
	"iter"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Panel is a developer's view of a box. The zero value and nil are off. A Panel is safe for concurrent use.
type Panel struct{ impl impl }

// Open shows the panel in an empty element of the page, such as <section id="panel" hidden></section>. The
// element must be one that can have a shadow tree (a section or a div). A panel is opened once. Outside a
// browser the error matches [errors.ErrUnsupported].
func (p *Panel) Open(parent iframe.Element) error { return p.impl.open(parent) }

// Trace adds an event to the live trace. It is meant for [sandbox.Options].OnTrace.
func (p *Panel) Trace(e protocol.TraceEvent) {
	if l := p.lists(); l != nil {
		l.trace.add(ofEvent(e))
	}
}

// Chunks returns a stream with the same elements, which the panel lists while they are read.
func (p *Panel) Chunks(run iter.Seq2[sandbox.Chunk, error]) iter.Seq2[sandbox.Chunk, error] {
	l := p.lists()
	if l == nil {
		return run
	}
	return func(yield func(sandbox.Chunk, error) bool) {
		for chunk, err := range run {
			l.chunks.add(ofChunk(chunk, err))
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// Box sets the box whose calls the panel explains. A later box takes the place of an earlier one.
func (p *Panel) Box(b *sandbox.Box) {
	if l := p.lists(); l != nil {
		l.setBox(b)
	}
}

// Pool adds counters under a name. stats returns a struct or a map of numbers, such as the result of
// worker.Pool.Stats. The panel calls it once a second while it shows the counters. A nil stats removes them.
func (p *Panel) Pool(name string, stats func() any) {
	if l := p.lists(); l != nil {
		l.setPool(name, stats)
	}
}

// Close empties and hides the element, and releases the panel's listeners. It is idempotent.
func (p *Panel) Close() error {
	if p == nil {
		return nil
	}
	return p.impl.close()
}

func (p *Panel) lists() *lists {
	if p == nil {
		return nil
	}
	return p.impl.lists.Load()
}
