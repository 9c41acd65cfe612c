package place

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// Limits of an archive, which a box has too.
const (
	maxArchive  = 32 << 20  // bytes
	maxUnpacked = 128 << 20 // bytes of its files
	maxFiles    = 5000
)

// Packed is the archive of a folder.
type Packed struct {
	Archive []byte
	Files   int
	Bytes   int64    // of the files
	Denied  []string // files that the policy keeps back
}

// Pack makes an archive of a folder's files. It leaves out those that the policy does not let a model read, those that a
// .gitignore of the folder names, and links. Progress is called with the number of files so far.
func Pack(ctx context.Context, folder fsaccess.FS, p protocol.FSPolicy, progress func(files int)) (out Packed, err error) {
	guarded := fsaccess.WithContext(ctx, fsaccess.Guard(folder, p, fsaccess.GuardOptions{}))
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	large := func(what string) (Packed, error) {
		return Packed{}, fmt.Errorf("this folder has more than %s, which can't be copied: open a smaller one, or name what is not needed in .gitignore", what)
	}
	for e, err := range fsaccess.Walk(ctx, folder, ".", fsaccess.WalkOptions{Gitignore: true}) {
		if err != nil {
			return Packed{}, err
		}
		if e.Dir || e.Link {
			continue
		}
		if p.Check(protocol.OpRead, e.Path) != nil {
			out.Denied = append(out.Denied, e.Path)
			continue
		}
		switch out.Bytes += e.Size; {
		case out.Files >= maxFiles:
			return large(fmt.Sprint(maxFiles, " files"))
		case out.Bytes > maxUnpacked || b.Len() > maxArchive:
			return large(fmt.Sprintf("%d MiB, or %d MiB packed", maxUnpacked>>20, maxArchive>>20))
		}
		data, err := guarded.ReadFile(e.Path)
		if _, refused := errors.AsType[*fsaccess.GuardError](err); refused {
			out.Denied = append(out.Denied, e.Path)
			continue
		}
		if err != nil {
			return Packed{}, err
		}
		w, err := z.Create(e.Path)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			return Packed{}, err
		}
		out.Files++
		progress(out.Files)
	}
	if err := z.Close(); err != nil {
		return Packed{}, err
	}
	if b.Len() > maxArchive {
		return large(fmt.Sprintf("%d MiB packed", maxArchive>>20))
	}
	out.Archive = b.Bytes()
	return out, nil
}

// Arrived are changes of a box that the user has not reviewed yet. The folder is as it was.
type Arrived struct {
	// Work is a copy of the folder with the changes, each of them a step.
	Work *fsaccess.Journal
	// Beside are files that were changed here meanwhile: the box's content is in a file of the second name.
	Beside [][2]string
	// LeftOut are changes that were not taken, with the reasons.
	LeftOut []Left

	folder fsaccess.FS
	over   *fsaccess.Overlay
}

// Cause is the cause of the steps.
const Cause = "a box elsewhere"

// Arrive unpacks the changes of a box into a copy of the folder. It changes nothing in the folder. The policy decides which
// files may not be written, and ask is called about dangerous kinds of content.
func Arrive(ctx context.Context, archive []byte, folder fsaccess.FS, p protocol.FSPolicy, ask func(context.Context, fsaccess.Question) (bool, error)) (*Arrived, error) {
	odd := errors.New("the box sent changes in another form than a bailey-box does: nothing was taken")
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil || len(z.File) == 0 || len(z.File) > maxFiles+1 || z.File[0].Name != "changes.json" {
		return nil, odd
	}
	room := int64(maxUnpacked)
	text, err := content(z.File[0], &room)
	var list struct {
		Files   []struct{ Path, Was string }
		Removed []struct{ Path, Was string }
		LeftOut []Left `json:"left_out"`
	}
	if err != nil || json.Unmarshal(text, &list) != nil || len(list.Files) != len(z.File)-1 {
		return nil, odd
	}
	if all, err := protocol.ParsePattern("."); err == nil && len(p.AllowWrite) == 0 {
		p.AllowWrite = []protocol.Pattern{all} // the user reviews each change, and DenyWrite holds
	}
	memory := fsaccess.MemoryOptions{MaxBytes: 2 * maxUnpacked}
	a := &Arrived{folder: folder, over: fsaccess.NewOverlay(folder, fsaccess.NewMemory(memory)), LeftOut: list.LeftOut}
	a.Work = fsaccess.NewJournal(a.over, fsaccess.NewMemory(memory), fsaccess.JournalOptions{})
	plain := fsaccess.WithContext(ctx, fsaccess.Guard(a.Work, p, fsaccess.GuardOptions{Ask: ask}))
	guarded := fsaccess.WithContext(fsaccess.WithCause(ctx, Cause), plain)
	refused := func(name string, err error) bool {
		g, ok := errors.AsType[*fsaccess.GuardError](err)
		if !ok && !errors.Is(err, fs.ErrInvalid) {
			return false
		}
		reason := "its name can't be used here"
		if ok {
			reason = g.Error()
		}
		a.LeftOut = append(a.LeftOut, Left{name, reason})
		return true
	}
	for _, c := range list.Removed { // first, as a folder may be in the place of a file
		now, err := sum(folder, c.Path)
		if err != nil {
			continue
		}
		if now != c.Was {
			a.LeftOut = append(a.LeftOut, Left{c.Path, "it was removed there, and changed here: it stays"})
			continue
		}
		if err := guarded.Remove(c.Path); err != nil && !refused(c.Path, err) {
			return nil, err
		}
	}
	for i, c := range list.Files {
		f := z.File[i+1]
		if f.Name != "files/"+c.Path || f.Mode().Type() != 0 {
			return nil, odd
		}
		data, err := content(f, &room)
		if err != nil {
			return nil, odd
		}
		name := c.Path
		if !fs.ValidPath(name) {
			refused(name, fs.ErrInvalid)
			continue
		}
		if now, err := sum(folder, name); err == nil && now != c.Was {
			if now == of(data) {
				continue // it was taken before
			}
			if name, err = free(a.Work, name); err != nil {
				return nil, err
			}
			a.Beside = append(a.Beside, [2]string{c.Path, name})
		}
		err = nil
		if up := path.Dir(name); up != "." {
			err = plain.MkdirAll(up, 0o755) // of no interest in a review
		}
		if err == nil {
			err = guarded.WriteFile(name, data, 0o644)
		}
		if err != nil && !refused(name, err) {
			return nil, err
		}
	}
	return a, nil
}

// content unpacks a file within the room that is left.
func content(f *zip.File, room *int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, *room+1))
	if *room -= int64(len(data)); err == nil && *room < 0 {
		err = errors.New("too large")
	}
	return data, err
}

func of(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func sum(folder fsaccess.FS, name string) (string, error) {
	data, err := folder.ReadFile(name)
	return of(data), err
}

// free returns a name for the box's content beside a file that was changed here.
func free(folder fsaccess.FS, name string) (string, error) {
	dir, base := path.Split(name)
	ext := path.Ext(base)
	if ext == base { // .gitignore
		ext = ""
	}
	for n := 1; n < 1000; n++ {
		mark := " (from the box)"
		if n > 1 {
			mark = fmt.Sprintf(" (from the box %d)", n)
		}
		free := dir + strings.TrimSuffix(base, ext) + mark + ext
		if _, err := folder.Stat(free); err != nil {
			return free, nil
		}
	}
	return "", &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
}

// Changes returns the files that Apply would change.
func (a *Arrived) Changes(ctx context.Context) (out []fsaccess.FileChange, err error) {
	list, err := a.over.Diff(ctx)
	for _, c := range list {
		if c.Dir {
			continue // made with its files
		}
		if c.Kind == fsaccess.Changed { // perhaps the user has left it out
			was, err1 := sum(a.folder, c.Path)
			now, err2 := sum(a.over, c.Path)
			if err1 == nil && err2 == nil && was == now {
				continue
			}
		}
		out = append(out, c)
	}
	return out, err
}

// Apply makes the changes in the folder, as one step for undo if it is a journal. If a file was changed there since
// Arrive, nothing is changed and the error is a [*fsaccess.ConflictError].
func (a *Arrived) Apply(ctx context.Context) ([]fsaccess.FileChange, error) {
	list, err := a.Changes(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var paths []string
	for _, c := range list {
		paths = append(paths, c.Path)
	}
	_, err = a.over.Apply(ctx, paths...)
	return list, err
}
