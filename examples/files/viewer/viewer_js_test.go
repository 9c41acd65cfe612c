package viewer

import (
	"sync"
	"testing"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

// slow is a viewer of a.txt and b.txt. After hold the next file is not found until release is called.
type slow struct {
	*Viewer
	hold    func()
	waits   chan struct{} // closed when a file is being looked for
	release func()
}

func newSlow(t *testing.T) *slow {
	t.Helper()
	for _, id := range []string{"viewer", "status", "dialog"} {
		el := dom.Create("div", "")
		el.Set("id", id)
		dom.Document().Get("body").Call("append", el)
		t.Cleanup(func() { el.Call("remove") })
	}
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for _, name := range []string{"a.txt", "b.txt"} {
		if err := dir.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	j := fsaccess.NewJournal(dir, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	s, calls, goOn := &slow{waits: make(chan struct{})}, 0, make(chan struct{})
	s.hold = func() { calls = 2 } // Open asks for the folder once before it looks for the file
	s.release = func() { close(goOn) }
	s.Viewer = New(t.Context(), Options{Lock: &sync.Mutex{}, Find: func(string) {}, Took: func(string, error) error { return nil }, Work: func() *fsaccess.Journal {
		if calls--; calls == 0 {
			close(s.waits)
			<-goOn
		}
		return j
	}})
	return s
}

func (s *slow) shows(t *testing.T, name string) {
	t.Helper()
	if got := s.head.Get("textContent").String(); s.file.path != name || got != name || s.editor != nil {
		t.Errorf("it shows %q as %q, edited: %t; want %s", s.file.path, got, s.editor != nil, name)
	}
}

// A file that takes long to be found does not take the place of one that was chosen after it.
func TestLastChosenFileIsShown(t *testing.T) {
	s := newSlow(t)
	s.hold()
	opened := make(chan struct{})
	go func() { defer close(opened); s.Open("a.txt") }()
	<-s.waits
	s.Open("b.txt")
	s.release()
	<-opened
	s.shows(t, "b.txt")
}

// The editor is closed after a text was saved. A file that was chosen before that end stays chosen.
func TestFileChosenWhileAnotherIsSaved(t *testing.T) {
	s := newSlow(t)
	s.Open("a.txt")
	s.edit()
	if s.editor == nil {
		t.Fatal("it is not edited")
	}
	chosen := s.opens
	s.hold()
	opened := make(chan struct{})
	go func() { defer close(opened); s.Open("b.txt") }()
	<-s.waits
	s.done(chosen)
	s.release()
	<-opened
	s.shows(t, "b.txt")

	s.edit()
	s.done(s.opens) // nothing was chosen meanwhile
	s.shows(t, "b.txt")
}
