package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// journalStore keeps records and before-images in a folder of its own:
//
//	log/0000000000000001   one file for each record
//	blobs/ab/abcdef…       before-images too large for their record
//
// A before-image is stored before the record that needs it, and the record before the
// change that it describes.
type journalStore struct {
	c core
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
func (s journalStore) list(ctx context.Context) ([]int64, error) {
	list, err := s.c.readDir(ctx, logFolder)
	if notExist(err) {
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

func (s journalStore) load(ctx context.Context, seq int64) (*record, error) {
	data, err := s.c.readFile(ctx, recordName(seq))
	if err != nil {
		return nil, err
	}
	r, err := decodeRecord(data)
	if err == nil && r.Seq != seq {
		err = ErrCorrupt
	}
	return r, err
}

func (s journalStore) has(ctx context.Context, seq int64) (bool, error) {
	_, err := s.c.stat(ctx, recordName(seq))
	if notExist(err) {
		return false, nil
	}
	return err == nil, err
}

// ahead begins the file of a record whose content is not known yet. It returns nil if the
// store gains nothing from that.
func (s journalStore) ahead(ctx context.Context, seq int64) *pending {
	c, ok := s.c.(newBeginner)
	if !ok {
		return nil
	}
	// No record has this number, because catchUp has checked. An empty file left by a crash
	// counts as a record that was cut off.
	return begin(func() (replacement, error) { return c.beginNew(ctx, recordName(seq)) })
}

func (s journalStore) save(ctx context.Context, r *record, blobs map[string][]byte) error {
	data, err := r.encode(blobs)
	if err != nil {
		return err
	}
	if r.ahead == nil {
		return s.write(ctx, recordName(r.Seq), data)
	}
	w, err := r.ahead.wait()
	r.ahead = nil // a second try begins again
	if notExist(err) {
		return s.write(ctx, recordName(r.Seq), data) // the folder does not exist yet
	}
	if err != nil {
		return err
	}
	defer w.abort()
	if c, ok := w.(committer); ok {
		return c.commitWith(ctx, data)
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.commit(ctx)
}

// write writes a file. It makes the folders only if they are missing.
func (s journalStore) write(ctx context.Context, name string, data []byte) error {
	err := writeWhole(ctx, s.c, name, data, 0o600)
	if !notExist(err) {
		return err
	}
	if err := mkdirs(ctx, s.c, parentOf(name)); err != nil {
		return err
	}
	return writeWhole(ctx, s.c, name, data, 0o600)
}

func mkdirs(ctx context.Context, c core, dir string) error {
	if dir == "." {
		return nil
	}
	err := c.mkdir(ctx, dir, 0o700)
	if notExist(err) {
		if err := mkdirs(ctx, c, parentOf(dir)); err != nil {
			return err
		}
		err = c.mkdir(ctx, dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (s journalStore) drop(ctx context.Context, seq int64) error {
	if err := s.c.remove(ctx, recordName(seq)); !notExist(err) {
		return err
	}
	return nil
}

func (s journalStore) hasBlob(ctx context.Context, hash string, size int64) (bool, error) {
	fi, err := s.c.stat(ctx, blobName(hash))
	if notExist(err) {
		return false, nil
	}
	return err == nil && fi.Size() == size, err
}

// copyBlob saves a large file under its hash.
func (s journalStore) copyBlob(ctx context.Context, src core, name, hash string) error {
	if err := mkdirs(ctx, s.c, parentOf(blobName(hash))); err != nil {
		return err
	}
	if _, err := copyFile(ctx, src, name, s.c, blobName(hash), nil); err != nil {
		return err
	}
	got, _, err := hashFile(ctx, s.c, blobName(hash))
	if err == nil && got != hash {
		err = errors.Join(ErrConflict, s.c.remove(ctx, blobName(hash)))
	}
	return err
}

// restore writes a before-image to a file, after it has verified the checksum.
func (s journalStore) restore(ctx context.Context, r *record, st state, dst core, name string) error {
	if st.Size == 0 && st.Hash == hashOf(nil) {
		return writeWhole(ctx, dst, name, nil, st.perm(0o666))
	}
	if _, ok := r.offset[st.Hash]; ok {
		data, err := s.inlined(ctx, r, st.Hash)
		if err != nil {
			return err
		}
		return writeWhole(ctx, dst, name, data, st.perm(0o666))
	}
	got, _, err := hashFile(ctx, s.c, blobName(st.Hash))
	if err != nil {
		return err
	}
	if got != st.Hash {
		return ErrCorrupt
	}
	in, err := s.c.open(ctx, blobName(st.Hash), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := dst.replace(ctx, name, st.perm(0o666))
	if err != nil {
		return err
	}
	defer out.abort()
	if _, err := pump(ctx, out, in, nil); err != nil {
		return err
	}
	return out.commit(ctx)
}

func (s journalStore) inlined(ctx context.Context, r *record, hash string) ([]byte, error) {
	data, err := s.c.readFile(ctx, recordName(r.Seq))
	if err != nil {
		return nil, err
	}
	for _, in := range r.Inline {
		if in.Hash != hash {
			continue
		}
		off := r.offset[hash]
		if off+in.Size > int64(len(data)) {
			return nil, ErrCorrupt
		}
		if data = data[off : off+in.Size]; hashOf(data) != hash {
			return nil, ErrCorrupt
		}
		return data, nil
	}
	return nil, ErrCorrupt
}

// content returns a whole before-image, for a diff.
func (s journalStore) content(ctx context.Context, r *record, st state) ([]byte, error) {
	if st.Size == 0 {
		return nil, nil
	}
	if _, ok := r.offset[st.Hash]; ok {
		return s.inlined(ctx, r, st.Hash)
	}
	data, err := s.c.readFile(ctx, blobName(st.Hash))
	if err == nil && hashOf(data) != st.Hash {
		err = ErrCorrupt
	}
	return data, err
}
