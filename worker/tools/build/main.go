// Build makes the tools: the WebAssembly binaries, their catalogue (tools.json) and the licences of
// all included works (NOTICES.txt). It runs on the host. `make tools` calls it.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"

	"github.com/bailey-go/bailey/worker/tools/internal/catalog"
)

// binary is an element of tools.json.
type binary struct {
	Name   string         `json:"name"`
	File   string         `json:"file"`
	Size   int            `json:"size"`
	Brotli int            `json:"brotli"`
	SHA256 string         `json:"sha256"`
	Tools  []catalog.Tool `json:"tools"`
}

func main() {
	out := flag.String("o", "../../build/tools", "where the tools go")
	flag.Parse()
	if err := run(*out, maker(*out)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// maker returns a function that makes the binary name in a file.
func maker(out string) func(name, file string, n *notices) error {
	sources := filepath.Join(out, "..", "toolsrc")
	return func(name, file string, n *notices) error {
		switch name {
		case "sqlite3":
			return buildSQLite(file, n)
		case "awk":
			return buildAWK(file, sources, n)
		case "jq":
			return buildJQ(file, sources, n)
		case "git":
			return buildGit(file, sources, n)
		}
		return buildGo(name, file, sources, n)
	}
}

// run makes the tools in a folder beside out. It moves them to out when all are made, because tests
// and pages may read out in the meantime.
func run(out string, build func(name, file string, n *notices) error) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	next, err := os.MkdirTemp(filepath.Dir(out), filepath.Base(out)+".next-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(next)
	notices, err := newNotices()
	if err != nil {
		return err
	}
	var list []binary
	for _, name := range catalog.Order {
		file := filepath.Join(next, name+".wasm")
		if err := keep(filepath.Join(out, name+".wasm"), file); err != nil {
			return err
		}
		if err := build(name, file, notices); slices.Contains(catalog.C, name) && err != nil {
			fmt.Printf("%s: NOT BUILT: %v\n", name, err)
			os.Remove(file)
			continue
		} else if err != nil {
			return err
		}
		b, err := describe(name, file)
		if err != nil {
			return err
		}
		fmt.Printf("%-8s %3d commands  %9d bytes  %9d brotli\n", name, len(b.Tools), b.Size, b.Brotli)
		list = append(list, b)
	}
	text, err := json.MarshalIndent(map[string]any{"binaries": list}, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(next, "tools.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	if err := notices.write(filepath.Join(next, "NOTICES.txt")); err != nil {
		return err
	}
	return replace(next, out)
}

// keep copies a binary that was made before, with its time. The compilers do not make it again if it
// is new enough.
func keep(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// replace moves the files of next to out, the catalogue last. Then it removes a binary that could not
// be made.
func replace(next, out string) error {
	const last = "tools.json"
	list, err := os.ReadDir(next)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Name() == last {
			continue
		}
		if err := os.Rename(filepath.Join(next, e.Name()), filepath.Join(out, e.Name())); err != nil {
			return err
		}
	}
	if err := os.Rename(filepath.Join(next, last), filepath.Join(out, last)); err != nil {
		return err
	}
	for _, name := range catalog.Order {
		made := func(e fs.DirEntry) bool { return e.Name() == name+".wasm" }
		if !slices.ContainsFunc(list, made) {
			os.Remove(filepath.Join(out, name+".wasm"))
			os.Remove(filepath.Join(out, name+".wasm.br"))
		}
	}
	return nil
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

func buildGo(name, file, sources string, n *notices) error {
	modfile, err := slimModfile(sources)
	if err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-modfile=" + modfile, "-o", file, "./cmd/" + name}
	cmd := command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return n.addGo(modfile, "./cmd/"+name)
}

func describe(name, file string) (binary, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return binary{}, err
	}
	var small bytes.Buffer
	w := brotli.NewWriterLevel(&small, 9)
	if _, err := w.Write(data); err != nil {
		return binary{}, err
	}
	if err := w.Close(); err != nil {
		return binary{}, err
	}
	if err := os.WriteFile(file+".br", small.Bytes(), 0o644); err != nil {
		return binary{}, err
	}
	sum := sha256.Sum256(data)
	b := binary{Name: name, File: filepath.Base(file), Size: len(data), Brotli: small.Len(), SHA256: hex.EncodeToString(sum[:])}
	for _, c := range catalog.Binaries()[name] {
		b.Tools = append(b.Tools, catalog.Describe(c)...)
	}
	return b, nil
}
