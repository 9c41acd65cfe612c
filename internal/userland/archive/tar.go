package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

func tarred(e *tool.Env) error {
	if len(e.Args) > 0 && e.Args[0] != "" && e.Args[0][0] != '-' { // the old form without a dash: tar xzf
		e.Args = append([]string{"-" + e.Args[0]}, e.Args[1:]...)
	}
	o, err := e.Options("cxtvzOf:C:1:2:p", "create=c extract=x get=x list=t verbose=v gzip=z to-stdout=O file=f directory=C strip-components=1 exclude=2")
	if err != nil {
		return err
	}
	folder := "."
	if o.Has('C') {
		folder = o.Value('C')
	}
	switch mode := o.Last("cxt"); {
	case mode == 0:
		return e.Usagef("You must specify one of the '-ctx' options")
	case mode == 'c':
		return pack(e, o, folder)
	}
	r, err := e.Open(o.Value('f'))
	if err != nil {
		return err
	}
	defer r.Close()
	br := bufio.NewReaderSize(r, 64<<10)
	var in io.Reader = br
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		if in, err = gzip.NewReader(br); err != nil {
			return said(err)
		}
	}
	return unpack(e, o, tar.NewReader(e.Counted(in)), folder)
}

func unpack(e *tool.Env, o *tool.Opts, tr *tar.Reader, folder string) error {
	strip, err := e.Int(o, '1', 0)
	if err != nil {
		return err
	}
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("this does not look like a tar archive: %w", err)
		}
		if !wanted(o.Args, h.Name) || leftOut(o.All('2'), h.Name) {
			continue
		}
		if o.Has('t') {
			if o.Has('v') {
				fmt.Fprintf(e.Stdout, "%s %9d %s ", h.FileInfo().Mode(), h.Size, h.ModTime.UTC().Format("2006-01-02 15:04"))
			}
			fmt.Fprintln(e.Stdout, h.Name)
			continue
		}
		name := h.Name
		if strip > 0 {
			parts := strings.Split(strings.Trim(name, "/"), "/")
			if len(parts) <= strip {
				continue
			}
			name = strings.Join(parts[strip:], "/")
		}
		if o.Has('v') && !o.Has('O') {
			fmt.Fprintln(e.Stdout, h.Name)
		}
		if err := extract(e, o, tr, h, folder, name); err != nil {
			e.Warn(h.Name, err)
		}
	}
}

func extract(e *tool.Env, o *tool.Opts, tr *tar.Reader, h *tar.Header, folder, name string) error {
	if o.Has('O') {
		_, err := io.Copy(e.Stdout, tr)
		return err
	}
	to, err := inside(folder, name)
	if err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return e.World.Mkdir(to, true)
	case tar.TypeReg:
		if err := e.World.Mkdir(path.Dir(to), true); err != nil {
			return err
		}
		f, err := e.World.Create(to, false)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, tr)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		if mode := h.FileInfo().Mode().Perm(); mode&0o111 != 0 {
			_ = e.World.Chmod(to, mode) // where the file system keeps modes
		}
		_ = e.World.Chtimes(to, h.ModTime) // where the file system keeps times
		return nil
	}
	return errors.New("is neither a file nor a folder, such as a link; skipped")
}

func pack(e *tool.Env, o *tool.Opts, folder string) (err error) {
	if len(o.Args) == 0 {
		return tool.Errorf("Cowardly refusing to create an empty archive")
	}
	var w io.Writer = e.Stdout
	name := o.Value('f')
	if name != "" && name != "-" {
		f, bad := e.World.Create(name, false)
		if bad != nil {
			return bad
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	if o.Has('z') {
		zw := gzip.NewWriter(w)
		defer func() { err = errors.Join(err, zw.Close()) }()
		w = zw
	}
	tw := tar.NewWriter(w)
	var verbose io.Writer = e.Stdout
	if name == "" || name == "-" {
		verbose = e.Stderr
	}
	for _, arg := range o.Args {
		err := e.Walk(join(folder, arg), func(full string, info fs.FileInfo, err error) error {
			if err != nil {
				e.Warn(full, err)
				return nil
			}
			rel := full
			if folder != "." {
				rel = strings.TrimPrefix(strings.TrimPrefix(full, folder), "/")
				if path.IsAbs(arg) {
					rel = full
				}
			}
			rel = strings.TrimLeft(rel, "/")
			if rel == "" {
				rel = "."
			}
			if leftOut(o.All('2'), rel) {
				if info.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			link := ""
			if tool.IsLink(info) {
				if link, err = e.World.Readlink(full); err != nil {
					e.Warn(full, err)
					return nil
				}
			} else if !info.IsDir() && !info.Mode().IsRegular() {
				return nil
			}
			if name != "" && e.Abs(full) == e.Abs(name) {
				return nil
			}
			h, err := tar.FileInfoHeader(info, link)
			if err != nil {
				return err
			}
			h.Uid, h.Gid, h.Uname, h.Gname = 0, 0, "", ""
			if h.Name = rel; info.IsDir() {
				h.Name += "/"
			}
			if o.Has('v') {
				fmt.Fprintln(verbose, h.Name)
			}
			return add(e, tw, h, full, info)
		})
		if err != nil {
			return err
		}
	}
	return tw.Close()
}

func add(e *tool.Env, tw *tar.Writer, h *tar.Header, full string, info fs.FileInfo) error {
	if err := tw.WriteHeader(h); err != nil || info.IsDir() || h.Typeflag == tar.TypeSymlink {
		return err
	}
	return content(e, tw, full)
}

// join is the name of something below a folder. An absolute name stays as it is.
func join(folder, name string) string {
	if folder == "." || path.IsAbs(name) {
		return name
	}
	if name == "." {
		return folder + "/."
	}
	return tool.Join(folder, name)
}
