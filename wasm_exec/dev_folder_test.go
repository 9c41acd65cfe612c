package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// devIn opens a server of dev with -o out in a folder that holds the files.
func devIn(t *testing.T, dir, out string, args ...string) (*devServer, error) {
	t.Helper()
	t.Chdir(dir)
	ctx, cancel := context.WithCancel(context.Background())
	pages, err := devPages(args, out, buildOptions{name: "main"})
	if err != nil {
		t.Fatal(err)
	}
	d := &devServer{ctx: ctx, log: t.Output(), pages: pages, building: make(chan struct{}, 2)}
	t.Cleanup(func() {
		cancel()
		if d.site != nil {
			d.Close()
		}
	})
	return d, d.open(out, false)
}

func plant(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		text := ""
		switch {
		case strings.HasSuffix(name, ".go"):
			text = "package main\n\nfunc main() {}\n"
		case strings.HasSuffix(name, "go.mod"):
			text = "module example.com/app\n\ngo 1.26\n"
		case strings.HasSuffix(name, "manifest.json"):
			text = `{"version": 1, "go": "go1.26", "files": {}, "dev": "0011223344556677"}`
		}
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Dev removes the files of earlier builds, so it writes only to folders of its own. A folder with
// other files is refused before anything is built, and keeps them.
func TestDevRefusesFoldersOfOthers(t *testing.T) {
	app := []string{"go.mod", "a/main.go", "a/notes.txt", "a/web/index.html", "b/main.go"}
	for name, c := range map[string]struct {
		files []string
		out   string
		args  []string
		why   string
	}{
		"the packages' own folders":          {app, ".", []string{"./a", "./b"}, "contains"},
		"the same with an absolute path":     {app, "ABS", []string{"./a", "./b"}, "contains"},
		"the same through a link":            {app, "LINK", []string{"./a", "./b"}, "contains"},
		"a package by its import path":       {app, ".", []string{"a=example.com/app/a"}, ""},
		"a folder above the package":         {[]string{"go.mod", "a/cmd/main.go"}, ".", []string{"a=./a/cmd"}, "contains"},
		"a manifest beside the sources":      {append([]string{"a/manifest.json"}, app...), ".", []string{"./a", "./b"}, "contains"},
		"other files":                        {append([]string{"out/a/photo.jpg"}, app...), "out", []string{"./a", "./b"}, "photo.jpg"},
		"other files, one page":              {append([]string{"out/%root/photo.jpg"}, app...), "out", []string{"./a"}, "photo.jpg"},
		"other files in the second folder":   {append([]string{"out/b/sub/photo.jpg"}, app...), "out", []string{"./a", "./b"}, "sub"},
		"a hidden file":                      {append([]string{"out/a/.git/config"}, app...), "out", []string{"./a", "./b"}, ".git"},
		"a folder inside web":                {app, "a/web/out", []string{"./a", "./b"}, "web"},
		"a folder inside the other web":      {append([]string{"more/x.txt"}, app...), "more", []string{"./a,web=more", "./b"}, "more"},
		"a folder that contains another web": {append([]string{"out/a/.wasm_exec-dev", "out/a/web/x.txt"}, app...), "out", []string{"./a,web=out/a/web", "./b"}, "contains"},
		"a file in the place of a folder":    {append([]string{"out/a"}, app...), "out", []string{"./a", "./b"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, c.files...)
			out := c.out
			switch out {
			case "ABS":
				out = dir
			case "LINK":
				out = filepath.Join(t.TempDir(), "link")
				if err := os.Symlink(dir, out); err != nil {
					t.Skip(err)
				}
			}
			d, err := devIn(t, dir, out, c.args...)
			if err == nil { // a package by its import path is found when it is built
				_, err = compileProgram(d.ctx, d.pages[0].pkg, d.pages[0].options, io.Discard)
				p := &program{dir: filepath.Join(dir, "a"), wasm: []byte("x"), exec: []byte("y")}
				if err == nil {
					_, _ = p.write(d.ctx, d.pages[0].options)
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("the error: %v", err)
			} else if !strings.Contains(err.Error(), "-o") {
				t.Errorf("the error does not say what to do: %v", err)
			}
			for _, f := range c.files {
				if !exists(dir, filepath.FromSlash(f)) {
					t.Errorf("%s is gone", f)
				}
			}
			for _, f := range []string{"bailey.js", "a/bailey.js", "out/a/bailey.js"} {
				if exists(dir, filepath.FromSlash(f)) {
					t.Errorf("%s was written", f)
				}
			}
		})
	}
}

// A new folder, an empty one and one of an earlier run are dev's own, also if that run ended before
// its first build did. A version without the mark is known by its manifest.
func TestDevKeepsItsFolders(t *testing.T) {
	app := []string{"go.mod", "a/main.go", "a/web/style.css", "b/main.go"}
	for name, c := range map[string]struct {
		files []string
		out   string
		args  []string
	}{
		"a new folder":                     {nil, "build/dev", []string{"./a", "./b"}},
		"a new folder, one page":           {nil, "build/dev", []string{"./a"}},
		"inside the package's folder":      {nil, "a/out", []string{"./a", "./b"}},
		"inside the package, one page":     {nil, "a/out", []string{"./a"}},
		"the folder above, one page":       {nil, ".", []string{"./a"}},
		"other files beside the folders":   {[]string{"out/photo.jpg"}, "out", []string{"./a", "./b"}},
		"the manifest of an older version": {[]string{"out/a/manifest.json", "out/a/old.txt"}, "out", []string{"./a", "./b"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			plant(t, dir, append(c.files, app...)...)
			for range 2 {
				d, err := devIn(t, dir, c.out, c.args...)
				if err != nil {
					t.Fatal(err)
				}
				o := d.pages[0].options
				own := filepath.Join(o.out, "old.txt")
				plant(t, dir, own, filepath.Join(o.out, "part.wasm")) // of a build that was cut off
				p := &program{dir: filepath.Join(dir, "a"), wasm: []byte("x"), exec: []byte("y")}
				if _, err := p.write(d.ctx, o); err != nil {
					t.Fatal(err)
				}
				if exists(own) || !exists(o.out, "style.css") || !exists(o.out, "bailey.js") {
					t.Error("the files are not those of the build")
				}
			}
			for _, f := range append(app, c.files...) {
				if !exists(f) && !strings.HasSuffix(f, "old.txt") {
					t.Errorf("%s is gone", f)
				}
			}
		})
	}
}

// The folder may be removed while the server runs.
func TestDevMakesItsFolderAgain(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, "go.mod", "a/main.go")
	d, err := devIn(t, dir, "out", "x=./a")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll("out/x"); err != nil {
		t.Fatal(err)
	}
	p := &program{dir: filepath.Join(dir, "a"), wasm: []byte("x"), exec: []byte("y")}
	for range 2 {
		if _, err := p.write(d.ctx, d.pages[0].options); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove("out/x/.wasm_exec-dev"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("out/x/manifest.json"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.write(d.ctx, d.pages[0].options); err == nil || !exists("out/x/bailey.js") {
		t.Errorf("a folder without the mark: %v", err)
	}
}

// The command build removes none of the files that others put into its folder.
func TestBuildRemovesOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	files := []string{"go.mod", "main.go", "notes.txt", "notes.txt.gz", "web/index.html", "sub/main.wasm", "other.0011223344556677.js"}
	plant(t, dir, files...)
	t.Chdir(dir)
	for i := range 4 {
		p := &program{dir: dir, wasm: []byte{byte(i)}, exec: []byte("y")}
		if _, err := p.write(context.Background(), buildOptions{out: ".", name: "main"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		if !exists(f) {
			t.Errorf("%s is gone", f)
		}
	}
}
