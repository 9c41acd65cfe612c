package markdown

import (
	"errors"
	"strings"
)

// ErrClosed is what Write answers after Close.
var ErrClosed = errors.New("markdown: stream is closed")

// Op is what a Patch does.
type Op uint8

// Operations of a Patch.
const (
	Set    Op = iota // the block with this key has this HTML now; a key that is not there is a new block at the end
	Remove           // the block with this key is gone
)

// Patch is a change to what is shown.
type Patch struct {
	Key  int
	Op   Op
	HTML HTML // of Set
}

// Stream renders a text that is still being written. Blocks that are finished
// are rendered once; only the open end is rendered again, as it will probably
// end. A late link definition or footnote renders again the blocks that refer to
// it. Once the stream is closed, the HTML of all blocks, in order, is that of
// [Renderer.Render] of the same text, however the text was split. A Stream is
// for one goroutine at a time.
type Stream struct {
	d     *doc
	shown []shownBlock
	tail  tail
	fresh bool // something was written since the last call of Patches
	done  bool // Patches was called after Close
}

type shownBlock struct {
	key  int
	html string
}

// noteKey is the key of the footnotes: behind all others.
const noteKey = 1 << 30

// NewStream returns an empty stream.
func (r *Renderer) NewStream() *Stream {
	r.prepare()
	return &Stream{d: newDoc(r)}
}

// Write adds text and only buffers. Characters may be split between writes. It
// fails only with ErrClosed.
func (s *Stream) Write(p []byte) (int, error) {
	if s.d.closed {
		return 0, ErrClosed
	}
	s.d.in.write(p)
	s.fresh = s.fresh || len(p) > 0
	s.tail.credit += creditByte * len(p)
	return len(p), nil
}

// Patches renders what was written since the last call and returns what
// changed. Call it at most once an animation frame, and as long as there is
// something to show: see Pending.
func (s *Stream) Patches() []Patch {
	if s.done || !s.fresh && !s.tail.pending && !s.d.closed {
		return nil
	}
	s.fresh = false
	s.d.advance()
	s.d.settle()
	now := s.blocks()
	if s.d.closed {
		s.done = true
	}
	return s.diff(now)
}

// Pending reports whether something written is not in a patch yet. A large open
// block is not rendered again for each token, but when it has grown enough, or
// enough calls of Patches have passed; Close shows everything.
func (s *Stream) Pending() bool {
	return !s.done && (s.fresh || s.tail.pending || s.d.closed)
}

// Close says that the text is complete. Call Patches once more for the last
// changes. Closing again does nothing.
func (s *Stream) Close() error {
	if !s.d.closed {
		s.d.in.close()
		s.d.closed = true
	}
	return nil
}

// HTML is all blocks in order. Before Close its end is rendered as it will
// probably be.
func (s *Stream) HTML() HTML {
	s.d.advance()
	s.d.settle()
	var b strings.Builder
	for _, block := range s.blocks() {
		b.WriteString(block.html)
	}
	return HTML{b.String()}
}

// Report lists what was stopped in the blocks that are finished.
func (s *Stream) Report() Report {
	s.d.advance()
	s.d.settle()
	var all Report
	for _, b := range s.d.blocks {
		all.merge(b.report)
	}
	_, notes := s.d.notes.section(s.d)
	all.merge(notes)
	all.sort()
	return all
}

// blocks are all blocks with something in them as they stand.
func (s *Stream) blocks() []shownBlock {
	var now []shownBlock
	for _, b := range s.d.blocks {
		if b.html != "" {
			now = append(now, shownBlock{b.first, b.html})
		}
	}
	if !s.d.closed {
		now = append(now, s.tail.blocks(s.d)...)
	}
	if section, _ := s.d.notes.section(s.d); section != "" {
		now = append(now, shownBlock{noteKey, section})
	}
	return now
}

// diff makes patches that turn what is shown into now. Keys only grow along a
// text, so a key that comes before one that is shown has the later ones removed
// and set again.
func (s *Stream) diff(now []shownBlock) []Patch {
	var patches []Patch
	old := s.shown
	for _, b := range now {
		for len(old) > 0 && old[0].key < b.key {
			patches = append(patches, Patch{Key: old[0].key, Op: Remove})
			old = old[1:]
		}
		if len(old) > 0 && old[0].key == b.key {
			if old[0].html != b.html {
				patches = append(patches, Patch{Key: b.key, HTML: HTML{b.html}})
			}
			old = old[1:]
			continue
		}
		for _, later := range old {
			patches = append(patches, Patch{Key: later.key, Op: Remove})
		}
		old = nil
		patches = append(patches, Patch{Key: b.key, HTML: HTML{b.html}})
	}
	for _, gone := range old {
		patches = append(patches, Patch{Key: gone.key, Op: Remove})
	}
	s.shown = now
	return patches
}
