package markdown

import "errors"

// ErrClosed is what Write answers after Close.
var ErrClosed = errors.New("markdown: stream is closed")

// Op is what a Patch does.
type Op uint8

// Operations of a Patch.
const (
	Set    Op = iota // the block with this key has this HTML now; a key that was not there is a new block at the end
	Remove           // the block with this key is gone
)

// Patch is a change to what is shown.
type Patch struct {
	Key  int
	Op   Op
	HTML HTML // of Set
}

// Stream renders a text that is still being written. Blocks that are finished
// are rendered once; only the open end is rendered again. The HTML of all
// blocks, in order, is that of [Renderer.Render] of the same text once the
// stream is closed, however the text was split. A Stream is for one goroutine
// at a time.
type Stream struct {
	r       *Renderer
	text    []byte
	shown   string
	closed  bool
	pending bool
}

// NewStream returns an empty stream.
func (r *Renderer) NewStream() *Stream { return &Stream{r: r} }

// Write adds text and only buffers. Characters may be split between writes. It
// fails only with ErrClosed.
func (s *Stream) Write(p []byte) (int, error) {
	if s.closed {
		return 0, ErrClosed
	}
	s.text = append(s.text, p...)
	return len(p), nil
}

// Patches renders what was written since the last call and returns what
// changed. Call it at most once an animation frame. The order of blocks is the
// order in which their keys first appeared.
func (s *Stream) Patches() []Patch {
	html := s.r.render(s.text)
	if html == s.shown {
		return nil
	}
	s.shown = html
	return []Patch{{Key: 0, Op: Set, HTML: HTML{html}}}
}

// Pending reports whether Patches has work left although nothing new was
// written: a large open block is not rendered again for each token, but when
// it has grown enough or enough calls have passed.
func (s *Stream) Pending() bool { return false }

// Close says that the text is complete. Call Patches once more for the last
// changes. Closing again does nothing.
func (s *Stream) Close() error {
	s.closed = true
	return nil
}

// HTML is all blocks in order, rendered as far as text was written.
func (s *Stream) HTML() HTML { return HTML{s.r.render(s.text)} }

// Report lists what was stopped so far.
func (s *Stream) Report() Report { return Report{} }
