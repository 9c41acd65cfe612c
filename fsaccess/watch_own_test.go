//go:build !js

package fsaccess

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/until"
)

// A change by another program directly after one of ours is not ours.
func TestWatchTellsOursFromTheirs(t *testing.T) {
	dir := t.TempDir()
	f, err := OpenDir(dir, DirOptions{})
	must(t, err)
	defer f.Close()
	must(t, f.WriteFile("ours", []byte("1"), 0o644))
	must(t, f.WriteFile("both", []byte("1"), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), until.Patience)
	defer cancel()
	own := map[string]bool{}
	change := func() {
		must(t, f.WriteFile("ours", []byte("mine"), 0o644))
		must(t, f.WriteFile("both", []byte("mine"), 0o644))
		until.Passed(30 * clockSlack) // a later time than ours, also on a disk with a coarse clock
		must(t, os.WriteFile(filepath.Join(dir, "both"), []byte("theirs"), 0o644))
	}
	for e, err := range Watch(ctx, f, ".", WatchOptions{Interval: 300 * time.Millisecond, Ready: change}) {
		must(t, err)
		own[e.Path] = e.Own
		if len(own) == 2 {
			break
		}
	}
	if !own["ours"] || own["both"] || len(own) != 2 {
		t.Errorf("own: %v", own)
	}
}

// A running change is ours for its whole time, whenever a scan happens during it. After its
// end it counts as ours up to that end.
func TestOwnWhileItLasts(t *testing.T) {
	s := core.NewShared().Below("d")
	begun := time.Now()
	end := s.Changing("a")
	until.Passed(5 * time.Millisecond)
	seen := time.Now() // when a browser made the file
	for _, name := range []string{"d/a", "d/a/below"} {
		if w, ok := s.Own.Last(name, begun); !ok || w.Before(seen) {
			t.Errorf("%s, in the middle: %v %v", name, w, ok)
		}
	}
	end()
	if w, ok := s.Own.Last("d/a", begun); !ok || w.Before(seen) {
		t.Errorf("afterwards: %v %v", w, ok)
	}
	if _, ok := s.Own.Last("d/a", time.Now().Add(time.Second)); ok || len(s.Own.Busy) != 0 {
		t.Error("it lasts for ever")
	}
	if _, ok := s.Own.Last("d", begun); ok {
		t.Error("the folder above is not ours")
	}
}
