package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Limits of a snapshot.
const (
	maxFiles = 20_000
	maxBytes = 256 << 20
)

// node is a file or a folder of a snapshot.
type node struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"`          // its permissions
	Sum  string      `json:"sum,omitempty"` // of a file's content, and empty for a folder
}

// seen are the contents of a job that are in its store. It saves the store from being asked for each file.
type seen map[string]bool

// put stores a content that was not seen yet.
func (k seen) put(ctx context.Context, s Store, job string, data []byte) (string, error) {
	h := sha256.Sum256(data)
	sum := hex.EncodeToString(h[:])
	if k[sum] {
		return sum, nil
	}
	sum, err := s.Put(ctx, job, data)
	if err == nil {
		k[sum] = true
	}
	return sum, err
}

// save stores a snapshot of a folder of a job and returns its sum. Only new contents are stored. Links and special
// files are not part of it.
func save(ctx context.Context, s Store, job string, dir *os.Root, known seen) (string, error) {
	list := []node{}
	room := int64(maxBytes)
	err := fs.WalkDir(dir.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || name == "." || !d.IsDir() && !d.Type().IsRegular() {
			return err
		}
		if len(list) >= maxFiles {
			return fmt.Errorf("the folder has more than %d files", maxFiles)
		}
		if d.IsDir() {
			info, err := d.Info()
			if err == nil {
				list = append(list, node{Path: name, Mode: info.Mode().Perm()})
			}
			return err
		}
		data, mode, err := content(dir, name, room)
		if err != nil || !mode.IsRegular() {
			return err
		}
		room -= int64(len(data))
		sum, err := known.put(ctx, s, job, data)
		list = append(list, node{Path: name, Mode: mode.Perm(), Sum: sum})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("jobs: the snapshot: %w", err)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	return known.put(ctx, s, job, text)
}

// content reads a file of at most room bytes. The job may change the folder meanwhile: a file that grows is read no
// further, and opening one that has become a special file neither waits for its other end nor reads it.
func content(dir *os.Root, name string, room int64) ([]byte, fs.FileMode, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fs.ModeIrregular, err
	}
	data, err := io.ReadAll(io.LimitReader(f, room+1))
	if err == nil && int64(len(data)) > room {
		err = fmt.Errorf("the folder has more than %d bytes", maxBytes)
	}
	return data, info.Mode(), err
}

// A File is a file of a snapshot.
type File struct {
	Path string
	Mode fs.FileMode // its permissions
	Sum  string      // the SHA-256 of its content, by which [Store.Get] returns it
}

// Files returns the files of a snapshot of a job in the order of their paths. An empty sum has none.
func Files(ctx context.Context, s Store, job, sum string) (out []File, err error) {
	if sum == "" {
		return nil, nil
	}
	list, err := nodes(ctx, s, job, sum)
	for _, n := range list {
		if n.Sum != "" {
			out = append(out, File(n))
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, err
}

// nodes reads a snapshot. The store may be wrong, so each path and mode is checked.
func nodes(ctx context.Context, s Store, job, sum string) (list []node, err error) {
	text, err := s.Get(ctx, job, sum)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("jobs: the snapshot %s: %w", sum, err)
	}
	for _, n := range list {
		if !fs.ValidPath(n.Path) || n.Path == "." || n.Mode != n.Mode.Perm() {
			return nil, fmt.Errorf("jobs: the snapshot %s has the path %q with mode %v", sum, n.Path, n.Mode)
		}
	}
	return list, nil
}

// restore writes a snapshot of a job into an empty folder.
func restore(ctx context.Context, s Store, job, sum string, dir *os.Root, known seen) error {
	list, err := nodes(ctx, s, job, sum)
	if err != nil {
		return err
	}
	known[sum] = true
	for _, n := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if n.Sum == "" {
			err = dir.Mkdir(path.Clean(n.Path), n.Mode|0o700)
		} else {
			var data []byte
			if data, err = s.Get(ctx, job, n.Sum); err == nil {
				known[n.Sum] = true
				err = dir.WriteFile(path.Clean(n.Path), data, n.Mode)
			}
		}
		if err != nil {
			return fmt.Errorf("jobs: the snapshot %s: %w", sum, err)
		}
	}
	return nil
}
