package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// amalgamation is the Go module that contains SQLite's C source.
const amalgamation = "github.com/mattn/go-sqlite3"

// debian are the Debian packages of the C compiler for WASI, of what writes a part of awk, and of what unpacks git.
var debian = []string{"clang", "lld", "wasi-libc", "libclang-rt-dev-wasm32", "bison", "xz-utils"}

// buildSQLite compiles SQLite and its command with clang and wasi-libc.
func buildSQLite(file string, n *notices) error {
	if err := compiler(); err != nil {
		return err
	}
	out, err := command("go", "mod", "download", "-json", amalgamation+"@"+sqliteVersion()).Output()
	if err != nil {
		return fmt.Errorf("go mod download %s: %w", amalgamation, err)
	}
	var m struct{ Dir, Version string }
	if err := json.Unmarshal(out, &m); err != nil {
		return err
	}
	args := []string{"--target=wasm32-wasi", "-O2", "-I" + m.Dir,
		"-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_OMIT_WAL", "-DSQLITE_DEFAULT_MEMSTATUS=0", "-DSQLITE_DQS=0",
		"-DSQLITE_ENABLE_FTS5", "-DSQLITE_ENABLE_RTREE", "-DSQLITE_ENABLE_MATH_FUNCTIONS",
		"-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_GETPID", "-D_WASI_EMULATED_MMAN", "-D_WASI_EMULATED_PROCESS_CLOCKS",
		"-lwasi-emulated-signal", "-lwasi-emulated-getpid", "-lwasi-emulated-mman", "-lwasi-emulated-process-clocks",
		"-Wl,--strip-all", "-Wl,-z,stack-size=1048576", "sqlite/main.c", "c/start.c", filepath.Join(m.Dir, "sqlite3-binding.c")}
	if fresh(file, filepath.Join(m.Dir, "sqlite3-binding.c"), "sqlite/main.c", "c/start.c", "build/sqlite.go") {
		return n.addSQLite(m.Dir, m.Version)
	}
	if err := compile(file, args, m.Dir); err != nil {
		return err
	}
	return n.addSQLite(m.Dir, m.Version)
}

// fresh reports whether a file is newer than its sources. It saves the minute that SQLite takes.
func fresh(file string, of ...string) bool {
	made, err := os.Stat(file)
	if err != nil {
		return false
	}
	for _, name := range of {
		if info, err := os.Stat(name); err != nil || info.ModTime().After(made.ModTime()) {
			return false
		}
	}
	return true
}

// sqliteVersion returns the version that go.mod pins by the import in pins.go.
func sqliteVersion() string {
	out, err := command("go", "list", "-m", "-f", "{{.Version}}", amalgamation).Output()
	if err != nil {
		return "latest"
	}
	return strings.TrimSpace(string(out))
}

// compiler returns nil if clang for WASI works. As root with apt-get it installs clang first.
func compiler() error {
	works := func() bool {
		dir, err := os.MkdirTemp("", "wasi")
		if err != nil {
			return false
		}
		defer os.RemoveAll(dir)
		src := filepath.Join(dir, "a.c")
		if os.WriteFile(src, []byte("#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n"), 0o644) != nil {
			return false
		}
		return have("bison") && have("xz") && exec.Command("clang", "--target=wasm32-wasi", "-o", filepath.Join(dir, "a.wasm"), src).Run() == nil
	}
	if works() {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err == nil && os.Getuid() == 0 {
		_ = command("apt-get", "update", "-qq").Run() // without new lists the old ones may be enough
		if err := command("apt-get", append([]string{"install", "-y", "-qq", "--no-install-recommends"}, debian...)...).Run(); err != nil {
			return fmt.Errorf("apt-get: %w", err)
		}
		if works() {
			return nil
		}
	}
	return errors.New("clang for wasm32-wasi is missing: install " + strings.Join(debian, ", "))
}
