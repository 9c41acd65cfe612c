package gate

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// Features returns the abilities of the folder.
func (f Folder) Features() fsaccess.Features {
	return fsaccess.WithContext(context.Background(), f.fs).Features()
}

// Chmod sets the permission bits of a file or folder. They are no content, so a journal does not undo them.
func (f Folder) Chmod(ctx context.Context, p Permit, path string, mode fs.FileMode) error {
	return f.adjust(ctx, p, path, func(bound *fsaccess.Folder) error { return bound.Chmod(path, mode) })
}

// Chtimes sets the modification time of a file or folder.
func (f Folder) Chtimes(ctx context.Context, p Permit, path string, t time.Time) error {
	return f.adjust(ctx, p, path, func(bound *fsaccess.Folder) error { return bound.Chtimes(path, t, t) })
}

func (f Folder) adjust(ctx context.Context, p Permit, path string, do func(*fsaccess.Folder) error) error {
	if err := p.Check(write(protocol.OpWrite, path)); err != nil {
		return err
	}
	end, err := f.still.change(path)
	if err != nil {
		return err
	}
	defer end()
	return do(fsaccess.WithContext(ctx, f.fs))
}

// Symlink makes a symbolic link. The permit must cover writing the link and reading the name to which it leads. The link leads no
// further than the folder, and not to a file that may not be read or written: other programs of the user would follow it.
func (f Folder) Symlink(ctx context.Context, p Permit, target, name string) error {
	to := path.Join(path.Dir(name), target)
	if path.IsAbs(target) || to == ".." || strings.HasPrefix(to, "../") {
		return protocol.Errorf(protocol.ErrCapabilityDenied, "link", name, "the link would lead out of the folder")
	}
	if err := p.Check(write(protocol.OpWrite, name)); err != nil {
		return err
	}
	if err := p.Check(read(to)); err != nil {
		return err
	}
	end, err := f.still.change(name)
	if err != nil {
		return err
	}
	defer end()
	if err := p.carries(to, name); err != nil {
		return err
	}
	return fsaccess.WithContext(ctx, f.fs).Symlink(target, name)
}

// ReadLink returns the target of a symbolic link. The permit must cover reading the link.
func (f Folder) ReadLink(ctx context.Context, p Permit, path string) (string, error) {
	if err := p.Check(read(path)); err != nil {
		return "", err
	}
	return fsaccess.WithContext(ctx, f.fs).ReadLink(path)
}

// maxHops is the number of links that Follow follows, as in Linux.
const maxHops = 40

// Follow returns the path to which a path leads when its links are followed, the last element only if last is set. It takes no permit
// and opens nothing: the caller asks about the returned path, and acts on that path. A link that takes its place meanwhile is
// refused by the folder, which follows none. A link that the policy does not let the session read is not followed.
func (f Folder) Follow(ctx context.Context, name string, last bool) (string, error) {
	bound := fsaccess.WithContext(ctx, f.fs)
	if !bound.Features().Links {
		return name, nil
	}
	isLink := func(fi fs.FileInfo, err error) bool { return err == nil && fi.Mode()&fs.ModeSymlink != 0 }
	if fi, err := bound.Stat(name); !errors.Is(err, fsaccess.ErrLink) && !(last && isLink(fi, err)) {
		return name, nil
	}
	done, rest := ".", strings.Split(name, "/")
	for hops := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if done == "." {
				return "", &fs.PathError{Op: "open", Path: name, Err: errOut}
			}
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, part)
		if fi, err := bound.Stat(next); !isLink(fi, err) || len(rest) == 0 && !last {
			done = next
			continue
		}
		if hops++; hops > maxHops {
			return "", &fs.PathError{Op: "open", Path: name, Err: errLoop}
		}
		to, err := bound.ReadLink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(to) || strings.Contains(to, "\\") {
			return "", &fs.PathError{Op: "open", Path: name, Err: errOut}
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return done, nil
}

var (
	errOut = protocol.Errorf(protocol.ErrCapabilityDenied, "open", "", "a link leads out of the folder, so it is not followed")
	//lint:ignore ST1005 the shell's users know it by these words
	errLoop = errors.New("Too many levels of symbolic links")
)
