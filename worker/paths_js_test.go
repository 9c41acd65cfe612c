package worker

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

// TestNoPathLeadsOut runs testdata/paths.c in a folder with a secret beside it. The program
// calls every function that takes a path, with 88 paths that could lead out, from three
// folders. It can neither read nor change the files beside the folder, and those in the folder
// are unchanged.
func TestNoPathLeadsOut(t *testing.T) {
	for _, mode := range []FileMode{SnapshotFiles, LazyFiles} {
		if mode == LazyFiles && !live() {
			continue
		}
		t.Run([]string{"", "snapshot", "lazy"}[mode], func(t *testing.T) {
			p := newTestPool(t, Options{})
			all, ro := fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.NewMemory(fsaccess.MemoryOptions{})
			for _, d := range []string{"jail/d/e", "beside"} {
				must(t, all.MkdirAll(d, 0o777))
			}
			for _, f := range []string{"secret", "beside/secret", "jail/f", "jail/d/f", "jail/d/e/f"} {
				must(t, all.WriteFile(f, []byte(f), 0o666))
			}
			must(t, ro.WriteFile("f", []byte("read only"), 0o644))
			must(t, ro.Mkdir("d", 0o755))
			before := pathsAndTexts(t, all) + pathsAndTexts(t, ro)
			jail, err := all.Sub("jail")
			must(t, err)
			cmd := p.Command(testContext(t), compile(t, p, built(t, "paths.wasm")), "paths")
			cmd.FS, cmd.Mounts, cmd.Files = jail, map[string]fs.FS{"/ro": onlyRead{ro}}, mode
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v", err)
			}
			var paths, calls int
			for line := range strings.Lines(string(out)) {
				line = strings.TrimSpace(line)
				number, what, _ := strings.Cut(line, " ")
				switch what {
				case "paths":
					paths, _ = strconv.Atoi(number)
				case "calls":
					calls, _ = strconv.Atoi(number)
				default:
					t.Error(line)
				}
			}
			if paths != 88 || calls < 10_000 {
				t.Errorf("%d paths and %d calls were tried", paths, calls)
			}
			if after := pathsAndTexts(t, all) + pathsAndTexts(t, ro); after != before {
				t.Errorf("something changed:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// pathsAndTexts returns the names and contents of all files in a folder.
func pathsAndTexts(t *testing.T, f fs.FS) string {
	t.Helper()
	var b strings.Builder
	must(t, fs.WalkDir(f, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(&b, name)
			return err
		}
		text, err := fs.ReadFile(f, name)
		fmt.Fprintf(&b, "%s %q\n", name, text)
		return err
	}))
	return b.String()
}
