package jsx

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// dragRest is the time from the last event of a drag until the frames are restored. While files are
// held over a page, browsers send an event every 350 ms, give or take 200. They send none when the
// files are dragged elsewhere.
const dragRest = 700 * time.Millisecond

// aside is shared by the whole page. With one for each caller, two that change the same frame would
// restore the change of the other.
var aside struct {
	mu    sync.Mutex
	roots []*asideRoot
	scope *Scope // listens to the page while there are roots
	own   *Scope // listens for the end of a drag that began in the page
	taken []takenFrame
	until time.Time // the end of the drag that the roots were notified of
	stop  func()    // stops the timer that restores the frames
}

type asideRoot struct {
	el      Value
	dragged func(bool)
	on      bool
}

type takenFrame struct {
	style, was, priority Value
	until                time.Time
}

// Aside disables pointer events of a frame, or of the frames in an element, while files are dragged
// over the page, until s is closed. Without it, a frame of another origin receives the drag
// itself, and the page does not receive the drop. Drags that begin in the page are ignored.
// dragged, which may be nil and must not block, is called when a drag begins and ends.
//
// The page receives no event of a drag that begins over a frame. The caller must therefore call
// over for each sign of such a drag, in a callback or elsewhere. It disables only the frames of
// this root, and does not call dragged, because the sign may be a false claim of the frame. A page
// over which files are really dragged then receives events of its own.
func Aside(s *Scope, root Value, dragged func(on bool)) (over func(), err error) {
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
			giveAllBack()
			_ = aside.scope.Close()
		}
	})
	return r.claim, err
}

func listenForDrags() error {
	aside.scope, aside.own = NewScope(ScopeOptions{}), nil
	over := func(event Value) {
		if hasFiles(event) {
			takeAside()
		}
	}
	window, capture := Global(), ListenOptions{Capture: true}
	_, err1 := aside.scope.Listen(window, "dragenter", over, capture)
	_, err2 := aside.scope.Listen(window, "dragover", over, capture)
	_, err3 := aside.scope.Listen(window, "drop", func(Value) {
		aside.mu.Lock()
		defer aside.mu.Unlock()
		giveAllBack()
		ownEnded()
	}, capture)
	_, err4 := aside.scope.Listen(window, "dragstart", func(Value) { ownBegan() }, capture)
	err := errors.Join(err1, err2, err3, err4)
	if err != nil {
		_ = aside.scope.Close()
	}
	return err
}

// ownBegan waits for the end of a drag that began in the page. No dragend is sent if the app
// cancelled the drag or removed its element. During a drag there are no pointer events, so a
// pointermove without a pressed button also shows the end.
func ownBegan() {
	aside.mu.Lock()
	defer aside.mu.Unlock()
	if aside.own != nil || len(aside.roots) == 0 {
		return
	}
	own, err := aside.scope.Child()
	if err != nil {
		return
	}
	ended := func(Value) {
		aside.mu.Lock()
		defer aside.mu.Unlock()
		ownEnded()
	}
	window, capture := Global(), ListenOptions{Capture: true}
	_, err1 := own.Listen(window, "dragend", ended, capture)
	_, err2 := own.Listen(window, "pointermove", func(event Value) {
		if buttons, err := GetInt(event, "buttons"); err == nil && buttons == 0 {
			ended(event)
		}
	}, capture)
	if errors.Join(err1, err2) != nil {
		_ = own.Close()
		return
	}
	aside.own = own
}

func ownEnded() {
	if aside.own != nil {
		_ = aside.own.Close()
		aside.own = nil
	}
}

// hasFiles reports whether files are dragged, and not text or a link. In Chromium an image of a
// page counts as a file.
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

// takeAside handles an event of a drag that the page itself received.
func takeAside() {
	aside.mu.Lock()
	defer aside.mu.Unlock()
	if aside.own != nil || len(aside.roots) == 0 { // the last one has just been closed
		return
	}
	aside.until = time.Now().Add(dragRest)
	for _, r := range aside.roots {
		r.take(aside.until)
		r.tell(true)
	}
	rest()
}

// claim handles a sign of a drag from the owner of one root. It has no effect on the other roots.
func (r *asideRoot) claim() {
	aside.mu.Lock()
	defer aside.mu.Unlock()
	if aside.own == nil && slices.Contains(aside.roots, r) {
		r.take(time.Now().Add(dragRest))
		rest()
	}
}

func (r *asideRoot) take(until time.Time) {
	if InstanceOf(r.el, "HTMLIFrameElement") {
		takeFrame(r.el, until)
	} else {
		takeFrames(r.el, until)
	}
}

func takeFrames(root Value, until time.Time) {
	list, err := Call(root, "querySelectorAll", "iframe")
	if err != nil {
		return
	}
	n, _ := Length(list)
	for i := range n {
		if el, err := Index(list, i); err == nil {
			takeFrame(el, until)
		}
	}
}

func takeFrame(el Value, until time.Time) {
	style, err := Get(el, "style")
	if err != nil {
		return
	}
	if i := slices.IndexFunc(aside.taken, func(t takenFrame) bool { return t.style.Equal(style) }); i >= 0 {
		aside.taken[i].until = until
		return
	}
	was, err1 := Call(style, "getPropertyValue", "pointer-events")
	priority, err2 := Call(style, "getPropertyPriority", "pointer-events")
	if errors.Join(err1, err2) != nil {
		return
	}
	aside.taken = append(aside.taken, takenFrame{style, was, priority, until})
	_, _ = Call(style, "setProperty", "pointer-events", "none", "important")
}

// giveBack restores the frames whose time is over at then, and ends the drag if its time is over.
func giveBack(then time.Time) {
	aside.taken = slices.DeleteFunc(aside.taken, func(t takenFrame) bool {
		if t.until.After(then) {
			return false
		}
		_, _ = Call(t.style, "setProperty", "pointer-events", t.was, t.priority)
		return true
	})
	if !aside.until.After(then) {
		aside.until = time.Time{}
		for _, r := range aside.roots {
			r.tell(false)
		}
	}
}

func giveAllBack() {
	giveBack(time.Now().Add(dragRest))
	if aside.stop != nil {
		aside.stop()
		aside.stop = nil
	}
}

// rest starts a timer for the earliest end of a disabled frame or of the drag, until there is none.
// Later events only postpone the ends, so a running timer is early enough.
func rest() {
	first := aside.until
	for _, t := range aside.taken {
		if first.IsZero() || t.until.Before(first) {
			first = t.until
		}
	}
	if aside.stop != nil || first.IsZero() {
		return
	}
	aside.stop, _ = aside.scope.AfterFunc(max(time.Until(first), time.Millisecond), func() {
		aside.mu.Lock()
		defer aside.mu.Unlock()
		aside.stop = nil
		giveBack(time.Now())
		rest()
	})
}
