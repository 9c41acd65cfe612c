package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/userland/posix"
	"github.com/bailey-go/bailey/internal/userland/tool"
)

func tarred(e *tool.Env) error {
	if len(e.Args) > 0 && e.Args[0] != "" && e.Args[0][0] != '-' { // the old form without a dash: tar xzf
		e.Args = append([]string{"-" + e.Args[0]}, e.Args[1:]...)
	}
	o, err := e.Options("cxtruvzOf:C:1:2:pkahJjT:P3:d4:", "append=r update=u auto-compress=a diff=d compare=d files-from=T transform=3 xform=3 keep-old-files=k dereference=h absolute-names=P exclude-vcs=p sort=4 owner=4 group=4 mtime=4 mode=4 numeric-owner=p no-same-owner=p preserve-permissions=p create=c extract=x get=x list=t verbose=v gzip=z to-stdout=O file=f directory=C strip-components=1 exclude=2")
	if err != nil {
		return err
	}
	folder := "."
	if o.Has('C') {
		folder = o.Value('C')
	}
	if o.Has('J') || o.Has('j') {
		return tool.Errorf("xz and bzip2 are not here: use -z")
	}
	if o.Has('T') {
		data, err := e.ReadAll(o.Value('T'))
		if err != nil {
			return err
		}
		o.Args = append(o.Args, strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' || r == 0 })...)
	}
	switch mode := o.Last("cxtrud"); {
	case mode == 0:
		return e.Usagef("You must specify one of the '-ctxru' options")
	case mode == 'd':
		return tool.Errorf("--diff is not here: unpack the archive into another folder and use diff -r")
	case mode == 'c' || mode == 'r' || mode == 'u':
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
	rename, err := transform(e, o)
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
				mode := h.FileInfo().Mode().String()
				switch h.Typeflag {
				case tar.TypeSymlink:
					mode = "l" + mode[1:]
				case tar.TypeLink:
					mode = "h" + mode[1:]
				}
				who := cmp.Or(h.Uname, strconv.Itoa(h.Uid)) + "/" + cmp.Or(h.Gname, strconv.Itoa(h.Gid))
				fmt.Fprintf(e.Stdout, "%s %s %9d %s ", mode, who, h.Size, h.ModTime.UTC().Format("2006-01-02 15:04"))
				if h.Typeflag == tar.TypeSymlink {
					h.Name += " -> " + h.Linkname
				}
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
		if name = rename(name); name == "" {
			continue
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
		if _, err := e.World.Lstat(to); err == nil && o.Has('k') {
			return fs.ErrExist
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

// transform returns the function of the names in --transform, whose only form is s/RE/TEXT/ with the flag g.
func transform(e *tool.Env, o *tool.Opts) (func(string) string, error) {
	expr := o.Value('3')
	if expr == "" {
		return func(name string) string { return name }, nil
	}
	bad := tool.Errorf("Invalid transform expression: '%s'; want s/RE/TEXT/", expr)
	if len(expr) < 4 || expr[0] != 's' {
		return nil, bad
	}
	parts := strings.Split(expr[2:], expr[1:2])
	if len(parts) != 3 || strings.Trim(parts[2], "gx") != "" || strings.Contains(parts[1], `\`) {
		return nil, bad
	}
	kind, n := posix.Basic, 1
	if strings.Contains(parts[2], "x") {
		kind = posix.Extended
	}
	if strings.Contains(parts[2], "g") {
		n = -1
	}
	re, err := posix.Compile(parts[0], kind, "")
	if err != nil {
		return nil, err
	}
	re.Spend = e.Bounded()
	return func(name string) string {
		var b strings.Builder
		last := 0
		for _, m := range re.FindAll([]byte(name), n) {
			b.WriteString(name[last:m[0]] + strings.ReplaceAll(parts[1], "&", name[m[0]:m[1]]))
			last = m[1]
		}
		return b.String() + name[last:]
	}, nil
}

// kept copies the entries of an archive that is added to, and returns their times by name.
func kept(e *tool.Env, name string, tw *tar.Writer) (map[string]time.Time, error) {
	times := map[string]time.Time{}
	data, err := e.ReadAll(name)
	if errors.Is(err, fs.ErrNotExist) {
		return times, nil
	}
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return nil, tool.Errorf("Cannot update compressed archives")
	}
	tr := tar.NewReader(e.Counted(bytes.NewReader(data)))
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return times, nil
		}
		if err != nil {
			return nil, said(err)
		}
		if err := tw.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := io.Copy(tw, tr); err != nil {
			return nil, err
		}
		times[h.Name] = h.ModTime
	}
}

func pack(e *tool.Env, o *tool.Opts, folder string) (err error) {
	if len(o.Args) == 0 {
		return tool.Errorf("Cowardly refusing to create an empty archive")
	}
	rename, err := transform(e, o)
	if err != nil {
		return err
	}
	var w io.Writer = e.Stdout
	var old bytes.Buffer // an archive that is added to
	times := map[string]time.Time{}
	name := o.Value('f')
	if o.Last("cru") != 'c' {
		tw := tar.NewWriter(&old)
		if times, err = kept(e, name, tw); err != nil {
			return err
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	if name != "" && name != "-" {
		f, bad := e.World.Create(name, false)
		if bad != nil {
			return bad
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	if o.Has('z') || o.Has('a') && (strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".gz")) {
		zw := gzip.NewWriter(w)
		defer func() { err = errors.Join(err, zw.Close()) }()
		w = zw
	}
	if _, err := w.Write(old.Bytes()); err != nil {
		return err
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
			if at, ok := times[rel]; ok && o.Last("cru") == 'u' && !info.ModTime().Truncate(time.Second).After(at) {
				return nil
			}
			link := ""
			if o.Has('h') && tool.IsLink(info) {
				if info, err = e.World.Stat(full); err != nil {
					e.Warn(full, err)
					return nil
				}
			}
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
			if h.Name = rename(rel); info.IsDir() {
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
