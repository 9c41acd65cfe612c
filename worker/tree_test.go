package worker

import (
	"io/fs"
	"strings"
	"testing"
)

// tree lists a file system in one line.
func tree(t testing.TB, fsys fs.FS) string {
	t.Helper()
	var list []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			list = append(list, name+"/")
			return nil
		}
		b, err := fs.ReadFile(fsys, name)
		list = append(list, name+"="+string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}
