package iframe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/wire/document"
)

const (
	// slice is the maximum time for rendering in one animation frame. The host's thread also
	// handles the user's typing.
	slice = 8 * time.Millisecond
	// bite is the number of bytes of Markdown that are rendered between two checks of the
	// clock.
	bite = 4 << 10
	// maxBatch is the approximate maximum size of one message to the frame, in bytes. The frame
	// lays out a message at once.
	maxBatch = 128 << 10
)

// conversation is the content of a document. The host keeps all of it, so that a lost frame can
// be built again. It does not depend on a browser and is tested natively.
type conversation struct {
	renderer *markdown.Renderer
	wake     func() // requests a paint, never blocks

	mu       sync.Mutex
	closed   bool
	sections []*Section
	byID     map[string]*Section
	theme    Theme
	orders   []order    // to be sent before the blocks
	dirty    []*Section // to be rendered
	sent     []blockAt  // blocks sent since the last call of posted
	suspect  []blockAt  // blocks to be sent one at a time, because a frame was lost with them
	alone    bool       // the last block sent was a suspect, alone in its batch
}

// order appends one order for the frame to a batch.
type order func(b *document.Batch)

// blockAt identifies a block: its section and its key.
type blockAt struct {
	section *Section
	key     int
}

func newConversation(r *markdown.Renderer, wake func()) *conversation {
	return &conversation{renderer: r, wake: wake, byID: map[string]*Section{}}
}

// section returns the section with this ID, and makes it if there is none.
func (c *conversation) section(id string) *Section {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.byID[id]; s != nil {
		return s
	}
	s := &Section{c: c, id: id, err: checkID(id)}
	switch {
	case s.err != nil:
		return s
	case c.closed:
		s.err = fmt.Errorf("%w: document", ErrClosed)
		return s
	case len(c.sections) >= maxSections:
		s.err = fmt.Errorf("iframe: section %q: a document holds at most %d sections; remove one or open another document", id, maxSections)
		return s
	}
	c.open(s)
	c.sections = append(c.sections, s)
	c.byID[id] = s
	c.order(func(b *document.Batch) { b.Section(id, "", "", "") })
	return s
}

// open gives s an empty stream. When a drawing of its text comes, s is rendered again. c.mu is held.
func (c *conversation) open(s *Section) {
	stream := c.renderer.NewStream()
	stream.OnDrawn(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if s.stream == stream && s.err == nil && !c.closed {
			c.touch(s)
		}
	})
	s.stream = stream
}

func checkID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("iframe: a section's id can't be empty")
	case len(id) > maxSectionID:
		return fmt.Errorf("iframe: section id of %d bytes: at most %d", len(id), maxSectionID)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return fmt.Errorf("iframe: section id %q holds control characters or is not UTF-8", id)
	}
	return nil
}

// order queues an order for the frame. c.mu is held.
func (c *conversation) order(o order) {
	c.orders = append(c.orders, o)
	c.wake()
}

// tell queues an order that is not part of the stored state. A rebuilt frame starts without its
// effect.
func (c *conversation) tell(o order) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.order(o)
	}
}

// touch marks s for rendering. c.mu is held.
func (c *conversation) touch(s *Section) {
	if s.dirty {
		return // it is queued already
	}
	s.dirty = true
	c.dirty = append(c.dirty, s)
	c.wake()
}

// clear removes all blocks of s. c.mu is held.
func (c *conversation) clear(s *Section) {
	for _, block := range s.blocks {
		c.order(func(b *document.Batch) { b.Drop(s.id, block.key) })
	}
	s.blocks = nil
	s.announced = false
	s.dirty = false
	c.dirty = slices.DeleteFunc(c.dirty, func(d *Section) bool { return d == s })
}

func (c *conversation) remove(s *Section) error {
	if s.err != nil {
		return s.err
	}
	c.clear(s)
	c.order(func(b *document.Batch) { b.Remove(s.id) })
	delete(c.byID, s.id)
	c.sections = slices.DeleteFunc(c.sections, func(o *Section) bool { return o == s })
	s.err = fmt.Errorf("%w: section %q was removed", ErrClosed, s.id)
	return nil
}

// setTheme makes t the theme, and removes variables that t does not contain. c.mu is held.
func (c *conversation) setTheme(t Theme) {
	for name := range c.theme.Variables {
		if _, still := t.Variables[name]; !still {
			c.order(func(b *document.Batch) { b.Variable(name, "") })
		}
	}
	c.theme = Theme{t.Scheme, maps.Clone(t.Variables)}
	for _, o := range themeOrders(c.theme) {
		c.order(o)
	}
}

func themeOrders(t Theme) []order {
	scheme := t.Scheme
	if scheme == "" {
		scheme = "light dark"
	}
	orders := []order{func(b *document.Batch) { b.Scheme(scheme) }}
	for _, name := range slices.Sorted(maps.Keys(t.Variables)) {
		value := t.Variables[name]
		orders = append(orders, func(b *document.Batch) { b.Variable(name, value) })
	}
	return orders
}

// paint fills b with the changes that the frame does not have yet. It stops after a time of
// slice or a size of maxBatch, and reports whether anything is left for the next frame.
func (c *conversation) paint(b *document.Batch, now func() time.Time) (more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range c.orders {
		if b.Size() > maxBatch {
			c.orders = slices.Delete(c.orders, 0, i)
			return true
		}
		o(b)
	}
	c.orders = c.orders[:0]
	start := now()
	full := func() bool { return now().Sub(start) >= slice || b.Size() > maxBatch }
	var later []*Section // large open blocks, rendered only now and then
	for len(c.dirty) > 0 {
		s := c.dirty[0]
		for c.render(b, s) {
			if full() {
				c.dirty = append(c.dirty, later...)
				return true
			}
		}
		c.dirty = c.dirty[1:]
		if s.stream != nil && s.stream.Pending() {
			later = append(later, s)
		} else {
			s.dirty = false
		}
		if full() {
			break
		}
	}
	c.dirty = append(c.dirty, later...)
	return len(c.dirty) > 0
}

// render writes a bite of the text to s's stream and adds the changes to b. It reports whether
// s has more text. c.mu is held.
func (c *conversation) render(b *document.Batch, s *Section) (left bool) {
	switch {
	case s.stream == nil || s.err != nil:
		return false
	case s.ended: // drawings that came late
		for _, p := range s.stream.Patches() {
			s.apply(b, p)
		}
		return false
	}
	n := min(bite, len(s.unread))
	s.stream.Write(s.unread[:n]) // buffers only: no error before Close
	s.unread = s.unread[n:]
	if len(s.unread) == 0 {
		s.unread = nil
	}
	if !s.announced {
		s.announced = true
		b.Busy(s.id, true)
	}
	if s.ending && len(s.unread) == 0 {
		s.ended = true
		s.stream.Close()
	}
	for _, p := range s.stream.Patches() {
		s.apply(b, p)
	}
	if s.ended {
		b.Busy(s.id, false)
	}
	return len(s.unread) > 0
}

// replay fills b with the whole content for a new frame, starting at the section with index
// from. It returns the index to continue with, or -1 when done.
func (c *conversation) replay(b *document.Batch, from int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from == 0 {
		c.orders = c.orders[:0] // the replay includes their effect
		for _, o := range themeOrders(c.theme) {
			o(b)
		}
	}
	for i := from; i < len(c.sections); i++ {
		if b.Size() > maxBatch {
			return i
		}
		s := c.sections[i]
		b.Section(s.id, s.label, s.dir, s.kind)
		after := document.First
		for i, block := range s.blocks {
			if slices.Contains(c.suspect, blockAt{s, block.key}) {
				continue
			}
			s.send(b, i, after)
			after = block.key
		}
		if s.announced {
			b.Busy(s.id, !s.ended)
		}
	}
	return c.replaySuspect(b, len(c.sections))
}

// replaySuspect adds one suspect block, after all others and alone in its batch. If the frame
// is lost again, this block is the cause. It returns from while there is a suspect block, and
// then -1. c.mu is held.
func (c *conversation) replaySuspect(b *document.Batch, from int) int {
	for len(c.suspect) > 0 {
		p := c.suspect[0]
		c.suspect = c.suspect[1:]
		i := slices.IndexFunc(p.section.blocks, func(s shown) bool { return s.key == p.key })
		if c.byID[p.section.id] != p.section || i < 0 {
			continue // removed in the meantime
		}
		if b.Len() > 0 { // not with others
			c.suspect = append([]blockAt{p}, c.suspect...)
			return from
		}
		after := document.First
		if i > 0 {
			after = p.section.blocks[i-1].key
		}
		p.section.send(b, i, after)
		c.alone = true
		return from
	}
	return -1
}

// posted returns the blocks of the last batch, and reports whether that batch was a suspect
// block alone.
func (c *conversation) posted() (blocks []blockAt, alone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	blocks, alone = c.sent, c.alone
	c.sent, c.alone = nil, false
	return blocks, alone
}

// accuse records that a frame was lost with blocks. The first time the blocks become suspect,
// and the new frame receives them one at a time. A block that was alone in its batch is cut to
// its text.
func (c *conversation) accuse(blocks []blockAt, alone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = nil
	if !alone {
		for _, p := range blocks {
			if !slices.Contains(c.suspect, p) {
				c.suspect = append(c.suspect, p)
			}
		}
		return
	}
	for _, p := range blocks {
		for i := range p.section.blocks {
			if block := &p.section.blocks[i]; block.key == p.key {
				block.cut = true
			}
		}
	}
}

// idle reports whether the frame has been sent everything.
func (c *conversation) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.orders) == 0 && len(c.dirty) == 0
}

// code returns the text and language of a code block of a section, for its buttons. key is the block, and n counts the
// <pre> elements in it. If table is set, it counts the tables, and the text is CSV.
func (c *conversation) code(section string, key, n int, table bool) (text, lang string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.byID[section]
	if s == nil {
		return "", "", false
	}
	for _, b := range s.blocks {
		switch {
		case b.key != key:
		case table:
			text, ok = tableCSV(b.visible().String(), n)
			return text, "", ok
		default:
			return codeText(b.visible().String(), n)
		}
	}
	return "", "", false
}

// close makes every section refuse further writes.
func (c *conversation) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.orders, c.dirty = nil, nil
}

// apply applies a patch of s's stream to the blocks and adds the order for the frame to b. c.mu
// is held.
func (s *Section) apply(b *document.Batch, p markdown.Patch) {
	i := len(s.blocks) - 1 // it is nearly always the last
	for i >= 0 && s.blocks[i].key != p.Key {
		i--
	}
	if p.Remove {
		if i >= 0 {
			s.blocks = slices.Delete(s.blocks, i, i+1)
			b.Drop(s.id, p.Key)
		}
		return
	}
	after := document.First
	if i < 0 {
		if n := len(s.blocks); n > 0 {
			after = s.blocks[n-1].key
		}
		i = len(s.blocks)
		s.blocks = append(s.blocks, shown{key: p.Key})
	}
	s.blocks[i].html = p.HTML.Proof()
	s.blocks[i].text = p.HTML
	if !s.blocks[i].cut {
		s.send(b, i, after)
	}
}

// send adds the ith block of s to b, after the block with the key after. c.mu is held.
func (s *Section) send(b *document.Batch, i, after int) {
	b.Set(s.id, s.blocks[i].key, after, s.blocks[i].visible())
	s.c.sent = append(s.c.sent, blockAt{s, s.blocks[i].key})
}
