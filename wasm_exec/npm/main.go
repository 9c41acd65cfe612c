//go:build !js

package main

import (
	"bytes"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed package
var own embed.FS

func main() {
	out := flag.String("o", "dist", "the `folder` to write; all files in it are replaced")
	version := flag.String("version", "", "the `version` of the package, if not that in package.json")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: npm [-o FOLDER] [-version X.Y.Z] BUILD")
		os.Exit(2)
	}
	notices, err := notices("./wasm_exec/prebuilt/agent") // it has all works that bailey.wasm has
	if err == nil {
		err = write(flag.Arg(0), *out, *version, notices)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "npm:", err)
		os.Exit(1)
	}
}

// copied are the files of the build folder that are taken as they are.
var copied = []string{"api.mjs", "api.d.mts", "bailey.mjs", "element.mjs", "element.d.mts", "program.mjs", "agent.mjs", "agent.d.mts", "consent.mjs", "session.mjs", "transport.mjs",
	"enclave.mjs", "enclave.d.mts"}

// typescript is the library of the build folder that removes types.
const typescript = "guests/typescript.js"

// programs are the programs of the build folder.
var programs = []string{"bailey.wasm", "agent.wasm"}

var semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// write writes the package of the build folder from to out.
func write(from, out, version string, notices []byte) error {
	files, paths, err := contents(from)
	if err != nil {
		return err
	}
	if version != "" {
		if !semver.MatchString(version) {
			return fmt.Errorf("-version %q: want a version such as 0.1.0 or 0.2.0-rc.1", version)
		}
		files["package.json"] = versionLine.ReplaceAll(files["package.json"], []byte(`"version": "`+version+`"`))
	}
	files["NOTICES"] = notices
	sums := map[string]string{}
	for name, data := range files {
		if name != "README.md" && name != "package.json" {
			sums[name] = integrity(data)
		}
	}
	if files["integrity.json"], err = json.MarshalIndent(sums, "", "  "); err != nil {
		return err
	}
	files["integrity.json"] = append(files["integrity.json"], '\n')
	// For a server that sends compressed files. The package leaves them out. A fast build has none.
	for _, program := range programs {
		for _, ext := range compressed {
			data, err := os.ReadFile(filepath.Join(from, paths[program]) + ext)
			if err == nil {
				files[program+ext] = data
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := claim(out, files); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

var compressed = []string{".br", ".gz"}

var versionLine = regexp.MustCompile(`"version": "[^"]*"`)

// contents returns the files of the package by name, without those that are computed from them, and the
// paths of the built ones.
func contents(from string) (files map[string][]byte, paths map[string]string, err error) {
	text, err := os.ReadFile(filepath.Join(from, "manifest.json"))
	if err != nil {
		return nil, nil, fmt.Errorf("%s is not a folder that wasm_exec build has written: %w", from, err)
	}
	var m struct {
		Files map[string]struct{ Path, Integrity string }
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, nil, fmt.Errorf("%s/manifest.json: %w", from, err)
	}
	files, paths = map[string][]byte{}, map[string]string{}
	for _, name := range append([]string{"wasm_exec.js", "bailey.js"}, programs...) {
		path := m.Files[name].Path
		paths[name] = path
		if path == "" || path != filepath.Base(path) {
			return nil, nil, fmt.Errorf("%s/manifest.json names no %s: build ./wasm_exec/prebuilt with -name bailey and ./wasm_exec/prebuilt/agent with -name agent into it", from, name)
		}
		if files[name], err = os.ReadFile(filepath.Join(from, path)); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range copied {
		if files[name], err = os.ReadFile(filepath.Join(from, name)); err != nil {
			return nil, nil, err
		}
	}
	// As a text no bundler changes it.
	if files["typescript.txt"], err = os.ReadFile(filepath.Join(from, filepath.FromSlash(typescript))); err != nil {
		return nil, nil, err
	}
	if err := fs.WalkDir(own, "package", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[d.Name()], err = own.ReadFile(path)
		}
		return err
	}); err != nil {
		return nil, nil, err
	}
	files["bailey.js"], err = leaveImports(files["bailey.js"])
	return files, paths, err
}

// leaveImports has bundlers leave the loader's imports of addresses alone, which are known only when a
// page runs. webpack would replace them with an error.
func leaveImports(loader []byte) ([]byte, error) {
	const imports = 2
	computed := regexp.MustCompile(`\bimport\(([a-z]+)\)`)
	if n := len(computed.FindAll(loader, -1)); n != imports || bytes.Count(loader, []byte("import(")) != n {
		return nil, fmt.Errorf("bailey.js has %d imports of an address: this command knows of %d", n, imports)
	}
	return computed.ReplaceAll(loader, []byte("import(/* webpackIgnore: true */ /* @vite-ignore */ $1)")), nil
}

// integrity returns the hash of data as in Subresource Integrity.
func integrity(data []byte) string {
	sum := sha512.Sum384(data)
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}

// claim empties out, or makes it. It removes only files with the names of the package's own, and refuses a folder
// with another one.
func claim(out string, files map[string][]byte) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(out, 0o755)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), compressed[0]), compressed[1])
		if _, ours := files[name]; !ours || e.IsDir() {
			return fmt.Errorf("%s has %s, which is no part of the package: remove it, or name another folder with -o", out, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(out, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
