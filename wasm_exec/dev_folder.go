package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// devMark is a file in each folder that the command dev made. A server does not send it. Dev removes
// the files of earlier builds, so it writes only to a folder with this mark.
const devMark = ".wasm_exec-dev"

// claimDevFolder makes the folder out dev's own. It refuses a folder that holds files of others, that
// holds one of the sources, or that lies inside one of the folders web. A folder inside a package is
// allowed, because only its folder web is copied. A folder without the mark is dev's own if its
// manifest is of a dev that wrote none.
func claimDevFolder(out string, sources, webs []string) error {
	const other = "name another folder with -o"
	for _, dir := range append(sources, webs...) {
		if inside(dir, out) {
			return fmt.Errorf("the output folder %s is or contains %s, and its other files would be removed: %s", out, dir, other)
		}
	}
	for _, dir := range webs {
		if inside(out, dir) {
			return fmt.Errorf("the output folder %s is inside %s, whose files are copied to it: %s", out, dir, other)
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder for -o: %w", err)
	}
	mark := filepath.Join(out, devMark)
	if st, err := os.Lstat(mark); err == nil && st.Mode().IsRegular() {
		return nil
	}
	list, err := os.ReadDir(out)
	if err != nil {
		return fmt.Errorf("cannot read the folder for -o: %w", err)
	}
	if m, err := readManifest(out); len(list) > 0 && (err != nil || m.Dev == "") {
		return fmt.Errorf("the output folder %s holds files that dev did not write, such as %s, and would lose them: %s, or empty it", out, list[0].Name(), other)
	}
	return writeFile(mark, []byte("The command wasm_exec dev made this folder. It removes files from it that are not of its last builds.\n"))
}

// claim is claimDevFolder for the options of a page. dir is the package's folder, or empty if it is
// not known yet.
func (o buildOptions) claim(dir string) error {
	var sources, webs []string
	if dir != "" {
		sources, webs = []string{dir}, []string{filepath.Join(dir, "web")}
	}
	if o.web != "" {
		webs = append(webs, o.web)
	}
	return claimDevFolder(o.out, sources, webs)
}

// inside reports whether the path name is the folder dir or inside it. Links are followed, and names
// are not compared, because a file system may ignore their case.
func inside(name, dir string) bool {
	want, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for name = resolved(name); ; name = filepath.Dir(name) {
		if st, err := os.Stat(name); err == nil && os.SameFile(st, want) {
			return true
		}
		if name == filepath.Dir(name) {
			return false
		}
	}
}

// resolved returns the absolute path of a file without links. The file need not exist.
func resolved(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) && abs != filepath.Dir(abs) {
		return filepath.Join(resolved(filepath.Dir(abs)), filepath.Base(abs))
	}
	if err != nil {
		return abs
	}
	return real
}
