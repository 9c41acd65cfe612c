// Build makes the tools: the WebAssembly binaries, their catalogue (tools.json) and the licences of
// all included works (NOTICES.txt). It runs on the host. `make tools` calls it.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	notices, err := newNotices()
	if err != nil {
		return err
	}
	var list []binary
	for _, name := range catalog.Order {
		file := filepath.Join(out, name+".wasm")
		if name == "sqlite3" {
			err = buildSQLite(file, notices)
			if err != nil {
				fmt.Printf("sqlite3: NOT BUILT: %v\n", err)
				os.Remove(file)
				continue
			}
		} else if err = buildGo(name, file, notices); err != nil {
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
	if err := os.WriteFile(filepath.Join(out, "tools.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	return notices.write(filepath.Join(out, "NOTICES.txt"))
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

func buildGo(name, file string, n *notices) error {
	modfile, err := slimModfile(filepath.Join(filepath.Dir(file), "..", "toolsrc"))
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
