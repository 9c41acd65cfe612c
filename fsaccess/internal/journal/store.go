package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// store keeps records and before-images in a folder of its own:
//
//	log/0000000000000001   one file for each record
//	blobs/ab/abcdef…       before-images too large for their record
//
// A before-image is stored before the record that needs it, and the record before the
// change that it describes.
type store struct {
	c core.Core
}

const (
	inlineMax  = 32 << 10 // a before-image of at most this size goes into its record
	memoryMax  = 4 << 20  // a before-image of at most this size is in memory while it is saved
	seqDigits  = 16
	logFolder  = "log"
	blobFolder = "blobs"
)

func recordName(seq int64) string { return fmt.Sprintf("%s/%0*d", logFolder, seqDigits, seq) }

func blobName(hash string) string { return blobFolder + "/" + hash[:2] + "/" + hash }

// list returns the numbers of the stored records, sorted.
func (s store) list(ctx context.Context) ([]int64, error) {
	list, err := s.c.ReadDir(ctx, logFolder)
	if core.NotExist(err) {
		return nil, nil
	}
	var out []int64
	for _, e := range list {
		if n, err := strconv.ParseInt(e.Name(), 10, 64); err == nil && len(e.Name()) == seqDigits && n > 0 {
			out = append(out, n)
		}
	}
	return out, err
}

func (s store) load(ctx context.Context, seq int64) (*record, error) {
	data, err := s.c.ReadFile(ctx, recordName(seq))
	if err != nil {
		return nil, err
	}
	r, err := decodeRecord(data)
	if err == nil && r.Seq != seq {
		err = core.ErrCorrupt
	}
	return r, err
}

func (s store) has(ctx context.Context, seq int64) (bool, error) {
	_, err := s.c.Stat(ctx, recordName(seq))
	if core.NotExist(err) {
		return false, nil
	}
	return err == nil, err
}

// ahead begins the file of a record whose content is not known yet. It returns nil if the
// store gains nothing from that.
func (s store) ahead(ctx context.Context, seq int64) *core.Pending {
	c, ok := s.c.(core.NewBeginner)
	if !ok {
		return nil
	}
	// No record has this number, because catchUp has checked. An empty file left by a crash
	// counts as a record that was cut off.
	return core.Begin(func() (core.Replacement, error) { return c.BeginNew(ctx, recordName(seq)) })
}

func (s store) save(ctx context.Context, r *record, blobs map[string][]byte) error {
	data, err := r.encode(blobs)
	if err != nil {
		return err
	}
	if r.ahead == nil {
		return core.WriteDeep(ctx, s.c, recordName(r.Seq), data)
	}
	w, err := r.ahead.Wait()
	r.ahead = nil // a second try begins again
	if core.NotExist(err) {
		return core.WriteDeep(ctx, s.c, recordName(r.Seq), data) // the folder does not exist yet
	}
	if err != nil {
		return err
	}
	defer w.Abort()
	if c, ok := w.(core.Committer); ok {
		return c.CommitWith(ctx, data)
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Commit(ctx)
}

func (s store) drop(ctx context.Context, seq int64) error {
	if err := s.c.Remove(ctx, recordName(seq)); !core.NotExist(err) {
		return err
	}
	return nil
}

func (s store) hasBlob(ctx context.Context, hash string, size int64) (bool, error) {
	fi, err := s.c.Stat(ctx, blobName(hash))
	if core.NotExist(err) {
		return false, nil
	}
	return err == nil && fi.Size() == size, err
}

// copyBlob saves a large file under its hash.
func (s store) copyBlob(ctx context.Context, src core.Core, name, hash string) error {
	if err := core.Mkdirs(ctx, s.c, core.ParentOf(blobName(hash))); err != nil {
		return err
	}
	if _, err := core.CopyFile(ctx, src, name, s.c, blobName(hash), nil); err != nil {
		return err
	}
	got, _, err := core.HashFile(ctx, s.c, blobName(hash))
	if err == nil && got != hash {
		err = errors.Join(core.ErrConflict, s.c.Remove(ctx, blobName(hash)))
	}
	return err
}

// restore writes a before-image to a file, after it has verified the checksum.
func (s store) restore(ctx context.Context, r *record, st state, dst core.Core, name string) error {
	if st.link() {
		return s.relink(ctx, r, st, dst, name)
	}
	if st.Size == 0 && st.Hash == core.HashOf(nil) {
		return core.WriteWhole(ctx, dst, name, nil, st.perm(0o666))
	}
	if _, ok := r.offset[st.Hash]; ok {
		data, err := s.inlined(ctx, r, st.Hash)
		if err != nil {
			return err
		}
		return core.WriteWhole(ctx, dst, name, data, st.perm(0o666))
	}
	got, _, err := core.HashFile(ctx, s.c, blobName(st.Hash))
	if err != nil {
		return err
	}
	if got != st.Hash {
		return core.ErrCorrupt
	}
	in, err := s.c.Open(ctx, blobName(st.Hash), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := dst.Replace(ctx, name, st.perm(0o666))
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := core.Pump(ctx, out, in, nil); err != nil {
		return err
	}
	return out.Commit(ctx)
}

// relink makes a link again. Its target is always in the record itself.
func (s store) relink(ctx context.Context, r *record, st state, dst core.Core, name string) error {
	data, err := s.inlined(ctx, r, st.Hash)
	if err != nil {
		return err
	}
	err = core.Symlink(ctx, dst, string(data), name)
	if errors.Is(err, core.ErrExist) {
		if to, rerr := core.ReadLink(ctx, dst, name); rerr == nil && to == string(data) {
			err = nil // it was made before a crash
		}
	}
	return err
}

func (s store) inlined(ctx context.Context, r *record, hash string) ([]byte, error) {
	data, err := s.c.ReadFile(ctx, recordName(r.Seq))
	if err != nil {
		return nil, err
	}
	for _, in := range r.Inline {
		if in.Hash != hash {
			continue
		}
		off := r.offset[hash]
		if off+in.Size > int64(len(data)) {
			return nil, core.ErrCorrupt
		}
		if data = data[off : off+in.Size]; core.HashOf(data) != hash {
			return nil, core.ErrCorrupt
		}
		return data, nil
	}
	return nil, core.ErrCorrupt
}

// content returns a whole before-image, for a diff.
func (s store) content(ctx context.Context, r *record, st state) ([]byte, error) {
	if st.Size == 0 {
		return nil, nil
	}
	if _, ok := r.offset[st.Hash]; ok {
		return s.inlined(ctx, r, st.Hash)
	}
	data, err := s.c.ReadFile(ctx, blobName(st.Hash))
	if err == nil && core.HashOf(data) != st.Hash {
		err = core.ErrCorrupt
	}
	return data, err
}
