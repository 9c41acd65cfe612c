package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// offlineName is a file beside a package's headers.json. With it the page works without a
	// network.
	offlineName = "offline.json"
	workerName  = "offline-worker.js"
)

// offlineUse is the content of an offline.json. The empty object stores the files of the build.
type offlineUse struct {
	// Keep lists further files to store: files below the page, which are stored together with
	// it, and folders, whose names end in a slash and whose files are stored when they are
	// first used. These files may change without a build.
	Keep []string `json:"keep,omitempty"`
	// Remove writes a service worker that replaces the one of an earlier build, deletes the
	// copies it stored, and unregisters itself. Keep it set as long as earlier visitors may
	// return.
	Remove bool `json:"remove,omitempty"`
}

// offline is the manifest's part about the page without a network.
type offline struct {
	Version string            `json:"version"` // of all files together
	Page    string            `json:"page"`    // the script that registers the worker
	Worker  string            `json:"worker"`  // the service worker
	Files   map[string]string `json:"files"`   // the page's own files and their hashes
	Keep    []string          `json:"keep,omitempty"`
}

func decodeOffline(data []byte) (offlineUse, error) {
	var u offlineUse
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&u); err != nil {
		return u, err
	}
	if dec.More() {
		return u, errors.New("holds more than one value")
	}
	if u.Remove && len(u.Keep) > 0 {
		return u, errors.New("remove: nothing is kept then; leave keep out")
	}
	for _, k := range u.Keep {
		if p := strings.TrimSuffix(k, "/"); !fs.ValidPath(p) || p == "." || strings.ContainsAny(p, "?#%\\:") {
			return u, fmt.Errorf("keep: %q is not a path below the page, such as data/ or words.txt", k)
		}
	}
	return u, nil
}

func integrity(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// offline reads the package's offline.json. If there is none, it keeps the settings of other
// builds into this folder.
func (b *builder) offline(dir string, old *manifest) {
	if b.err != nil {
		return
	}
	data, err := os.ReadFile(filepath.Join(dir, offlineName))
	if errors.Is(err, fs.ErrNotExist) {
		if old.Offline == nil {
			return
		}
		b.next.Offline = &offline{Keep: old.Offline.Keep}
	} else if err != nil {
		b.err = err
		return
	} else {
		use, err := decodeOffline(data)
		if err != nil {
			b.err = fmt.Errorf("%s: %w", filepath.Join(dir, offlineName), err)
			return
		}
		if use.Remove {
			b.plain(workerName, script("offline-remove.js", struct{}{}))
			return
		}
		b.next.Offline = &offline{Keep: use.Keep}
	}
	o := b.next.Offline
	o.Files, o.Worker = map[string]string{}, workerName
	if old.Offline != nil { // of other builds into this folder
		for name := range old.Offline.Files {
			if data, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(name))); err == nil {
				o.Files[name] = integrity(data)
			}
		}
	}
	for name, sum := range b.wrote {
		if !hashedName.MatchString(path.Base(name)) {
			o.Files[name] = sum
		}
	}
	if data, err := os.ReadFile(filepath.Join(b.dir, "index.html")); err == nil {
		o.Files["index.html"] = integrity(data)
	}
	maps.DeleteFunc(o.Files, func(name, _ string) bool { return keeps(o.Keep, name) })
	h := sha256.New()
	fmt.Fprintln(h, mustRead(workerName), o.Keep)
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		fmt.Fprintln(h, name, o.Files[name])
	}
	for _, name := range slices.Sorted(maps.Keys(b.next.Files)) {
		if !strings.HasPrefix(name, "offline-page") {
			fmt.Fprintln(h, name, b.next.Files[name].Path)
		}
	}
	o.Version = hex.EncodeToString(h.Sum(nil)[:8])
	o.Page = b.hashed("offline-page.js", script("offline-page.js", map[string]string{"version": o.Version, "worker": o.Worker})).Path
}

// removeWorker writes a worker that removes the one of an earlier build, if the package works
// offline. Copies of files would hide a change that the command dev has just built.
func (b *builder) removeWorker(dir string) {
	if b.err != nil {
		return
	}
	if _, err := os.Stat(filepath.Join(dir, offlineName)); err == nil {
		b.plain(workerName, script("offline-remove.js", struct{}{}))
	}
}

// worker writes the service worker. Its list of files also contains the manifest.
func (b *builder) worker(manifest []byte) {
	o := b.next.Offline
	if b.err != nil || o == nil {
		return
	}
	files := maps.Clone(o.Files)
	files[manifestName] = integrity(manifest)
	for _, f := range b.next.Files {
		files[f.Path] = f.Integrity
	}
	keep := o.Keep
	if keep == nil {
		keep = []string{}
	}
	b.plain(o.Worker, script(workerName, map[string]any{"version": o.Version, "files": files, "keep": keep}))
}

// script returns one of the loader's files, preceded by the data of the build.
func script(name string, build any) []byte {
	data, err := json.Marshal(build)
	if err != nil {
		panic("wasm_exec: " + err.Error()) // the values are strings, lists and maps only
	}
	return []byte("// Bailey's " + name + ". Apache-2.0.\nglobalThis.baileyBuild = " + string(data) + ";\n{\n" + bare(mustRead(name)) + "}\n")
}
