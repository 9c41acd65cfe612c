// Command tools builds the starter set of tools for package worker: programs of other
// people's, pinned in go.mod, and folder text's, compiled for WASI preview1. It writes a
// binary each, tools.json and NOTICES, and prints sizes.
//
//	go run . ../../build/tools
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const uroot = "github.com/u-root/u-root/cmds/core/"

// binaries are the packages that are built, with the commands that each holds: a binary
// with several is told by its first argument which it is to be.
var binaries = []Binary{
	{Name: "text", Package: "./text", Commands: []string{"awk", "jq", "yq", "shfmt", "minify", "diff", "toml2json", "markdown", "csv", "cut", "xxd", "tree", "xmllint", "uuid", "jwt"}},
	{Name: "cat", Package: uroot + "cat"}, {Name: "head", Package: uroot + "head"}, {Name: "tail", Package: uroot + "tail"},
	{Name: "wc", Package: uroot + "wc"}, {Name: "sort", Package: uroot + "sort"}, {Name: "uniq", Package: uroot + "uniq"},
	{Name: "tr", Package: uroot + "tr"}, {Name: "grep", Package: uroot + "grep"}, {Name: "cmp", Package: uroot + "cmp"},
	{Name: "comm", Package: uroot + "comm"}, {Name: "strings", Package: uroot + "strings"}, {Name: "hexdump", Package: uroot + "hexdump"},
	{Name: "base64", Package: uroot + "base64"}, {Name: "md5sum", Package: uroot + "md5sum"}, {Name: "shasum", Package: uroot + "shasum"},
	{Name: "gzip", Package: uroot + "gzip"}, {Name: "tar", Package: uroot + "tar"}, {Name: "truncate", Package: uroot + "truncate"}, {Name: "touch", Package: uroot + "touch"},
}

// Binary is a row of tools.json.
type Binary struct {
	Name     string   `json:"name"`
	Package  string   `json:"package"`
	Commands []string `json:"commands"`
	Size     int64    `json:"size"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: tools OUTPUT-FOLDER")
	}
	if err := build(os.Args[1]); err != nil {
		log.Fatal("tools: ", err)
	}
}

func build(out string) error {
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	modules := map[string]string{} // path and version to folder
	total := int64(0)
	for i, b := range binaries {
		file := filepath.Join(out, b.Name+".wasm")
		if _, err := wasip1("build", "-trimpath", "-ldflags", "-s -w", "-o", file, b.Package); err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if b.Commands == nil {
			b.Commands = []string{b.Name}
		}
		b.Size = info.Size()
		total += b.Size
		binaries[i] = b
		fmt.Printf("%8.2f MB  %-9s %s\n", float64(b.Size)/1e6, b.Name, strings.Join(b.Commands, " "))
		list, err := wasip1("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", b.Package)
		if err != nil {
			return err
		}
		for line := range strings.Lines(list) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				modules[name] = dir
			}
		}
	}
	fmt.Printf("%8.2f MB  together\n", float64(total)/1e6)
	data, err := json.MarshalIndent(binaries, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "tools.json"), data, 0o666); err != nil {
		return err
	}
	return notices(filepath.Join(out, "NOTICES"), modules)
}

func wasip1(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(text), nil
}

// notices gathers the licences of everything that was compiled in; a module without one is
// an error.
func notices(file string, modules map[string]string) error {
	var b strings.Builder
	names := make([]string, 0, len(modules))
	for name := range modules {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare[string])
	for _, name := range names {
		found, _ := filepath.Glob(filepath.Join(modules[name], "LICEN[SC]E*"))
		more, _ := filepath.Glob(filepath.Join(modules[name], "COPYING*"))
		if found = append(found, more...); len(found) == 0 {
			return fmt.Errorf("%s has no licence file", name)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "==== %s\n\n%s\n", name, text)
	}
	return os.WriteFile(file, []byte(b.String()), 0o666)
}
