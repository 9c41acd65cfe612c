package iframe

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/wire/document"
)

// ErrClosed is returned by methods of a closed document or section.
var ErrClosed = errors.New("iframe: closed")

// Section is one answer in a document: an [io.WriteCloser] for Markdown. Write only buffers.
// The text is shown in the next animation frame, also in a hidden tab and after Close. All
// methods may be called from any goroutine.
type Section struct {
	c  *conversation
	id string

	// All fields below are guarded by c.mu.
	err       error // permanent: an invalid ID, a closed document
	label     string
	dir       string
	kind      string
	stream    *markdown.Stream // nil if HTML was given
	unread    []byte           // written, not yet in the stream
	ending    bool             // Close was called
	ended     bool             // the stream was closed, too
	announced bool             // the frame has the section marked as busy
	dirty     bool
	blocks    []shown // in order
}

// shown is a block as it is in the frame.
type shown struct {
	key  int
	html document.HTML
	text markdown.HTML // the value that html is the proof of. Empty for HTML of attack tests, which was never sanitised
	cut  bool          // the block kills the frames that show it, so only its text is shown
}

// visible returns the HTML of the block as the frame shows it.
func (b *shown) visible() document.HTML {
	if b.cut {
		return b.text.Cut().Proof()
	}
	return b.html
}

var _ io.WriteCloser = (*Section)(nil)

// ID returns the ID of the section.
func (s *Section) ID() string { return s.id }

// Write adds Markdown. A character may be split between two writes. Write returns ErrClosed
// after Close, and a descriptive error if the section's ID was invalid or the document is
// closed. Text above the renderer's limit of bytes is not refused: it is shown as plain text
// with a note.
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

// WriteString adds Markdown like Write.
func (s *Section) WriteString(text string) (int, error) { return s.Write([]byte(text)) }

// alive returns an error if the section was removed or its document is closed.
func (s *Section) alive() error {
	if s.err == nil && s.c.closed {
		return fmt.Errorf("%w: document", ErrClosed)
	}
	return s.err
}

// writable is alive, and returns an error if the section is closed.
func (s *Section) writable() error {
	if err := s.alive(); err != nil || !s.ending {
		return err
	}
	return fmt.Errorf("%w: section %q", ErrClosed, s.id)
}

// Close marks the answer as complete. Open Markdown constructs are shown as they are. Close
// does not wait for the screen, see [Document.Flush]. A second Close does nothing.
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

// Show replaces the content of the section with HTML that was rendered before, such as that of
// a stored conversation, and closes the section.
func (s *Section) Show(h markdown.HTML) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if err := s.alive(); err != nil {
		return err
	}
	s.c.clear(s)
	s.show(h.Proof())
	s.blocks[0].text = h
	return nil
}

// show is Show for a proof. Attack tests of this package make a proof for unsanitised HTML, to
// test the layers behind the sanitiser.
func (s *Section) show(h document.HTML) {
	s.stream, s.ending, s.ended = nil, true, true
	s.unread = nil
	s.blocks = []shown{{key: 0, html: h}}
	s.c.order(func(b *document.Batch) {
		if len(s.blocks) > 0 {
			s.send(b, 0, document.First)
		}
	})
	s.c.order(func(b *document.Batch) { b.Busy(s.id, false) })
}

// Reset empties the section and opens it again, for an answer that is written from the start
// again.
func (s *Section) Reset() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if err := s.alive(); err != nil {
		return err
	}
	s.c.clear(s)
	s.c.open(s)
	s.unread, s.ending, s.ended = nil, false, false
	return nil
}

// Remove removes the section from the document. Its ID may be used again.
func (s *Section) Remove() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.c.remove(s)
}

// SetLabel sets the accessible name of the section, such as "Answer 3". A section without a
// name is no landmark.
func (s *Section) SetLabel(label string) error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.label = label
	dir := s.dir
	s.c.order(func(b *document.Batch) { b.Section(s.id, label, dir, "") })
	return nil
}

// SetDir sets the text direction of the whole section to "ltr", "rtl" or "auto". Without it the
// first letter of each block decides the direction of that block.
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
	s.c.order(func(b *document.Batch) { b.Section(s.id, label, dir, "") })
	return nil
}

// SetKind sets what the section is in the conversation: 1 to 32 lower-case letters, digits and hyphens,
// beginning with a letter. "user" looks like a message of the user, and "note" like a remark beside the
// conversation. Any other kind, such as "assistant", looks like a section without one.
// DocumentOptions.CSS can style each of them by section[data-kind=user]. A kind is no name: set
// [Section.SetLabel] too.
func (s *Section) SetKind(kind string) error {
	ok := kind != "" && len(kind) <= 32 && kind[0] >= 'a' && kind[0] <= 'z'
	for _, c := range kind {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !ok {
		return fmt.Errorf("iframe: kind %q: want 1 to 32 lower-case letters, digits and hyphens, such as \"user\"", kind)
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.kind = kind
	s.c.order(func(b *document.Batch) { b.Section(s.id, "", "", kind) })
	return nil
}

// Report returns the counts of the content that the sanitiser and the limits have removed so
// far. It is empty after Show.
func (s *Section) Report() markdown.Report {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	if s.stream == nil {
		return markdown.Report{}
	}
	return s.stream.Report()
}

// HTML returns the HTML that the section shows now, block by block. After Close, and once
// everything has been shown, it equals a one-shot rendering of the whole text.
func (s *Section) HTML() string {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	var b strings.Builder
	for _, block := range s.blocks {
		b.WriteString(block.html.String())
	}
	return b.String()
}
