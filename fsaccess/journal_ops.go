package fsaccess

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"time"
)

// Each change of a journal looks at the present state, records the effects, and calls the
// folder below.

// put records the new content of a file and calls do to write it.
func (j *journal) put(ctx context.Context, op, name string, after state, do func() error) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	before, data, err := j.lookRead(ctx, name)
	if err != nil {
		return err
	}
	r, err := j.putRecord(ctx, op, name, before, data, after)
	switch {
	case err != nil:
		return err
	case r == nil:
		return do()
	}
	return j.change(ctx, r, do)
}

// putRecord returns the record for a file that gets a new content, or nil if the file has
// that content already.
func (j *journal) putRecord(ctx context.Context, op, name string, before state, data []byte, after state) (*record, error) {
	if before.dir() {
		return nil, errIsDir
	}
	if before.file() {
		after.Perm = before.Perm
	} else if err := needDir(ctx, j.core, parentOf(name)); err != nil {
		return nil, err
	}
	if before.same(after) {
		return nil, nil
	}
	r := &record{Op: op, Effects: []effect{{Path: name, Before: before, After: after}}}
	if data != nil {
		r.before = map[string][]byte{before.Hash: data}
	}
	return r, nil
}

// spelling returns a name as the file system spells it, so that an undo restores the file
// under its old spelling. A name that does not exist yet is returned as passed.
func (j *journal) spelling(ctx context.Context, name string) (string, error) {
	if !j.core.features().FoldCase {
		return name, nil
	}
	return spelled(ctx, j.core, name)
}

func (j *journal) samePath(a, b string) bool {
	return a == b || j.core.features().FoldCase && foldEqual(a, b)
}

func (j *journal) replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error) {
	r := &journalReplacement{j: j, name: name, at: name, perm: perm, hash: sha256.New()}
	if _, err := j.core.stat(ctx, name); notExist(err) && showsNew(j.core) {
		if err := needDir(ctx, j.core, parentOf(name)); err != nil {
			return nil, err
		}
		r.at = join(parentOf(name), swapName())
	}
	var err error
	r.replacement, err = j.core.replace(ctx, r.at, perm)
	return r, err
}

// showsNew reports whether a core makes a new file, empty, when its content is begun. The
// record must be stored before the file exists, so the content goes to a hidden name first.
func showsNew(c core) bool {
	o, ok := c.(overlapper)
	return ok && o.overlaps() && !keepsFresh(c)
}

// grouped returns a context in which all changes are one step.
func grouped(ctx context.Context) context.Context {
	if g, _ := ctx.Value(groupKey{}).(*group); g != nil {
		return ctx
	}
	return context.WithValue(ctx, groupKey{}, new(group))
}

// make records an empty file and makes it. It returns nil if the file exists already.
func (j *journal) make(ctx context.Context, name string, perm fs.FileMode) (r *record, err error) {
	if name, err = j.spelling(ctx, name); err != nil {
		return nil, err
	}
	if r, err = j.putRecord(ctx, "create", name, state{}, nil, fileState(nil, perm)); err != nil || r == nil {
		return nil, err
	}
	return r, j.change(ctx, r, func() error { return writeWhole(context.WithoutCancel(ctx), j.core, name, nil, perm) })
}

type journalReplacement struct {
	replacement
	j    *journal
	name string
	at   string // the path of the content until the commit
	perm fs.FileMode
	hash hash.Hash
	size int64
}

func (r *journalReplacement) Write(p []byte) (int, error) {
	n, err := r.replacement.Write(p)
	r.hash.Write(p[:n])
	r.size += int64(n)
	return n, err
}

func (r *journalReplacement) commit(ctx context.Context) error {
	after := state{"file", hex.EncodeToString(r.hash.Sum(nil)), r.size, permOf(r.perm)}
	if r.at == r.name {
		return r.j.put(ctx, "write", r.name, after, func() error {
			return r.replacement.commit(context.WithoutCancel(ctx))
		})
	}
	if err := r.replacement.commit(ctx); err != nil {
		return err
	}
	err := r.j.put(ctx, "write", r.name, after, func() error {
		return r.j.core.rename(context.WithoutCancel(ctx), r.at, r.name)
	})
	if err != nil {
		err = errors.Join(err, gone(r.j.core.remove(context.WithoutCancel(ctx), r.at)))
	}
	return err
}

// gone returns err, or nil if err reports a missing file.
func gone(err error) error {
	if notExist(err) {
		return nil
	}
	return err
}

func (j *journal) mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	if _, err := j.core.stat(ctx, name); err == nil {
		return errExist
	}
	if err := needDir(ctx, j.core, parentOf(name)); err != nil {
		return err
	}
	r := &record{Op: "mkdir", Effects: []effect{{Path: name, After: state{Kind: "dir", Perm: permOf(perm)}}}}
	return j.change(ctx, r, func() error { return j.core.mkdir(context.WithoutCancel(ctx), name, perm) })
}

func (j *journal) remove(ctx context.Context, name string) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	if _, err := j.core.stat(ctx, name); err != nil {
		return err
	}
	before, err := j.look(ctx, name)
	if err != nil {
		return err
	}
	if before.dir() {
		if list, err := j.core.readDir(ctx, name); err != nil {
			return err
		} else if len(list) > 0 {
			return errNotEmpty
		}
	}
	r := &record{Op: "remove", Effects: []effect{{Path: name, Before: before}}}
	return j.change(ctx, r, func() error { return j.core.remove(context.WithoutCancel(ctx), name) })
}

func (j *journal) removeAll(ctx context.Context, name string) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	if _, err := j.core.stat(ctx, name); err != nil {
		return err
	}
	effects, err := j.whole(ctx, name)
	if err != nil {
		return err
	}
	r := &record{Op: "remove", Effects: effects}
	return j.change(ctx, r, func() error { return j.core.removeAll(context.WithoutCancel(ctx), name) })
}

// whole returns the effects of removing a tree, each folder before its entries.
func (j *journal) whole(ctx context.Context, name string) ([]effect, error) {
	st, err := j.look(ctx, name)
	if err != nil {
		return nil, err
	}
	out := []effect{{Path: name, Before: st}}
	if !st.dir() {
		return out, nil
	}
	var size int64
	err = walkCore(ctx, j.core, name, pageSize, func(page []Entry) bool {
		for _, e := range page {
			if e.Size == badFolder {
				err = walkFailure(ctx, j.core, e.Path)
				return false
			}
			st := state{Kind: "dir"}
			if !e.Dir {
				if size += e.Size; size > j.o.MaxBytes {
					err = ErrTooLarge
					return false
				}
			}
			if !e.Dir {
				if st, err = j.look(ctx, e.Path); err != nil {
					return false
				}
			}
			out = append(out, effect{Path: e.Path, Before: st})
		}
		return true
	})
	if err == errStop {
		err = nil
	}
	return out, err
}

func (j *journal) rename(ctx context.Context, from, to string) error {
	var effects []effect
	from, err := j.spelling(ctx, from)
	if err != nil {
		return err
	}
	old, err := j.spelling(ctx, to)
	if err != nil {
		return err
	}
	if to = join(parentOf(old), baseOf(to)); from == to {
		return nil // the name has that spelling already
	}
	same, err := sameEntry(ctx, j.core, from, to)
	if err != nil {
		return err
	}
	if !same {
		before, err := j.look(ctx, old)
		if err != nil {
			return err
		}
		if before.file() {
			effects = append(effects, effect{Path: old, Before: before})
			if !j.core.features().FileMove {
				to = old // copying over a file keeps the spelling of that file
			}
		}
	}
	moved, err := j.core.stat(ctx, from)
	if err != nil {
		return err
	}
	st := state{Kind: "dir"}
	if !moved.IsDir() {
		// On a platform without move(), the hash shows later whether the copy was finished.
		if st, err = j.look(ctx, from); err != nil {
			return err
		}
	}
	effects = append(effects, effect{Path: to, From: from, Before: st, After: st})
	return j.change(ctx, &record{Op: "rename", Effects: effects}, func() error {
		return j.core.rename(context.WithoutCancel(ctx), from, to)
	})
}

func (j *journal) chmod(ctx context.Context, name string, mode fs.FileMode) error {
	if c, ok := j.core.(chmodder); ok {
		return c.chmod(ctx, name, mode)
	}
	return errUnsupported
}

func (j *journal) chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	if c, ok := j.core.(chtimer); ok {
		return c.chtimes(ctx, name, atime, mtime)
	}
	return errUnsupported
}

func (j *journal) walkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	return walkCore(ctx, j.core, root, page, yield)
}

func (j *journal) listPages(ctx context.Context, dir string, page int, yield func([]Entry) bool) error {
	return listCore(ctx, j.core, dir, page, yield)
}
