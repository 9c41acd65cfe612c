package iframe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
)

// states collects what OnState says.
type states struct {
	mu   sync.Mutex
	seen []State
}

func (s *states) add(st State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, st)
}

func (s *states) count(st State) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.seen {
		if o == st {
			n++
		}
	}
	return n
}

func TestDocumentIsRebuilt(t *testing.T) {
	t.Run("taken out", func(t *testing.T) {
		var st states
		div := element(t, "div", nil)
		d, err := NewDocument(testContext(t), ElementOf(jsx.ToRaw(div)), DocumentOptions{OnState: st.add, Heartbeat: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		write(t, d.Section("a"), strings.Repeat("kept\n\n", 20))
		flush(t, d)
		h := d.Height()
		must(jsx.Call(div, "replaceChildren"))(t)
		eventually(t, "a new frame", func() bool { return st.count(StateRebuilt) == 1 })
		flush(t, d)
		if d.Height() != h {
			t.Errorf("height %d after the loss, %d before", d.Height(), h)
		}
		write(t, d.Section("a"), "more\n\nand more")
		flush(t, d)
		if d.Height() <= h {
			t.Errorf("height %d: what was written after the loss is not shown", d.Height())
		}
	})
	t.Run("moved", func(t *testing.T) {
		var st states
		d := open(t, DocumentOptions{OnState: st.add})
		write(t, d.Section("a"), strings.Repeat("kept\n\n", 20))
		flush(t, d)
		h := d.Height()
		outer := make(chan jsx.Value, 1)
		d.impl.do(func() { outer <- d.impl.frame.outer })
		must(jsx.Call(element(t, "div", nil), "append", <-outer))(t)
		eventually(t, "the frame's second hello", func() bool { return st.count(StateRebuilt) == 1 })
		eventually(t, "the height from before the move", func() bool { return d.Height() == h })
	})
	t.Run("again and again", func(t *testing.T) {
		var st states
		div := element(t, "div", nil)
		d, err := NewDocument(testContext(t), ElementOf(jsx.ToRaw(div)), DocumentOptions{OnState: st.add, Heartbeat: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for i := range maxRebuilds + 1 {
			must(jsx.Call(div, "replaceChildren"))(t)
			eventually(t, fmt.Sprint("answer to loss ", i+1), func() bool { return st.count(StateRebuilt) > i || st.count(StateFailed) > 0 })
		}
		eventually(t, "the end", func() bool { return errors.Is(d.Err(), ErrFrameLost) })
		// A frame that is removed before it is ready counts as a loss, and not as rebuilt.
		if n := st.count(StateRebuilt); n < 1 || n > maxRebuilds {
			t.Errorf("rebuilt %d times: want at most %d", n, maxRebuilds)
		}
	})
}

// A block that kills every frame with it costs two frames, and is shown as cut text afterwards.
// The blocks around it stay, and later text is shown as well.
func TestBlockThatEndsItsFrameIsCut(t *testing.T) {
	var st states
	d := open(t, DocumentOptions{OnState: st.add, Heartbeat: time.Minute})
	d.impl.do(func() { d.impl.deadly = "<em>deadly" })
	other, s := d.Section("before"), d.Section("a")
	write(t, other, "before\n\nall of it\n")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, s, "one\n\n*deadly* words\n\nthree\n\n```\nfour\n```\n")
	flush(t, d)
	eventually(t, "the frame that lives", func() bool { return st.count(StateRebuilt) > 0 && st.count(StateLost) == 2 })
	write(t, s, "\nfive\n")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	flush(t, d)
	if lost, failed := st.count(StateLost), st.count(StateFailed); lost != 2 || failed != 0 {
		t.Errorf("lost %d times, failed %d: want 2 and 0", lost, failed)
	}
	var seen string
	for _, v := range testpage.EvalFrames(t, `document.querySelector("#root > section") ? document.getElementById("root").innerText : null`) {
		var text string
		if json.Unmarshal(v.Value, &text) == nil && text != "" {
			seen = text
		}
	}
	at := 0
	for _, want := range []string{"before", "all of it", "one", "could not show this part", "deadly words", "three", "four", "five"} {
		i := strings.Index(seen[at:], want)
		if i < 0 {
			t.Fatalf("%q is not there, or not in its place:\n%s", want, seen)
		}
		at += i
	}
	if html := s.HTML(); !strings.Contains(html, "<em>deadly</em>") {
		t.Errorf("the section forgot what it was given: %s", html)
	}
}
