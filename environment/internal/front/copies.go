package front

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/environment/internal/daemon"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/fsaccess"
)

// about answers with the facts that a client shows. They are the front end's own: no job is asked.
func (f *Front) about(q *request) {
	walls := append([]jobs.Wall{{Name: "Front end", How: "a chat's job is reached by its tenant alone, and a job reaches neither other jobs nor what is stored"}}, f.provider.Walls()...)
	name := f.o.Name
	if f.models != nil {
		walls = append(walls, jobs.Wall{Name: "Model's key", How: "no job has it: the front end sends a job's requests to its one model while a run is active"})
		if name == "" {
			name = f.o.Model.Model
		}
	}
	send(q.w, http.StatusOK, map[string]any{"api": daemon.Version, "model": name, "walls": walls, "lacks": append([]string{}, f.provider.Notes()...), "copies": true})
}

// copied returns the number of the entry whose files were copied in last, and 0 without one.
func copied(entries []jobs.Entry) int {
	for _, e := range slices.Backward(entries) {
		if e.Files {
			return e.N
		}
	}
	return 0
}

// errOther is the refusal of an id that is not that of the last files.
var errOther = refusal{http.StatusConflict, "files", "other files were copied in since, or none: copy them in again, into a new session", 0}

// copyIn copies the files of an archive into the folder of a session, in place of its present files.
func (f *Front) copyIn(q *request) {
	out, err := f.replace(q)
	if err != nil {
		if r, ok := errors.AsType[daemon.Refusal](err); ok {
			err = refusal{r.Status, "archive", r.Text, 0}
		}
		f.refuse(q.w, q.tenant, err)
		return
	}
	send(q.w, http.StatusOK, out)
}

// maxPuts is the most archives of a tenant that come in at the same time. Each is in memory.
const maxPuts = 1

// upload reads the archive of a request.
func (f *Front) upload(q *request) (data []byte, done func(), err error) {
	if t, _, _ := strings.Cut(q.r.Header.Get("Content-Type"), ";"); t != "application/zip" {
		return nil, nil, refusal{http.StatusUnsupportedMediaType, "body", "the content type must be application/zip", 0}
	}
	f.mu.Lock()
	g := f.gates[q.tenant]
	full := g.puts >= maxPuts && !f.o.off.uploads
	if !full {
		g.puts++
	}
	f.mu.Unlock()
	if full {
		return nil, nil, refusal{http.StatusTooManyRequests, "uploads", "other files of this tenant are being copied in: wait until they are there", 2}
	}
	done = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		g.puts--
	}
	defer func() {
		if err != nil {
			done()
		}
	}()
	c := http.NewResponseController(q.w)
	if err := c.SetReadDeadline(time.Now().Add(4 * f.o.BodyTime)); err != nil {
		return nil, nil, err
	}
	body := q.r.Body
	if !f.o.off.body {
		body = http.MaxBytesReader(q.w, body, daemon.MaxArchive)
	}
	data, err = io.ReadAll(body)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, nil, refusal{http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("the archive has more than %d bytes", daemon.MaxArchive), 0}
	}
	if err != nil {
		q.w.Header().Set("Connection", "close")
		return nil, nil, refusal{http.StatusRequestTimeout, "slow", "the archive did not come as a whole", 0}
	}
	return data, done, c.SetReadDeadline(time.Time{})
}

func (f *Front) replace(q *request) (map[string]any, error) {
	data, done, err := f.upload(q)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(q.r.Context(), f.o.StoreTime)
	defer cancel()
	list, err := daemon.Unpack(ctx, data)
	if err != nil {
		return nil, err
	}
	s, err := f.take(ctx, q.tenant, q.id)
	if err != nil {
		return nil, err
	}
	defer f.release(s)
	switch {
	case f.draining.Load():
		return nil, errDraining
	case s.active():
		return nil, errActive
	case s.job != nil: // the next message begins with the new folder
		if err := f.put(ctx, s); err != nil {
			return nil, err
		}
	}
	if s.unlock == nil {
		if err := f.lock(ctx, s); err != nil {
			return nil, err
		}
	}
	defer s.free()
	entries, err := f.o.Jobs.Store.Entries(ctx, s.name)
	if err != nil {
		return nil, err
	}
	e := jobs.Entry{N: len(entries) + 1, Paused: true, Files: true}
	last := ""
	switch keep := q.r.URL.Query().Get("keep"); {
	case keep != "" && (len(entries) == 0 || keep != strconv.Itoa(copied(entries))) && !f.o.off.keep, keep == "" && len(entries) > 0 && !f.o.off.keep:
		return nil, errOther
	case len(entries) == 0:
		err = f.room(ctx, s.tenant)
	default:
		last, e.State = entries[len(entries)-1].Tree, entries[len(entries)-1].State
	}
	if err != nil {
		return nil, err
	}
	size := int64(0)
	if e.Tree, size, err = f.tree(ctx, s.name, last, list); err != nil {
		return nil, err
	}
	if err := f.o.Jobs.Store.Append(ctx, s.name, e); errors.Is(err, jobs.ErrConflict) {
		return nil, errElsewhere
	} else if err != nil {
		return nil, err
	}
	f.o.Log.Info("files copied in", "session", s.name, "entry", e.N, "files", len(list), "bytes", size)
	return map[string]any{"id": strconv.Itoa(e.N), "files": len(list), "bytes": size, "left_out": []daemon.Left{}}, nil
}

// tree stores the snapshot of a folder that has the files of an archive. A file that is in the snapshot before it, with the
// same content, keeps its mode.
func (f *Front) tree(ctx context.Context, name, before string, list []daemon.Entry) (sum string, size int64, err error) {
	known, modes := map[string]bool{}, map[string]jobs.File{}
	old, err := jobs.Files(ctx, f.o.Jobs.Store, name, before)
	if err != nil {
		return "", 0, err
	}
	for _, o := range old {
		known[o.Sum], modes[o.Path] = true, o
	}
	folders := map[string]bool{}
	for _, e := range list {
		for up := path.Dir(e.Name); up != "."; up = path.Dir(up) {
			folders[up] = true
		}
	}
	r := jobs.NewRecording(f.o.Jobs.Store, name, known)
	for _, folder := range slices.Sorted(maps.Keys(folders)) { // one before its contents
		if err := r.Add(ctx, jobs.Node{Path: folder, Mode: 0o755}, nil); err != nil {
			return "", 0, err
		}
	}
	for _, e := range list {
		n := jobs.Node{Path: e.Name, Mode: 0o644, Sum: e.Sum}
		if o, ok := modes[e.Name]; ok && o.Sum == e.Sum {
			n.Mode = o.Mode
		}
		data, err := e.Content()
		if err == nil {
			err = r.Add(ctx, n, data)
		}
		if err != nil {
			return "", 0, err
		}
		size += e.Size
	}
	sum, err = r.End(ctx)
	return sum, size, err
}

// archive answers with the files that differ from those that were copied in, as package daemon does.
func (f *Front) archive(q *request) {
	name, diff, sums, err := f.difference(q)
	if err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	q.w.Header().Set("Content-Type", "application/zip")
	err = diff.Pack(q.w, func(file string) (io.ReadCloser, error) {
		data, err := f.o.Jobs.Store.Get(q.r.Context(), name, sums[file])
		return io.NopCloser(bytes.NewReader(data)), err
	})
	if err != nil {
		panic(http.ErrAbortHandler) // half an archive is no archive
	}
}

func (f *Front) difference(q *request) (name string, out daemon.Difference, sums map[string]string, err error) {
	_, j, err := f.here(q)
	if err == nil && j != nil {
		err = errActive
	}
	if err != nil {
		return "", out, nil, err
	}
	name, entries, err := f.entries(q)
	if err != nil {
		return "", out, nil, err
	}
	since := copied(entries)
	if since == 0 || q.r.URL.Query().Get("since") != strconv.Itoa(since) {
		return "", out, nil, errOther
	}
	ctx := q.r.Context()
	old, err := jobs.Files(ctx, f.o.Jobs.Store, name, entries[since-1].Tree)
	if err != nil {
		return "", out, nil, err
	}
	now, err := jobs.Files(ctx, f.o.Jobs.Store, name, entries[len(entries)-1].Tree)
	if err != nil {
		return "", out, nil, err
	}
	out = daemon.Difference{ID: strconv.Itoa(since), Files: []daemon.Changed{}, Removed: []daemon.Changed{}, LeftOut: []daemon.Left{}}
	before := map[string]string{}
	for _, o := range old {
		before[o.Path] = o.Sum
	}
	seen, err := f.visible(ctx, name, now)
	if err != nil {
		return "", out, nil, err
	}
	sums, room := map[string]string{}, int64(daemon.MaxUnpacked)
	for _, n := range now {
		was, known := before[n.Path]
		if delete(before, n.Path); was == n.Sum || !known && !seen[n.Path] {
			continue
		}
		data, err := f.o.Jobs.Store.Get(ctx, name, n.Sum)
		if err != nil {
			return "", out, nil, err
		}
		if room -= int64(len(data)); room < 0 || len(out.Files) >= daemon.MaxFiles {
			return "", out, nil, refusal{http.StatusRequestEntityTooLarge, "archive", fmt.Sprintf("more than %d files or %d bytes have changed: have those that are not needed removed", daemon.MaxFiles, daemon.MaxUnpacked), 0}
		}
		out.Files, sums[n.Path] = append(out.Files, daemon.Changed{Path: n.Path, Was: was}), n.Sum
	}
	for _, gone := range slices.Sorted(maps.Keys(before)) {
		out.Removed = append(out.Removed, daemon.Changed{Path: gone, Was: before[gone]})
	}
	return name, out, sums, nil
}

// visible returns the files of a snapshot that no .gitignore of it names.
func (f *Front) visible(ctx context.Context, name string, list []jobs.File) (map[string]bool, error) {
	folder := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for _, n := range list {
		var data []byte
		if path.Base(n.Path) == ".gitignore" {
			var err error
			if data, err = f.o.Jobs.Store.Get(ctx, name, n.Sum); err != nil {
				return nil, err
			}
		}
		// A name that this folder can't have is none that a page can take.
		if up := path.Dir(n.Path); up == "." || folder.MkdirAll(up, 0o755) == nil {
			_ = folder.WriteFile(n.Path, data, fs.FileMode(0o644))
		}
	}
	seen := map[string]bool{}
	for e, err := range fsaccess.Walk(ctx, folder, ".", fsaccess.WalkOptions{Gitignore: true}) {
		if err != nil {
			return nil, err
		}
		seen[e.Path] = !e.Dir
	}
	return seen, nil
}
