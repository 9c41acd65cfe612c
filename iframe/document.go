package iframe

import (
	"context"

	"github.com/bailey-go/bailey/internal/frame"
)

// Document shows sections of Markdown behind two frames. Make one with
// [NewDocument]; all methods may be called from any goroutine.
//
// Files that are dragged over a document are the page's around it: the frame lets the
// pointer through to it while they are.
type Document struct {
	c    *conversation
	opts DocumentOptions
	impl documentImpl
}

// NewDocument puts a document at the end of parent and returns when its frame
// is ready. The document lives until Close, or until ctx is done.
//
// Errors: ErrFrameBlocked (wrapped, with the directive to add) when the page's
// own Content-Security-Policy forbids the frame's script; the context's; one
// that is errors.ErrUnsupported outside a browser; an error for each option that
// makes no sense.
func NewDocument(ctx context.Context, parent Element, opts DocumentOptions) (*Document, error) {
	return newDocument(ctx, parent, opts)
}

// Section returns the section with this id, and adds an empty one at the end if
// there is none. An id is 1 to MaxSectionID bytes without control characters; a
// bad one, a closed document or one section too many is an error of the
// section's first Write.
func (d *Document) Section(id string) *Section { return d.c.section(id) }

// Sections are the sections in the order they are shown.
func (d *Document) Sections() []*Section {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	return append([]*Section(nil), d.c.sections...)
}

// SetTheme changes how the document looks.
func (d *Document) SetTheme(t Theme) error {
	if err := t.check(); err != nil {
		return err
	}
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	if d.c.closed {
		return ErrClosed
	}
	d.c.setTheme(t)
	return nil
}

// Flush returns when all that was written so far is on the screen, or at least
// laid out: a hidden tab paints nothing.
func (d *Document) Flush(ctx context.Context) error { return d.impl.flush(ctx) }

// Height is the frame's height in CSS pixels.
func (d *Document) Height() int { return d.impl.currentHeight() }

// Err is why the document failed: nil while it lives, ErrClosed after Close.
func (d *Document) Err() error { return d.impl.failure() }

// Close takes the document out of the page and releases everything. It is
// idempotent.
func (d *Document) Close() error { return d.impl.close() }

// ScriptHashes are the CSP sources that a page's script-src must list for
// documents to run in it; `wasm_exec headers` prints them too.
func ScriptHashes() []string { return frame.ScriptHashes() }
