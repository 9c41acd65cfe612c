package fsaccess

import (
	"context"
	"errors"
	"io/fs"
)

// look returns the present state of a path.
func (j *journal) look(ctx context.Context, name string) (state, error) {
	st, _, err := j.lookRead(ctx, name)
	return st, err
}

// smallReader is a core that reads a small file together with its size.
type smallReader interface {
	readSmall(ctx context.Context, name string, max int64) (fs.FileInfo, []byte, error)
}

// lookRead is look that also returns the content, if it had to read the whole content
// anyway.
func (j *journal) lookRead(ctx context.Context, name string) (state, []byte, error) {
	var fi fs.FileInfo
	var data []byte
	var err error
	small, ok := j.core.(smallReader)
	if ok {
		fi, data, err = small.readSmall(ctx, name, inlineMax)
	} else {
		fi, err = j.core.stat(ctx, name)
	}
	if notExist(err) || errors.Is(err, errNotDir) {
		return state{}, nil, nil
	}
	if err != nil {
		return state{}, nil, err
	}
	return j.stateOf(ctx, name, fi, data, ok)
}

// stateOf returns the state for fi. If read is set and the file is small, data is its
// content. Otherwise the file is hashed.
func (j *journal) stateOf(ctx context.Context, name string, fi fs.FileInfo, data []byte, read bool) (state, []byte, error) {
	perm := uint32(fi.Mode().Perm())
	if fi.IsDir() {
		return state{Kind: "dir", Perm: perm}, nil, nil
	}
	if read && fi.Size() <= inlineMax {
		return state{"file", hashOf(data), int64(len(data)), perm}, data, nil
	}
	hash, size, err := hashFile(ctx, j.core, name)
	return state{"file", hash, size, perm}, nil, err
}
