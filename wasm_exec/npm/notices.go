//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright)`)

// notices returns the licences of Go, of Bailey, and of all modules in a program for the page.
func notices(program string) ([]byte, error) {
	goroot, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(goroot)), "\n")
	texts := map[string]string{}
	name := "Go " + strings.TrimPrefix(version, "go") + ", its standard library, run time and wasm_exec.js"
	if texts[name], err = licence(root); err != nil { // some installations have it one folder up
		if texts[name], err = licence(filepath.Dir(root)); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command("go", "list", "-deps", "-json=Module", program)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", program, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if m := p.Module; m != nil {
			name := strings.TrimSpace(m.Path + " " + m.Version)
			if texts[name] == "" {
				if texts[name], err = licence(m.Dir); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	if texts["Sucrase, the modules in typescript.txt"], err = file("internal/typescript/web/guests/typescript.LICENSE.txt"); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("bailey.wasm, agent.wasm, wasm_exec.js and the scripts beside them are made of these works:\n\n")
	names := slices.Sorted(maps.Keys(texts))
	for _, name := range names {
		fmt.Fprintf(&b, "  %s\n", name)
	}
	line := strings.Repeat("=", 78)
	for _, name := range names {
		fmt.Fprintf(&b, "\n\n%s\n%s\n%s\n\n%s\n", line, name, line, texts[name])
	}
	return b.Bytes(), nil
}

// file returns the text of a file.
func file(name string) (string, error) {
	data, err := os.ReadFile(filepath.FromSlash(name))
	return strings.TrimSpace(string(data)), err
}

// licence returns the licence files of a folder. A work without one, or under a licence that the package
// cannot be under, is an error.
func licence(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, e := range entries {
		if licenceFile.MatchString(e.Name()) && e.Type().IsRegular() {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", err
			}
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	all := strings.Join(texts, "\n\n")
	if all == "" {
		return "", fmt.Errorf("%s has no licence file: it can't be shipped", dir)
	}
	for _, no := range []string{"GNU GENERAL PUBLIC LICENSE", "GNU AFFERO", "GNU LESSER", "SERVER SIDE PUBLIC LICENSE", "BUSINESS SOURCE LICENSE"} {
		if strings.Contains(strings.ToUpper(all), no) {
			return "", fmt.Errorf("%s is under %s, which the package can't be under", dir, no)
		}
	}
	return all, nil
}
