package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// notices are the licence texts of all works in the binaries.
type notices struct {
	texts map[string]string // by the name of the work
}

func newNotices() (*notices, error) {
	root, err := command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(root)), "\n")
	text, err := os.ReadFile(filepath.Join(lines[0], "LICENSE"))
	if err != nil { // some installations do not have it there
		if text, err = os.ReadFile(filepath.Join(lines[0], "..", "LICENSE")); err != nil {
			return nil, fmt.Errorf("the licence of Go: %w", err)
		}
	}
	return &notices{texts: map[string]string{"Go " + strings.TrimPrefix(lines[1], "go") + ", its standard library and run time": string(text)}}, nil
}

type goModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *goModule
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright)`)

// addGo adds the licences of all modules that are compiled into a command.
func (n *notices) addGo(modfile, pkg string) error {
	cmd := command("go", "list", "-modfile="+modfile, "-deps", "-json=Module", pkg)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *goModule }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		m := p.Module
		if m != nil && m.Replace != nil {
			m.Dir = m.Replace.Dir
		}
		if m != nil && !m.Main && m.Version != "" && m.Path != "github.com/bailey-go/bailey" {
			if err := n.addDir(m.Path+" "+m.Version, m.Dir); err != nil {
				return err
			}
		}
	}
}

func (n *notices) addDir(name, dir string) error {
	if _, ok := n.texts[name]; ok {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var texts []string
	for _, e := range entries {
		if licenceFile.MatchString(e.Name()) && e.Type().IsRegular() {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
	if len(texts) == 0 {
		return fmt.Errorf("%s has no licence file: it can't be shipped", name)
	}
	text := strings.Join(texts, "\n\n")
	for _, no := range []string{"GNU GENERAL PUBLIC LICENSE", "GNU AFFERO", "GNU LESSER", "Server Side Public License", "Business Source License"} {
		if strings.Contains(strings.ToUpper(text), strings.ToUpper(no)) {
			return fmt.Errorf("%s: its licence (%s) is not one that the tools can be under", name, no)
		}
	}
	n.texts[name] = text
	return nil
}

// addSQLite adds the licences of SQLite, of the Go module that contains it, and of the C library.
func (n *notices) addSQLite(dir, version string) error {
	if err := n.addDir(amalgamation+" "+version, dir); err != nil {
		return err
	}
	n.texts["SQLite"] = "The author disclaims copyright to this source code. SQLite is in the public domain: https://sqlite.org/copyright.html"
	n.addLibc()
	return nil
}

func (n *notices) addLibc() {
	text, err := os.ReadFile("/usr/share/doc/wasi-libc/copyright")
	if err != nil {
		text = []byte("wasi-libc is under Apache-2.0 with the LLVM exception, Apache-2.0 and MIT, with parts of musl under MIT: https://github.com/WebAssembly/wasi-libc")
	}
	n.texts["wasi-libc"] = strings.TrimSpace(string(text))
}

func (n *notices) write(file string) error {
	names := make([]string, 0, len(n.texts))
	for name := range n.texts {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("The tools are made of these works. Bailey itself is under Apache-2.0.\n\n")
	for _, name := range names {
		b.WriteString("  " + name + "\n")
	}
	for _, name := range names {
		b.WriteString("\n\n" + strings.Repeat("=", 78) + "\n" + name + "\n" + strings.Repeat("=", 78) + "\n\n" + strings.TrimSpace(n.texts[name]) + "\n")
	}
	fmt.Printf("notices of %d works\n", len(names))
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
