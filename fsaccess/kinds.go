package fsaccess

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

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/zipform"
	"github.com/bailey-go/bailey/protocol"
)

// Kind is a dangerous kind of content: one that does something by being opened,
// unpacked or merely looked at.
type Kind string

const (
	KindExecutable Kind = "executable" // programs and installers
	KindScript     Kind = "script"     // run by a double click, or begins with #!
	KindShortcut   Kind = "shortcut"   // leads elsewhere
	KindMacro      Kind = "macro"      // an office file that carries a program
	KindActive     Kind = "active"     // HTML or SVG with script
	KindAutorun    Kind = "autorun"    // run or read by another program by its name ([protocol.StartupFiles])
	KindArchive    Kind = "archive"    // unpacks to elsewhere, or to far too much
)

// Classify names the dangerous kinds of a file, by its name and its content:
// either is enough, for either is believed by some program. Source code of
// languages that a double click does not run is no script. It lets the page have its
// turn at least every 10 ms, so do not call it in a callback.
func Classify(name string, data []byte) []Kind {
	kinds, _ := classify(context.Background(), name, data, int64(len(data))) // it has no end of its own
	return kinds
}

// inspectMax is how much of a file is looked at. An archive must be whole to
// be judged; a larger one counts as dangerous.
const inspectMax = 16 << 20

var kindByExt = map[Kind]string{
	KindExecutable: "exe dll com scr msi msix appx sys cpl drv ocx efi app dmg pkg deb rpm apk ipa jar class dex so dylib elf run appimage msp mst gadget xbap application crx xpi",
	KindScript:     "bat cmd vbs vbe jse wsf wsh wsc sct hta ps1 ps1xml psm1 psd1 ps2 psc1 msh sh bash zsh fish csh ksh command tool action workflow scpt applescript reg chm msc csh",
	KindShortcut:   "lnk url webloc desktop scf library-ms searchconnector-ms search-ms settingcontent-ms appref-ms pif mad maf website theme themepack diagcab contact rdp jnlp inetloc fileloc afploc",
	KindMacro:      "docm dotm xlsm xltm xlam xlsb xll pptm potm ppam ppsm sldm accde accdb mde slk iqy dqy oqy wiz",
}

func classify(ctx context.Context, name string, head []byte, size int64) ([]Kind, error) {
	look := &inspection{ctx: ctx}
	var out []Kind
	add := func(k Kind, is bool) {
		if is && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	base := strings.TrimRight(skeleton(baseOf(name)), ". ")
	ext := strings.TrimPrefix(path.Ext(base), ".")
	for _, k := range []Kind{KindExecutable, KindScript, KindShortcut, KindMacro} {
		add(k, ext != "" && slices.Contains(strings.Fields(kindByExt[k]), ext))
	}
	startup, found := protocol.StartupFileOf(skeleton(name))
	add(KindAutorun, found && !startup.Refused)
	byMagic(head, add)
	look.spend(len(head) / 64)
	text := decodeText(head)
	look.spend(len(head) / 64)
	add(KindScript, bytes.HasPrefix(text, []byte("#!")) || bytes.HasPrefix(text, []byte("\xef\xbb\xbf#!")))
	add(KindActive, look.activeMarkup(ext, text) || ext == "svgz" && look.activeSVGZ(head, size))
	add(KindShortcut, shortcutText(text))
	macro, archive := look.archive(head, size)
	add(KindMacro, macro)
	add(KindArchive, archive)
	return out, look.err
}

// inspection looks into the content of one file. It counts its steps, and gives the page its turn between them.
type inspection struct {
	ctx    context.Context
	budget jsx.Budget
	err    error // that ended it; then it found nothing out
}

// spend counts n steps, and reports whether the inspection is to go on.
func (l *inspection) spend(n int) bool {
	if l.err == nil {
		l.err = l.budget.Steps(l.ctx, n)
	}
	return l.err == nil
}

// resting is spend as a function that others call.
func (l *inspection) resting(n int) error {
	l.spend(n)
	return l.err
}

// reader reads a file and counts its bytes as steps: the headers and compressed data that others make something of.
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

// Write counts what others unpack, and drops it.
func (l *inspection) Write(p []byte) (int, error) {
	if !l.spend(len(p) / 2) {
		return 0, l.err
	}
	return len(p), nil
}

func byMagic(b []byte, add func(Kind, bool)) {
	has := func(s string) bool { return bytes.HasPrefix(b, []byte(s)) }
	add(KindExecutable, len(b) >= 0x40 && has("MZ") || has("\x7fELF") || has("\xfe\xed\xfa\xce") || has("\xfe\xed\xfa\xcf") ||
		has("\xce\xfa\xed\xfe") || has("\xcf\xfa\xed\xfe") || has("\xca\xfe\xba\xbe") || has("dex\n03") || has("!<arch>\ndebian") ||
		has("\xed\xab\xee\xdb") || has("Cr24"))
	add(KindShortcut, has("L\x00\x00\x00\x01\x14\x02\x00"))
	if has("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") { // a compound file: old office formats, and installers
		wide := func(s string) []byte {
			var w []byte
			for _, c := range s {
				w = binary.LittleEndian.AppendUint16(w, uint16(c))
			}
			return w
		}
		add(KindMacro, bytes.Contains(b, wide("VBA")) || bytes.Contains(b, wide("Macros")) || bytes.Contains(b, wide("_VBA_PROJECT")))
	}
	add(KindMacro, has("{\\rt") && (bytes.Contains(b, []byte("\\objdata")) || bytes.Contains(b, []byte("\\objupdate"))))
}

func shortcutText(text []byte) bool {
	low := bytes.ToLower(bytes.TrimLeft(text[:min(len(text), 4096)], " \t\r\n"))
	return bytes.HasPrefix(low, []byte("[internetshortcut")) || bytes.HasPrefix(low, []byte("[desktop entry]")) ||
		bytes.HasPrefix(low, []byte("[shell]\r\ncommand")) || bytes.HasPrefix(low, []byte("[{000214a0-"))
}

// The measure of an explosion.
const (
	archiveEntries = 10_000
	archiveBytes   = 1 << 30
	archiveRatio   = 200
	archivePeek    = 64 << 20 // how much is unpacked to see whether sizes are true
)

// archive looks into ZIP (wherever it begins, as unpackers do), gzip and tar.
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

// capped keeps the first bytes and swallows the rest.
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

// escapes reports whether some unpacker would put an entry elsewhere.
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

// kindsOf classifies a file that is there.
func kindsOf(ctx context.Context, c core, name string) ([]Kind, error) {
	return kindsOfAs(ctx, c, name, name)
}

// kindsOfAs classifies it as if it had another name.
func kindsOfAs(ctx context.Context, c core, name, as string) ([]Kind, error) {
	f, err := c.open(ctx, name, os.O_RDONLY, 0)
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
	return classify(ctx, as, head, fi.Size())
}
