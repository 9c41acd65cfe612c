package iframe

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/wire/document"
)

// build makes an outer frame and puts it in the place of the last one.
func (im *documentImpl) build() error {
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return err
	}
	outer, err := jsx.Call(page, "createElement", "iframe")
	if err != nil {
		return err
	}
	for _, a := range [][2]string{
		{"sandbox", frame.Sandbox}, {"allow", frame.Allow}, {"referrerpolicy", "no-referrer"},
		{"title", im.opts.Label}, {"scrolling", "no"}, {"frameborder", "0"},
	} {
		if _, err := jsx.Call(outer, "setAttribute", a[0], a[1]); err != nil {
			return err
		}
	}
	style, err := jsx.Get(outer, "style")
	if err != nil {
		return err
	}
	// Some browsers treat a frame without height as out of view, and give it no animation
	// frames. So it starts 1 pixel high.
	for _, p := range [][2]string{{"display", "block"}, {"width", "100%"}, {"border", "0"}, {"height", fmt.Sprint(max(1, im.currentHeight())) + "px"}} {
		if _, err := jsx.Call(style, "setProperty", p[0], p[1]); err != nil {
			return err
		}
	}
	im.frames++
	f := &liveFrame{generation: im.frames, outer: outer, scope: jsx.NewScope(jsx.ScopeOptions{}), heard: time.Now()}
	if _, err := f.scope.Add(jsx.Track(jsx.Frames)); err != nil {
		return err
	}
	if _, err := f.scope.Listen(jsx.Global(), "message", func(event jsx.Value) { im.hello(f, event) }); err != nil {
		return err
	}
	if f.dragged, err = jsx.Aside(f.scope, outer, nil); err != nil {
		return err
	}
	if _, err := f.scope.Listen(outer, "load", func(jsx.Value) { im.loaded(f) }); err != nil {
		return err
	}
	policy, err := jsx.Trusted(im.opts.TrustedTypesPolicy)
	if err == nil {
		err = policy.SetSrcdoc(outer, im.page.Srcdoc())
	}
	if err != nil {
		_ = f.scope.Close()
		return err
	}
	old := im.frame
	im.frame = f
	if old != nil {
		defer old.close()
		if at, err := jsx.Get(old.outer, "parentNode"); err == nil && !jsx.Nullish(at) {
			_, err := jsx.Call(at, "replaceChild", outer, old.outer)
			return err
		}
	}
	_, err = jsx.Call(im.parent, "append", outer)
	return err
}

// hello accepts a message only if its source is the inner frame of the frame just made. A
// sibling frame that posts first is ignored. hello runs in a callback.
func (im *documentImpl) hello(f *liveFrame, event jsx.Value) {
	data, err := jsx.Get(event, "data")
	if err != nil {
		return
	}
	text, err := jsx.String(data, document.MaxMessage)
	if err != nil {
		return
	}
	failure, ok := document.ParseHello(text)
	if !ok {
		return
	}
	source, err := jsx.Get(event, "source")
	if err != nil || !im.trusts(f, source) {
		return
	}
	port, ok := jsx.OnlyPort(event)
	if !ok {
		return
	}
	im.do(func() {
		if failure != "" && im.frame == f {
			im.fail(trustedTypesError(im.opts.TrustedTypesPolicy, failure))
			return
		}
		im.attach(f, port)
	})
}

// trustAnySource is true only in the test that shows the purpose of the check.
var trustAnySource bool

func (im *documentImpl) trusts(f *liveFrame, source jsx.Value) bool {
	if trustAnySource {
		return true
	}
	window, err := jsx.Get(f.outer, "contentWindow")
	if err != nil || jsx.Nullish(window) {
		return false
	}
	inner, err := jsx.Index(window, 0)
	return err == nil && !jsx.Nullish(inner) && inner.Equal(source)
}

func isString(v jsx.Value, want string) bool {
	s, err := jsx.String(v, len(want)+1)
	return err == nil && s == want
}

// attach takes the port of a new inner frame. When the app moves an outer frame within the
// page, the browser loads it again, and it sends another hello.
func (im *documentImpl) attach(f *liveFrame, port jsx.Value) {
	if im.frame != f {
		return
	}
	im.begun.Store(true)
	if f.portScope != nil {
		_ = f.portScope.Close()
	}
	var err error
	if f.portScope, err = f.scope.Child(); err != nil {
		return
	}
	if f.port, err = f.portScope.Port(port); err != nil {
		im.lose(f, err)
		return
	}
	of, flooded := f.port, false
	err = f.port.OnMessage(func(m jsx.Message) {
		// Messages are counted before they are parsed or queued, so a flood costs next to
		// nothing.
		if flooded {
			return
		}
		text, err := jsx.String(m.Data, document.MaxMessage)
		if err == nil && strings.HasPrefix(text, "image") {
			if !f.said.image.take(im.rates.image, time.Now()) {
				return
			}
		} else if flooded = !f.said.message.take(im.rates.message, time.Now()); flooded {
			im.do(func() { im.lose(f, errors.New("the frame sent more messages than its script sends")) })
			return
		}
		if err != nil {
			return // not from our script, which sends only strings of limited length
		}
		f.taken++
		im.do(func() {
			if im.frame == f && f.port == of {
				im.heard(f, text)
			}
		})
	})
	if err != nil {
		im.lose(f, err)
		return
	}
	f.seq, f.answered, f.replayed, f.shown, f.again = 0, 0, 0, false, im.first == nil
	im.show()
	if im.first != nil {
		// Text that the app writes now goes out after the first batch. NewDocument does not
		// wait for the answer to that batch.
		im.first <- nil
		im.first = nil
		im.state(StateReady)
	}
}

// loaded runs in a callback, when the frame's parser has finished. The frame's script has then
// run, unless a policy forbade it.
func (im *documentImpl) loaded(f *liveFrame) {
	_, _ = f.scope.AfterFunc(helloGrace, func() {
		im.do(func() {
			if im.frame == f && f.port == nil {
				im.fail(blockedError())
			}
		})
	})
}
