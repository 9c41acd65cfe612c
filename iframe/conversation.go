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
	// maxBatch bounds one message to the frame, in bytes.
	maxBatch = 512 << 10
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
}

type order struct {
	name string
	args []any
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
	c.order("section", id, "", "")
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
func (c *conversation) order(name string, args ...any) {
	c.orders = append(c.orders, order{name, args})
	c.wake()
}

// tell queues an order for the frame that nobody has to remember: a rebuilt
// frame starts without it.
func (c *conversation) tell(name string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.order(name, args...)
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
	for _, b := range s.blocks {
		c.order("drop", s.id, b.key)
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
	c.order("remove", s.id)
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
			c.order("variable", name, "")
		}
	}
	c.theme = Theme{t.Scheme, maps.Clone(t.Variables)}
	for _, o := range themeOrders(c.theme) {
		c.order(o.name, o.args...)
	}
}

func themeOrders(t Theme) []order {
	scheme := t.Scheme
	if scheme == "" {
		scheme = "light dark"
	}
	orders := []order{{"scheme", []any{scheme}}}
	for _, name := range slices.Sorted(maps.Keys(t.Variables)) {
		orders = append(orders, order{"variable", []any{name, t.Variables[name]}})
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
		b.Add(o.name, o.args...)
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
		b.Add("busy", s.id, true)
	}
	if s.ending && len(s.unread) == 0 {
		s.ended = true
		s.stream.Close()
	}
	for _, p := range s.stream.Patches() {
		s.apply(b, p)
	}
	if s.ended {
		b.Add("busy", s.id, false)
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
			b.Add(o.name, o.args...)
		}
	}
	for i := from; i < len(c.sections); i++ {
		if b.Size() > maxBatch {
			return i
		}
		s := c.sections[i]
		b.Add("section", s.id, s.label, s.dir)
		var after any
		for _, block := range s.blocks {
			b.Add("set", s.id, block.key, after, block.html)
			after = block.key
		}
		if s.announced {
			b.Add("busy", s.id, !s.ended)
		}
	}
	return -1
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
			return codeText(b.html, n)
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
			b.Add("drop", s.id, p.Key)
		}
		return
	}
	html := p.HTML.String()
	if i >= 0 {
		s.blocks[i].html = html
		b.Add("set", s.id, p.Key, nil, html)
		return
	}
	var after any
	if n := len(s.blocks); n > 0 {
		after = s.blocks[n-1].key
	}
	s.blocks = append(s.blocks, shown{p.Key, html})
	b.Add("set", s.id, p.Key, after, html)
}
