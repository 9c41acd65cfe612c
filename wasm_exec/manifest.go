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

// manifest maps the names that pages use to the files that hold them now. The
// loader reads it afresh at each start, so that a page which stays as it is
// follows each new build.
type manifest struct {
	Version int             `json:"version"` // 1
	Go      string          `json:"go"`      // toolchain of the latest build
	Files   map[string]file `json:"files"`
	// Previous lists the files of the build before, kept for pages that were
	// starting when this one was deployed.
	Previous []string `json:"previous,omitempty"`
	// Offline is there where an offline.json asks for it.
	Offline *offline `json:"offline,omitempty"`
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

// readManifest gives an empty manifest where there is none yet.
func readManifest(dir string) (*manifest, error) {
	m := &manifest{Version: 1, Files: map[string]file{}}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	m.Version = 0 // so that a web app's manifest, which has the same name, is not taken for one
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

// paths lists every file the manifest names now.
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
