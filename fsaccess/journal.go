package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Journal is a folder in which every change can be undone. Before a file is changed or
// removed, its content is saved in another folder, the store, together with a record of the
// planned change. Both survive a reload, a crash and a killed tab. When a journal is opened
// again, an interrupted change is undone. An interrupted move of a folder is completed.
//
// Undo never overwrites a change that another program has made since. It then returns an
// error with the path that wraps [ErrConflict], and changes nothing.
//
// Changes of permission bits and times are passed on and not recorded.
type Journal struct {
	*Folder
	j *journal
}

// JournalOptions limits the size of a journal. If a limit is exceeded, the oldest steps are
// dropped, but never the newest step.
type JournalOptions struct {
	MaxBytes   int64            // bytes of saved contents and records, default 256 MiB
	MaxEntries int              // records, default 1,000
	MaxAge     time.Duration    // age of a record, default 30 days
	Now        func() time.Time // the clock, default time.Now
}

// NewJournal returns a journal over fsys that stores its records in store. store must not
// be inside fsys, and it serves one journal. It is read at the first use. A change with
// more than MaxBytes to save could not be undone, so it is refused with [ErrTooLarge]. If
// more than one JournalOptions is given, the last one counts.
func NewJournal(fsys, store FS, opts ...JournalOptions) *Journal {
	var o JournalOptions
	for _, x := range opts {
		o = x
	}
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
	v := viewOf(fsys)
	j := &journal{o: o, store: journalStore{viewOf(store).rooted()}, blobs: make(map[string]*blobUse)}
	j.core = v.rooted()
	return &Journal{&Folder{view{c: j, dir: ".", ctx: v.ctx}}, j}
}

// WithContext is [WithContext] for a Journal. The result shares the records with w.
func (w *Journal) WithContext(ctx context.Context) *Journal {
	return &Journal{folderOf(ctx, w), w.j}
}

// journal is the core of a Journal. mu is held by the goroutine that changes the folder or
// the records.
type journal struct {
	core  // the folder below, which serves reads directly
	o     JournalOptions
	store journalStore

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

type groupKey struct{}

// group joins several changes to one step. Its id is the Seq of its first record.
type group struct {
	mu    sync.Mutex
	id    int64
	label string
}

func (j *journal) features() Features {
	ft := j.core.features()
	ft.Staged = true
	return ft
}

func (j *journal) close() error {
	if c, ok := j.core.(closer); ok {
		return c.close()
	}
	return nil
}

// enter locks the journal for one change, against other tabs and goroutines.
func (j *journal) enter(ctx context.Context) (leave func(), err error) {
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
func (j *journal) arrive(ctx context.Context) error {
	if j.lease != nil && j.loaded {
		return context.Cause(ctx)
	}
	if j.lease == nil {
		unlock, err := j.store.c.base().lock(ctx, logFolder)
		if err != nil {
			return err
		}
		j.lease, j.leased = unlock, time.Now()
	}
	return j.catchUp(ctx)
}

// depart returns the store's lock, at once or after leaseIdle. It is called with mu held.
func (j *journal) depart(now bool) {
	if j.lease == nil {
		return
	}
	j.visits++
	if now || j.store.c.base().across == nil || time.Since(j.leased) > leaseMax {
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

func (j *journal) last() int64 {
	if len(j.records) == 0 {
		return 0
	}
	return j.records[len(j.records)-1].Seq
}

// catchUp reads the records that exist at the start, or that another tab has added since.
func (j *journal) catchUp(ctx context.Context) error {
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

func (j *journal) add(r *record) {
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
func (j *journal) eachBlob(r *record, do func(hash string, size int64)) {
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

// forget removes a record and its file. Before-images that no other record needs are
// removed too.
func (j *journal) forget(ctx context.Context, r *record) error {
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
		if err := j.store.c.remove(ctx, blobName(h)); err != nil && !notExist(err) {
			errs = errors.Join(errs, err) // an orphan, which the next reload removes
		}
	})
	return errs
}

// prune keeps the journal within its limits. It drops whole groups, the oldest first, but
// never the newest.
func (j *journal) prune(ctx context.Context) {
	for len(j.records) > j.o.MaxEntries || j.bytes > j.o.MaxBytes ||
		len(j.records) > 0 && j.o.Now().Sub(j.records[0].Time) > j.o.MaxAge {
		if !j.dropOldest(ctx) {
			return // the next change tries again
		}
	}
}

func (j *journal) dropOldest(ctx context.Context) bool {
	if len(j.records) < 2 {
		return false
	}
	first := j.records[0]
	if first.Group == j.records[len(j.records)-1].Group || j.pin > 0 && first.Seq >= j.pin {
		return false
	}
	for _, r := range slices.Clone(j.records) {
		if r.Group == first.Group {
			if err := j.forget(ctx, r); err != nil {
				return false
			}
		}
	}
	return true
}

// change records the effects of r, calls act to make them, and settles the record if act
// fails.
func (j *journal) change(ctx context.Context, r *record, act func() error) error {
	leave, err := j.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return j.changeLocked(ctx, r, act)
}

func (j *journal) changeLocked(ctx context.Context, r *record, act func() error) error {
	r.Seq, r.Time, r.Cause = j.last()+1, j.o.Now(), causeOf(ctx)
	g, _ := ctx.Value(groupKey{}).(*group)
	if g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		r.Group, r.Label = g.id, g.label
	}
	if r.Group == 0 {
		r.Group = r.Seq
	}
	for {
		err := j.record(ctx, r)
		if err == nil {
			break
		}
		if !errors.Is(err, ErrQuota) || !j.dropOldest(context.WithoutCancel(ctx)) {
			return err
		}
	}
	j.add(r)
	// From here on the change is finished or undone, even if the caller's context ends.
	if err := act(); err != nil {
		return errors.Join(err, j.settle(context.WithoutCancel(ctx), r))
	}
	if g != nil {
		g.id = r.Group
	}
	j.prune(context.WithoutCancel(ctx))
	return nil
}

// record stores r before its change happens.
func (j *journal) record(ctx context.Context, r *record) error {
	if r.ahead == nil {
		r.ahead = j.store.ahead(ctx, r.Seq)
	}
	defer r.ahead.abort()
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
func (j *journal) saveBefore(ctx context.Context, r *record) (map[string][]byte, error) {
	var need int64
	for _, e := range r.Effects {
		if e.Before.file() {
			need += e.Before.Size
		}
	}
	if need > j.o.MaxBytes {
		return nil, ErrTooLarge
	}
	blobs := make(map[string][]byte)
	room := 2 * inlineMax
	for _, e := range r.Effects {
		st := e.Before
		if !st.file() || st.Size == 0 || blobs[st.Hash] != nil || e.From != "" {
			continue
		}
		if st.Size <= inlineMax && int(st.Size) <= room {
			data := r.before[st.Hash]
			if data == nil {
				var err error
				if data, err = j.core.readFile(ctx, e.Path); err != nil {
					return nil, err
				}
				if hashOf(data) != st.Hash {
					return nil, ErrConflict
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
		if err := j.store.copyBlob(ctx, j.core, e.Path, st.Hash); err != nil {
			return nil, err
		}
	}
	return blobs, nil
}

// Snapshot returns a name for the present state, for [Journal.UndoTo].
func (w *Journal) Snapshot() (string, error) {
	leave, err := w.j.enter(w.ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return strconv.FormatInt(w.j.last(), 10), nil
}

// Group makes all changes of fn through work one step for Undo, with a label for the
// history. If fn returns an error, its changes are undone before Group returns that error.
func (w *Journal) Group(ctx context.Context, label string, fn func(work FS) error) error {
	g := &group{label: label}
	err := fn(folderOf(context.WithValue(ctx, groupKey{}, g), w))
	if err == nil || g.id == 0 {
		return err
	}
	return errors.Join(err, w.revertGroup(context.WithoutCancel(ctx), g.id))
}

// permOf returns the permission bits for a new file or folder.
func permOf(perm fs.FileMode) uint32 { return uint32(perm.Perm()) }
