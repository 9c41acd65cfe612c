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
	"github.com/bailey-go/bailey/internal/frame"
)

const (
	// slice bounds what one animation frame spends on rendering: the host's
	// thread is also where the person types.
	slice = 8 * time.Millisecond
	// bite is how much Markdown is rendered between two looks at the clock.
	bite = 4 << 10
	// maxBatch bounds one message to the frame, in bytes: what the frame lays out at once.
	maxBatch = 128 << 10
)

// conversation is what a document shows. The host keeps all of it, so that a
// lost frame can be built again; it knows no browser and is tested natively.
type conversation struct {
	renderer *markdown.Renderer
	wake     func() // there is something to paint; never blocks

	mu       sync.Mutex
	closed   bool
	sections []*Section
	byID     map[string]*Section
	theme    Theme
	orders   []order    // to go before the blocks
	dirty    []*Section // to be rendered
	sent     []blockAt  // blocks that were sent since the last call of posted
	suspect  []blockAt  // blocks to be sent one at a time: a frame was lost with them
	alone    bool       // the last one sent was
}

// order writes one order to the frame.
type order func(b *frame.Batch)

// blockAt says which block of which section.
type blockAt struct {
	section *Section
	key     int
}

func newConversation(r *markdown.Renderer, wake func()) *conversation {
	return &conversation{renderer: r, wake: wake, byID: map[string]*Section{}}
}

// section returns the section with this id, made if need be.
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
	case len(c.sections) >= MaxSections:
		s.err = fmt.Errorf("iframe: section %q: a document holds at most %d sections; remove one or open another document", id, MaxSections)
		return s
	}
	s.stream = c.renderer.NewStream()
	c.sections = append(c.sections, s)
	c.byID[id] = s
	c.order(func(b *frame.Batch) { b.Section(id, "", "") })
	return s
}

func checkID(id string) error {
	switch {
	case id == "":
		return fmt.Errorf("iframe: a section's id can't be empty")
	case len(id) > MaxSectionID:
		return fmt.Errorf("iframe: section id of %d bytes: at most %d", len(id), MaxSectionID)
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

// tell queues an order for the frame that nobody has to remember: a rebuilt
// frame starts without it.
func (c *conversation) tell(o order) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.order(o)
	}
}

// touch marks s as to be rendered. c.mu is held.
func (c *conversation) touch(s *Section) {
	if s.dirty {
		return // and the painter knows
	}
	s.dirty = true
	c.dirty = append(c.dirty, s)
	c.wake()
}

// clear takes all blocks of s out. c.mu is held.
func (c *conversation) clear(s *Section) {
	for _, block := range s.blocks {
		c.order(func(b *frame.Batch) { b.Drop(s.id, block.key) })
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
	c.order(func(b *frame.Batch) { b.Remove(s.id) })
	delete(c.byID, s.id)
	c.sections = slices.DeleteFunc(c.sections, func(o *Section) bool { return o == s })
	s.err = fmt.Errorf("%w: section %q was removed", ErrClosed, s.id)
	return nil
}

// setTheme makes t the theme; variables it does not name any more are taken
// back. c.mu is held.
func (c *conversation) setTheme(t Theme) {
	for name := range c.theme.Variables {
		if _, still := t.Variables[name]; !still {
			c.order(func(b *frame.Batch) { b.Variable(name, "") })
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
	orders := []order{func(b *frame.Batch) { b.Scheme(scheme) }}
	for _, name := range slices.Sorted(maps.Keys(t.Variables)) {
		value := t.Variables[name]
		orders = append(orders, func(b *frame.Batch) { b.Variable(name, value) })
	}
	return orders
}

// paint fills b with what the frame does not know yet, for at most slice of
// time, and reports whether something is left for the next frame.
func (c *conversation) paint(b *frame.Batch, now func() time.Time) (more bool) {
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
	var later []*Section // large open blocks, which are rendered now and then
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

// render feeds s's stream a bite and adds what changed to b; it reports whether
// s has more to come. c.mu is held.
func (c *conversation) render(b *frame.Batch, s *Section) (left bool) {
	if s.stream == nil || s.ended {
		return false
	}
	n := min(bite, len(s.unread))
	s.stream.Write(s.unread[:n]) // buffers only; no error before Close
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

// replay fills b with everything, for a frame that is new, from the ith section
// on, and returns the section to go on with, or -1 when done.
func (c *conversation) replay(b *frame.Batch, from int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if from == 0 {
		c.orders = c.orders[:0] // what follows carries their effect
		for _, o := range themeOrders(c.theme) {
			o(b)
		}
	}
	for i := from; i < len(c.sections); i++ {
		if b.Size() > maxBatch {
			return i
		}
		s := c.sections[i]
		b.Section(s.id, s.label, s.dir)
		after := frame.First
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

// replaySuspect adds one suspect block, behind all others, so that a frame that is lost
// with it says which one it was. It returns from as long as there was one, and then -1.
// c.mu is held.
func (c *conversation) replaySuspect(b *frame.Batch, from int) int {
	for len(c.suspect) > 0 {
		p := c.suspect[0]
		c.suspect = c.suspect[1:]
		i := slices.IndexFunc(p.section.blocks, func(s shown) bool { return s.key == p.key })
		if c.byID[p.section.id] != p.section || i < 0 {
			continue // gone in the meantime
		}
		if b.Len() > 0 { // not with others
			c.suspect = append([]blockAt{p}, c.suspect...)
			return from
		}
		after := frame.First
		if i > 0 {
			after = p.section.blocks[i-1].key
		}
		p.section.send(b, i, after)
		c.alone = true
		return from
	}
	return -1
}

// posted returns the blocks of the batch that was filled last, and whether it was a
// suspect alone.
func (c *conversation) posted() (blocks []blockAt, alone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	blocks, alone = c.sent, c.alone
	c.sent, c.alone = nil, false
	return blocks, alone
}

// accuse hears that a frame was lost with blocks: the first time they are suspect, and the
// new frame gets them one at a time; the one that was alone is cut.
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

// idle reports whether the frame has been sent all there is.
func (c *conversation) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.orders) == 0 && len(c.dirty) == 0
}

// code is the text of a code block of a section, for its copy button.
func (c *conversation) code(section string, key, n int) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.byID[section]
	if s == nil {
		return "", false
	}
	for _, b := range s.blocks {
		if b.key == key {
			return codeText(b.visible().String(), n)
		}
	}
	return "", false
}

// close makes every section refuse further writes.
func (c *conversation) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.orders, c.dirty = nil, nil
}

// apply takes a patch of s's stream to heart and tells the frame. c.mu is held.
func (s *Section) apply(b *frame.Batch, p markdown.Patch) {
	i := len(s.blocks) - 1 // it is nearly always the last
	for i >= 0 && s.blocks[i].key != p.Key {
		i--
	}
	if p.Op == markdown.Remove {
		if i >= 0 {
			s.blocks = slices.Delete(s.blocks, i, i+1)
			b.Drop(s.id, p.Key)
		}
		return
	}
	after := frame.First
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

// send adds the ith block of s to b, behind the block after. c.mu is held.
func (s *Section) send(b *frame.Batch, i, after int) {
	b.Set(s.id, s.blocks[i].key, after, s.blocks[i].visible())
	s.c.sent = append(s.c.sent, blockAt{s, s.blocks[i].key})
}
