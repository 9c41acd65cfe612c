package guard

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/zipform"
	"github.com/bailey-go/bailey/protocol"
)

// Kind is a dangerous kind of content. Content is dangerous if opening, unpacking or only
// displaying it does something.
type Kind string

const (
	kindExecutable Kind = "executable" // programs and installers, for example .exe
	kindScript     Kind = "script"     // runs on a double click, for example .bat, or begins with #!
	kindShortcut   Kind = "shortcut"   // opens another file or address, for example .lnk
	kindMacro      Kind = "macro"      // an office file that contains a program
	kindActive     Kind = "active"     // HTML or SVG that contains a script
	kindAutorun    Kind = "autorun"    // executed or read by another program because of its name ([protocol.StartupFile])
	kindArchive    Kind = "archive"    // unpacks to paths outside its folder, or to far too many bytes
)

// Classify returns the dangerous kinds of a file.
func Classify(name string, data []byte) []Kind {
	kinds, _ := classifyIn(context.Background(), name, data, int64(len(data))) // it has no end of its own
	return kinds
}

// inspectMax is the number of bytes of a file that are inspected. An archive can be judged
// only as a whole, so a larger archive counts as dangerous.
const inspectMax = 16 << 20

var kindByExt = map[Kind]string{
	kindExecutable: "exe dll com scr msi msix appx sys cpl drv ocx efi app dmg pkg deb rpm apk ipa jar class dex so dylib elf run appimage msp mst gadget xbap application crx xpi",
	kindScript:     "bat cmd vbs vbe jse wsf wsh wsc sct hta ps1 ps1xml psm1 psd1 ps2 psc1 msh sh bash zsh fish csh ksh command tool action workflow scpt applescript reg chm msc csh",
	kindShortcut:   "lnk url webloc desktop scf library-ms searchconnector-ms search-ms settingcontent-ms appref-ms pif mad maf website theme themepack diagcab contact rdp jnlp inetloc fileloc afploc",
	kindMacro:      "docm dotm xlsm xltm xlam xlsb xll pptm potm ppam ppsm sldm accde accdb mde slk iqy dqy oqy wiz",
}

func classifyIn(ctx context.Context, name string, head []byte, size int64) ([]Kind, error) {
	look := &inspection{ctx: ctx}
	var out []Kind
	add := func(k Kind, is bool) {
		if is && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	base := strings.TrimRight(skeleton(core.BaseOf(name)), ". ")
	ext := strings.TrimPrefix(path.Ext(base), ".")
	for _, k := range []Kind{kindExecutable, kindScript, kindShortcut, kindMacro} {
		add(k, ext != "" && slices.Contains(strings.Fields(kindByExt[k]), ext))
	}
	refused, listed := protocol.StartupFile(skeleton(name))
	add(kindAutorun, listed && !refused)
	byMagic(head, add)
	look.spend(len(head) / 64)
	text := decodeText(head)
	look.spend(len(head) / 64)
	add(kindScript, bytes.HasPrefix(text, []byte("#!")) || bytes.HasPrefix(text, []byte("\xef\xbb\xbf#!")))
	add(kindActive, look.activeMarkup(ext, text) || ext == "svgz" && look.activeSVGZ(head, size))
	add(kindShortcut, shortcutText(text))
	macro, archive := look.archive(head, size)
	add(kindMacro, macro)
	add(kindArchive, archive)
	return out, look.err
}

// inspection inspects the content of one file. It counts its steps and lets the page run
// between them.
type inspection struct {
	ctx    context.Context
	budget jsx.Budget
	err    error // the error that ended the inspection, whose result is then invalid
}

// spend counts n steps, and reports whether the inspection may go on.
func (l *inspection) spend(n int) bool {
	if l.err == nil {
		l.err = l.budget.Steps(l.ctx, n)
	}
	return l.err == nil
}

// resting is spend with an error as the result, to be passed as a callback.
func (l *inspection) resting(n int) error {
	l.spend(n)
	return l.err
}

// reader reads a file and counts its bytes as steps. Archive readers read headers and
// compressed data through it.
type reader struct {
	l    *inspection
	file *bytes.Reader
}

func (l *inspection) read(b []byte) *reader { return &reader{l, bytes.NewReader(b)} }

func (r *reader) Read(p []byte) (int, error) {
	if !r.l.spend(len(p)) {
		return 0, r.l.err
	}
	return r.file.Read(p)
}

func (r *reader) ReadAt(p []byte, at int64) (int, error) {
	if !r.l.spend(len(p)) {
		return 0, r.l.err
	}
	return r.file.ReadAt(p, at)
}

// Write counts unpacked bytes as steps and drops them.
func (l *inspection) Write(p []byte) (int, error) {
	if !l.spend(len(p) / 2) {
		return 0, l.err
	}
	return len(p), nil
}

// byMagic adds the kinds that the first bytes of a content show.
func byMagic(b []byte, add func(Kind, bool)) {
	has := func(s string) bool { return bytes.HasPrefix(b, []byte(s)) }
	add(kindExecutable, len(b) >= 0x40 && has("MZ") || has("\x7fELF") || has("\xfe\xed\xfa\xce") || has("\xfe\xed\xfa\xcf") ||
		has("\xce\xfa\xed\xfe") || has("\xcf\xfa\xed\xfe") || has("\xca\xfe\xba\xbe") || has("dex\n03") || has("!<arch>\ndebian") ||
		has("\xed\xab\xee\xdb") || has("Cr24"))
	add(kindShortcut, has("L\x00\x00\x00\x01\x14\x02\x00"))
	if has("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") { // a compound file: old office formats, and installers
		wide := func(s string) []byte {
			var w []byte
			for _, c := range s {
				w = binary.LittleEndian.AppendUint16(w, uint16(c))
			}
			return w
		}
		add(kindMacro, bytes.Contains(b, wide("VBA")) || bytes.Contains(b, wide("Macros")) || bytes.Contains(b, wide("_VBA_PROJECT")))
	}
	add(kindMacro, has("{\\rt") && (bytes.Contains(b, []byte("\\objdata")) || bytes.Contains(b, []byte("\\objupdate"))))
}

func shortcutText(text []byte) bool {
	low := bytes.ToLower(bytes.TrimLeft(text[:min(len(text), 4096)], " \t\r\n"))
	return bytes.HasPrefix(low, []byte("[internetshortcut")) || bytes.HasPrefix(low, []byte("[desktop entry]")) ||
		bytes.HasPrefix(low, []byte("[shell]\r\ncommand")) || bytes.HasPrefix(low, []byte("[{000214a0-"))
}

// Limits beyond which an archive counts as dangerous.
const (
	archiveEntries = 10_000
	archiveBytes   = 1 << 30
	archiveRatio   = 200
	archivePeek    = 64 << 20 // bytes unpacked to check the declared sizes
)

// archive inspects ZIP (wherever it begins, as unpackers accept it), gzip and tar.
func (l *inspection) archive(b []byte, size int64) (macro, bad bool) {
	whole := size == int64(len(b))
	switch {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")), bytes.HasPrefix(b, []byte("PK\x05\x06")), whole && hasZipEnd(b):
		if !whole {
			return false, true
		}
		return l.zip(b, zipform.Check)
	case bytes.HasPrefix(b, []byte("\x1f\x8b")):
		if !whole {
			return false, true
		}
		return false, l.gzip(b)
	case len(b) > 262 && string(b[257:262]) == "ustar":
		return false, l.tar(l.read(b)) || !whole
	}
	return false, false
}

func hasZipEnd(b []byte) bool {
	tail := b[max(0, len(b)-65557):]
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	return i >= 0 && len(tail)-i >= 22 && bytes.Contains(b, []byte("PK\x01\x02"))
}

func (l *inspection) gzip(b []byte) bool {
	z, err := gzip.NewReader(l.read(b))
	if err != nil {
		return true
	}
	var first bytes.Buffer
	n, _ := io.Copy(io.MultiWriter(l, &capped{&first, 1 << 20}), io.LimitReader(z, archivePeek))
	if n == archivePeek || n > 1<<20 && n/int64(len(b)) > archiveRatio {
		return true
	}
	t := first.Bytes()
	if len(t) > 262 && string(t[257:262]) == "ustar" {
		z, err := gzip.NewReader(l.read(b))
		return err != nil || l.tar(io.TeeReader(z, l))
	}
	return false
}

// capped keeps the first bytes that are written and drops the rest.
type capped struct {
	b    *bytes.Buffer
	room int
}

func (c *capped) Write(p []byte) (int, error) {
	k := min(len(p), c.room-c.b.Len())
	c.b.Write(p[:k])
	return len(p), nil
}

func (l *inspection) tar(r io.Reader) bool {
	t := tar.NewReader(r)
	var total int64
	for n := 0; ; n++ {
		h, err := t.Next()
		if !l.spend(100) {
			return true
		}
		if err == io.EOF {
			return false
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return n == 0 || !errors.Is(err, io.ErrUnexpectedEOF)
		}
		total += h.Size
		if n > archiveEntries || total > archiveBytes || escapes(h.Name) {
			return true
		}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeDir, tar.TypeXGlobalHeader:
		default:
			return true // links and devices
		}
	}
}

// escapes reports whether some unpacker would put an entry outside the folder, or over a
// protected file.
func escapes(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(name, "/") || strings.IndexByte(name, 0) >= 0 || len(name) > 1 && name[1] == ':' {
		return true
	}
	for e := range strings.SplitSeq(name, "/") {
		if e == ".." {
			return true
		}
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	return errors.Is(new(protocol.FSPolicy).Check(protocol.OpWrite, name), protocol.ReasonProtected)
}

// kindsOf returns the dangerous kinds of an existing file.
func kindsOf(ctx context.Context, c core.Core, name string) ([]Kind, error) {
	return kindsOfAs(ctx, c, name, name)
}

// kindsOfAs is kindsOf for the case that the file had the name as.
func kindsOfAs(ctx context.Context, c core.Core, name, as string) ([]Kind, error) {
	f, err := c.Open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(f, inspectMax))
	if err != nil {
		return nil, err
	}
	return classifyIn(ctx, as, head, fi.Size())
}
