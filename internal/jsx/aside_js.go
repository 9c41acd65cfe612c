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
	own   *Scope // hears the end of a drag that began in the page
	taken []takenFrame
	until time.Time // the roots are told of a drag until then
	stop  func()    // the timer that looks what to give back
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

// Aside keeps a frame, or the frames in an element, out of the way while files are dragged
// over the page, until the scope is closed: a frame of another origin takes drags for
// itself, and the page doesn't hear of the drop. Drags that begin in the page don't count.
// Dragged, which may be nil and must not block, is told when a drag begins and ends.
//
// The page doesn't hear of a drag that begins over a frame either: who does calls over for
// each sign of it, in a callback or elsewhere. That keeps this root alone out of the way, and
// tells nobody, as it may be the frame's own claim: a page over which files are dragged then
// hears of it itself.
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

// ownBegan waits for the end of a drag that began in the page. There is no dragend when the
// app refused the drag or took its element away. The pointer is silent until the end, so that
// one that moves with no button held shows it too.
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

// hasFiles tells whether files are dragged, and not text or a link. In Chromium a picture of
// a page counts as a file.
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

// takeAside does what the page's own sign of a drag asks for.
func takeAside() {
	aside.mu.Lock()
	defer aside.mu.Unlock()
	if aside.own != nil || len(aside.roots) == 0 { // the last one is just closed
		return
	}
	aside.until = time.Now().Add(dragRest)
	for _, r := range aside.roots {
		r.take(aside.until)
		r.tell(true)
	}
	rest()
}

// claim is somebody else's sign of a drag, which nobody else has to believe.
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

// giveBack ends what ends by then.
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

// rest looks again when the first of what is taken may end, each time until nothing is.
// Later signs only put ends off, so a timer that runs is soon enough.
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
