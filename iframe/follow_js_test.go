package iframe

import (
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
)

// A document that follows keeps its end in view while the user is there, and leaves a user alone who has
// scrolled up. Without Follow nothing moves.
func TestFollow(t *testing.T) {
	for _, follow := range []bool{true, false} {
		var mu sync.Mutex
		var heights []int
		scroller := element(t, "div", map[string]string{"style": "height:200px;overflow:auto;width:400px"})
		d, err := NewDocument(testContext(t), ElementOf(jsx.ToRaw(scroller)), DocumentOptions{Follow: follow, OnHeight: func(px int) {
			mu.Lock()
			defer mu.Unlock()
			heights = append(heights, px)
		}})
		if err != nil {
			t.Fatal(err)
		}
		number := func(name string) float64 { return must(jsx.GetFinite(scroller, name))(t) }
		below := func() float64 { return number("scrollHeight") - number("clientHeight") - number("scrollTop") }
		s := d.Section("a")
		grow := func() {
			t.Helper()
			before := d.Height()
			write(t, s, strings.Repeat("a line\n\n", 20))
			flush(t, d)
			eventually(t, "a taller document, told by OnHeight", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return d.Height() >= before+400 && len(heights) > 0 && heights[len(heights)-1] == d.Height()
			})
		}
		for range 5 {
			grow()
			if at := below() < 2; at != follow {
				t.Fatalf("follow %t: the end is %v px below", follow, below())
			}
		}
		if err := jsx.Set(scroller, "scrollTop", 100); err != nil {
			t.Fatal(err)
		}
		grow()
		if top := number("scrollTop"); top != 100 {
			t.Errorf("follow %t: a user at 100 px is taken to %v", follow, top)
		}
		for near, follows := range map[float64]bool{followWithin: true, followWithin + 1: false} {
			if err := jsx.Set(scroller, "scrollTop", number("scrollHeight")-number("clientHeight")-near); err != nil {
				t.Fatal(err)
			}
			grow()
			if at := below() < 2; at != (follow && follows) {
				t.Errorf("follow %t: from %v px above the end it is %v px below", follow, near, below())
			}
		}
		mu.Lock()
		for i := range heights {
			if i > 0 && heights[i] == heights[i-1] {
				t.Errorf("follow %t: OnHeight was told %d twice", follow, heights[i])
			}
		}
		mu.Unlock()
		d.Close()
	}
}

// A kind is seen by the style, also in a frame that replaces a lost one.
func TestKindIsStyled(t *testing.T) {
	d := open(t, DocumentOptions{CSS: "section[data-kind=tall] { height: 777px }"})
	s := d.Section("a")
	write(t, s, "text")
	flush(t, d)
	before := d.Height()
	if err := s.SetKind("tall"); err != nil {
		t.Fatal(err)
	}
	flush(t, d)
	eventually(t, "the height of the kind", func() bool { return d.Height() >= 777 && d.Height() > before })
	d.impl.do(func() { d.impl.lose(d.impl.frame, errTakenOut) })
	write(t, d.Section("b"), "more")
	flush(t, d)
	eventually(t, "the height in the new frame", func() bool { return d.Height() >= 777+before })
}
