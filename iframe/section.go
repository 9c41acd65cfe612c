package iframe

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/frame"
)

// ErrClosed is what a closed document or section answers.
var ErrClosed = errors.New("iframe: closed")

// Section is one answer in a document: an [io.WriteCloser] that takes Markdown.
// Writing only buffers; what was written is shown with the next animation frame,
// also in a hidden tab and after Close. All methods may be called from any
// goroutine.
type Section struct {
	c  *conversation
	id string

	// All below is guarded by c.mu.
	err       error // sticky: a bad id, a closed document
	label     string
	dir       string
	stream    *markdown.Stream // nil when HTML was given
	unread    []byte           // written, not yet in the stream
	ending    bool             // Close was called
	ended     bool             // and the stream heard of it
	announced bool             // the frame knows of it
	dirty     bool
	blocks    []shown // in order
}

// shown is a block as the frame has it.
type shown struct {
	key  int
	html frame.HTML
	text markdown.HTML // what html is a proof of; empty for HTML that no sanitiser has seen
	cut  bool          // it ends the frames that show it: only its text is shown
}

// visible is the HTML that the frame has of a block.
func (b *shown) visible() frame.HTML {
	if b.cut {
		return b.text.Cut().Proof()
	}
	return b.html
}

var _ io.WriteCloser = (*Section)(nil)

// ID is the section's id.
func (s *Section) ID() string { return s.id }

// Write adds Markdown. A character may be split between two writes. It returns
// ErrClosed after Close, and an error that says why if the section's id was bad
// or the document is closed; over the renderer's limit of bytes, what is over is
// shown as plain text with a note, and nothing is refused.
func (s *Section) Write(p []byte) (int, error) {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if err := s.writable(); err != nil {
		return 0, err
	}
	s.unread = append(s.unread, p...)
	s.c.touch(s)
	return len(p), nil
}

// WriteString is Write.
func (s *Section) WriteString(text string) (int, error) { return s.Write([]byte(text)) }

func (s *Section) writable() error {
	switch {
	case s.err != nil:
		return s.err
	case s.c.closed:
		return fmt.Errorf("%w: document", ErrClosed)
	case s.ending:
		return fmt.Errorf("%w: section %q", ErrClosed, s.id)
	}
	return nil
}

// Close says that the answer is complete: what was still open is shown as it
// stands. It does not wait for the screen, see [Document.Flush]. Closing again
// does nothing.
func (s *Section) Close() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil || s.ending {
		return s.err
	}
	if s.c.closed {
		return fmt.Errorf("%w: document", ErrClosed)
	}
	s.ending = true
	s.c.touch(s)
	return nil
}

// Show replaces what the section shows with HTML that was made before, such as
// a kept conversation's, and closes the section.
func (s *Section) Show(h markdown.HTML) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.c.closed {
		return fmt.Errorf("%w: document", ErrClosed)
	}
	s.c.clear(s)
	s.show(h.Proof())
	s.blocks[0].text = h
	return nil
}

// show is Show with a proof: attack tests of this package mint one for HTML that no
// sanitiser has seen, to put it behind the walls.
func (s *Section) show(h frame.HTML) {
	s.stream, s.ending, s.ended = nil, true, true
	s.unread = nil
	s.blocks = []shown{{key: 0, html: h}}
	s.c.order(func(b *frame.Batch) {
		if len(s.blocks) > 0 {
			s.send(b, 0, frame.First)
		}
	})
	s.c.order(func(b *frame.Batch) { b.Busy(s.id, false) })
}

// Reset empties the section and opens it again, for an answer that is written
// anew.
func (s *Section) Reset() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.c.closed {
		return fmt.Errorf("%w: document", ErrClosed)
	}
	s.c.clear(s)
	s.stream = s.c.renderer.NewStream()
	s.unread, s.ending, s.ended = nil, false, false
	return nil
}

// Remove takes the section out of the document; its id may be used again.
func (s *Section) Remove() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.c.remove(s)
}

// SetLabel gives the section an accessible name, such as "Answer 3". Without one
// it is no landmark.
func (s *Section) SetLabel(label string) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.label = label
	dir := s.dir
	s.c.order(func(b *frame.Batch) { b.Section(s.id, label, dir) })
	return nil
}

// SetDir sets the direction of the whole section: "ltr", "rtl" or "auto".
// Without it each block goes by its own first letter.
func (s *Section) SetDir(dir string) error {
	switch dir {
	case "ltr", "rtl", "auto":
	default:
		return fmt.Errorf("iframe: direction %q: want \"ltr\", \"rtl\" or \"auto\"", dir)
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.dir = dir
	label := s.label
	s.c.order(func(b *frame.Batch) { b.Section(s.id, label, dir) })
	return nil
}

// Report says what the sanitiser and the limits took out so far.
func (s *Section) Report() markdown.Report {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.stream == nil {
		return markdown.Report{}
	}
	return s.stream.Report()
}

// HTML is what the section shows now, block by block. After Close it is the
// same as a one-shot rendering of all that was written, once it has been shown.
func (s *Section) HTML() string {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	var b strings.Builder
	for _, block := range s.blocks {
		b.WriteString(block.html.String())
	}
	return b.String()
}
