package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const manifestName = "manifest.json"

// manifest maps the names in pages to the current files. The loader requests it again at each
// start, so that an unchanged page uses each new build.
type manifest struct {
	Version int             `json:"version"` // 1
	Go      string          `json:"go"`      // toolchain of the latest build
	Files   map[string]file `json:"files"`
	// Previous lists the files of the previous build. They are kept for pages that were
	// starting when this build was deployed.
	Previous []string `json:"previous,omitempty"`
	// Headers has the hash of headers.json for each program in this folder that has one.
	Headers map[string]string `json:"headers,omitempty"`
	// Offline is set if the package has an offline.json.
	Offline *offline `json:"offline,omitempty"`
	// Dev is the hash of all files that the command dev has built. The page reloads when it
	// changes.
	Dev string `json:"dev,omitempty"`
}

// file is one named file of a build.
type file struct {
	Path      string `json:"path"`           // beside the manifest
	Size      int64  `json:"size"`           // bytes, uncompressed
	Brotli    int64  `json:"br,omitempty"`   // bytes
	Gzip      int64  `json:"gzip,omitempty"` // bytes
	Integrity string `json:"integrity"`      // as in Subresource Integrity
	Exec      string `json:"exec,omitempty"` // the wasm_exec.js of this binary
	Go        string `json:"go,omitempty"`   // the toolchain of this binary
}

// readManifest returns the manifest of a folder, or an empty one if there is none.
func readManifest(dir string) (*manifest, error) {
	m := &manifest{Version: 1, Files: map[string]file{}}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	m.Version = 0 // a web app's manifest, which has the same file name, has no version 1
	if err := json.Unmarshal(data, m); err != nil || m.Version != 1 || m.Files == nil {
		return nil, fmt.Errorf("%s is not a manifest of this command: build into another folder, or remove it",
			filepath.Join(dir, manifestName))
	}
	return m, nil
}

func (m *manifest) encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	return append(data, '\n'), err
}

// paths returns the paths of all files that the manifest names, without Previous.
func (m *manifest) paths() map[string]bool {
	set := map[string]bool{}
	for _, f := range m.Files {
		set[f.Path] = true
		if f.Exec != "" {
			set[f.Exec] = true
		}
	}
	return set
}
