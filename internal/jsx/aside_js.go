package jsx

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// dragRest is how long after the last sign of a drag the frames come back. Browsers give a
// sign every 350 ms, give or take 200, while files are held over a page, and none when they
// are taken elsewhere.
const dragRest = 700 * time.Millisecond

// aside is one for the page: two that want the same frame out of the way would each give it
// back as the other left it.
var aside struct {
	mu    sync.Mutex
	roots []*asideRoot
	scope *Scope // hears the page while there are roots
	taken []takenFrame
	stop  func() // the timer that gives them back
}

type asideRoot struct {
	el      Value
	dragged func(bool)
	on      bool
}

type takenFrame struct{ style, was, priority Value }

// Aside keeps a frame, or the frames in an element, out of the way while files are dragged
// over the page, until the scope is closed: a frame of another origin takes drags for
// itself, and the page doesn't hear of the drop. It doesn't hear of a drag that begins over
// a frame either: who does calls over for each sign of it, in a callback or elsewhere.
// Dragged, which may be nil and must not block, is told when that begins and ends.
func (s *Scope) Aside(root Value, dragged func(on bool)) (over func(), err error) {
	r := &asideRoot{el: root, dragged: dragged}
	aside.mu.Lock()
	if len(aside.roots) == 0 {
		err = listenForDrags()
	}
	if err == nil {
		aside.roots = append(aside.roots, r)
	}
	aside.mu.Unlock()
	if err != nil {
		return nil, err
	}
	_, err = s.Add(func() {
		aside.mu.Lock()
		defer aside.mu.Unlock()
		aside.roots = slices.DeleteFunc(aside.roots, func(other *asideRoot) bool { return other == r })
		r.tell(false)
		if len(aside.roots) == 0 {
			giveBack()
			_ = aside.scope.Close()
		}
	})
	return takeAside, err
}

func listenForDrags() error {
	aside.scope = NewScope(ScopeOptions{})
	over := func(event Value) {
		if hasFiles(event) {
			takeAside()
		}
	}
	window := Global()
	_, err1 := aside.scope.Listen(window, "dragenter", over, ListenOptions{Capture: true})
	_, err2 := aside.scope.Listen(window, "dragover", over, ListenOptions{Capture: true})
	_, err3 := aside.scope.Listen(window, "drop", func(Value) {
		aside.mu.Lock()
		defer aside.mu.Unlock()
		giveBack()
	}, ListenOptions{Capture: true})
	err := errors.Join(err1, err2, err3)
	if err != nil {
		_ = aside.scope.Close()
	}
	return err
}

// hasFiles tells whether files are dragged, and not text, or a part of a page.
func hasFiles(drag Value) bool {
	types, err := Lookup(drag, "dataTransfer.types")
	if err != nil || Nullish(types) {
		return false
	}
	v, err := Call(types, "includes", "Files")
	if err != nil {
		return false
	}
	yes, err := Bool(v)
	return err == nil && yes
}

func (r *asideRoot) tell(on bool) {
	if r.dragged != nil && r.on != on {
		r.dragged(on)
	}
	r.on = on
}

func takeAside() {
	aside.mu.Lock()
	defer aside.mu.Unlock()
	if len(aside.roots) == 0 {
		return // the last one is just closed
	}
	for _, r := range aside.roots {
		if InstanceOf(r.el, "HTMLIFrameElement") {
			takeFrame(r.el)
		} else {
			takeFrames(r.el)
		}
		r.tell(true)
	}
	if aside.stop != nil {
		aside.stop()
	}
	aside.stop, _ = aside.scope.AfterFunc(dragRest, func() {
		aside.mu.Lock()
		defer aside.mu.Unlock()
		giveBack()
	})
}

func takeFrames(root Value) {
	list, err := Call(root, "querySelectorAll", "iframe")
	if err != nil {
		return
	}
	n, _ := Length(list)
	for i := range n {
		if el, err := Index(list, i); err == nil {
			takeFrame(el)
		}
	}
}

func takeFrame(el Value) {
	style, err := Get(el, "style")
	if err != nil || slices.ContainsFunc(aside.taken, func(t takenFrame) bool { return t.style.Equal(style) }) {
		return
	}
	was, err1 := Call(style, "getPropertyValue", "pointer-events")
	priority, err2 := Call(style, "getPropertyPriority", "pointer-events")
	if errors.Join(err1, err2) != nil {
		return
	}
	aside.taken = append(aside.taken, takenFrame{style, was, priority})
	_, _ = Call(style, "setProperty", "pointer-events", "none", "important")
}

func giveBack() {
	for _, t := range aside.taken {
		_, _ = Call(t.style, "setProperty", "pointer-events", t.was, t.priority)
	}
	aside.taken = nil
	for _, r := range aside.roots {
		r.tell(false)
	}
	if aside.stop != nil {
		aside.stop()
		aside.stop = nil
	}
}
