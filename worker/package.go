package worker

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/zipform"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

// PackageLimits bound a tool package. A field that is 0 or less has the default.
type PackageLimits struct {
	ZIP   int64 // bytes of the archive; default 64 MiB
	Total int64 // bytes of all files, unpacked; default 256 MiB
	Files int   // files and folders; default 64
	Ratio int   // factor by which a file over 1 MiB may be larger than packed; default 200
}

func (l PackageLimits) filled() PackageLimits {
	if l.ZIP <= 0 {
		l.ZIP = 64 << 20
	}
	if l.Total <= 0 {
		l.Total = 256 << 20
	}
	if l.Files <= 0 {
		l.Files = 64
	}
	if l.Ratio <= 0 {
		l.Ratio = 200
	}
	return l
}

const (
	manifestFile = "manifest.json"
	moduleFile   = "tool.wasm"
)

// A Package is a third-party tool: a ZIP with manifest.json, tool.wasm and any other files, such as
// a licence.
type Package struct {
	Manifest
	// SHA256 is the hash of the ZIP, in hexadecimal.
	SHA256 string
	// Granted is the user's permission for the tool. The zero value permits nothing.
	Granted PackageGrant

	files map[string][]byte
	zip   []byte
}

// File returns a file of the package, such as LICENSE. The error wraps [fs.ErrNotExist] if there is
// none.
func (p *Package) File(name string) ([]byte, error) {
	data, ok := p.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return bytes.Clone(data), nil
}

// Wasm returns the tool's module, for [Pool.Compile] of an untrusted pool.
func (p *Package) Wasm() []byte { return bytes.Clone(p.files[moduleFile]) }

// readPackage parses and checks a tool package. See [Packages.Install] for its faults.
func readPackage(ctx context.Context, data []byte, limits PackageLimits) (*Package, error) {
	l := limits.filled()
	var budget jsx.Budget
	if int64(len(data)) > l.ZIP {
		return nil, tooLarge("", "the ZIP has %d bytes; the limit is %d", len(data), l.ZIP)
	}
	n, err := directory(data, l.Files)
	if err != nil {
		return nil, err
	}
	// The reader comes with ErrInsecurePath too. The names are checked below.
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) || len(zr.File) != n {
		return nil, badPackage("", "it is no ZIP archive, or a damaged one")
	}
	p := &Package{files: map[string][]byte{}, zip: data}
	if err := p.unpack(ctx, &budget, zr, l); err != nil {
		return nil, err
	}
	if err := zipform.Check(data, func(n int) error { return budget.Steps(ctx, n) }); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, badPackage("", "two readers would read the ZIP differently: %w", err)
	}
	for _, name := range []string{manifestFile, moduleFile} {
		if _, ok := p.files[name]; !ok {
			return nil, badPackage(name, "it is missing; it has to stand at the top of the ZIP, not in a folder")
		}
	}
	m, err := ParseManifest(p.files[manifestFile])
	if err != nil {
		return nil, err
	}
	if _, err := wasmbin.Parse(p.files[moduleFile], func(n int) error { return budget.Steps(ctx, n) }); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, badPackage(moduleFile, "it is no WebAssembly module: %w", err)
	}
	p.Manifest = *m
	if p.SHA256, err = hashOf(ctx, &budget, data); err != nil {
		return nil, err
	}
	return p, nil
}

// hashOf returns the SHA-256 of data in hexadecimal. It yields to the page while it works.
func hashOf(ctx context.Context, budget *jsx.Budget, data []byte) (string, error) {
	sum := sha256.New()
	if err := jsx.WriteIn(ctx, budget, sum, data); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func badPackage(name, format string, args ...any) error {
	return protocol.Errorf(protocol.ErrInvalidParams, "install", name, format, args...)
}

func tooLarge(name, format string, args ...any) error {
	return protocol.Errorf(protocol.ErrResourceLimit, "install", name, format, args...)
}

// directory walks the archive's directory before a reader allocates for each entry, and returns the
// number of entries. It accepts only the form that all ZIP readers understand alike: the directory
// right before the archive's end, no comment, no bytes in front, no ZIP64.
func directory(data []byte, most int) (n int, err error) {
	const end, entry = 22, 46
	if len(data) < end || !bytes.HasPrefix(data[len(data)-end:], []byte("PK\x05\x06")) {
		return 0, badPackage("", "it is no ZIP archive, or has something behind it")
	}
	le := binary.LittleEndian
	tail := data[len(data)-end:]
	says := int(le.Uint16(tail[10:]))
	size, at := uint64(le.Uint32(tail[12:])), uint64(le.Uint32(tail[16:]))
	switch {
	case le.Uint16(tail[20:]) != 0:
		return 0, badPackage("", "the ZIP has a comment")
	case says == 0xffff || at == 0xffffffff:
		return 0, badPackage("", "ZIP64 is not supported")
	case at+size != uint64(len(data)-end):
		return 0, badPackage("", "there is something between the ZIP's parts, or in front of it")
	case says > most:
		return 0, tooLarge("", "the ZIP has %d files; the limit is %d", says, most)
	}
	first := uint64(len(data))
	dir := data[at : len(data)-end]
	for len(dir) > 0 {
		if len(dir) < entry || !bytes.HasPrefix(dir, []byte("PK\x01\x02")) {
			return 0, badPackage("", "the ZIP's directory is damaged")
		}
		first = min(first, uint64(le.Uint32(dir[42:])))
		skip := entry + int(le.Uint16(dir[28:])) + int(le.Uint16(dir[30:])) + int(le.Uint16(dir[32:]))
		if skip > len(dir) {
			return 0, badPackage("", "the ZIP's directory is damaged")
		}
		if n++; n > most {
			return 0, tooLarge("", "the ZIP has more than %d files", most)
		}
		dir = dir[skip:]
	}
	if n != says {
		return 0, badPackage("", "the ZIP has %d files and says it has %d", n, says)
	}
	if n > 0 && first != 0 {
		return 0, badPackage("", "there is something in front of the ZIP's first file")
	}
	return n, nil
}

func (p *Package) unpack(ctx context.Context, budget *jsx.Budget, zr *zip.Reader, l PackageLimits) error {
	seen := map[string]string{}
	left := l.Total
	for _, f := range zr.File {
		name := strings.TrimSuffix(f.Name, "/")
		if err := checkName(name); err != nil {
			return err
		}
		// Each folder on the way counts too: a file a and a folder A/ are one name on some systems.
		for part := name; part != "." && part != "/"; part = path.Dir(part) {
			folded := strings.ToLower(part)
			other, ok := seen[folded]
			if ok && (other != part || part == name) {
				return badPackage(f.Name, "the name is there twice, or differs from %q by case only", other)
			}
		}
		seen[strings.ToLower(name)] = name
		mode := f.Mode()
		switch {
		case f.Flags&1 != 0:
			return badPackage(f.Name, "it is encrypted")
		case strings.HasSuffix(f.Name, "/"):
			if f.UncompressedSize64 != 0 || !mode.IsDir() {
				return badPackage(f.Name, "a folder with content")
			}
			continue
		case mode&fs.ModeSymlink != 0:
			return badPackage(f.Name, "it is a link; a package has files and folders only")
		case !mode.IsRegular():
			return badPackage(f.Name, "it is neither a file nor a folder")
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return badPackage(f.Name, "the compression method %d is not supported; use deflate", f.Method)
		case f.UncompressedSize64 > uint64(left):
			return tooLarge(f.Name, "the files have more than %d bytes unpacked", l.Total)
		case f.UncompressedSize64 > 1<<20 && f.UncompressedSize64/uint64(l.Ratio) > f.CompressedSize64:
			return tooLarge(f.Name, "it is more than %d times larger than packed", l.Ratio)
		}
		data, err := content(ctx, budget, f)
		if err != nil {
			return err
		}
		left -= int64(len(data))
		p.files[name] = data
	}
	// A file must not have the name of a folder that another file needs.
	for name := range p.files {
		for part := path.Dir(name); part != "." && part != "/"; part = path.Dir(part) {
			if _, ok := p.files[part]; ok {
				return badPackage(name, "%q is a file and a folder", part)
			}
		}
	}
	return nil
}

func checkName(name string) error {
	switch {
	case name == "." || !fs.ValidPath(name) || strings.ContainsAny(name, "\\:\x00") || !utf8.ValidString(name):
		return badPackage(name, "the name leads out of the package, or is none; want one such as docs/readme.md")
	case len(name) > 255:
		return badPackage(name[:32]+"…", "the name has %d bytes; the limit is 255", len(name))
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return badPackage(name, "the name has control characters")
	}
	return nil
}

// content unpacks a file, and at most the number of bytes that its header gives. It returns an
// error if the file has fewer or more bytes, or if the checksum is wrong.
func content(ctx context.Context, budget *jsx.Budget, f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, badPackage(f.Name, "it is damaged: %w", err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(resting{ctx, budget, r}, int64(f.UncompressedSize64)+1))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, badPackage(f.Name, "it is damaged: %w", err)
	}
	if uint64(len(data)) != f.UncompressedSize64 {
		return nil, badPackage(f.Name, "it has not as many bytes as it says")
	}
	return data, nil
}

// resting is a reader that yields to the page between pieces of at most 64 KiB.
type resting struct {
	ctx    context.Context
	budget *jsx.Budget
	r      io.Reader
}

func (r resting) Read(b []byte) (int, error) {
	if err := r.budget.Spend(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(b[:min(len(b), 64<<10)])
}
