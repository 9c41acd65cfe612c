package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"
)

// own are the folders of the modules that are tagged. Those for the development of Bailey alone are not.
var own = []string{".", "browsertest", "environment", "environment/kubernetes", "fsaccess/conformance", "mcp", "sandbox/command/native", "worker/tools"}

// mod is a module of the release.
type mod struct {
	path, version string
	dir           string   // below the root, "." for the root
	at            string   // its folder in the copy
	needs         []string // paths of own modules, which come before it
	file, zip     []byte   // go.mod, and the zip, after pack
	sum, modSum   string   // as in go.sum
}

// tag returns the tag of the module in git.
func (m *mod) tag() string {
	if m.dir == "." {
		return m.version
	}
	return m.dir + "/" + m.version
}

// stage copies the files that git knows from root to out, and rewrites each go.mod there as it is tagged: a requirement of the version in
// place of each replace line. It returns the modules so that each comes after those that it needs.
func stage(ctx context.Context, root, out, version string, dirs []string) ([]*mod, error) {
	if !semver.IsValid(version) || semver.Canonical(version) != version || semver.Major(version) != "v0" && semver.Major(version) != "v1" {
		return nil, fmt.Errorf("the version %q is none: use one such as v0.1.0", version)
	}
	list, err := command(ctx, root, nil, "git", "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		if err := copyFile(filepath.Join(root, name), filepath.Join(out, name)); err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted
			return nil, err
		}
	}
	byPath := map[string]*mod{}
	files := map[string]*modfile.File{}
	for _, dir := range dirs {
		name := filepath.Join(out, dir, "go.mod")
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := modfile.Parse(name, text, nil)
		if err != nil {
			return nil, err
		}
		m := &mod{path: f.Module.Mod.Path, version: version, dir: dir, at: filepath.Join(out, dir)}
		byPath[m.path], files[m.path] = m, f
	}
	for path, f := range files {
		m := byPath[path]
		for _, r := range slices.Clone(f.Replace) {
			if byPath[r.Old.Path] == nil {
				return nil, fmt.Errorf("%s replaces %s, which is no module of the release: a user would get another one", path, r.Old.Path)
			}
			if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return nil, err
			}
		}
		for _, r := range f.Require {
			if byPath[r.Mod.Path] == nil {
				continue
			}
			m.needs = append(m.needs, r.Mod.Path)
			if err := f.AddRequire(r.Mod.Path, version); err != nil {
				return nil, err
			}
		}
		f.Cleanup()
		if m.file, err = f.Format(); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(m.at, "go.mod"), m.file, 0o644); err != nil {
			return nil, err
		}
		slices.Sort(m.needs)
	}
	var order []*mod
	for len(order) < len(byPath) {
		before := len(order)
		for _, dir := range dirs {
			for _, m := range byPath {
				ready := !slices.ContainsFunc(m.needs, func(n string) bool { return !slices.Contains(order, byPath[n]) })
				if m.dir == dir && ready && !slices.Contains(order, m) {
					order = append(order, m)
				}
			}
		}
		if len(order) == before {
			return nil, errors.New("modules require each other in a circle")
		}
	}
	return order, nil
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// pack writes each module below proxy as GOPROXY=file://… serves it, and the hashes of the modules that it needs into its go.sum. The
// modules are in the order of stage.
func pack(mods []*mod, proxy string, at time.Time) error {
	byPath := map[string]*mod{}
	for _, m := range mods {
		if err := m.sums(byPath); err != nil {
			return err
		}
		if err := m.pack(mods[0].at); err != nil {
			return err
		}
		byPath[m.path] = m
		escaped, err := module.EscapePath(m.path)
		if err != nil {
			return err
		}
		dir := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		info, err := json.Marshal(map[string]any{"Version": m.version, "Time": at})
		if err != nil {
			return err
		}
		for name, data := range map[string][]byte{"list": []byte(m.version + "\n"), m.version + ".info": info, m.version + ".mod": m.file, m.version + ".zip": m.zip} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// sums adds the hashes of the own modules that m needs to its go.sum, those that it needs by another one too.
func (m *mod) sums(byPath map[string]*mod) error {
	name := filepath.Join(m.at, "go.sum")
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	seen := map[string]bool{}
	var add func(needs []string)
	add = func(needs []string) {
		for _, path := range needs {
			if n := byPath[path]; !seen[path] {
				seen[path] = true
				lines = append(lines, n.path+" "+n.version+" "+n.sum, n.path+" "+n.version+"/go.mod "+n.modSum)
				add(n.needs)
			}
		}
	}
	add(m.needs)
	if len(seen) == 0 {
		return nil
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	slices.Sort(lines)
	return os.WriteFile(name, []byte(strings.Join(slices.Compact(lines), "\n")+"\n"), 0o644)
}

// pack makes the zip and the hashes of a module. As the go command does, it gives a nested module the licence of the root.
func (m *mod) pack(root string) error {
	checked, err := modzip.CheckDir(m.at)
	if err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	var files []modzip.File
	licence := false
	for _, name := range checked.Valid {
		rel, err := filepath.Rel(m.at, name)
		if err != nil {
			return err
		}
		files = append(files, file{filepath.ToSlash(rel), name})
		licence = licence || rel == "LICENSE"
	}
	if !licence {
		files = append(files, file{"LICENSE", filepath.Join(root, "LICENSE")})
	}
	var b bytes.Buffer
	if err := modzip.Create(&b, module.Version{Path: m.path, Version: m.version}, files); err != nil {
		return err
	}
	m.zip = b.Bytes()
	temp, err := os.CreateTemp("", "release-*.zip")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(m.zip)
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if m.sum, err = dirhash.HashZip(temp.Name(), dirhash.Hash1); err != nil {
		return err
	}
	m.modSum, err = dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(m.file)), nil })
	return err
}

// file is a file of a module. Its mode is always the same, because a zip of a module has none.
type file struct{ name, at string }

func (f file) Path() string                 { return f.name }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.at) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.at) }

// tags writes tags.sh.
func (r *release) tags(mods []*mod) error {
	text := "#!/bin/sh\n# The tags of " + r.version + ". Each module comes after those that it needs.\nset -eu\n"
	for _, m := range mods {
		text += fmt.Sprintf("git tag -a -m '%s %s' %s\n", m.path, m.version, m.tag())
	}
	return os.WriteFile(filepath.Join(r.out, "tags.sh"), []byte(text), 0o755)
}

// patch writes release.patch, which makes the working tree as it is tagged.
func (r *release) patch(ctx context.Context) error {
	var b strings.Builder
	for _, dir := range r.modules {
		for _, name := range []string{"go.mod", "go.sum"} {
			name = filepath.Join(dir, name)
			before, after := filepath.Join(r.root, name), filepath.Join(r.out, "source", name)
			if _, err := os.Stat(after); errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if _, err := os.Stat(before); errors.Is(err, fs.ErrNotExist) {
				before = os.DevNull
			}
			out, err := command(ctx, r.root, nil, "git", "diff", "--no-index", "--no-color", before, after)
			if err == nil || out == "" {
				continue
			}
			lines := strings.Split(out, "\n")
			for i, line := range lines { // the names are those below the root
				switch {
				case strings.HasPrefix(line, "diff --git "):
					lines[i] = "diff --git a/" + name + " b/" + name
				case strings.HasPrefix(line, "--- ") && before != os.DevNull:
					lines[i] = "--- a/" + name
				case strings.HasPrefix(line, "+++ "):
					lines[i] = "+++ b/" + name
				}
				if strings.HasPrefix(line, "@@") {
					break
				}
			}
			b.WriteString(strings.Join(lines, "\n"))
		}
	}
	return os.WriteFile(filepath.Join(r.out, "release.patch"), []byte(b.String()), 0o644)
}
