package conformance

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/hack-pad/hackpadfs/fstest"

	"github.com/bailey-go/bailey/fsaccess"
)

func TestConformance(t *testing.T) {
	zeroUmask(t)
	for name, open := range folders() {
		t.Run(name, func(t *testing.T) { Run(t, name, open) })
	}
}

// Run runs the suite over one kind of folder. What a platform cannot do is
// left out by what the folder's Features declare, and listed.
func Run(t *testing.T, name string, open func(testing.TB) fsaccess.FS) {
	o := fstest.FSOptions{
		Name:   name,
		TestFS: func(tb testing.TB) fstest.SetupFS { return Adapter{open(tb)} },
		Constraints: fstest.Constraints{
			FileModeMask: fs.ModePerm,
		},
	}
	ft := open(t).(interface{ Features() fsaccess.Features }).Features()
	if !ft.Chmod {
		o.Constraints.FileModeMask = 0
	}
	o.ShouldSkip = func(f fstest.Facets) bool {
		skip := false
		switch {
		case strings.Contains(f.Name, "Chmod"), strings.HasSuffix(f.Name, "/stat_a_file"):
			skip = !ft.Chmod
		case strings.Contains(f.Name, "Chtimes"):
			skip = !ft.Chtimes
		}
		if skip {
			t.Logf("left out, the platform has no modes or times: %s", f.Name)
		}
		return skip
	}
	fstest.FS(t, o)
	fstest.File(t, o)
}
