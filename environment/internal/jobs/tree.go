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

// Node is a file or a folder of a snapshot.
type Node struct {
	Path string      `json:"path"`
	Mode fs.FileMode `json:"mode"`          // its permissions
	Sum  string      `json:"sum,omitempty"` // the SHA-256 of a file's content in hex, and empty for a folder
}

// check refuses a node that a snapshot can't have.
func (n Node) check() error {
	if !fs.ValidPath(n.Path) || n.Path == "." || n.Mode != n.Mode.Perm() || n.Sum != "" && !sumName.MatchString(n.Sum) {
		return fmt.Errorf("the path %q with mode %v", n.Path, n.Mode)
	}
	return nil
}

// Write makes the file or folder in dir, which has none of its path yet. Its path leads out of no folder.
func (n Node) Write(dir *os.Root, data []byte) error {
	if err := n.check(); err != nil {
		return err
	}
	if n.Sum == "" {
		return dir.Mkdir(path.Clean(n.Path), n.Mode|0o700)
	}
	return dir.WriteFile(path.Clean(n.Path), data, n.Mode)
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

// save stores a snapshot of a folder of a job and returns its sum. Only new contents are stored.
func save(ctx context.Context, s Store, job string, dir *os.Root, known seen) (string, error) {
	r := NewRecording(s, job, known)
	if err := Walk(ctx, dir, func(n Node, data []byte) error { return r.Add(ctx, n, data) }); err != nil {
		return "", fmt.Errorf("jobs: the snapshot: %w", err)
	}
	return r.End(ctx)
}

// Walk calls each for the folders and files below dir, a folder before its contents. Links and special files are not part
// of a snapshot. It is an error if there are more than 20,000 or they have more than 256 MiB.
func Walk(ctx context.Context, dir *os.Root, each func(n Node, data []byte) error) error {
	room, number := int64(maxBytes), 0
	return fs.WalkDir(dir.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || name == "." || !d.IsDir() && !d.Type().IsRegular() {
			return err
		}
		if number++; number > maxFiles {
			return fmt.Errorf("the folder has more than %d files", maxFiles)
		}
		if d.IsDir() {
			info, err := d.Info()
			if err == nil {
				err = each(Node{Path: name, Mode: info.Mode().Perm()}, nil)
			}
			return err
		}
		data, mode, err := content(dir, name, room)
		if err != nil || !mode.IsRegular() {
			return err
		}
		room -= int64(len(data))
		h := sha256.Sum256(data)
		return each(Node{name, mode.Perm(), hex.EncodeToString(h[:])}, data)
	})
}

// Recording stores a snapshot of a folder that another program sends. Nothing of it is trusted.
type Recording struct {
	s     Store
	job   string
	known seen
	list  []Node
	room  int64
}

// NewRecording returns a recording for a job. The contents that known has are in the store already, and it gets new ones.
func NewRecording(s Store, job string, known map[string]bool) *Recording {
	return &Recording{s, job, known, []Node{}, maxBytes}
}

// Add stores a node with its content. The content of a known sum may be nil.
func (r *Recording) Add(ctx context.Context, n Node, data []byte) error {
	if err := n.check(); err != nil {
		return fmt.Errorf("jobs: a snapshot can't have %w", err)
	}
	if r.room -= int64(len(data)); len(r.list) >= maxFiles || r.room < 0 {
		return fmt.Errorf("jobs: a snapshot has at most %d files and %d bytes", maxFiles, maxBytes)
	}
	if n.Sum != "" && !r.known[n.Sum] {
		sum, err := r.s.Put(ctx, r.job, data)
		if err != nil {
			return err
		}
		if sum != n.Sum {
			return fmt.Errorf("jobs: the content of %q has another sum", n.Path)
		}
		r.known[sum] = true
	}
	r.list = append(r.list, n)
	return nil
}

// End stores the list of the nodes and returns its sum.
func (r *Recording) End(ctx context.Context) (string, error) {
	text, err := json.Marshal(r.list)
	if err != nil {
		return "", err
	}
	return r.known.put(ctx, r.s, r.job, text)
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
	list, err := Nodes(ctx, s, job, sum)
	for _, n := range list {
		if n.Sum != "" {
			out = append(out, File(n))
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, err
}

// Nodes returns a snapshot of a job, a folder before its contents. The store may be wrong, so each path and mode is checked.
func Nodes(ctx context.Context, s Store, job, sum string) (list []Node, err error) {
	text, err := s.Get(ctx, job, sum)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("jobs: the snapshot %s: %w", sum, err)
	}
	for _, n := range list {
		if err := n.check(); err != nil {
			return nil, fmt.Errorf("jobs: the snapshot %s has %w", sum, err)
		}
	}
	return list, nil
}

// restore writes a snapshot of a job into an empty folder.
func restore(ctx context.Context, s Store, job, sum string, dir *os.Root, known seen) error {
	list, err := Nodes(ctx, s, job, sum)
	if err != nil {
		return err
	}
	known[sum] = true
	for _, n := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		var data []byte
		if n.Sum != "" {
			if data, err = s.Get(ctx, job, n.Sum); err == nil {
				known[n.Sum] = true
			}
		}
		if err == nil {
			err = n.Write(dir, data)
		}
		if err != nil {
			return fmt.Errorf("jobs: the snapshot %s: %w", sum, err)
		}
	}
	return nil
}
