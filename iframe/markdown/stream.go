package markdown

import (
	"errors"
	"math"
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
	d       *doc
	settled int          // blocks of d that are shown for good, unless a late definition changes them
	open    []shownBlock // what is shown behind them
	tail    tail
	fresh   bool // something was written since the last call of Patches
	done    bool // Patches was called after Close
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
	d := s.d
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

// redone makes patches for blocks that were shown for good and were rendered
// again.
func (s *Stream) redone() []Patch {
	var patches []Patch
	for _, b := range s.d.redone {
		if b.shown == b.html || b.index >= s.settled {
			continue
		}
		if b.shown == "" || b.html == "" { // not there before, or not now: all behind it comes anew
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
	for _, block := range s.d.blocks {
		b.WriteString(block.html)
	}
	if !s.d.closed {
		t := tail{credit: math.MaxInt32}
		for _, block := range t.open(s.d) {
			b.WriteString(block.html)
		}
	}
	notes, _ := s.d.notes.section(s.d)
	return HTML{b.String() + notes}
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

// diff adds patches that turn what is shown into now. Keys only grow along a
// text, so when one comes before another that is shown, the later ones are taken
// out and set again.
func diff(patches []Patch, old, now []shownBlock) []Patch {
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
	return patches
}
