package wasifs_test

import (
	"fmt"
	"os"
	"strings"

	. "github.com/bailey-go/bailey/internal/wasifs"
)

type wasiFace struct{ *FS }

// fail is an error of ErrnoOf(e), or nil.
func fail(e Errno) error {
	if e == ESUCCESS {
		return nil
	}
	return e
}

func (w wasiFace) with(name string, o OFlags, r Rights, flags FDFlags, do func(FD) Errno) error {
	fd, e := w.PathOpen(3, SymlinkFollow, name, o, r, AllRights, flags)
	if e != ESUCCESS {
		return e
	}
	first := do(fd)
	if e := w.FdClose(fd); first == ESUCCESS {
		first = e
	}
	return fail(first)
}

func (w wasiFace) read(name string) (s string, err error) {
	err = w.with(name, 0, fileR, 0, func(fd FD) Errno {
		buf := make([]byte, 100)
		for {
			k, e := w.FdRead(fd, buf)
			if e != ESUCCESS || k == 0 {
				return e
			}
			s += string(buf[:k])
		}
	})
	return s, err
}

func (w wasiFace) readAt(name string, off int64, n int) (s string, err error) {
	err = w.with(name, 0, fileR, 0, func(fd FD) Errno {
		buf := make([]byte, n)
		k, e := w.FdPread(fd, buf, uint64(off))
		s = string(buf[:k])
		return e
	})
	return s, err
}

func (w wasiFace) write(name string, flag int, data string) error {
	var o OFlags
	var fl FDFlags
	for bit, of := range map[int]OFlags{os.O_CREATE: OCreat, os.O_EXCL: OExcl, os.O_TRUNC: OTrunc} {
		if flag&bit != 0 {
			o |= of
		}
	}
	if flag&os.O_APPEND != 0 {
		fl = FDAppend
	}
	return w.with(name, o, fileW, fl, func(fd FD) Errno { _, e := w.FdWrite(fd, []byte(data)); return e })
}

func (w wasiFace) writeAt(name string, off int64, data string) error {
	return w.with(name, 0, fileRW, 0, func(fd FD) Errno { _, e := w.FdPwrite(fd, []byte(data), uint64(off)); return e })
}

func (w wasiFace) truncate(name string, size int64) error {
	return w.with(name, 0, fileW, 0, func(fd FD) Errno { return w.FdFilestatSetSize(fd, uint64(size)) })
}

func (w wasiFace) readFromWriter(name string) error {
	return w.with(name, 0, fileW, 0, func(fd FD) Errno { _, e := w.FdRead(fd, make([]byte, 1)); return e })
}

func (w wasiFace) writeToReader(name string) error {
	return w.with(name, 0, fileR, 0, func(fd FD) Errno { _, e := w.FdWrite(fd, []byte("x")); return e })
}

func (w wasiFace) stat(name string) (string, error) {
	st, e := w.PathFilestatGet(3, 0, name)
	if e != ESUCCESS {
		return "", e
	}
	if st.Type == TypeDirectory {
		return "folder", nil
	}
	return fmt.Sprint("file of ", st.Size), nil
}

func (w wasiFace) list(name string) (s string, err error) {
	err = w.with(name, ODirectory, RightFdReaddir, 0, func(fd FD) Errno {
		lines, e := readdir(w.FS, fd, 4096)
		var out []string
		for _, l := range lines[2:] {
			out = append(out, fmt.Sprint(l.name, l.typ == TypeDirectory))
		}
		s = strings.Join(out, " ")
		return e
	})
	return s, err
}

func (w wasiFace) mkdir(name string) error { return fail(w.PathCreateDirectory(3, name)) }

func (w wasiFace) remove(name string) error {
	if e := w.PathRemoveDirectory(3, name); e != ENOTDIR {
		return fail(e)
	}
	return fail(w.PathUnlinkFile(3, name))
}

func (w wasiFace) rename(from, to string) error { return fail(w.PathRename(3, from, 3, to)) }
