package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

const maxBlock = 16 << 20 // bytes

// dd copies blocks of a file. The blocks are counted in bytes, so that a short read of a pipe counts as a part of a block.
func dd(e *tool.Env) error {
	set := map[string]string{}
	for _, a := range e.Args {
		key, value, ok := strings.Cut(a, "=")
		switch key {
		case "if", "of", "bs", "ibs", "obs", "count", "skip", "seek", "conv", "status", "iflag", "oflag":
		case "--help":
			_, err := e.Options("", "")
			return err
		default:
			ok = false
		}
		if !ok {
			return e.Usagef("unrecognized operand '%s'", a)
		}
		set[key] = value
	}
	number := func(key string, otherwise int64) (int64, error) {
		if set[key] == "" {
			return otherwise, nil
		}
		n, err := tool.Size(set[key])
		if err != nil || n < 0 {
			return 0, tool.Errorf("invalid number: '%s'", set[key])
		}
		return n, nil
	}
	block, err := number("bs", 512)
	if set["bs"] == "" && err == nil {
		block, err = number("ibs", 512)
	}
	if err != nil || block < 1 || block > maxBlock {
		return tool.Errorf("a block has 1 to 16777216 bytes")
	}
	count, err := number("count", -1)
	if err != nil {
		return err
	}
	skip, err := number("skip", 0)
	if err != nil {
		return err
	}
	seek, err := number("seek", 0)
	if err != nil || max(count, skip, seek) > 1<<40/block {
		return tool.Errorf("a number is too large")
	}
	upper, lower, keep := false, false, false
	for c := range strings.SplitSeq(set["conv"], ",") {
		switch c {
		case "", "fsync", "fdatasync", "noerror", "sync":
		case "notrunc":
			keep = true
		case "ucase":
			upper = true
		case "lcase":
			lower = true
		default:
			return e.Usagef("invalid conversion: '%s'", c)
		}
	}
	in, err := e.Open(set["if"])
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.CopyN(io.Discard, e.Counted(in), skip*block); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	r := io.Reader(in)
	if count >= 0 {
		r = io.LimitReader(in, count*block)
	}
	data, err := e.Slurp(r)
	if err != nil {
		return err
	}
	switch {
	case upper:
		data = bytes.ToUpper(data)
	case lower:
		data = bytes.ToLower(data)
	}
	n := int64(len(data))
	if of := set["of"]; of != "" {
		var old []byte
		if seek > 0 || keep {
			if old, err = e.ReadAll(of); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		at := seek * block
		if at > 64<<20 {
			return tool.Errorf("the file would be longer than 64 MiB")
		}
		whole := make([]byte, at, at+n)
		copy(whole, old)
		whole = append(whole, data...)
		if keep && len(old) > len(whole) {
			whole = append(whole, old[len(whole):]...)
		}
		e.World.Hold(len(whole))
		if err := e.Replace(of, whole); err != nil {
			return err
		}
	} else if _, err := e.Stdout.Write(data); err != nil {
		return err
	}
	if set["status"] != "none" {
		e.Stdout.Flush()
		part := 0
		if n%block > 0 {
			part = 1
		}
		fmt.Fprintf(e.Stderr, "%d+%d records in\n%d+%d records out\n", n/block, part, n/block, part)
		if set["status"] != "noxfer" {
			fmt.Fprintf(e.Stderr, "%d bytes copied\n", n)
		}
	}
	return nil
}

func unlink(e *tool.Env) error {
	o, err := e.Options("", "")
	if err != nil {
		return err
	}
	if len(o.Args) != 1 {
		return e.Usagef("want one file")
	}
	if info, err := e.World.Lstat(o.Args[0]); err == nil && info.IsDir() {
		return tool.Errorf("cannot unlink %s: Is a directory", quoted(o.Args[0]))
	}
	if err := e.World.Remove(o.Args[0], false); err != nil {
		e.Warn("cannot unlink "+quoted(o.Args[0]), err)
	}
	return nil
}

// install makes folders, or copies files and sets their permissions.
func install(e *tool.Env) error {
	o, err := e.Operands("dDm:vt:Tpcso:g:", "directory=d mode=m verbose=v target-directory=t no-target-directory=T preserve-timestamps=p owner=o group=g strip=s")
	if err != nil {
		return err
	}
	mode := "755"
	if o.Has('m') {
		mode = o.Value('m')
	}
	if o.Has('d') {
		for _, name := range o.Args {
			if err := e.World.Mkdir(name, true); err != nil {
				e.Warn("cannot create directory "+quoted(name), err)
			} else if o.Has('m') {
				_ = chmodTo(e, name, mode)
			}
		}
		return nil
	}
	from, to, into, err := operands(e, o)
	if err != nil {
		return err
	}
	for _, name := range from {
		target := to
		if into {
			target = tool.Join(to, path.Base(name))
		}
		if o.Has('D') {
			if err := e.World.Mkdir(path.Dir(target), true); err != nil {
				return err
			}
		}
		data, err := e.ReadAll(name)
		if err == nil {
			err = e.Replace(target, data)
		}
		if err != nil {
			e.Warn("cannot install "+quoted(name), err)
			continue
		}
		_ = chmodTo(e, target, mode) // where the file system keeps modes
		if o.Has('v') {
			fmt.Fprintf(e.Stdout, "%s -> %s\n", quoted(name), quoted(target))
		}
	}
	return nil
}
