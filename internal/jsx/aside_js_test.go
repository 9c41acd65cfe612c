package jsx

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

// dragging makes an element with frames, and functions that drag and look.
func dragging(t *testing.T) (root Value, drag func(kind, what string), pointers func() string) {
	t.Helper()
	if !Supported("document") {
		t.Skip("a worker has no frames")
	}
	body := must(Lookup(Global(), "document.body"))
	root = must(Call(must(Get(Global(), "document")), "createElement", "div"))
	must(Call(root, "insertAdjacentHTML", "beforeend", `<iframe></iframe><p><iframe style="pointer-events: auto !important"></iframe></p><iframe style="pointer-events: none"></iframe>`))
	must(Call(body, "append", root))
	t.Cleanup(func() { _, _ = Call(root, "remove") })
	drag = func(kind, what string) {
		data := must(New(must(Get(Global(), "DataTransfer"))))
		items := must(Get(data, "items"))
		if what == "file" {
			must(Call(items, "add", must(New(must(Get(Global(), "File")), []any{"x"}, "name.txt"))))
		} else {
			must(Call(items, "add", what, "text/plain"))
		}
		event := must(New(must(Get(Global(), "DragEvent")), kind, map[string]any{"bubbles": true, "cancelable": true, "dataTransfer": data}))
		must(Call(body, "dispatchEvent", event))
	}
	frames := must(Call(root, "querySelectorAll", "iframe"))
	pointers = func() string {
		var all []string
		for i := range must(Length(frames)) {
			style := must(Get(must(Index(frames, i)), "style"))
			value := must(String(must(Call(style, "getPropertyValue", "pointer-events")), 100))
			priority := must(String(must(Call(style, "getPropertyPriority", "pointer-events")), 100))
			all = append(all, strings.TrimSpace(value+" "+priority))
		}
		return strings.Join(all, ", ")
	}
	return root, drag, pointers
}

const (
	frameStyles = ", auto important, none"
	asideStyles = "none important, none important, none important"
)

func TestAside(t *testing.T) {
	root, drag, pointers := dragging(t)
	s, second := NewScope(ScopeOptions{}), NewScope(ScopeOptions{})
	told := ""
	over := must(Aside(s, root, func(on bool) { told += fmt.Sprint(on, " ") }))
	must(Aside(second, must(Index(must(Get(root, "children")), 0)), nil)) // twice aside, and back as it was before
	want := func(when, want string) {
		t.Helper()
		if got := pointers(); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	drag("dragenter", "words")
	want("words are dragged", frameStyles)
	drag("dragenter", "file")
	want("a file is dragged in", asideStyles)
	drag("drop", "file")
	want("it is dropped", frameStyles)
	drag("dragover", "file")
	want("another is held over the page", asideStyles)
	waitFor(t, "the frames back after a rest", func() bool { return pointers() == frameStyles })
	began := time.Now()
	for time.Since(began) < dragRest*3/2 {
		over()
		want("a drag that the page doesn't hear of", asideStyles)
		until.Turn()
	}
	_ = second.Close()
	want("one of two ends", asideStyles)
	_ = s.Close()
	want("both have ended", frameStyles)
	drag("dragover", "file")
	over()
	want("after the end", frameStyles)
	if told != "true false true false " { // not by over alone
		t.Error("told", told)
	}

	if _, err := Aside(s, root, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed scope: %v", err)
	}
	drag("dragover", "file")
	want("of a closed scope", frameStyles)
}

// A frame that was taken over claims again and again that files are dragged over it. The only
// effect is that it gets no pointer events itself. No other frame is changed, and dragged is not
// called.
func TestAsideOfAFalseClaim(t *testing.T) {
	zone, drag, pointers := dragging(t)
	liar := must(Call(must(Get(Global(), "document")), "createElement", "iframe"))
	must(Call(must(Lookup(Global(), "document.body")), "append", liar))
	t.Cleanup(func() { _, _ = Call(liar, "remove") })
	s, other := NewScope(ScopeOptions{}), NewScope(ScopeOptions{})
	defer func() { _, _ = s.Close(), other.Close() }()
	told := ""
	must(Aside(other, zone, func(on bool) { told += fmt.Sprint(on, " ") }))
	claim := must(Aside(s, liar, nil))
	look := func() string {
		style := must(Get(liar, "style"))
		return must(String(must(Call(style, "getPropertyValue", "pointer-events")), 100)) + ", " + pointers()
	}
	want := func(when, want string) {
		t.Helper()
		if got := look(); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	claim()
	want("a false claim", "none, "+frameStyles)
	if told != "" {
		t.Error("a false claim told the zone", told)
	}
	// It cannot keep the others disabled either, when a drag was cancelled or has ended.
	drag("dragover", "file")
	want("files are dragged", "none, "+asideStyles)
	for began := time.Now(); time.Since(began) < dragRest*3/2; until.Turn() {
		claim()
	}
	want("they were given up, the claims go on", "none, "+frameStyles)
	drag("drop", "file")
	want("after a drop", ", "+frameStyles)
	claim()
	want("a claim after a drop", "none, "+frameStyles)
	if told != "true false " {
		t.Error("told", told)
	}
	waitFor(t, "the frame back after its last claim", func() bool { return look() == ", "+frameStyles })
	_ = s.Close()
	claim()
	want("a claim of a frame that is closed", ", "+frameStyles)
}

// Chromium counts a picture of the page that is dragged as a file.
func TestAsideOfThePagesOwnDrags(t *testing.T) {
	root, drag, pointers := dragging(t)
	s := NewScope(ScopeOptions{})
	defer s.Close()
	over := must(Aside(s, root, func(on bool) {}))
	moved := func(buttons int) {
		event := must(New(must(Get(Global(), "PointerEvent")), "pointermove", map[string]any{"bubbles": true, "buttons": buttons}))
		must(Call(root, "dispatchEvent", event))
	}
	for _, c := range []struct {
		end  string
		does func()
	}{
		{"dragend", func() { drag("dragend", "file") }},
		{"drop", func() { drag("drop", "file") }},
		// The element that was dragged is gone: no dragend is heard.
		{"a pointer that is held and then not", func() { moved(1); moved(0) }},
	} {
		drag("dragstart", "file")
		drag("dragenter", "file")
		drag("dragover", "file")
		over()
		if c.end != "drop" {
			moved(1)
			drag("dragover", "file")
		}
		if got := pointers(); got != frameStyles {
			t.Errorf("before %s: %q, want %q", c.end, got, frameStyles)
		}
		c.does()
		drag("dragover", "file")
		if got := pointers(); got != asideStyles {
			t.Errorf("after %s: %q, want %q", c.end, got, asideStyles)
		}
		drag("drop", "file")
	}
}
