package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

func zipped(e *tool.Env) error {
	o, err := e.Options("rqj#x:", "recurse-paths=r quiet=q junk-paths=j exclude=x")
	if err != nil {
		return err
	}
	if len(o.Args) < 2 {
		return e.Usagef("want an archive and files")
	}
	name := o.Args[0]
	if path.Ext(name) == "" && name != "-" {
		name += ".zip"
	}
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	if level := o.Value('#'); level != "" {
		zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, int(level[0]-'0')) })
	}
	say := func(format string, args ...any) {
		if !o.Has('q') && name != "-" {
			fmt.Fprintf(e.Stdout, format, args...)
		}
	}
	added := map[string]bool{}
	for _, arg := range o.Args[1:] {
		err := e.Walk(arg, func(full string, d fs.FileInfo, err error) error {
			if err != nil {
				e.Warn(full, err)
				return nil
			}
			rel := stored(full)
			if leftOut(o.All('x'), rel) || rel == "" || rel == name {
				return nil
			}
			if d.IsDir() && !o.Has('r') {
				return fs.SkipDir
			}
			if o.Has('j') {
				if rel = path.Base(rel); d.IsDir() {
					return nil
				}
			}
			return put(e, zw, full, rel, d, o.Value('#') == "0", say, added)
		})
		if err != nil {
			return err
		}
	}
	if err := keep(e, zw, name, added); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	if name == "-" {
		_, err := e.Stdout.Write(b.Bytes())
		return err
	}
	return e.Replace(name, b.Bytes())
}

// stored is the name of a file in an archive: relative, and without a way up.
func stored(name string) string {
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

// keep copies the entries of an archive that is there already, except those that were added anew.
func keep(e *tool.Env, zw *zip.Writer, name string, added map[string]bool) error {
	if _, err := e.World.Stat(name); name == "-" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	old, err := e.ReadAll(name)
	if err != nil || len(old) == 0 {
		return err
	}
	zr, err := zip.NewReader(bytes.NewReader(old), int64(len(old)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return tool.Errorf("%s is no ZIP archive, and is not written over", name)
	}
	for _, f := range zr.File {
		if added[f.Name] {
			continue
		}
		if err := zw.Copy(f); err != nil {
			return err
		}
	}
	return nil
}

func put(e *tool.Env, zw *zip.Writer, full, rel string, info fs.FileInfo, store bool, say func(string, ...any), added map[string]bool) error {
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	h := &zip.FileHeader{Name: rel, Method: zip.Deflate, Modified: info.ModTime()}
	if info.IsDir() {
		h.Name, h.Method = rel+"/", zip.Store
	} else if store {
		h.Method = zip.Store
	}
	say("  adding: %s\n", h.Name)
	added[h.Name] = true
	w, err := zw.CreateHeader(h)
	if err != nil || info.IsDir() {
		return err
	}
	return content(e, w, full)
}

func unzip(e *tool.Env) error {
	o, err := e.Options("lopqtd:njZ1", "")
	if err != nil {
		return err
	}
	if len(o.Args) == 0 {
		return e.Usagef("want an archive")
	}
	all, err := e.ReadAll(o.Args[0])
	if err != nil && !strings.HasSuffix(o.Args[0], ".zip") {
		all, err = e.ReadAll(o.Args[0] + ".zip")
	}
	if err != nil {
		return &tool.Exit{Code: 9, Text: "cannot find or open " + o.Args[0]}
	}
	zr, err := zip.NewReader(bytes.NewReader(all), int64(len(all)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return &tool.Exit{Code: 9, Text: o.Args[0] + ": is no ZIP archive, or a damaged one"}
	}
	if o.Has('Z') && o.Has('1') {
		for _, f := range zr.File {
			if wanted(o.Args[1:], f.Name) {
				fmt.Fprintln(e.Stdout, f.Name)
			}
		}
		return nil
	}
	if o.Has('Z') || o.Has('1') {
		return e.Usagef("of -Z only -Z1 is here; use -l")
	}
	if o.Has('l') {
		return listing(e, o, zr)
	}
	found := false
	for _, f := range zr.File {
		if !wanted(o.Args[1:], f.Name) {
			continue
		}
		found = true
		if err := expand(e, o, f); err != nil {
			e.Warn(f.Name, err)
		}
	}
	if !found && len(o.Args) > 1 {
		return &tool.Exit{Code: 11, Text: "no file of the archive has such a name"}
	}
	return nil
}

func listing(e *tool.Env, o *tool.Opts, zr *zip.Reader) error {
	n, sum := 0, uint64(0)
	fmt.Fprintf(e.Stdout, "   Length  Date       Time   Name\n")
	for _, f := range zr.File {
		if wanted(o.Args[1:], f.Name) {
			n, sum = n+1, sum+f.UncompressedSize64
			fmt.Fprintf(e.Stdout, "%9d  %s  %s\n", f.UncompressedSize64, f.Modified.UTC().Format("2006-01-02 15:04"), f.Name)
		}
	}
	fmt.Fprintf(e.Stdout, "%9d                    %d files\n", sum, n)
	return nil
}

func expand(e *tool.Env, o *tool.Opts, f *zip.File) error {
	folder := "."
	if o.Has('d') {
		folder = o.Value('d')
	}
	say := func(verb, name string) {
		if !o.Has('q') {
			fmt.Fprintf(e.Stdout, "%12s %s\n", verb, name)
		}
	}
	name := f.Name
	if o.Has('j') {
		name = path.Base(name)
	}
	to, err := inside(folder, name)
	if err != nil {
		return err
	}
	if f.FileInfo().IsDir() {
		if o.Has('p') || o.Has('t') {
			return nil
		}
		return e.World.Mkdir(to, true)
	}
	if !f.Mode().IsRegular() {
		return errors.New("is neither a file nor a folder; skipped")
	}
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	switch {
	case o.Has('p'):
		_, err = io.Copy(e.Stdout, e.Counted(r))
		return err
	case o.Has('t'):
		_, err = io.Copy(io.Discard, e.Counted(r))
		if err == nil {
			say("testing:", f.Name+"  OK")
		}
		return err
	}
	if _, err := e.World.Stat(to); err == nil && !o.Has('o') {
		return errors.New("is there already; -o writes over it")
	}
	if err := e.World.Mkdir(path.Dir(to), true); err != nil {
		return err
	}
	w, err := e.World.Create(to, false)
	if err != nil {
		return err
	}
	say("inflating:", to)
	_, err = io.Copy(w, e.Counted(r))
	return errors.Join(err, w.Close())
}
