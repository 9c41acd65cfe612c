package main

import (
	"archive/tar"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A source is an upstream release as Debian keeps it. Debian's archive of old files has it for good, by its SHA-1.
type source struct{ pool, dir, sha1, sha256, licence string }

var (
	awkSource  = source{"o/original-awk/original-awk_2022-09-12.orig.tar.gz", "original-awk-2022-09-12", "2cdc6e18115c4b5efd0676807b55a7b7a3a73cd0", "25e0846d5a4a20e90304bee282b068f65966406178a1e737fa0ac6744aef71d9", "LICENSE"}
	jqSource   = source{"j/jq/jq_1.7.1.orig.tar.gz", "jq-jq-1.7.1", "b84066c8abfda37b1eff2d4f9bc2187951e281e2", "fc75b1824aba7a954ef0886371d951c3bf4b6e0a921d1aefc553f309702d6ed1", "COPYING"}
	onigSource = source{"libo/libonig/libonig_6.9.9.orig.tar.gz", "oniguruma-6.9.9", "83e7f2e1142baa9a545e7e1c49a0c81e8828e31e", "001aa1202e78448f4c0bf1a48c76e556876b36f16d92ce3207eccfd61d99f2a0", "COPYING"}
)

// unpacked returns the folder of a source below sources, and downloads it if it is not there yet.
func (s source) unpacked(sources string) (string, error) {
	dir := filepath.Join(sources, s.dir)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	data, err := s.archive()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(sources, 0o755); err != nil {
		return "", err
	}
	next, err := os.MkdirTemp(sources, "next-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(next)
	if err := untar(data, next); err != nil {
		return "", fmt.Errorf("%s: %w", s.pool, err)
	}
	return dir, os.Rename(filepath.Join(next, s.dir), dir)
}

// archive returns the source's archive from the user's cache folder, or downloads it and keeps it there, so that a
// further clone needs no network. A file that is not the pinned one does not count.
func (s source) archive() ([]byte, error) {
	is := func(data []byte) bool {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:]) == s.sha256
	}
	kept := ""
	if cache, err := os.UserCacheDir(); err == nil {
		kept = filepath.Join(cache, "bailey-tools", s.sha256)
		if data, err := os.ReadFile(kept); err == nil && is(data) {
			return data, nil
		}
	}
	var failed error
	for _, url := range []string{"https://deb.debian.org/debian/pool/main/" + s.pool, "http://deb.debian.org/debian/pool/main/" + s.pool, "https://snapshot.debian.org/file/" + s.sha1} {
		data, err := download(url)
		if err == nil && !is(data) {
			err = fmt.Errorf("%s: the file's SHA-256 is not %s", url, s.sha256)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if kept != "" { // without a cache the next clone downloads it again
			if err := store(kept, data); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
		return data, nil
	}
	return nil, failed
}

// store writes a file as a whole, or not at all.
func store(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "next-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), name)
}

func download(url string) ([]byte, error) {
	client := http.Client{Timeout: 2 * time.Minute}
	resp, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, 64<<20))
}

// unzipped returns the content of a file that gzip, bzip2 or xz has compressed.
func unzipped(data []byte) (io.Reader, error) {
	switch {
	case bytes.HasPrefix(data, []byte("BZh")):
		return bzip2.NewReader(bytes.NewReader(data)), nil
	case bytes.HasPrefix(data, []byte("\xfd7zXZ\x00")):
		cmd := command("xz", "-dc")
		cmd.Stdin = bytes.NewReader(data)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("xz: %w", err)
		}
		return bytes.NewReader(out), nil
	}
	return gzip.NewReader(bytes.NewReader(data))
}

// untar unpacks the regular files of an archive.
func untar(data []byte, to string) error {
	z, err := unzipped(data)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := root.MkdirAll(filepath.Dir(h.Name), 0o755); err != nil {
			return err
		}
		f, err := root.Create(h.Name)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}

// wasi are the options of clang for each C program.
var wasi = []string{"--target=wasm32-wasi", "-O3", "-w", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576",
	"-D_WASI_EMULATED_SIGNAL", "-D_WASI_EMULATED_PROCESS_CLOCKS", "-lwasi-emulated-signal", "-lwasi-emulated-process-clocks", "c/start.c"}

// buildAWK compiles the One True AWK.
func buildAWK(file, sources string, n *notices) error {
	if err := compiler(); err != nil {
		return err
	}
	dir, err := awkSource.unpacked(sources)
	if err != nil {
		return err
	}
	if err := n.addC("The One True AWK", awkSource, dir); err != nil || fresh(file, "c/start.c", "c/awk/wasi.c", "c/awk/wasi.h", "c/awk/setjmp.h", "build/c.go") {
		return err
	}
	in := func(name string, args ...string) ([]byte, error) {
		cmd := command(name, args...)
		cmd.Dir = dir
		return cmd.Output()
	}
	// Two programs write parts of the source: bison the parser, and maketab a table of its rules.
	if _, err := in("bison", "-d", "-o", "awkgram.tab.c", "awkgram.y"); err != nil {
		return fmt.Errorf("bison: %w", err)
	}
	if _, err := in("clang", "-w", "-o", "maketab", "maketab.c"); err != nil {
		return fmt.Errorf("clang: %w", err)
	}
	table, err := in("./maketab", "awkgram.tab.h")
	if err != nil {
		return fmt.Errorf("maketab: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "proctab.c"), table, 0o644); err != nil {
		return err
	}
	args := append(append([]string(nil), wasi...), "-Ic/awk", "-I"+dir, "-include", "c/awk/wasi.h", "c/awk/wasi.c")
	for _, name := range strings.Fields("awkgram.tab b main parse proctab tran lib run lex") {
		args = append(args, filepath.Join(dir, name+".c"))
	}
	return compile(file, args, dir, "c/awk")
}

// jqMath are the functions of the C library that jq's programs can call.
const jqMath = "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf exp exp2 expm1 fabs floor fma fmax fmin fmod frexp hypot j0 j1 ldexp lgamma log log10 log1p log2 logb lgamma_r modf nearbyint nextafter nexttoward pow round remainder rint scalbln sin sinh sqrt tan tanh tgamma trunc y0 y1"

// buildJQ compiles jq with oniguruma.
func buildJQ(file, sources string, n *notices) error {
	if err := compiler(); err != nil {
		return err
	}
	jq, err := jqSource.unpacked(sources)
	if err != nil {
		return err
	}
	onig, err := onigSource.unpacked(sources)
	if err != nil {
		return err
	}
	if err := errors.Join(n.addC("jq", jqSource, jq), n.addC("Oniguruma", onigSource, onig)); err != nil || fresh(file, "c/start.c", "c/jq/wasi.c", "c/jq/pthread.h", "c/jq/config.h", "build/c.go") {
		return err
	}
	library, err := os.ReadFile(filepath.Join(jq, "src/builtin.jq"))
	if err != nil {
		return err
	}
	var text strings.Builder
	for line := range strings.Lines(string(library)) {
		line = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.TrimSuffix(line, "\n"))
		text.WriteString(`"` + line + `\n"` + "\n")
	}
	for name, content := range map[string]string{"builtin.inc": text.String(), "version.h": "#define JQ_VERSION \"1.7.1\"\n", "config_opts.inc": "#define JQ_CONFIG \"\"\n"} {
		if err := os.WriteFile(filepath.Join(jq, "src", name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	src, regex := filepath.Join(jq, "src"), filepath.Join(onig, "src")
	args := append(append([]string(nil), wasi...), "-Ic/jq", "-I"+src, "-I"+jq, "-I"+regex, "c/jq/wasi.c",
		"-D_GNU_SOURCE", "-DIEEE_8087", "-DHAVE_LIBONIG", "-DHAVE_SETLOCALE", "-DHAVE_TIMEGM", "-DHAVE_GMTIME_R", "-DHAVE_GMTIME", "-DHAVE_STRPTIME", "-DHAVE_STRFTIME",
		"-DHAVE_GETTIMEOFDAY", "-DHAVE_ISATTY", "-DHAVE_TM_TM_GMT_OFF", "-DHAVE_ALLOCA_H", "-DUSE_DECNUM", "-DDECNUMDIGITS=1")
	for _, name := range strings.Fields(jqMath) {
		args = append(args, "-DHAVE_"+strings.ToUpper(name))
	}
	for _, name := range strings.Fields("builtin bytecode compile execute jv jv_alloc jv_aux jv_dtoa jv_dtoa_tsd jv_file jv_parse jv_print jv_unicode lexer linker locfile main parser util decNumber/decContext decNumber/decNumber") {
		args = append(args, filepath.Join(src, name+".c"))
	}
	for _, name := range strings.Fields("regparse regcomp regexec regenc regerror regext regsyntax regtrav regversion st reggnu unicode unicode_unfold_key unicode_fold1_key unicode_fold2_key unicode_fold3_key ascii utf8") {
		args = append(args, filepath.Join(regex, name+".c"))
	}
	return compile(file, args, jq, onig, "c/jq")
}

// addC adds the licence of a C program, and that of the C library.
func (n *notices) addC(name string, s source, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, s.licence))
	if err != nil {
		return err
	}
	n.texts[name+" ("+s.dir+")"] = strings.TrimSpace(string(text))
	n.addLibc()
	return nil
}

func have(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}
