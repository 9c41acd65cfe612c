package jsx

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
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
	over := must(s.Aside(root, func(on bool) { told += fmt.Sprint(on, " ") }))
	must(second.Aside(must(Index(must(Get(root, "children")), 0)), nil)) // twice aside, and back as it was before
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
		time.Sleep(20 * time.Millisecond)
	}
	_ = second.Close()
	want("one of two ends", asideStyles)
	_ = s.Close()
	want("both have ended", frameStyles)
	drag("dragover", "file")
	over()
	want("after the end", frameStyles)
	if told != "true false true false true false " {
		t.Error("told", told)
	}

	if _, err := s.Aside(root, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed scope: %v", err)
	}
	drag("dragover", "file")
	want("of a closed scope", frameStyles)
}
