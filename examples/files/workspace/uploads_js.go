package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

// An upload is gone with the page. So its files are copied into the origin private file system, below
// uploads: a folder for each, with the files, and a file that has its name once all files are there.
const uploads = "files-uploads"

// The limits of an upload that is kept. A larger one is gone with the page, and the page states so.
const (
	keptBytes = 512 << 20
	keptFiles = 20_000
)

const uploadSuffix = " (uploaded)"

func key(name string) string { return fmt.Sprintf("%x", name) }

// uploaded opens an upload, and copies its files meanwhile.
func (w *Workspace) uploaded(f *fsaccess.Folder, err error) error {
	if err != nil {
		return w.chosen(f, "", err)
	}
	base := cmp.Or(f.Name(), "your files")
	name := base + uploadSuffix
	kept := w.stored()
	for n := 2; slices.Contains(kept, name); n++ {
		name = fmt.Sprintf("%s%s %d", base, uploadSuffix, n)
	}
	p := place{folder: f, name: name}
	if err := w.mayKeep(f); err != nil {
		w.keeping = "It is gone when you close this page, because " + err.Error() + ": download it before."
		return w.use(p)
	}
	p.kept = "up-" + key(name)
	w.keeping = "It is being stored in this browser…"
	if err := w.use(p); err != nil {
		return err
	}
	go w.keep(p)
	return nil
}

// mayKeep returns why the files of an upload can't be kept.
func (w *Workspace) mayKeep(f *fsaccess.Folder) error {
	if _, err := fsaccess.OPFS(w.ctx, uploads); err != nil {
		return fmt.Errorf("this browser stores no files")
	}
	size, files := int64(0), 0
	for e, err := range fsaccess.Walk(w.ctx, f, ".", fsaccess.WalkOptions{}) {
		if err != nil {
			return err
		}
		size, files = size+e.Size, files+1
	}
	room := int64(keptBytes)
	if s, err := fsaccess.StorageEstimate(w.ctx); err == nil {
		room = min(room, (s.Quota-s.Usage)/2)
	}
	if size > room || files > keptFiles {
		return fmt.Errorf("it is too large to be stored here")
	}
	return nil
}

// keep copies the files of an upload.
func (w *Workspace) keep(p place) {
	dir, err := fsaccess.OPFS(w.ctx, uploads+"/"+key(p.name)+"/files")
	if err == nil {
		err = fsaccess.Copy(w.ctx, dir, ".", p.folder, ".", fsaccess.CopyOptions{})
	}
	if err == nil {
		var above *fsaccess.Folder
		if above, err = fsaccess.OPFS(w.ctx, uploads+"/"+key(p.name)); err == nil {
			err = above.WriteFile("name", []byte(p.name), 0o644)
		}
	}
	w.Lock.Lock()
	defer w.Lock.Unlock()
	if w.name != p.name {
		return
	}
	w.keeping = "It is stored in this browser, with your changes."
	if err != nil {
		w.keeping = "It is gone when you close this page, because it could not be stored: download it before."
		w.place.kept = ""
	}
	_, err = w.pending()
	dom.Failed(plain(err))
}

// stored returns the names of the uploads that are kept.
func (w *Workspace) stored() (names []string) {
	dir, err := fsaccess.OPFS(w.ctx, uploads)
	if err != nil {
		return nil
	}
	list, _ := dir.ReadDir(".")
	for _, e := range list {
		name, err := dir.ReadFile(e.Name() + "/name")
		if err == nil && key(string(name)) == e.Name() && strings.Contains(string(name), uploadSuffix) {
			names = append(names, string(name))
		}
	}
	return names
}

// again opens an upload that is kept.
func (w *Workspace) again(name string) error {
	dir, err := fsaccess.OPFS(w.ctx, uploads+"/"+key(name)+"/files")
	if err != nil {
		return err
	}
	w.keeping = "It is stored in this browser, with your changes."
	return w.use(place{folder: fsaccess.FromFS(dir), name: name, kept: "up-" + key(name)})
}

// forget removes an upload that is kept, and the changes in it.
func (w *Workspace) forget(name string) error {
	for dir, sub := range map[string]string{uploads: key(name), "files-copy": "up-" + key(name)} {
		f, err := fsaccess.OPFS(w.ctx, dir)
		if err == nil {
			err = f.RemoveAll(sub)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
