package main

import (
	"encoding/json"
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

// headersName is the file with a folder's headers.Use, which serve reads. policyName is the policy
// of a package, from which build makes the former.
const (
	headersName = "headers.json"
	policyName  = "policy.json"
)

// static copies the files of the package's web folder and of the folder more, and writes the
// package's headers.json. It writes an index.html if the output folder has none.
func (b *builder) static(dir, more, name string) {
	b.copyFiles(filepath.Join(dir, "web"))
	if more != "" {
		b.copyFiles(more)
	}
	if b.err != nil {
		return
	}
	if b.headers(dir, name); b.err != nil {
		return
	}
	_, err := os.Stat(filepath.Join(b.dir, "index.html"))
	if b.comp.quality == noBrotli && b.wrote["index.html"] == "" {
		err = fs.ErrNotExist
	}
	if errors.Is(err, fs.ErrNotExist) {
		b.plain("index.html", indexPage(name, filepath.Base(dir)))
	}
}

// headers writes the headers.json of a package, or one that follows from its policy.json. Without
// both it removes a file that an earlier build of the same program wrote, because headers that
// outlive their policy would be wider than it.
func (b *builder) headers(dir, name string) {
	use, err := packageUse(dir)
	if err != nil {
		b.err = err
		return
	}
	out := filepath.Join(b.dir, headersName)
	if use != nil {
		if b.err = writeFile(out, use); b.err == nil {
			if b.next.Headers == nil {
				b.next.Headers = map[string]string{}
			}
			b.next.Headers[name] = integrity(use)
		}
		return
	}
	wrote := b.next.Headers[name]
	delete(b.next.Headers, name)
	there, err := os.ReadFile(out)
	if err != nil {
		return
	}
	if b.comp.quality == noBrotli || wrote == integrity(there) && len(b.next.Headers) == 0 { // dev owns its folder
		b.err = os.Remove(out)
	}
}

// packageUse returns the headers.json of a package, or the one that follows from its policy.json, or
// nil if it has neither. Both are an error, because they would be two lists of the same hosts.
func packageUse(dir string) ([]byte, error) {
	own, err := os.ReadFile(filepath.Join(dir, headersName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rules, noRules := os.ReadFile(filepath.Join(dir, policyName))
	switch {
	case noRules != nil && !errors.Is(noRules, fs.ErrNotExist):
		return nil, noRules
	case err == nil && noRules == nil:
		return nil, fmt.Errorf("%s has %s and %s: move what the page uses into the section \"page\" of %s, and remove %s", dir, policyName, headersName, policyName, headersName)
	case err == nil:
		if _, err := decodeUse(own); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, headersName), err)
		}
		return own, nil
	case noRules == nil:
		use, err := policyUse(rules)
		if err != nil {
			return nil, fmt.Errorf("%s, from which the page's headers follow: %w", filepath.Join(dir, policyName), err)
		}
		text, err := json.MarshalIndent(use, "", "  ")
		return append(text, '\n'), err
	}
	return nil, nil
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
