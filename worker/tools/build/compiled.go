package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// compile makes a C program in a file. A program that the same compiler has made before of the same sources, by
// the same arguments, is taken from the user's cache folder, so that a further clone does not wait for it.
// dirs are the folders of the sources and headers. The other sources are named in args.
func compile(file string, args []string, dirs ...string) error {
	return cached(file, args, dirs, func() error { return clang(append(args[:len(args):len(args)], "-o", file)...) })
}

// compileEach is compile for a program of many sources. It runs a compiler for each of them, as many at a time as there
// are processors. args has no sources, and options of the linker begin with -Wl or -l.
func compileEach(file string, args, sources []string, dirs ...string) error {
	all := slices.Concat(args, sources)
	return cached(file, all, dirs, func() error {
		tmp, err := os.MkdirTemp(filepath.Dir(file), "objects-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		var options, link []string
		for _, a := range args {
			if strings.HasPrefix(a, "-Wl") || strings.HasPrefix(a, "-l") {
				link = append(link, a)
			} else {
				options = append(options, a)
			}
		}
		objects, errs := make([]string, len(sources)), make([]error, len(sources))
		next := make(chan int)
		var wg sync.WaitGroup
		for range runtime.NumCPU() {
			wg.Go(func() {
				for i := range next {
					errs[i] = clang(append(options[:len(options):len(options)], "-c", sources[i], "-o", objects[i])...)
				}
			})
		}
		for i := range sources {
			objects[i] = filepath.Join(tmp, fmt.Sprintf("%d.o", i))
			next <- i
		}
		close(next)
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		return clang(slices.Concat([]string{"--target=wasm32-wasi", "-o", file}, objects, link)...)
	})
}

func clang(args ...string) error {
	if err := command("clang", args...).Run(); err != nil {
		return fmt.Errorf("clang: %w", err)
	}
	return nil
}

// cached makes a file by a function, or takes it from the user's cache folder.
func cached(file string, args, dirs []string, build func() error) error {
	kept := ""
	if cache, err := os.UserCacheDir(); err == nil {
		key, err := compileKey(args, dirs)
		if err != nil {
			return err
		}
		kept = filepath.Join(cache, "bailey-tools", "compiled-"+key)
		if data, err := os.ReadFile(kept); err == nil {
			if data, ok := unsealed(data); ok {
				return os.WriteFile(file, data, 0o755)
			}
		}
	}
	if err := build(); err != nil {
		return err
	}
	if kept == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := store(kept, sealed(data)); err != nil { // the next clone compiles it again
		fmt.Fprintln(os.Stderr, err)
	}
	return nil
}

// compileKey is a hash of all that a compilation depends on. Where the sources are does not count.
func compileKey(args, dirs []string) (string, error) {
	version, err := command("clang", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("clang: %w", err)
	}
	sum := sha256.New()
	add := func(name string, data []byte) { fmt.Fprintf(sum, "%d %s %d %s", len(name), name, len(data), data) }
	add("clang", version)
	// The C library is part of the program.
	if data, err := os.ReadFile("/usr/lib/wasm32-wasi/libc.a"); err == nil {
		add("libc", data)
	}
	for _, a := range args {
		placed := a
		for i, dir := range dirs {
			placed = strings.ReplaceAll(placed, dir, fmt.Sprintf("<%d>", i))
		}
		add("argument", []byte(placed))
		if !strings.HasPrefix(a, "-") && placed == a {
			data, err := os.ReadFile(a)
			if err != nil {
				return "", err
			}
			add(a, data)
		}
	}
	for i, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !strings.Contains(".c .h .inc", filepath.Ext(name)) || filepath.Ext(name) == "" {
				return err
			}
			data, err := os.ReadFile(name)
			add(fmt.Sprint(i, strings.TrimPrefix(name, dir)), data)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// sealed returns data with its hash in front, by which a broken file of the cache is known.
func sealed(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(sum[:], data...)
}

func unsealed(data []byte) ([]byte, bool) {
	if len(data) < sha256.Size {
		return nil, false
	}
	sum := sha256.Sum256(data[sha256.Size:])
	return data[sha256.Size:], bytes.Equal(sum[:], data[:sha256.Size])
}
