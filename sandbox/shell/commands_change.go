package shell

import (
	"errors"
	"io/fs"
	"path"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func mkdir(t *task) int {
	o, rest, ok := t.options("pv", "m")
	if !ok {
		return 2
	}
	return t.paths(rest, func(p string) error {
		permit, err := t.s.c.Acquire(t.ctx, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpMkdir, Subject: p})
		if err != nil {
			return err
		}
		if _, err := t.s.c.FS.Stat(t.ctx, permit, p); err == nil && !has(o, 'p') {
			return fs.ErrExist
		}
		return t.s.c.FS.Mkdir(t.ctx, permit, p)
	})
}

func (s *shell) removal(t *task, p string, all bool) error {
	n := policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: p, Tree: all, Destroys: true}
	permit, err := s.c.Acquire(t.ctx, n)
	if err != nil {
		return err
	}
	if _, err := s.c.FS.Stat(t.ctx, permit, p); err != nil {
		return err
	}
	return s.c.FS.Remove(t.ctx, permit, p, all)
}

func rmdir(t *task) int {
	return t.paths(t.args, func(p string) error { return t.s.removal(t, p, false) })
}

func rm(t *task) int {
	o, rest, ok := t.options("rRfdv", "")
	if !ok {
		return 2
	}
	if len(rest) == 0 && has(o, 'f') {
		return 0
	}
	all := has(o, 'r') || has(o, 'R')
	return t.paths(rest, func(p string) error {
		if p == "." {
			return errors.New("refusing to remove the folder itself")
		}
		fi, err := t.s.stat(t.ctx, abs(p), true)
		switch {
		case errors.Is(err, fs.ErrNotExist) && has(o, 'f'):
			return nil
		case err == nil && fi.IsDir() && !all:
			return errIsDirectory
		}
		err = t.s.removal(t, p, all)
		if has(o, 'f') && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func mv(t *task) int { return transfer(t, false) }
func cp(t *task) int { return transfer(t, true) }

// transfer implements mv and cp.
func transfer(t *task, keep bool) int {
	o, rest, ok := t.options("rRafnvp", "")
	if !ok || len(rest) < 2 {
		if ok {
			t.errorf("missing operand")
		}
		return 2
	}
	to := resolve(t.dir, rest[len(rest)-1])
	fi, err := t.s.stat(t.ctx, abs(to), true)
	dir := err == nil && fi.IsDir()
	if len(rest) > 2 && !dir {
		return t.fail("%s: Not a directory", rest[len(rest)-1])
	}
	return t.paths(rest[:len(rest)-1], func(from string) error {
		at := to
		if dir {
			at = path.Join(to, path.Base(from))
		}
		if has(o, 'n') {
			if _, err := t.s.stat(t.ctx, abs(at), true); err == nil {
				return nil
			}
		}
		if !keep {
			return t.s.rename(t, from, at)
		}
		return t.s.copy(t, from, at, has(o, 'r') || has(o, 'R') || has(o, 'a'))
	})
}

func (s *shell) rename(t *task, from, to string) error {
	permit, err := s.c.Acquire(t.ctx, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpRemove, Subject: from, Tree: true},
		policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: to, Tree: true, Replaces: true})
	if err != nil {
		return err
	}
	return s.c.FS.Rename(t.ctx, permit, from, to)
}

func (s *shell) copy(t *task, from, to string, all bool) error {
	fi, err := s.stat(t.ctx, abs(from), true)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		data, err := s.readFile(t.ctx, from)
		if err != nil {
			return err
		}
		return t.write(abs(to), data, false)
	}
	if !all {
		return errors.New("-r not specified; omitting directory")
	}
	list, err := s.walk(t, from)
	if err != nil {
		return err
	}
	for _, e := range list {
		at := to + e.Path[len(from):]
		if e.Dir {
			permit, err := s.c.Acquire(t.ctx, policy.Need{Capability: protocol.FSWrite, Op: protocol.OpMkdir, Subject: at})
			if err != nil {
				return err
			}
			if err := s.c.FS.Mkdir(t.ctx, permit, at); err != nil {
				return err
			}
			continue
		}
		if err := s.copy(t, e.Path, at, false); err != nil {
			return err
		}
	}
	return nil
}

// walk returns all entries below a folder, at most 200,000.
func (s *shell) walk(t *task, root string) ([]fsaccess.Entry, error) {
	permit, err := s.c.Acquire(t.ctx, policy.Need{Capability: protocol.FSRead, Subject: root, Tree: true, Filtered: true})
	if err != nil {
		return nil, err
	}
	var out []fsaccess.Entry
	for e, err := range s.c.FS.Walk(t.ctx, permit, root, fsaccess.WalkOptions{Limit: 200_000}) {
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}

func touch(t *task) int {
	_, rest, ok := t.options("c", "")
	if !ok {
		return 2
	}
	return t.paths(rest, func(p string) error {
		if _, err := t.s.stat(t.ctx, abs(p), true); err == nil {
			return nil // not every source can set times
		}
		return t.write(abs(p), nil, false)
	})
}
