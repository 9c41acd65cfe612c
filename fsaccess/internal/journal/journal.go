package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// Options are the limits of a journal. Zero is the default.
type Options struct {
	MaxBytes   int64
	MaxEntries int
	MaxAge     time.Duration
	Now        func() time.Time
}

// New returns a journal over c, whose store is records.
func New(c, records core.Core, o Options) *Journal {
	if o.MaxBytes == 0 {
		o.MaxBytes = 256 << 20
	}
	if o.MaxEntries == 0 {
		o.MaxEntries = 1000
	}
	if o.MaxAge == 0 {
		o.MaxAge = 30 * 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Journal{Core: c, o: o, store: store{records}, blobs: make(map[string]*blobUse)}
}

// Journal is a folder in which every change can be undone. mu is held by the goroutine that
// changes the folder or the records.
type Journal struct {
	core.Core // the folder below, which serves reads directly
	o         Options
	store     store

	mu      sync.Mutex
	lease   func() // returns the store to other tabs; nil if this tab does not hold it
	leased  time.Time
	visits  int
	loaded  bool
	records []*record // sorted by Seq
	blobs   map[string]*blobUse
	bytes   int64
	pin     int64 // records from this Seq on are in use and must not be pruned; 0 means none
}

type blobUse struct {
	size int64
	refs int
}

func (j *Journal) Features() core.Features {
	ft := j.Core.Features()
	ft.Staged = true
	return ft
}

func (j *Journal) Release() error {
	if c, ok := j.Core.(core.Closer); ok {
		return c.Release()
	}
	return nil
}

// enter locks the journal for one change, against other tabs and goroutines.
func (j *Journal) enter(ctx context.Context) (leave func(), err error) {
	j.mu.Lock()
	if err := j.arrive(ctx); err != nil {
		j.depart(true)
		j.mu.Unlock()
		return nil, err
	}
	return func() { j.depart(false); j.mu.Unlock() }, nil
}

// Between tabs the browser locks the journal, and that takes as long as a small write.
// Therefore the lock is kept for a short time after a change. A program that writes many
// files in a row then locks once, and need not look for records of other tabs either.
const (
	leaseIdle = 100 * time.Millisecond // after the last change, then other tabs get the lock
	leaseMax  = time.Second            // at most, even if changes continue
)

// arrive takes the store's lock if this tab does not hold it. It is called with mu held.
func (j *Journal) arrive(ctx context.Context) error {
	if j.lease != nil && j.loaded {
		return context.Cause(ctx)
	}
	if j.lease == nil {
		unlock, err := j.store.c.Base().Lock(ctx, logFolder)
		if err != nil {
			return err
		}
		j.lease, j.leased = unlock, time.Now()
	}
	return j.catchUp(ctx)
}

// depart returns the store's lock, at once or after leaseIdle. It is called with mu held.
func (j *Journal) depart(now bool) {
	if j.lease == nil {
		return
	}
	j.visits++
	if now || j.store.c.Base().Across == nil || time.Since(j.leased) > leaseMax {
		j.lease()
		j.lease = nil
		return
	}
	visit := j.visits
	time.AfterFunc(leaseIdle, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.lease != nil && j.visits == visit {
			j.lease()
			j.lease = nil
		}
	})
}

func (j *Journal) last() int64 {
	if len(j.records) == 0 {
		return 0
	}
	return j.records[len(j.records)-1].Seq
}

// catchUp reads the records that exist at the start, or that another tab has added since.
func (j *Journal) catchUp(ctx context.Context) error {
	if !j.loaded {
		return j.reload(ctx)
	}
	if more, err := j.store.has(ctx, j.last()+1); err != nil || !more {
		return err
	}
	// Another tab wrote a record. It has finished or it was killed, so read and settle
	// again.
	return j.reload(ctx)
}

func (j *Journal) add(r *record) {
	j.records = append(j.records, r)
	j.bytes += r.size
	j.eachBlob(r, func(h string, size int64) {
		u := j.blobs[h]
		if u == nil {
			u = &blobUse{size: size}
			j.blobs[h] = u
			j.bytes += size
		}
		u.refs++
	})
}

// eachBlob calls do for each before-image of a record that is stored in a file of its own.
func (j *Journal) eachBlob(r *record, do func(hash string, size int64)) {
	seen := make(map[string]bool)
	for _, e := range r.Effects {
		h := e.Before.Hash
		if _, in := r.offset[h]; in || !e.Before.file() || e.Before.Size == 0 || e.From != "" || seen[h] {
			continue
		}
		seen[h] = true
		do(h, e.Before.Size)
	}
}

// Forget removes a record and its file. Before-images that no other record needs are
// removed too.
func (j *Journal) Forget(ctx context.Context, r *record) error {
	if err := j.store.drop(ctx, r.Seq); err != nil {
		return err
	}
	i := slices.Index(j.records, r)
	if i < 0 {
		return nil
	}
	j.records = slices.Delete(j.records, i, i+1)
	j.bytes -= r.size
	var errs error
	j.eachBlob(r, func(h string, size int64) {
		u := j.blobs[h]
		if u.refs--; u.refs > 0 {
			return
		}
		delete(j.blobs, h)
		j.bytes -= size
		if err := j.store.c.Remove(ctx, blobName(h)); err != nil && !core.NotExist(err) {
			errs = errors.Join(errs, err) // an orphan, which the next reload removes
		}
	})
	return errs
}

// prune keeps the journal within its limits. It drops whole groups, the oldest first, but
// never the newest.
func (j *Journal) prune(ctx context.Context) {
	for len(j.records) > j.o.MaxEntries || j.bytes > j.o.MaxBytes ||
		len(j.records) > 0 && j.o.Now().Sub(j.records[0].Time) > j.o.MaxAge {
		if !j.dropOldest(ctx) {
			return // the next change tries again
		}
	}
}

func (j *Journal) dropOldest(ctx context.Context) bool {
	if len(j.records) < 2 {
		return false
	}
	first := j.records[0]
	if first.Group == j.records[len(j.records)-1].Group || j.pin > 0 && first.Seq >= j.pin {
		return false
	}
	for _, r := range slices.Clone(j.records) {
		if r.Group == first.Group {
			if err := j.Forget(ctx, r); err != nil {
				return false
			}
		}
	}
	return true
}

// change records the effects of r, calls act to make them, and settles the record if act
// fails.
func (j *Journal) change(ctx context.Context, r *record, act func() error) error {
	leave, err := j.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return j.changeLocked(ctx, r, act)
}

func (j *Journal) changeLocked(ctx context.Context, r *record, act func() error) error {
	r.Seq, r.Time, r.Cause = j.last()+1, j.o.Now(), core.CauseOf(ctx)
	g, _ := ctx.Value(core.GroupKey{}).(*core.Group)
	if g != nil {
		g.Mu.Lock()
		defer g.Mu.Unlock()
		r.Group, r.Label = g.ID, g.Label
	}
	if r.Group == 0 {
		r.Group = r.Seq
	}
	for {
		err := j.record(ctx, r)
		if err == nil {
			break
		}
		if !errors.Is(err, core.ErrQuota) || !j.dropOldest(context.WithoutCancel(ctx)) {
			return err
		}
	}
	j.add(r)
	// From here on the change is finished or undone, even if the caller's context ends.
	if err := act(); err != nil {
		return errors.Join(err, j.settle(context.WithoutCancel(ctx), r))
	}
	if g != nil {
		g.ID = r.Group
	}
	j.prune(context.WithoutCancel(ctx))
	return nil
}

// record stores r before its change happens.
func (j *Journal) record(ctx context.Context, r *record) error {
	if r.ahead == nil {
		r.ahead = j.store.ahead(ctx, r.Seq)
	}
	defer r.ahead.Abort()
	blobs, err := j.saveBefore(ctx, r)
	if err != nil {
		return err
	}
	if err := j.store.save(ctx, r, blobs); err != nil {
		// The record may have been stored, completely or in part. It must not count as a
		// change that was begun.
		return errors.Join(err, j.store.drop(context.WithoutCancel(ctx), r.Seq))
	}
	return nil
}

// saveBefore saves the contents that the effects destroy. It returns small contents, which
// go into the record, and saves large contents in files of their own.
func (j *Journal) saveBefore(ctx context.Context, r *record) (map[string][]byte, error) {
	var need int64
	for _, e := range r.Effects {
		if e.Before.file() {
			need += e.Before.Size
		}
	}
	if need > j.o.MaxBytes {
		return nil, core.ErrTooLarge
	}
	blobs := make(map[string][]byte)
	room := 2 * inlineMax
	for _, e := range r.Effects {
		st := e.Before
		if !st.file() || st.Size == 0 || blobs[st.Hash] != nil || e.From != "" {
			continue
		}
		if st.link() || st.Size <= inlineMax && int(st.Size) <= room {
			data := r.before[st.Hash]
			if data == nil {
				var err error
				if data, err = j.contentOf(ctx, e.Path, st); err != nil {
					return nil, err
				}
				if core.HashOf(data) != st.Hash {
					return nil, core.ErrConflict
				}
			}
			blobs[st.Hash] = data
			room -= len(data)
			continue
		}
		if has, err := j.store.hasBlob(ctx, st.Hash, st.Size); err != nil {
			return nil, err
		} else if has {
			continue
		}
		if err := j.store.copyBlob(ctx, j.Core, e.Path, st.Hash); err != nil {
			return nil, err
		}
	}
	return blobs, nil
}

// contentOf returns the present content of a path with a state.
func (j *Journal) contentOf(ctx context.Context, name string, st state) ([]byte, error) {
	if st.link() {
		to, err := core.ReadLink(ctx, j.Core, name)
		return []byte(to), err
	}
	return j.Core.ReadFile(ctx, name)
}

func linkState(target string) state {
	return state{Kind: "link", Hash: core.HashOf([]byte(target)), Size: int64(len(target))}
}

// Snapshot returns a name for the present state, for undoTo.
func (j *Journal) Snapshot(ctx context.Context) (string, error) {
	leave, err := j.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return strconv.FormatInt(j.last(), 10), nil
}

// Grouping calls fn with a context in which all changes are one step with a label. If fn
// returns an error, it undoes these changes.
func (j *Journal) Grouping(ctx context.Context, label string, fn func(ctx context.Context) error) error {
	g := &core.Group{Label: label}
	err := fn(context.WithValue(ctx, core.GroupKey{}, g))
	if err == nil || g.ID == 0 {
		return err
	}
	return errors.Join(err, j.revertGroup(context.WithoutCancel(ctx), g.ID))
}

// permOf returns the permission bits for a new file or folder.
func permOf(perm fs.FileMode) uint32 { return uint32(perm.Perm()) }

// look returns the present state of a path.
func (j *Journal) look(ctx context.Context, name string) (state, error) {
	st, _, err := j.lookRead(ctx, name)
	return st, err
}

// lookRead is look that also returns the content, if it had to read the whole content
// anyway.
func (j *Journal) lookRead(ctx context.Context, name string) (state, []byte, error) {
	var fi fs.FileInfo
	var data []byte
	var err error
	small, ok := j.Core.(core.SmallReader)
	if ok {
		fi, data, err = small.ReadSmall(ctx, name, inlineMax)
	}
	if !ok || errors.Is(err, core.ErrLink) {
		fi, err = j.Core.Stat(ctx, name)
	}
	if core.NotExist(err) || errors.Is(err, core.ErrNotDir) {
		return state{}, nil, nil
	}
	if err != nil {
		return state{}, nil, err
	}
	return j.stateOf(ctx, name, fi, data, ok)
}

// stateOf returns the state for fi. If read is set and the file is small, data is its
// content. Otherwise the file is hashed.
func (j *Journal) stateOf(ctx context.Context, name string, fi fs.FileInfo, data []byte, read bool) (state, []byte, error) {
	perm := uint32(fi.Mode().Perm())
	if fi.IsDir() {
		return state{Kind: "dir", Perm: perm}, nil, nil
	}
	if core.IsLink(fi.Mode()) {
		to, err := core.ReadLink(ctx, j.Core, name)
		return linkState(to), []byte(to), err
	}
	if read && fi.Size() <= inlineMax {
		return state{"file", core.HashOf(data), int64(len(data)), perm}, data, nil
	}
	hash, size, err := core.HashFile(ctx, j.Core, name)
	return state{"file", hash, size, perm}, nil, err
}

// Each change of a journal looks at the present state, records the effects, and calls the
// folder below.

// put records the new content of a file and calls do to write it.
func (j *Journal) put(ctx context.Context, op, name string, after state, do func() error) error {
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
func (j *Journal) putRecord(ctx context.Context, op, name string, before state, data []byte, after state) (*record, error) {
	if before.dir() {
		return nil, core.ErrIsDir
	}
	if before.link() {
		return nil, core.LinkAt(name, string(data))
	}
	if before.file() {
		after.Perm = before.Perm
	} else if err := core.NeedDir(ctx, j.Core, core.ParentOf(name)); err != nil {
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
func (j *Journal) spelling(ctx context.Context, name string) (string, error) {
	if !j.Core.Features().FoldCase {
		return name, nil
	}
	return core.Spelled(ctx, j.Core, name)
}

func (j *Journal) samePath(a, b string) bool {
	return a == b || j.Core.Features().FoldCase && core.FoldEqual(a, b)
}

func (j *Journal) Replace(ctx context.Context, name string, perm fs.FileMode) (core.Replacement, error) {
	r := &replacement{j: j, name: name, at: name, perm: perm, hash: sha256.New()}
	if _, err := j.Core.Stat(ctx, name); core.NotExist(err) && showsNew(j.Core) {
		if err := core.NeedDir(ctx, j.Core, core.ParentOf(name)); err != nil {
			return nil, err
		}
		r.at = core.Join(core.ParentOf(name), core.SwapName())
	}
	var err error
	r.Replacement, err = j.Core.Replace(ctx, r.at, perm)
	return r, err
}

// showsNew reports whether a core makes a new file, empty, when its content is begun. The
// record must be stored before the file exists, so the content goes to a hidden name first.
func showsNew(c core.Core) bool {
	o, ok := c.(core.Overlapper)
	return ok && o.Overlaps() && !core.KeepsFresh(c)
}

// make records an empty file and makes it. It returns nil if the file exists already.
func (j *Journal) make(ctx context.Context, name string, perm fs.FileMode) (r *record, err error) {
	if name, err = j.spelling(ctx, name); err != nil {
		return nil, err
	}
	if r, err = j.putRecord(ctx, "create", name, state{}, nil, fileState(nil, perm)); err != nil || r == nil {
		return nil, err
	}
	return r, j.change(ctx, r, func() error { return core.WriteWhole(context.WithoutCancel(ctx), j.Core, name, nil, perm) })
}

type replacement struct {
	core.Replacement
	j    *Journal
	name string
	at   string // the path of the content until the commit
	perm fs.FileMode
	hash hash.Hash
	size int64
}

func (r *replacement) Write(p []byte) (int, error) {
	n, err := r.Replacement.Write(p)
	r.hash.Write(p[:n])
	r.size += int64(n)
	return n, err
}

func (r *replacement) Commit(ctx context.Context) error {
	after := state{"file", hex.EncodeToString(r.hash.Sum(nil)), r.size, permOf(r.perm)}
	if r.at == r.name {
		return r.j.put(ctx, "write", r.name, after, func() error {
			return r.Replacement.Commit(context.WithoutCancel(ctx))
		})
	}
	if err := r.Replacement.Commit(ctx); err != nil {
		return err
	}
	err := r.j.put(ctx, "write", r.name, after, func() error {
		return r.j.Core.Rename(context.WithoutCancel(ctx), r.at, r.name)
	})
	if err != nil {
		err = errors.Join(err, Gone(r.j.Core.Remove(context.WithoutCancel(ctx), r.at)))
	}
	return err
}

// Gone returns err, or nil if err reports a missing file.
func Gone(err error) error {
	if core.NotExist(err) {
		return nil
	}
	return err
}

func (j *Journal) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	if _, err := j.Core.Stat(ctx, name); err == nil {
		return core.ErrExist
	}
	if err := core.NeedDir(ctx, j.Core, core.ParentOf(name)); err != nil {
		return err
	}
	r := &record{Op: "mkdir", Effects: []effect{{Path: name, After: state{Kind: "dir", Perm: permOf(perm)}}}}
	return j.change(ctx, r, func() error { return j.Core.Mkdir(context.WithoutCancel(ctx), name, perm) })
}

func (j *Journal) Remove(ctx context.Context, name string) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	if _, err := j.Core.Stat(ctx, name); err != nil {
		return err
	}
	before, err := j.look(ctx, name)
	if err != nil {
		return err
	}
	if before.dir() {
		if list, err := j.Core.ReadDir(ctx, name); err != nil {
			return err
		} else if len(list) > 0 {
			return core.ErrNotEmpty
		}
	}
	r := &record{Op: "remove", Effects: []effect{{Path: name, Before: before}}}
	return j.change(ctx, r, func() error { return j.Core.Remove(context.WithoutCancel(ctx), name) })
}

func (j *Journal) RemoveAll(ctx context.Context, name string) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	if _, err := j.Core.Stat(ctx, name); err != nil {
		return err
	}
	effects, err := j.whole(ctx, name)
	if err != nil {
		return err
	}
	r := &record{Op: "remove", Effects: effects}
	return j.change(ctx, r, func() error { return j.Core.RemoveAll(context.WithoutCancel(ctx), name) })
}

// whole returns the effects of removing a tree, each folder before its entries.
func (j *Journal) whole(ctx context.Context, name string) ([]effect, error) {
	st, err := j.look(ctx, name)
	if err != nil {
		return nil, err
	}
	out := []effect{{Path: name, Before: st}}
	if !st.dir() {
		return out, nil
	}
	var size int64
	err = core.WalkCore(ctx, j.Core, name, core.PageSize, func(page []core.Entry) bool {
		for _, e := range page {
			if e.Size == core.BadFolder {
				err = core.WalkFailure(ctx, j.Core, e.Path)
				return false
			}
			st := state{Kind: "dir"}
			if !e.Dir {
				if size += e.Size; size > j.o.MaxBytes {
					err = core.ErrTooLarge
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
	if err == core.ErrStop {
		err = nil
	}
	return out, err
}

func (j *Journal) Rename(ctx context.Context, from, to string) error {
	var effects []effect
	from, err := j.spelling(ctx, from)
	if err != nil {
		return err
	}
	old, err := j.spelling(ctx, to)
	if err != nil {
		return err
	}
	if to = core.Join(core.ParentOf(old), core.BaseOf(to)); from == to {
		return nil // the name has that spelling already
	}
	same, err := core.SameEntry(ctx, j.Core, from, to)
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
			if !j.Core.Features().FileMove {
				to = old // copying over a file keeps the spelling of that file
			}
		}
	}
	moved, err := j.Core.Stat(ctx, from)
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
		return j.Core.Rename(context.WithoutCancel(ctx), from, to)
	})
}

func (j *Journal) Chmod(ctx context.Context, name string, mode fs.FileMode) error {
	if c, ok := j.Core.(core.Chmodder); ok {
		return c.Chmod(ctx, name, mode)
	}
	return core.ErrUnsupported
}

func (j *Journal) Chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	if c, ok := j.Core.(core.Chtimer); ok {
		return c.Chtimes(ctx, name, atime, mtime)
	}
	return core.ErrUnsupported
}

func (j *Journal) Symlink(ctx context.Context, target, name string) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	if _, err := j.Core.Stat(ctx, name); err == nil {
		return core.ErrExist
	}
	if err := core.NeedDir(ctx, j.Core, core.ParentOf(name)); err != nil {
		return err
	}
	r := &record{Op: "symlink", Effects: []effect{{Path: name, After: linkState(target)}}}
	return j.change(ctx, r, func() error { return core.Symlink(context.WithoutCancel(ctx), j.Core, target, name) })
}

func (j *Journal) ReadLink(ctx context.Context, name string) (string, error) {
	return core.ReadLink(ctx, j.Core, name)
}

func (j *Journal) WalkPages(ctx context.Context, root string, page int, yield func([]core.Entry) bool) error {
	return core.WalkCore(ctx, j.Core, root, page, yield)
}

func (j *Journal) ListPages(ctx context.Context, dir string, page int, yield func([]core.Entry) bool) error {
	return core.ListCore(ctx, j.Core, dir, page, yield)
}

func (j *Journal) Keeping(ctx context.Context) context.Context { return core.Keeping(ctx, j.Core) }

func (j *Journal) ReadMany(ctx context.Context, files []core.Entry) ([][]byte, error) {
	return core.ReadMany(ctx, j.Core, files)
}
