package guard

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
)

// zip inspects a ZIP archive. form is zipform.Check, except in tests that switch it off.
func (l *inspection) zip(b []byte, form func([]byte, func(int) error) error) (macro, bad bool) {
	z, err := zip.NewReader(l.read(b), int64(len(b)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return bytes.Contains(b, []byte("vbaProject")), true // some unpacker will accept it
	}
	var total uint64
	peek := int64(archivePeek)
	bad = len(z.File) > archiveEntries || form(b, l.resting) != nil
	for _, f := range z.File {
		if !l.spend(32 + len(f.Name)/2) {
			return macro, true
		}
		low := strings.ToLower(f.Name)
		macro = macro || strings.HasSuffix(low, "vbaproject.bin") || strings.HasSuffix(low, "vbadata.xml") || strings.Contains(low, "/activex/") || strings.Contains(low, "macrosheets/")
		bad = bad || escapes(f.Name) || f.Mode()&os.ModeSymlink != 0
		total += f.UncompressedSize64
		bad = bad || f.UncompressedSize64 > 1<<20 && f.UncompressedSize64/max(1, f.CompressedSize64) > archiveRatio
		if peek > 0 && !bad {
			n, lies := l.unpackedSize(f, peek)
			peek -= n
			bad = bad || lies
		}
	}
	return macro, bad || total > archiveBytes
}

// unpackedSize unpacks a file into nothing and returns its size, up to limit. lies reports
// that the file is larger than declared, or not a valid ZIP entry.
func (l *inspection) unpackedSize(f *zip.File, limit int64) (n int64, lies bool) {
	r, err := f.Open()
	if err != nil {
		return 0, errors.Is(err, zip.ErrFormat)
	}
	defer r.Close()
	n, err = io.Copy(l, io.LimitReader(r, limit))
	return n, uint64(n) > f.UncompressedSize64 || errors.Is(err, zip.ErrFormat)
}
