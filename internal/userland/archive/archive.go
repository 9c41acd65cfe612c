// Package archive holds the commands that pack and unpack.
package archive

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// Commands returns the commands of this package.
func Commands() tool.Set {
	const c = "archive"
	return tool.Set{
		{Name: "gzip", Also: []string{"gunzip", "zcat"}, Usage: "[-cdfktv] [-1..-9] [FILE]...", Summary: "compress or expand files", Category: c, Files: "readwrite", Run: zip1,
			Help: "  -d  expand    -c  to the output    -k  keep the file    -f  over a file that is there    -t  test    -1 to -9  fast to small"},
		{Name: "tar", Usage: "-c|-x|-t [-vzO] [-f FILE] [-C FOLDER] [--strip-components=N] [FILE]...", Summary: "pack and unpack tar archives", Category: c, Files: "readwrite", Trouble: 2, Run: tarred,
			Help: "  -c  pack    -x  unpack    -t  list    -z  with gzip, told by itself when reading    -O  files to the output\n  -C FOLDER  work there    --exclude=GLOB  leave out\n  Nothing is written outside of the folder, and no links."},
		{Name: "zip", Usage: "[-rqj0..9] ARCHIVE FILE...", Summary: "pack files into a ZIP archive", Category: c, Files: "readwrite", Run: zipped, Help: "  -r  folders too    -j  no folders' names    -q  say nothing    -0  store    -x GLOB  leave out"},
		{Name: "unzip", Usage: "[-lopqt] [-d FOLDER] ARCHIVE [FILE]...", Summary: "unpack a ZIP archive", Category: c, Files: "readwrite", Run: unzip,
			Help: "  -l  list    -p  to the output    -t  test    -d FOLDER  unpack there    -o  over files that are there    -q  say nothing"},
	}
}

func zip1(e *tool.Env) error {
	o, err := e.Options("cdfkltvqnr#", "recursive=r stdout=c to-stdout=c decompress=d uncompress=d force=f keep=k test=t verbose=v quiet=q fast=1 best=9")
	if err != nil {
		return err
	}
	if o.Has('l') {
		return sizes(e, o)
	}
	expand := o.Has('d') || o.Has('t') || e.Name != "gzip"
	out := o.Has('c') || e.Name == "zcat" || len(o.Args) == 0
	level := gzip.DefaultCompression
	if n := o.Value('#'); n != "" {
		if len(n) > 1 || n == "0" {
			return e.Usagef("the level is from -1 to -9")
		}
		level = int(n[0] - '0')
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	if o.Has('r') {
		var all []string
		for _, name := range names {
			if !e.IsDir(name) {
				all = append(all, name)
				continue
			}
			err := e.Walk(name, func(name string, info fs.FileInfo, err error) error {
				if err != nil {
					e.Warn(name, err)
				} else if info.Mode().IsRegular() && strings.HasSuffix(name, ".gz") == expand {
					e.World.Hold(len(name) + 16)
					all = append(all, name)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		names = all
	}
	for _, name := range names {
		to := ""
		if !out && !o.Has('t') && name != "-" {
			if to, err = target(name, expand); err != nil {
				e.Warn(name, err)
				continue
			}
			if _, err := e.World.Stat(to); err == nil && !o.Has('f') {
				e.Warn(to, errors.New("already exists; -f writes over it"))
				continue
			}
		}
		r, err := e.Open(name)
		if err != nil {
			e.Warn(name, err)
			continue
		}
		err = one(e, r, to, expand, o.Has('t'), level)
		r.Close()
		if err != nil {
			e.Warn(name, err)
			continue
		}
		if to != "" && !o.Has('k') {
			if err := e.World.Remove(name, false); err != nil {
				e.Warn(name, err)
			}
		}
	}
	return nil
}

// sizes prints the sizes of gzip files, with and without compression.
func sizes(e *tool.Env, o *tool.Opts) error {
	titled := false
	for _, name := range o.Args {
		data, err := e.ReadAll(name)
		var n int64
		if err == nil {
			var zr *gzip.Reader
			if zr, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
				n, err = io.Copy(io.Discard, e.Counted(zr))
			}
			err = said(err)
		}
		if err != nil {
			e.Warn(name, err)
			continue
		}
		if !titled {
			titled = true
			fmt.Fprintln(e.Stdout, "         compressed        uncompressed  ratio uncompressed_name")
		}
		ratio := 0.0
		if n > 0 {
			ratio = 100 * float64(n-int64(len(data))+19+int64(len(strings.TrimSuffix(name, ".gz")))) / float64(n)
		}
		fmt.Fprintf(e.Stdout, "%19d %19d %5.1f%% %s\n", len(data), n, ratio, strings.TrimSuffix(name, ".gz"))
	}
	return nil
}

func target(name string, expand bool) (string, error) {
	if !expand {
		if strings.HasSuffix(name, ".gz") {
			return "", errors.New("already has .gz suffix -- unchanged")
		}
		return name + ".gz", nil
	}
	if to, ok := strings.CutSuffix(name, ".tgz"); ok {
		return to + ".tar", nil
	}
	to, ok := strings.CutSuffix(name, ".gz")
	if !ok {
		return "", errors.New("unknown suffix -- ignored")
	}
	return to, nil
}

// one compresses or expands one file. After an error it removes the incomplete output.
func one(e *tool.Env, r io.Reader, to string, expand, test bool, level int) (err error) {
	var w io.Writer = e.Stdout
	if test {
		w = io.Discard
	} else if to != "" {
		f, bad := e.World.Create(to, false)
		if bad != nil {
			return bad
		}
		defer func() {
			// The content is in place only when Close returns no error, and then the source is removed.
			if err = errors.Join(err, f.Close()); err != nil {
				_ = e.World.Remove(to, false)
			}
		}()
		w = f
	}
	if expand {
		zr, err := gzip.NewReader(r)
		if err != nil {
			return said(err)
		}
		_, err = io.Copy(w, e.Counted(zr))
		return said(err)
	}
	zw, err := gzip.NewWriterLevel(w, level)
	if err != nil {
		return err
	}
	if _, err := io.Copy(zw, e.Counted(r)); err != nil {
		return err
	}
	return zw.Close()
}

func said(err error) error {
	switch {
	case errors.Is(err, gzip.ErrHeader):
		return errors.New("not in gzip format")
	case errors.Is(err, gzip.ErrChecksum):
		return errors.New("invalid compressed data--crc error")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("unexpected end of file")
	}
	return err
}

// inside returns the path below folder of a name in an archive, or an error if the name leads out.
func inside(folder, name string) (string, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", fmt.Errorf("%s: the name leads out of the folder; skipped", name)
	}
	return filepath.Join(folder, clean), nil
}

// content copies a file into an archive.
func content(e *tool.Env, w io.Writer, name string) error {
	f, err := e.World.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, e.Counted(f))
	return err
}

func leftOut(globs []string, name string) bool {
	for _, glob := range globs {
		for _, n := range []string{name, path.Base(name)} {
			if ok, _ := path.Match(glob, n); ok {
				return true
			}
		}
	}
	return false
}

func wanted(names []string, name string) bool {
	if len(names) == 0 {
		return true
	}
	name = strings.TrimSuffix(name, "/")
	for _, n := range names {
		n = strings.TrimSuffix(n, "/")
		if ok, _ := path.Match(n, name); ok || name == n || strings.HasPrefix(name, n+"/") {
			return true
		}
	}
	return false
}
