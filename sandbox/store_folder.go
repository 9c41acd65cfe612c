package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/bailey-go/bailey/fsaccess"
)

// FolderStore stores sessions in a folder. Natively this is a folder of the operating system. In a
// page it is the origin-private file system, which a browser may clear under storage pressure
// unless [fsaccess.Persist] was granted. Each session is a folder. Its messages are in files of 200
// messages each, one record a line, and a change rewrites one of them. After a crash during a Put
// each file has its old or its new content, never a part of it. Lock does not lock a session
// against other programs that use the same folder.
type FolderStore struct{ segmented }

// NewFolderStore returns a store in a folder that must not be used for anything else.
func NewFolderStore(fsys fsaccess.FS) *FolderStore {
	return &FolderStore{newSegmented(folderFiles{fsys})}
}

// folderFiles are the texts in a folder.
type folderFiles struct{ fs fsaccess.FS }

func segmentName(id string, n int) string { return fmt.Sprintf("%s/%06d.jsonl", id, n) }

func (f folderFiles) sessions(ctx context.Context, do func(id string, text []byte)) error {
	list, err := fsaccess.WithContext(ctx, f.fs).ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range list {
		if text, err := f.session(ctx, e.Name()); err == nil {
			do(e.Name(), text)
		}
	}
	return ctx.Err()
}

func (f folderFiles) session(ctx context.Context, id string) ([]byte, error) {
	return fsaccess.WithContext(ctx, f.fs).ReadFile(id + "/session.json")
}

func (f folderFiles) segments(ctx context.Context, id string) (files [][]byte, err error) {
	bound := fsaccess.WithContext(ctx, f.fs)
	for {
		data, err := bound.ReadFile(segmentName(id, len(files)))
		if errors.Is(err, fs.ErrNotExist) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		files = append(files, data)
	}
}

// write writes older segments first and the session's record last, so that no record refers to a
// missing one.
func (f folderFiles) write(ctx context.Context, id string, session []byte, segments map[int][]byte) error {
	bound := fsaccess.WithContext(ctx, f.fs)
	if err := bound.MkdirAll(id, 0o755); err != nil {
		return err
	}
	for _, n := range slices.Sorted(maps.Keys(segments)) {
		if err := bound.WriteFile(segmentName(id, n), segments[n], 0o600); err != nil {
			return err
		}
	}
	return bound.WriteFile(id+"/session.json", session, 0o600)
}

func (f folderFiles) remove(ctx context.Context, id string) error {
	return fsaccess.WithContext(ctx, f.fs).RemoveAll(id)
}
