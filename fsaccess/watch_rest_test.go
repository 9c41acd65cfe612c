//go:build !js

package fsaccess

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

// slowDisk takes two seconds to list a folder.
type slowDisk struct {
	fstest.MapFS
	looks *int
}

func (s slowDisk) ReadDir(name string) ([]fs.DirEntry, error) {
	time.Sleep(2 * time.Second)
	*s.looks++
	return s.MapFS.ReadDir(name)
}

// A watch of a folder that takes long to scan pauses between two scans. It calls Ready
// after the first one, and reports later changes.
func TestWatchRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks, atReady := 0, 0
		files := fstest.MapFS{"a": {}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var events []Event
		o := WatchOptions{Interval: time.Second, Ready: func() {
			atReady += looks
			files["b"] = &fstest.MapFile{}
		}}
		for e, err := range Watch(ctx, FromFS(slowDisk{files, &looks}), ".", o) {
			must(t, err)
			events = append(events, e)
		}
		if atReady != 1 {
			t.Errorf("ready after %d looks, want 1, once", atReady)
		}
		if len(events) != 1 || events[0].Path != "b" || events[0].Kind != Added {
			t.Errorf("events: %v", events)
		}
		if looks < 2 || looks > 4 {
			t.Errorf("%d looks of 2 s each in a minute", looks)
		}
	})
}
