package iframe

import (
	"context"

	"github.com/bailey-go/bailey/internal/frame"
)

// Document shows sections of Markdown inside two nested frames. Make one with [NewDocument].
// All methods may be called from any goroutine.
//
// Files that the user drags over a document belong to the page around it. During the drag the
// frame lets pointer events through to the page.
type Document struct {
	c    *conversation
	opts DocumentOptions
	impl documentImpl
}

// NewDocument appends a document to parent and returns when its frame is ready. The document
// lives until Close is called or ctx ends.
//
// If the page's own Content-Security-Policy forbids the frame's script, the error wraps
// [ErrFrameBlocked] and contains the directive to add. If the frame is not ready within
// ReadyTimeout, the error wraps [context.DeadlineExceeded]. If ctx ends first, the error is
// that of ctx. Each invalid option has an error of its own, and they are joined. Outside a
// browser the error matches [errors.ErrUnsupported].
func NewDocument(ctx context.Context, parent Element, opts DocumentOptions) (*Document, error) {
	return newDocument(ctx, parent, opts)
}

// Section returns the section with this ID. If there is none, it appends an empty one. An ID
// has 1 to 128 bytes of UTF-8 and no control characters. For an invalid ID, a closed
// document or more than 10,000 sections, Section returns a section whose Write returns the
// error.
func (d *Document) Section(id string) *Section { return d.c.section(id) }

// Sections returns the sections in the order in which they are shown.
func (d *Document) Sections() []*Section {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	return append([]*Section(nil), d.c.sections...)
}

// SetTheme changes the look of the document. It returns an error for an invalid theme, and
// ErrClosed after Close.
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

// Flush returns when everything written so far has been laid out by the frame. In a visible tab
// it is then on the screen. A hidden tab paints nothing. Flush returns the error of ctx if that
// ends first, and ErrClosed if the document ends.
func (d *Document) Flush(ctx context.Context) error { return d.impl.flush(ctx) }

// Height returns the height of the frame in CSS pixels.
func (d *Document) Height() int { return d.impl.currentHeight() }

// Err returns the reason why the document ended: nil while it lives, ErrClosed after Close, and
// otherwise the failure, such as one that wraps ErrFrameLost.
func (d *Document) Err() error { return d.impl.failure() }

// Close removes the document from the page and releases everything. It is idempotent.
func (d *Document) Close() error { return d.impl.close() }

// ScriptHashes returns the CSP source expressions that the script-src of a page must list for
// documents and enclaves to run in it. The command `wasm_exec headers` prints them too.
func ScriptHashes() []string { return frame.ScriptHashes() }
