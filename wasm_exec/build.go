package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

type buildOptions struct {
	out     string
	name    string
	lines   bool   // keep the lines of stack traces
	cold    string // patterns of packages that are compiled without inlining
	tags    string
	ldflags string
	cache   string
	fast    bool

	// The command dev sets these.
	dev  bool             // no compressed forms, the names of functions in the binary, no service worker
	page string           // the path of the page's URL, such as /files/
	web  string           // a folder whose files are added to those of the package's web folder
	note func(pkg string) // called with the import path of each package that was compiled

	found func(*program) // called before the program is compiled
}

func buildCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("build", flag.ContinueOnError)
	var o buildOptions
	f.StringVar(&o.out, "o", "dist", "the `folder` to write")
	f.StringVar(&o.name, "name", "main", "the binary's `name` on the page: main gives main.wasm")
	f.StringVar(&o.tags, "tags", "", "build `tags`, as for go build")
	f.StringVar(&o.ldflags, "ldflags", "", "more linker `flags` beside -s -w")
	f.StringVar(&o.cache, "cache", defaultCache(), "the `folder` that keeps compressed forms; empty for none")
	f.StringVar(&o.cold, "cold", "", "`packages` that are compiled without inlining, smaller and slower: patterns with commas between them, of which a later one holds, and one after ! is not cold")
	f.BoolVar(&o.lines, "lines", false, "keep the lines of source code in stack traces; the page is a tenth larger")
	f.BoolVar(&o.fast, "fast", false, "compress less, for development")
	rest, err := parse(f, args, stderr, 1, "PKG")
	if err != nil {
		return err
	}
	began := time.Now()
	p, err := compileProgram(ctx, rest[0], o, stderr)
	if err != nil {
		return fmt.Errorf("build %s: %w", rest[0], err)
	}
	compiled := time.Now()
	m, err := p.write(ctx, o)
	if err != nil {
		return fmt.Errorf("build %s: %w", rest[0], err)
	}
	bin := m.Files[o.name+".wasm"]
	fmt.Fprintf(stdout, "%s: %s, %s brotli, %s gzip, %s, in %s\n", filepath.Join(o.out, bin.Path),
		size(bin.Size), size(bin.Brotli), size(bin.Gzip), bin.Go, time.Since(began).Round(10*time.Millisecond))
	fmt.Fprint(stdout, slowHint(time.Since(compiled), o.fast))
	return nil
}

// slowHint returns the way to a faster build if compression took long, or "".
func slowHint(compression time.Duration, fast bool) string {
	if fast || compression < 3*time.Second {
		return ""
	}
	return fmt.Sprintf("%s of that compressed the page for release. While you write it, -fast takes a fortieth of it, and \"wasm_exec dev\" builds after each change.\n", compression.Round(100*time.Millisecond))
}

func defaultCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "bailey", "wasm_exec")
}

// build makes the page of pkg in o.out and returns its manifest.
func build(ctx context.Context, pkg string, o buildOptions, stderr io.Writer) (*manifest, error) {
	p, err := compileProgram(ctx, pkg, o, stderr)
	if err != nil {
		return nil, err
	}
	return p.write(ctx, o)
}

// compileProgram compiles pkg. It fails before the compiler runs if the page cannot be written.
func compileProgram(ctx context.Context, pkg string, o buildOptions, stderr io.Writer) (*program, error) {
	if o.name == "" || strings.Trim(o.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		return nil, fmt.Errorf("-name %q: use letters, digits, _ and -", o.name)
	}
	p, err := findProgram(ctx, pkg, o.tags)
	if err != nil {
		return nil, err
	}
	if o.found != nil {
		o.found(p)
	}
	if o.dev {
		err = o.claim(p.dir)
	} else if err = os.MkdirAll(o.out, 0o755); err != nil {
		err = fmt.Errorf("cannot make the folder for -o: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if _, err := readManifest(o.out); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "wasm_exec-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	bin, err := filepath.Abs(filepath.Join(tmp, "main.wasm"))
	if err != nil {
		return nil, err
	}
	if err := p.compile(ctx, o, bin, stderr); err != nil {
		return nil, err
	}
	if p.wasm, err = os.ReadFile(bin); err != nil {
		return nil, err
	}
	if !o.dev { // joining makes the file smaller, which a server on the same machine does not need
		if p.wasm, err = shrink(p.wasm, o.lines); err != nil {
			return nil, err
		}
	}
	if p.exec, err = p.wasmExec(); err != nil {
		return nil, err
	}
	return p, nil
}

// write writes the page of a compiled program to o.out and returns its manifest.
func (p *program) write(ctx context.Context, o buildOptions) (*manifest, error) {
	if o.dev { // the folder may have been removed since the program was compiled
		if err := o.claim(p.dir); err != nil {
			return nil, err
		}
	}
	old, err := readManifest(o.out)
	if err != nil {
		return nil, err
	}
	b := &builder{ctx: ctx, dir: o.out, comp: compressor{o.cache, bestBrotli}, wrote: map[string]string{},
		next: &manifest{Version: 1, Go: p.goversion, Files: map[string]file{}}}
	if o.fast {
		b.comp.quality = fastBrotli
	}
	if o.dev {
		b.comp.quality = noBrotli
	} else {
		// Several programs may share this folder, so the files of other builds are kept.
		maps.Copy(b.next.Files, old.Files)
		b.next.Headers = old.Headers
	}
	wasmExec := b.hashed("wasm_exec.js", p.exec)
	main := b.hashed(o.name+".wasm", p.wasm)
	main.Exec, main.Go = wasmExec.Path, p.goversion
	b.next.Files[o.name+".wasm"] = main
	b.hashed("bailey.js", loaderJS())
	b.plain("bailey.js", loaderJS())
	b.plain("bailey.mjs", loaderModule())
	for _, dir := range p.guests {
		b.copyFiles(filepath.Join(dir, "web"))
	}
	b.static(p.dir, o.web, o.name)
	if o.dev {
		b.removeWorker(p.dir)
		b.devClient(o.page)
	} else {
		b.offline(p.dir, old)
	}
	b.finish(old)
	if o.dev {
		b.removeOthers()
	}
	return b.next, b.err
}

// builder writes a build's files. After the first error it writes nothing more.
type builder struct {
	ctx  context.Context
	dir  string
	comp compressor
	next *manifest
	// wrote holds the hashes of the files written by this build, without compressed forms.
	wrote map[string]string
	err   error
}

// hashed writes data under a name with a hash of its content, and adds it to the manifest.
func (b *builder) hashed(name string, data []byte) file {
	sum := sha256.Sum256(data)
	ext := path.Ext(name)
	f := file{
		Path:      strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:8]) + ext,
		Size:      int64(len(data)),
		Integrity: "sha256-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
	f.Brotli, f.Gzip = b.plain(f.Path, data)
	b.next.Files[name] = f
	return f
}

// plain writes data and its compressed forms under name. It returns the sizes of the forms.
func (b *builder) plain(name string, data []byte) (br, gz int64) {
	if b.err != nil {
		return 0, 0
	}
	dst := filepath.Join(b.dir, filepath.FromSlash(name))
	if b.err = os.MkdirAll(filepath.Dir(dst), 0o755); b.err != nil {
		return 0, 0
	}
	if b.err = writeFile(dst, data); b.err != nil {
		return 0, 0
	}
	b.wrote[name] = integrity(data)
	if !compressible(name) || b.comp.quality == noBrotli {
		return 0, 0
	}
	packed, zipped, err := b.comp.forms(b.ctx, data)
	if err != nil {
		b.err = err
		return 0, 0
	}
	for ext, form := range map[string][]byte{".br": packed, ".gz": zipped} {
		if len(form) >= len(data) {
			os.Remove(dst + ext) // an earlier form of a longer file must be removed
			continue
		}
		if b.err = writeFile(dst+ext, form); b.err != nil {
			return 0, 0
		}
	}
	return int64(len(packed)), int64(len(zipped))
}

// finish writes the manifest last, so that it never names a file that does not exist yet. Then
// it removes the files of the build before the last.
func (b *builder) finish(old *manifest) {
	if b.err != nil {
		return
	}
	now, before := b.next.paths(), old.paths()
	for p := range before {
		if !now[p] {
			b.next.Previous = append(b.next.Previous, p)
		}
	}
	if len(b.next.Previous) == 0 { // nothing changed, so the earlier files are still kept
		b.next.Previous = old.Previous
	}
	sortStrings(b.next.Previous)
	data, err := b.next.encode()
	if err != nil {
		b.err = err
		return
	}
	if b.err = writeFile(filepath.Join(b.dir, manifestName), data); b.err != nil {
		return
	}
	b.worker(data)
	kept := map[string]bool{}
	for _, p := range b.next.Previous {
		kept[p] = true
	}
	for _, p := range old.Previous {
		if !now[p] && !kept[p] && hashedName.MatchString(p) {
			for _, ext := range []string{"", ".br", ".gz"} {
				os.Remove(filepath.Join(b.dir, filepath.FromSlash(p)+ext))
			}
		}
	}
}

func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.0f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
