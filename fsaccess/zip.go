package fsaccess

import (
	"archive/zip"
	"context"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// ZIPOptions configures [ExportZIP].
type ZIPOptions struct {
	WalkOptions
	// Store leaves files uncompressed, which is much faster. Formats that are compressed
	// already, such as PNG, are always stored.
	Store bool
	// Progress, if set, is called after each written piece, from the goroutine of
	// ExportZIP. TotalFiles and TotalBytes are 0.
	Progress func(Progress)
}

// ExportZIP writes everything below the folder root to w as a ZIP archive. It writes a
// stream, so memory does not grow with the size. Symbolic links are left out. If a file
// changes while it is read, the error wraps [ErrConflict].
func ExportZIP(ctx context.Context, fsys FS, root string, w io.Writer, o ZIPOptions) error {
	f := folderOf(ctx, fsys)
	z := zip.NewWriter(w)
	var p Progress
	for e, err := range Walk(ctx, f, root, o.WalkOptions) {
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: relative(root, e.Path), Modified: e.ModTime, Method: zip.Deflate}
		if e.Link {
			continue
		}
		if e.Dir {
			h.Name += "/"
			h.SetMode(os.ModeDir | 0o755)
			if _, err := z.CreateHeader(h); err != nil {
				return pathErr("zip", e.Path, err)
			}
			continue
		}
		if h.SetMode(0o644); o.Store || compressed(e.Path) {
			h.Method = zip.Store
		}
		if err := zipFile(ctx, f, z, h, e, &p, o.Progress); err != nil {
			return pathErr("zip", e.Path, err)
		}
	}
	return z.Close()
}

func zipFile(ctx context.Context, f *Folder, z *zip.Writer, h *zip.FileHeader, e Entry, p *Progress, tell func(Progress)) error {
	in, err := f.Open(e.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	p.Path = e.Path
	n, err := pump(ctx, out, in, func(k int) {
		p.Bytes += int64(k)
		if tell != nil {
			tell(*p)
		}
	})
	if err == nil && n != e.Size {
		err = ErrConflict // the file changed while it was read
	}
	p.Files++
	return err
}

func compressed(name string) bool {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	return slices.Contains(strings.Fields("zip gz tgz bz2 xz zst br 7z rar jpg jpeg png gif webp avif heic mp3 m4a ogg opus flac mp4 mkv webm mov woff woff2 docx xlsx pptx odt ods odp epub jar apk pdf"), ext)
}
