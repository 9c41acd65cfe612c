package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

// No raw error of a file system reaches the user: each has a sentence with what to do, and stays the same error.
func TestErrorsInWords(t *testing.T) {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_, gone := dir.ReadFile("notes/x.txt")
	_, top := dir.ReadDir("nothing")
	bad := dir.MkdirAll("..", 0o755)
	for err, want := range map[error]string{
		gone: "notes/x.txt is no longer there", top: "nothing is no longer there", bad: "can't be a name",
		&fs.PathError{Op: "open", Path: "x.txt", Err: fsaccess.ErrQuota}: "no room left in the storage",
		&fs.PathError{Op: "readdir", Path: ".", Err: fs.ErrNotExist}:     "The folder is no longer there",
		fmt.Errorf("nothing was changed: %w", fsaccess.ErrConflict):      "changed meanwhile",
	} {
		got := plain(plain(err))
		if !strings.Contains(got.Error(), want) || strings.Contains(got.Error(), "readdir") || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if plain(nil) != nil {
		t.Error("nil is an error")
	}
}

func TestDescribe(t *testing.T) {
	for want, c := range map[string]fsaccess.Change{
		"Edited a.txt":                    {Op: "write", Paths: []string{"a.txt"}},
		"Renamed a to b":                  {Op: "rename", Paths: []string{"a", "b"}},
		"Restored 11 files":               {Op: "undoto", Paths: make([]string, 11)},
		"Undid the change of a":           {Op: "undo", Paths: []string{"a"}},
		"Deleted 3 files":                 {Op: "remove", Paths: make([]string, 3)},
		"Created b/c.txt":                 {Op: "mkdir", Label: "Created b/c.txt", Paths: []string{"b", "b/c.txt"}},
		"New folder top":                  {Op: "mkdir", Paths: []string{"top"}},
		"Redid the change of a.txt and b": {Op: "redo", Paths: []string{"a.txt", "b"}},
		"Frobnicate x":                    {Op: "frobnicate", Paths: []string{"x"}},
	} {
		if got := describe(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCopyName(t *testing.T) {
	for want, got := range map[string]string{"a/plan copy.md": copyName("a/plan.md", 1), "plan copy 2.md": copyName("plan.md", 2), ".env copy": copyName(".env", 1), "x copy": copyName("x", 1)} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Steps that going back has undone are struck out, until that is undone.
func TestRestored(t *testing.T) {
	back := fsaccess.Change{ID: 4, Op: "undoto", Cause: restoreCause + "1"}
	list := []fsaccess.Change{{ID: 5}, back, {ID: 3}, {ID: 2}, {ID: 1}}
	if got := restored(list); !reflect.DeepEqual(got, map[int64]bool{2: true, 3: true}) {
		t.Error(got)
	}
	list[1].Undone = true
	if got := restored(list); len(got) > 0 {
		t.Error(got)
	}
	list[1] = fsaccess.Change{ID: 4, Op: "write", Cause: restoreCause + "1"} // another op with that cause undoes nothing
	if got := restored(list); len(got) > 0 {
		t.Error(got)
	}
}
