package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// hashedName matches a name with a hash of the file's content. Such a file never changes.
var hashedName = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[0-9a-f]{16}\.(wasm|js)$`)

// headersName is the file with a folder's headers.Use, which serve reads.
const headersName = "headers.json"

// static copies the files of the package's web folder and of the folder more, and the package's
// headers.json. It writes an index.html if the output folder has none.
func (b *builder) static(dir, more, name string) {
	b.copyFiles(filepath.Join(dir, "web"))
	if more != "" {
		b.copyFiles(more)
	}
	if b.err != nil {
		return
	}
	own, err := os.ReadFile(filepath.Join(dir, headersName))
	switch {
	case err == nil:
		if _, err := decodeUse(own); err != nil {
			b.err = fmt.Errorf("%s: %w", filepath.Join(dir, headersName), err)
			return
		}
		b.err = writeFile(filepath.Join(b.dir, headersName), own)
	case !errors.Is(err, fs.ErrNotExist):
		b.err = err
		return
	case b.comp.quality == noBrotli: // dev owns its folder
		os.Remove(filepath.Join(b.dir, headersName))
	}
	_, err = os.Stat(filepath.Join(b.dir, "index.html"))
	if b.comp.quality == noBrotli && b.wrote["index.html"] == "" {
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		b.plain("index.html", indexPage(name, filepath.Base(dir)))
	}
}

// copyFiles copies the files of a web folder. A folder that does not exist has none.
func (b *builder) copyFiles(web string) {
	if b.err != nil {
		return
	}
	err := filepath.WalkDir(web, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == web && errors.Is(err, fs.ErrNotExist) {
				return nil // the program has no files of its own
			}
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".")
		if d.IsDir() {
			if hidden && p != web {
				return fs.SkipDir
			}
			return nil
		}
		if hidden || strings.HasSuffix(p, ".go") || !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(web, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if slices.Contains([]string{manifestName, "bailey.js", "bailey.mjs", workerName}, rel) || hashedName.MatchString(rel) {
			return fmt.Errorf("%s has a name that build writes itself: rename it", p)
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		b.plain(rel, data)
		return b.err
	})
	if err != nil {
		b.err = err
	}
}

func sortStrings(s []string) { slices.Sort(s) }
