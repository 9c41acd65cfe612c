package fsaccess

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/bailey-go/bailey/internal/zipform"
)

func inspectZip(b []byte) (macro, bad bool) { return inspectZipBy(b, zipform.Check) }

// inspectZipBy is for tests without the check of the form.
func inspectZipBy(b []byte, form func([]byte) error) (macro, bad bool) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return bytes.Contains(b, []byte("vbaProject")), true // some unpacker will make something of it
	}
	var total uint64
	peek := int64(archivePeek)
	bad = len(z.File) > archiveEntries || form(b) != nil
	for _, f := range z.File {
		low := strings.ToLower(f.Name)
		macro = macro || strings.HasSuffix(low, "vbaproject.bin") || strings.HasSuffix(low, "vbadata.xml") || strings.Contains(low, "/activex/") || strings.Contains(low, "macrosheets/")
		bad = bad || escapes(f.Name) || f.Mode()&os.ModeSymlink != 0
		total += f.UncompressedSize64
		bad = bad || f.UncompressedSize64 > 1<<20 && f.UncompressedSize64/max(1, f.CompressedSize64) > archiveRatio
		if peek > 0 && !bad {
			n, lies := unpackedSize(f, peek)
			peek -= n
			bad = bad || lies
		}
	}
	return macro, bad || total > archiveBytes
}

// unpackedSize unpacks into nothing, to see that the declared size is true.
func unpackedSize(f *zip.File, limit int64) (n int64, lies bool) {
	r, err := f.Open()
	if err != nil {
		return 0, errors.Is(err, zip.ErrFormat)
	}
	defer r.Close()
	n, err = io.Copy(io.Discard, io.LimitReader(r, limit))
	return n, uint64(n) > f.UncompressedSize64 || errors.Is(err, zip.ErrFormat)
}
