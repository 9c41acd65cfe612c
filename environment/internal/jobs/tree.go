package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
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

// Save stores a snapshot of a folder and returns its sum. Only new contents are stored. Links and special
// files are not part of it.
func Save(ctx context.Context, s Store, dir *os.Root) (string, error) {
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
		sum, err := s.Put(ctx, data)
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
	return s.Put(ctx, text)
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

// Restore writes a snapshot into an empty folder.
func Restore(ctx context.Context, s Store, sum string, dir *os.Root) error {
	text, err := s.Get(ctx, sum)
	if err != nil {
		return err
	}
	var list []node
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("jobs: the snapshot %s: %w", sum, err)
	}
	for _, n := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !fs.ValidPath(n.Path) || n.Path == "." || n.Mode != n.Mode.Perm() {
			return fmt.Errorf("jobs: the snapshot %s has the path %q with mode %v", sum, n.Path, n.Mode)
		}
		if n.Sum == "" {
			err = dir.Mkdir(path.Clean(n.Path), n.Mode|0o700)
		} else {
			var data []byte
			if data, err = s.Get(ctx, n.Sum); err == nil {
				err = dir.WriteFile(path.Clean(n.Path), data, n.Mode)
			}
		}
		if err != nil {
			return fmt.Errorf("jobs: the snapshot %s: %w", sum, err)
		}
	}
	return nil
}
