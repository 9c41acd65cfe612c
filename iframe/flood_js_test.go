package iframe

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/jsx"
)

// A compromised frame sends thousands of messages at once. The rates bound the number of calls
// into the app and the work of the page, and the document continues with a new frame. All rows
// except the first use a twentieth of the real rates, so that a flood is short.
func TestAttackFloodsOfATakenFrame(t *testing.T) {
	count := attack.Start(t, "B8")
	small := rates{message: rate{200, 20}, image: rate{250, 25}, link: rate{8, 4}, copy: rate{8, 4}, violation: rate{10, 5}, scroll: rate{10, 5}}
	for i, c := range []struct {
		name, message string
		rates         rates
		messages      int
	}{
		{"20,000 links", "link\x1fa\x1fhttps://evil.test/\x1fbank", frameRates(), 20000},
		{"links", "link\x1fa\x1fhttps://evil.test/\x1fbank", small, 2000},
		{"links of the longest text", "link\x1fa\x1fhttps://evil.test/" + strings.Repeat("x", 2000) + "\x1f" + strings.Repeat("y", 400), small, 2000},
		{"links that are none", "link\x1fa\x1fjavascript:1\x1fbank", small, 2000},
		{"copies", "copy\x1fa\x1f0\x1f0", small, 2000},
		{"images", "image\x1f1\x1fa\x1fhttps://evil.test/p.png", small, 2000},
		{"violations", "violation\x1fimg-src\x1fhttps://evil.test/\x1fenforce\x1f", small, 2000},
		{"heights", "size\x1f78", small, 2000},
		{"places to scroll to", "scroll\x1f78", small, 2000},
		{"drags", "drag", small, 2000},
		{"answers", "ack\x1f1\x1f5", small, 2000},
		{"words that mean nothing", "nonsense", small, 2000},
		{"nothing", "", small, 2000},
	} {
		for _, limited := range []bool{true, false} {
			if !limited && (c.messages > 2000 || testing.Short() && i%4 != 1) {
				continue // it would hold the page for seconds
			}
			if testing.Short() && i%3 == 2 {
				continue // make attack tries all
			}
			var calls atomic.Int64
			d := open(t, DocumentOptions{
				OnLink:      func(context.Context, Link) { calls.Add(1) },
				OnCopy:      func(context.Context, string) error { calls.Add(1); return nil },
				OnImage:     func(context.Context, ImageRequest) ([]byte, error) { calls.Add(1); return nil, context.Canceled },
				OnViolation: func(CSPViolation) { calls.Add(1) },
			})
			write(t, d.Section("a"), "```\ncode\n```\n")
			flush(t, d)
			im := &d.impl
			scope := jsx.NewScope(jsx.ScopeOptions{})
			thief, other, err := scope.Channel()
			if err != nil {
				t.Fatal(err)
			}
			var f *liveFrame
			before := 0
			inLoop(im, func() {
				im.rates = c.rates
				if all := (rate{1e9, 1e9}); !limited {
					im.rates = rates{all, all, all, all, all, all}
				}
				f = im.frame
				before = f.taken
				im.attach(f, other) // a port that the thief holds the other end of
			})
			began := time.Now()
			for range c.messages {
				if err := thief.Post(c.message); err != nil {
					t.Fatal(err)
				}
			}
			if err := thief.Post("size\x1f77"); err != nil {
				t.Fatal(err)
			}
			// The frame is replaced, or the last message came.
			taken := 0
			eventually(t, c.name+": the flood's end", func() (over bool) {
				inLoop(im, func() { over, taken = im.frame != f || im.currentHeight() == 77, f.taken-before })
				return over
			})
			within := 0
			if limited { // a slow machine takes long for the flood, and then more of it is within the limit
				within = int(c.rates.message.burst + c.rates.message.perSecond*time.Since(began).Seconds())
			}
			much := taken > max(c.messages*3/4, within) || calls.Load() > int64(max(c.messages/2, within))
			if limited {
				count.Try(fmt.Sprintf("%s: %d of %d taken, %d calls into the app", c.name, taken, c.messages, calls.Load()), much)
				flush(t, d) // it still works
			} else {
				count.Off(c.name, much)
			}
			_ = scope.Close()
			d.Close()
		}
	}
}

// inLoop runs fn where a document's fields may be read.
func inLoop(im *documentImpl, fn func()) {
	done := make(chan struct{})
	im.do(func() { fn(); close(done) })
	select {
	case <-done:
	case <-im.done:
	case <-time.After(30 * time.Second):
		panic("the document's loop stands still")
	}
}
