package shell

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
)

// substituted is the folder of a program with the process substitutions that its arguments name: <(…) is a file such as /dev/fd/63 there. The
// program can only read them.
type substituted struct {
	fsaccess.FS
	made *fsaccess.Folder // dev/fd/63, in memory
}

// withSubstitutions returns the folder with the process substitutions that are among the arguments of a command, or the folder itself.
func withSubstitutions(t *task, folder fsaccess.FS) (fsaccess.FS, error) {
	made := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	some := false
	for _, a := range t.args {
		i := strings.Index(a, "/dev/fd/") // also in an option: --from=/dev/fd/63
		if i < 0 {
			continue
		}
		name := a[i:]
		data, ok := t.s.w.substituted(name)
		if !ok {
			continue
		}
		if err := made.MkdirAll(path.Dir(name[1:]), 0o755); err != nil {
			return nil, err
		}
		if err := made.WriteFile(name[1:], data, 0o444); err != nil {
			return nil, err
		}
		some = true
	}
	if !some {
		return folder, made.Close()
	}
	return &substituted{folder, made}, nil
}

// of returns the file system that has a name.
func (s *substituted) of(name string) fsaccess.FS {
	if name != "." {
		if _, err := s.made.Stat(name); err == nil {
			return s.made
		}
	}
	return s.FS
}

func (s *substituted) Open(name string) (fs.File, error)     { return s.of(name).Open(name) }
func (s *substituted) Stat(name string) (fs.FileInfo, error) { return s.of(name).Stat(name) }
func (s *substituted) ReadFile(name string) ([]byte, error)  { return s.of(name).ReadFile(name) }
func (s *substituted) OpenFile(name string, flag int, perm fs.FileMode) (fs.File, error) {
	return s.of(name).OpenFile(name, flag, perm)
}

// ReadDir lists a folder, with the entries that lead to the substitutions.
func (s *substituted) ReadDir(name string) ([]fs.DirEntry, error) {
	more, bad := s.made.ReadDir(name)
	list, err := s.FS.ReadDir(name)
	if bad == nil && name != "." && err != nil {
		return more, nil // the folder has no dev
	}
	if err != nil {
		return nil, err
	}
	for _, e := range more {
		if !slices.ContainsFunc(list, func(o fs.DirEntry) bool { return o.Name() == e.Name() }) {
			at := 0
			for at < len(list) && list[at].Name() < e.Name() {
				at++
			}
			list = slices.Insert(list, at, e)
		}
	}
	return list, nil
}

// isSubstitution reports whether a path of a program is that of a process substitution.
func isSubstitution(folder fsaccess.FS, name string) bool {
	s, ok := folder.(*substituted)
	if !ok {
		return false
	}
	_, err := s.made.Stat(name)
	return err == nil
}
