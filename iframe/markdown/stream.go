package markdown

import (
	"errors"
	"math"
	"strings"
)

// ErrClosed is returned by Write after Close.
var ErrClosed = errors.New("markdown: stream is closed")

// Patch is a change to the blocks that are shown.
type Patch struct {
	Key int
	// HTML is the new HTML of the block with the key. A new key is a new block at the end.
	HTML HTML
	// Remove removes the block with the key. HTML is then empty.
	Remove bool
}

// Stream renders a text while it is being written. Finished blocks are rendered once. Only the
// open end is rendered repeatedly, as it will probably end. A late link definition or footnote
// renders the blocks that refer to it again. After Close the HTML of all blocks, in order,
// equals the result of [Renderer.Render] for the same text, however the text was split. A
// Stream must be used by one goroutine at a time.
type Stream struct {
	d       *doc
	settled int          // number of blocks of d that are final, unless a late definition changes them
	open    []shownBlock // the blocks shown after them
	tail    tail
	fresh   bool // text was written since the last call of Patches
	done    bool // Patches was called after Close
}

type shownBlock struct {
	key  int
	html string
}

// noteKey is the key of the footnotes, above all other keys.
const noteKey = 1 << 30

// NewStream returns an empty stream.
func (r *Renderer) NewStream() *Stream {
	r.prepare()
	return &Stream{d: newDoc(r)}
}

// Write adds text. It only buffers. A character may be split between writes. The only error is
// ErrClosed.
func (s *Stream) Write(p []byte) (int, error) {
	if s.d.closed {
		return 0, ErrClosed
	}
	s.d.in.write(p)
	s.fresh = s.fresh || len(p) > 0
	s.tail.credit += creditByte * len(p)
	return len(p), nil
}

// Patches renders the text written since the last call and returns the changes. Call it at most
// once an animation frame, and as long as [Stream.Pending] returns true.
func (s *Stream) Patches() []Patch {
	d := s.d
	if came := d.collect(); !came && (s.done || !s.fresh && !s.tail.pending && !d.closed) {
		return nil
	}
	s.fresh = false
	d.advance()
	d.settle()
	patches := s.redone()
	var now []shownBlock
	for _, b := range d.blocks[s.settled:] {
		b.shown = b.html
		if b.html != "" {
			now = append(now, shownBlock{b.first, b.html})
		}
	}
	s.settled = len(d.blocks)
	last := len(now)
	now = append(now, s.tail.blocks(d)...)
	patches = diff(patches, s.open, now)
	s.open = now[last:]
	s.done = d.closed
	return patches
}

// redone returns patches for final blocks that were rendered again.
func (s *Stream) redone() []Patch {
	var patches []Patch
	for _, b := range s.d.redone {
		if b.shown == b.html || b.index >= s.settled {
			continue
		}
		if b.shown == "" || b.html == "" { // The block appears or disappears: all blocks after it are sent again
			s.settled = b.index
			var gone []shownBlock
			for _, later := range s.d.blocks[s.settled:] {
				if later.shown != "" {
					gone = append(gone, shownBlock{key: later.first})
				}
			}
			patches = diff(patches, append(gone, s.open...), nil)
			s.open = nil
			continue
		}
		patches = append(patches, Patch{Key: b.first, HTML: HTML{b.html}})
		b.shown = b.html
	}
	s.d.redone = nil
	return patches
}

// Pending reports whether some of the written text is not in a patch yet. A large open block is
// not rendered for each token, but only after it has grown enough, or after enough calls of
// Patches. After Close everything is shown.
func (s *Stream) Pending() bool {
	return s.d.drawn.came.Load() || !s.done && (s.fresh || s.tail.pending || s.d.closed)
}

// OnDrawn sets a function that is called when a drawing of Options.Draw came: Patches then returns
// the changes, also after Close. It is called on another goroutine and must not block.
func (s *Stream) OnDrawn(f func()) { s.d.drawn.notify.Store(&f) }

// Drawing reports whether a drawing of the text is still to come.
func (s *Stream) Drawing() bool { return s.d.drawn.left.Load() > 0 }

// Close marks the text as complete. Call Patches once more for the last changes. A second Close
// does nothing.
func (s *Stream) Close() error {
	if !s.d.closed {
		s.d.in.close()
		s.d.closed = true
	}
	return nil
}

// HTML returns all blocks in order. Before Close the open end is rendered as it will probably
// be.
func (s *Stream) HTML() HTML {
	s.d.collect()
	s.d.advance()
	s.d.settle()
	var open []shownBlock
	if !s.d.closed {
		t := tail{credit: math.MaxInt32}
		open = t.open(s.d)
	}
	notes, _ := s.d.notes.section(s.d)
	size := len(notes)
	for _, block := range s.d.blocks {
		size += len(block.html)
	}
	for _, block := range open {
		size += len(block.html)
	}
	var b strings.Builder
	b.Grow(size)
	for _, block := range s.d.blocks {
		b.WriteString(block.html)
	}
	for _, block := range open {
		b.WriteString(block.html)
	}
	b.WriteString(notes)
	return HTML{b.String()}
}

// Report returns the counts of the content that was stopped in finished blocks.
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

// diff appends the patches that change the shown blocks from old to now. Keys only grow along a
// text. So a new block in front of old ones means that the old ones are removed and set again.
func diff(patches []Patch, old, now []shownBlock) []Patch {
	for _, b := range now {
		for len(old) > 0 && old[0].key < b.key {
			patches = append(patches, Patch{Key: old[0].key, Remove: true})
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
			patches = append(patches, Patch{Key: later.key, Remove: true})
		}
		old = nil
		patches = append(patches, Patch{Key: b.key, HTML: HTML{b.html}})
	}
	for _, gone := range old {
		patches = append(patches, Patch{Key: gone.key, Remove: true})
	}
	return patches
}
