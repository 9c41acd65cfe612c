package daemon

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
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/chat"
	"github.com/bailey-go/bailey/protocol"
)

// Limits of the files that a client copies in, and of the changes that it takes.
const (
	MaxArchive  = 32 << 20  // bytes of an archive that comes in
	MaxUnpacked = 128 << 20 // bytes of its files, or of changed ones
	MaxFiles    = 5000      // its files and folders, or changed files
	maxWalked   = 100_000   // files and folders that are looked at for changes
)

// Version is the version of the requests of this package. A client refuses another one.
const Version = 1

// Wall is a protection that holds around the box, for the user.
type Wall struct {
	Name string `json:"name"`
	How  string `json:"how"`
}

// base is the state of the folder that a client copied in.
type base struct {
	id    string
	bytes int64
	sums  map[string]string // the SHA-256 of each file, in hex
}

// Left is a file that was not taken over.
type Left struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Changed is a file that differs from the one that was copied in, whose SHA-256 is Was. Was is empty without one.
type Changed struct {
	Path string `json:"path"`
	Was  string `json:"was,omitempty"`
}

// Difference is the file changes.json of an archive of changes.
type Difference struct {
	ID      string    `json:"id"`
	Files   []Changed `json:"files"`
	Removed []Changed `json:"removed"`
	LeftOut []Left    `json:"left_out"`
}

// Refusal is an error with the status of its answer.
type Refusal struct {
	Status int
	Text   string
}

// Error returns the text.
func (r Refusal) Error() string { return r.Text }

func refuse(w http.ResponseWriter, err error) {
	if r, ok := errors.AsType[Refusal](err); ok {
		fail(w, r.Status, err)
		return
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		fail(w, http.StatusRequestEntityTooLarge, fmt.Errorf("the archive has more than %d bytes", MaxArchive))
		return
	}
	fail(w, http.StatusInternalServerError, err)
}

// An Entry is a file of an archive.
type Entry struct {
	Name string
	Sum  string // the SHA-256 of its content, in hex
	Size int64
	file *zip.File
}

// Content returns the content of the file.
func (e Entry) Content() ([]byte, error) {
	var b bytes.Buffer
	_, err := copyOut(&b, e.file, e.Size)
	return b.Bytes(), err
}

// Unpack checks an archive as a whole, and returns its files. An error is a [Refusal] or that of ctx.
func Unpack(ctx context.Context, data []byte) ([]Entry, error) { return unpack(ctx, data, off{}) }

func unpack(ctx context.Context, data []byte, off off) (list []Entry, err error) {
	total := int64(0)
	bad := func(format string, args ...any) ([]Entry, error) {
		return nil, Refusal{http.StatusUnprocessableEntity, fmt.Sprintf(format, args...)}
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // the names are checked below
		return bad("this is no ZIP archive: %v", err)
	}
	if len(z.File) > MaxFiles && !off.limits {
		return nil, Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the archive has %d files and folders, and %d are the most", len(z.File), MaxFiles)}
	}
	kinds := map[string]bool{} // of the names: true is a file's
	for _, f := range z.File {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name, folder := strings.CutSuffix(f.Name, "/")
		if !off.names && (!fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\x00\\")) {
			return bad("%q is no name in the folder", f.Name)
		}
		if kind := f.Mode().Type(); !off.names && (folder && kind != fs.ModeDir || !folder && kind != 0) {
			return bad("%q is a link or a special file", f.Name)
		}
		if folder {
			continue
		}
		if _, twice := kinds[name]; twice && !off.names {
			return bad("%q is in the archive twice, or is a file and a folder", f.Name)
		}
		kinds[name] = true
		for up := path.Dir(name); up != "." && up != "/"; up = path.Dir(up) {
			if kinds[up] && !off.names {
				return bad("%q is in the archive as a file and as a folder", up)
			}
			kinds[up] = false
		}
		e := Entry{Name: name, file: f}
		room := MaxUnpacked - total
		if off.limits {
			room = 1 << 40
		}
		h := sha256.New()
		if e.Size, err = copyOut(h, f, room+1); err != nil {
			return bad("%q is damaged: %v", f.Name, err)
		}
		if e.Size > room {
			return nil, Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the archive's files have more than %d bytes", MaxUnpacked)}
		}
		e.Sum = hex.EncodeToString(h.Sum(nil))
		total += e.Size
		list = append(list, e)
	}
	return list, nil
}

// copyOut unpacks at most n bytes of a file.
func copyOut(w io.Writer, f *zip.File, n int64) (int64, error) {
	r, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return io.Copy(w, io.LimitReader(r, n))
}

// guarded returns the folder with the checks of names that apply everywhere. Its contents are the user's own.
func (d *daemon) guarded(ctx context.Context) *fsaccess.Folder {
	kinds := map[fsaccess.Kind]protocol.Action{}
	for _, k := range []fsaccess.Kind{fsaccess.KindExecutable, fsaccess.KindScript, fsaccess.KindShortcut, fsaccess.KindMacro, fsaccess.KindActive, fsaccess.KindAutorun, fsaccess.KindArchive} {
		kinds[k] = protocol.ActionAllow
	}
	var p protocol.FSPolicy
	if all, err := protocol.ParsePattern("."); err == nil {
		p.AllowWrite = []protocol.Pattern{all}
	}
	return fsaccess.WithContext(ctx, fsaccess.Guard(d.o.Files, p, fsaccess.GuardOptions{Kinds: kinds}))
}

// put copies the files of an archive into the folder, in place of its present files.
func (d *daemon) put(w http.ResponseWriter, r *http.Request) {
	id, files, size, out, err := d.replace(r)
	if err != nil {
		refuse(w, err)
		return
	}
	send(w, map[string]any{"id": id, "files": files, "bytes": size, "left_out": out})
}

func (d *daemon) replace(r *http.Request) (id string, files int, size int64, out []Left, err error) {
	no := func(err error) (string, int, int64, []Left, error) { return "", 0, 0, nil, err }
	if t, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); t != "application/zip" {
		return no(Refusal{http.StatusUnsupportedMediaType, "the content type must be application/zip"})
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return no(err)
	}
	ctx, end, ok := d.begin(r.Context())
	if !ok {
		return no(errBusy)
	}
	defer end()
	keep := r.URL.Query().Get("keep")
	if keep != "" && (d.base == nil || d.base.id != keep) {
		return no(errOther)
	}
	list, err := unpack(ctx, data, d.o.off)
	if err != nil {
		return no(err)
	}
	now := &base{id: chat.Random(8), sums: map[string]string{}}
	d.setBase(nil) // until all is there
	out = []Left{}
	folder := d.guarded(ctx)
	if d.o.off.names {
		folder = fsaccess.WithContext(ctx, d.o.Files)
	}
	if err := d.clear(ctx, keep != "", list); err != nil {
		return no(err)
	}
	for _, e := range list {
		err := d.write(ctx, folder, e)
		if g, refused := errors.AsType[*fsaccess.GuardError](err); refused {
			out = append(out, Left{e.Name, g.Error()})
			continue
		}
		if err != nil {
			return no(err)
		}
		now.sums[e.Name] = e.Sum
		now.bytes += e.Size
	}
	if keep == "" {
		if err := d.again(ctx); err != nil {
			return no(err)
		}
	}
	d.setBase(now)
	return now.id, len(now.sums), now.bytes, out, nil
}

var (
	errBusy  = Refusal{http.StatusConflict, "a run is active; wait until it has ended"}
	errOther = Refusal{http.StatusConflict, "other files were copied in since: copy them in again"}
)

// clear removes all files but those in the list, so that they can be written. Without keep it removes everything.
func (d *daemon) clear(ctx context.Context, keep bool, list []Entry) error {
	folder := fsaccess.WithContext(ctx, d.o.Files)
	top, err := fsaccess.List(ctx, folder, ".")
	if err != nil {
		return err
	}
	if !keep {
		for _, e := range top {
			if err := folder.RemoveAll(e.Path); err != nil {
				return err
			}
		}
		return nil
	}
	stays := map[string]bool{} // true for files
	for _, e := range list {
		stays[e.Name] = true
		for up := path.Dir(e.Name); up != "."; up = path.Dir(up) {
			stays[up] = false
		}
	}
	var gone []string
	for e, err := range fsaccess.Walk(ctx, folder, ".", fsaccess.WalkOptions{}) {
		if err != nil {
			return err
		}
		file, ok := stays[e.Path]
		under := len(gone) > 0 && strings.HasPrefix(e.Path, gone[len(gone)-1]+"/")
		if !under && (!ok || e.Link || file == e.Dir) {
			gone = append(gone, e.Path)
		}
	}
	for _, name := range gone {
		if err := folder.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of an archive, unless it is there with the same content.
func (d *daemon) write(ctx context.Context, folder *fsaccess.Folder, e Entry) error {
	if sum, _, err := d.sum(ctx, e.Name); err == nil && sum == e.Sum {
		return nil
	}
	data, err := e.Content()
	if err != nil {
		return err
	}
	if up := path.Dir(e.Name); up != "." {
		if err := folder.MkdirAll(up, 0o755); err != nil {
			return err
		}
	}
	return folder.WriteFile(e.Name, data, 0o644)
}

// sum returns the SHA-256 of a file of the folder, and its size.
func (d *daemon) sum(ctx context.Context, name string) (string, int64, error) {
	f, err := fsaccess.WithContext(ctx, d.o.Files).Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, MaxUnpacked+1))
	if err == nil && n > MaxUnpacked {
		err = Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("%s has more than %d bytes", name, MaxUnpacked)}
	}
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// compare returns the differences to the files that were copied in. It leaves out links, and new files that .gitignore
// names.
func (d *daemon) compare(ctx context.Context, b *base) (Difference, error) {
	out := Difference{ID: b.id, Files: []Changed{}, Removed: []Changed{}, LeftOut: []Left{}}
	room := int64(MaxUnpacked)
	look := func(name, was string) error {
		sum, n, err := d.sum(ctx, name)
		if err != nil {
			return err
		}
		if sum == was {
			return nil
		}
		if room -= n; room < 0 || len(out.Files) >= MaxFiles {
			return Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d files or %d bytes have changed: have those that are not needed removed", MaxFiles, MaxUnpacked)}
		}
		out.Files = append(out.Files, Changed{name, was})
		return nil
	}
	seen := 0
	folder := fsaccess.WithContext(ctx, d.o.Files)
	for e, err := range fsaccess.Walk(ctx, folder, ".", fsaccess.WalkOptions{Gitignore: true}) {
		if err != nil {
			return out, err
		}
		if seen++; seen > maxWalked {
			return out, Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the folder has more than %d files and folders: have those that are not needed removed", maxWalked)}
		}
		if _, known := b.sums[e.Path]; known || e.Dir {
			continue
		}
		if e.Link {
			out.LeftOut = append(out.LeftOut, Left{e.Path, "it is a link"})
			continue
		}
		if err := look(e.Path, ""); errors.Is(err, errors.ErrUnsupported) {
			out.LeftOut = append(out.LeftOut, Left{e.Path, "it is a special file"})
		} else if err != nil {
			return out, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.sums)) {
		err := look(name, b.sums[name])
		if _, limit := errors.AsType[Refusal](err); limit {
			return out, err
		}
		if err != nil { // it is gone, or a folder or a link is in its place
			out.Removed = append(out.Removed, Changed{name, b.sums[name]})
		}
	}
	slices.SortFunc(out.Files, func(x, y Changed) int { return strings.Compare(x.Path, y.Path) })
	return out, nil
}

// changes answers with the files that differ from those that were copied in: an archive with changes.json, a [Difference],
// and then each of them below files/.
func (d *daemon) changes(w http.ResponseWriter, r *http.Request) {
	ctx, end, ok := d.begin(r.Context())
	if !ok {
		refuse(w, errBusy)
		return
	}
	defer end()
	b := d.getBase()
	if b == nil || b.id != r.URL.Query().Get("since") {
		refuse(w, errOther)
		return
	}
	diff, err := d.compare(ctx, b)
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/zip")
	folder := fsaccess.WithContext(ctx, d.o.Files)
	if err := diff.Pack(w, func(name string) (io.ReadCloser, error) { return folder.Open(name) }); err != nil {
		panic(http.ErrAbortHandler) // half an archive is no archive
	}
}

// Pack writes the archive of the changes. Open opens a file of the list.
func (diff Difference) Pack(w io.Writer, open func(name string) (io.ReadCloser, error)) error {
	z := zip.NewWriter(w)
	f, err := z.Create("changes.json")
	if err == nil {
		err = json.NewEncoder(f).Encode(diff)
	}
	for _, c := range diff.Files {
		if err != nil {
			return err
		}
		var from io.ReadCloser
		if from, err = open(c.Path); err != nil {
			return err
		}
		if f, err = z.Create("files/" + c.Path); err == nil {
			_, err = io.Copy(f, from)
		}
		err = errors.Join(err, from.Close())
	}
	return errors.Join(err, z.Close())
}

// about answers with the facts that a client shows.
func (d *daemon) about(w http.ResponseWriter, r *http.Request) {
	out := map[string]any{"api": Version, "walls": append([]Wall{}, d.o.Walls...), "lacks": append([]string{}, d.o.Lacks...), "copies": d.o.Files != nil}
	if d.o.Model != nil {
		out["model"] = d.o.Model.Name()
	}
	if b := d.getBase(); b != nil {
		out["files"] = map[string]any{"id": b.id, "files": len(b.sums), "bytes": b.bytes}
	}
	send(w, out)
}

func (d *daemon) setBase(b *base) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.base = b
}

func (d *daemon) getBase() *base {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.base
}

// again closes the session and begins another.
func (d *daemon) again(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened != nil {
		d.opened.Close()
	}
	d.opened, d.server = nil, nil
	s, err := d.o.Begin(ctx)
	if err != nil {
		return err
	}
	return d.adopt(s)
}
