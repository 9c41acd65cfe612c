package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// segmented is a store in which a session is one record, plus texts of 50 messages each, one record a
// line. A change rewrites one text.
type segmented struct {
	files textFiles

	mu    sync.Mutex
	cache map[string]*opened
	held  map[string]bool
}

func newSegmented(f textFiles) *segmented {
	return &segmented{files: f, cache: map[string]*opened{}, held: map[string]bool{}}
}

// opened is the part of a session that is in memory: its last text, which most changes are of. A long
// session takes no more memory than a short one.
type opened struct {
	segs map[string]int // message id → segment
	last int            // the number of the last text
	kept *kept          // its records
}

// place returns the segment of a message. A new message is of the last one, or begins the next.
func (o *opened) place(id string) int {
	n, known := o.segs[id]
	if !known {
		if len(o.kept.messages) >= segmentSize {
			o.last, o.kept = o.last+1, &kept{}
		}
		n = o.last
		o.segs[id] = n
	}
	return n
}

// textFiles stores the texts. The error of a text that does not exist wraps [fs.ErrNotExist].
type textFiles interface {
	// sessions calls do with the record of each session.
	sessions(ctx context.Context, do func(id string, text []byte)) error
	session(ctx context.Context, id string) ([]byte, error)
	segments(ctx context.Context, id string) ([][]byte, error)
	segment(ctx context.Context, id string, n int) ([]byte, error)
	write(ctx context.Context, id string, session []byte, segments map[int][]byte) error
	file(ctx context.Context, id, name string) ([]byte, error)
	putFile(ctx context.Context, id, name string, data []byte) error
	remove(ctx context.Context, id string) error
}

// segmentSize is the number of messages of a text. Earlier versions wrote texts of 200 messages, which are
// read and changed as they are.
const segmentSize = 50

// line is a line in a text: a message or a part.
type line struct {
	Message *MessageRecord `json:"m,omitempty"`
	Part    *PartRecord    `json:"p,omitempty"`
}

// Sessions implements [Store]. Sessions that can't be read are left out.
func (s *segmented) Sessions(ctx context.Context) ([]SessionRecord, error) {
	var out []SessionRecord
	err := s.files.sessions(ctx, func(id string, text []byte) {
		if rec, err := decodeSession(id, text); err == nil {
			out = append(out, rec)
		}
	})
	if err != nil {
		return nil, err
	}
	sortSessions(out)
	return out, nil
}

func validStored(id string) bool { return fs.ValidPath(id) && id != "." && !strings.Contains(id, "/") }

// Session implements [Store].
func (s *segmented) Session(ctx context.Context, id string) (rec SessionRecord, err error) {
	if !validStored(id) {
		return rec, noSession(id)
	}
	data, err := s.files.session(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return rec, noSession(id)
	}
	if err != nil {
		return rec, err
	}
	return decodeSession(id, data)
}

func decodeSession(id string, data []byte) (rec SessionRecord, err error) {
	if !validStored(id) {
		return rec, noSession(id)
	}
	if strictjson.TooDeep(data) {
		err = errTooDeep()
	} else {
		err = json.Unmarshal(data, &rec)
	}
	if err != nil {
		return rec, protocol.Errorf(protocol.ErrSession, "session", id, "the record is damaged: %v", err)
	}
	if err := rec.Validate(); err != nil {
		return rec, err
	}
	if rec.ID != id {
		return rec, protocol.Errorf(protocol.ErrSession, "session", id, "the record is another session's")
	}
	return rec, nil
}

// Messages implements [Store].
func (s *segmented) Messages(ctx context.Context, id string) ([]MessageRecord, []PartRecord, error) {
	if _, err := s.Session(ctx, id); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.forget(id)
	_, k, err := s.load(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return k.messages, k.parts, nil
}

// forget removes a session from the cache unless it is locked, because an unlocked session may be
// changed by others. mu is held.
func (s *segmented) forget(id string) {
	if !s.held[id] {
		delete(s.cache, id)
	}
}

// open returns what is in memory of a session. A locked session has no other writer. mu is held.
func (s *segmented) open(ctx context.Context, id string) (*opened, error) {
	if o, ok := s.cache[id]; ok && s.held[id] {
		return o, nil
	}
	o, _, err := s.load(ctx, id)
	return o, err
}

// load reads all messages of a session. mu is held.
func (s *segmented) load(ctx context.Context, id string) (*opened, *kept, error) {
	files, err := s.files.segments(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	decoded := decodeAll(files)
	all, o := &kept{}, &opened{segs: map[string]int{}, kept: &kept{}}
	messages, parts := 0, 0
	for _, d := range decoded {
		if d.err != nil {
			return nil, nil, protocol.Errorf(protocol.ErrSession, "session", id, "the messages from number %d on are damaged: %v", messages, d.err)
		}
		messages, parts = messages+len(d.messages), parts+len(d.parts)
	}
	all.grow(messages, parts)
	for n, d := range decoded {
		for i := range d.messages {
			if _, twice := o.segs[d.messages[i].ID]; !twice {
				o.segs[d.messages[i].ID] = n
			}
		}
		all.put(d.messages, d.parts)
		if o.last = n; n == len(decoded)-1 {
			o.kept.put(d.messages, d.parts)
		}
	}
	s.cache[id] = o
	return o, all, nil
}

// changed returns the texts of all segments that contain the given records. mu is held.
func (s *segmented) changed(ctx context.Context, id string, o *opened, messages []MessageRecord, parts []PartRecord) (map[int][]byte, error) {
	touched := map[int]*kept{}
	at := func(n int) (*kept, error) {
		if touched[n] != nil {
			return touched[n], nil
		}
		k := o.kept
		if n != o.last {
			data, err := s.files.segment(ctx, id, n)
			if err != nil {
				return nil, err
			}
			var d segment
			if d.decode(data); d.err != nil {
				return nil, protocol.Errorf(protocol.ErrSession, "session", id, "the text %d of its messages is damaged: %v", n, d.err)
			}
			k = &kept{}
			k.put(d.messages, d.parts)
		}
		touched[n] = k
		return k, nil
	}
	for i := range messages {
		k, err := at(o.place(messages[i].ID))
		if err != nil {
			return nil, err
		}
		k.put(messages[i:i+1], nil)
	}
	for i := range parts {
		k, err := at(o.segs[parts[i].MessageID])
		if err != nil {
			return nil, err
		}
		k.put(nil, parts[i:i+1])
	}
	out := map[int][]byte{}
	for n, k := range touched {
		text, err := k.encode()
		if err != nil {
			return nil, err
		}
		out[n] = text
	}
	return out, nil
}

// segment is the decoded content of one text.
type segment struct {
	messages []MessageRecord
	parts    []PartRecord
	err      error
}

// decodeAll decodes the texts on all processors. Most of the time for opening a long session is
// spent here.
func decodeAll(files [][]byte) []segment {
	out := make([]segment, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(files), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				out[i].decode(files[i])
			}
		})
	}
	wg.Wait()
	return out
}

func (d *segment) decode(data []byte) {
	d.messages = make([]MessageRecord, 0, segmentSize)
	d.parts = make([]PartRecord, 0, max(0, bytes.Count(data, []byte{'\n'})-segmentSize))
	for text := range bytes.Lines(data) {
		if d.err = d.line(bytes.TrimSpace(text)); d.err != nil {
			return
		}
	}
}

// line decodes one record directly into its place if it has the form that encodeOne writes,
// otherwise as any JSON.
func (d *segment) line(text []byte) error {
	if strictjson.TooDeep(text) {
		return errTooDeep()
	}
	if inner, ok := record(text, `{"m":`); ok {
		d.messages = append(d.messages, MessageRecord{})
		return json.Unmarshal(inner, &d.messages[len(d.messages)-1])
	}
	if inner, ok := record(text, `{"p":`); ok {
		d.parts = append(d.parts, PartRecord{})
		return json.Unmarshal(inner, &d.parts[len(d.parts)-1])
	}
	var l line
	err := json.Unmarshal(text, &l)
	switch {
	case l.Message != nil:
		d.messages = append(d.messages, *l.Message)
	case l.Part != nil:
		d.parts = append(d.parts, *l.Part)
	}
	return err
}

func record(text []byte, head string) ([]byte, bool) {
	inner, ok := bytes.CutPrefix(text, []byte(head))
	if !ok {
		return nil, false
	}
	return bytes.CutSuffix(inner, []byte{'}'})
}

// Put implements [Store].
func (s *segmented) Put(ctx context.Context, rec SessionRecord, messages []MessageRecord, parts []PartRecord) error {
	if err := rec.Validate(); err != nil {
		return err
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.forget(rec.ID)
	o, err := s.open(ctx, rec.ID)
	if err != nil {
		return err
	}
	texts, err := s.changed(ctx, rec.ID, o, messages, parts)
	if err == nil {
		err = s.files.write(ctx, rec.ID, data, texts)
	}
	if err != nil {
		delete(s.cache, rec.ID) // the stored state is the valid one
	}
	return err
}

// encode returns the text with the records.
func (k *kept) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i := range k.messages {
		if err := enc.Encode(line{Message: &k.messages[i]}); err != nil {
			return nil, err
		}
	}
	for i := range k.parts {
		if err := enc.Encode(line{Part: &k.parts[i]}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// PutFile implements [Store].
func (s *segmented) PutFile(ctx context.Context, session, id string, data []byte) error {
	if !validFileID(id) {
		return noFile(id)
	}
	if _, err := s.Session(ctx, session); err != nil {
		return err
	}
	return s.files.putFile(ctx, session, id, data)
}

// File implements [Store].
func (s *segmented) File(ctx context.Context, session, id string) ([]byte, error) {
	if !validStored(session) || !validFileID(id) {
		return nil, noFile(id)
	}
	data, err := s.files.file(ctx, session, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noFile(id)
	}
	return data, err
}

// Delete implements [Store].
func (s *segmented) Delete(ctx context.Context, id string) error {
	if !validStored(id) {
		return noSession(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.cache, id)
	return s.files.remove(ctx, id)
}

// Lock implements [Store]. Between tabs of one origin it uses the browser's locks. It does not lock
// a session against other programs that use the same folder.
func (s *segmented) Lock(ctx context.Context, id string) (func(), error) {
	s.mu.Lock()
	free, err := hold(s.held, &s.mu, id)
	if err == nil {
		delete(s.cache, id) // another tab may have changed it
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	unlock, err := lockAcross(ctx, "bailey-session-"+id)
	if err != nil {
		free()
		return nil, err
	}
	return sync.OnceFunc(func() {
		unlock()
		free()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(id)
	}), nil
}

func errTooDeep() error {
	return protocol.Errorf(protocol.ErrResourceLimit, "decode", "", "the text is nested more than %d deep", strictjson.MaxDepth)
}

// FolderStore returns a store that keeps sessions in a folder, which must not be used for anything
// else. Natively this is a folder of the operating system. In a page it is the origin-private file
// system, which a browser may clear under storage pressure unless [fsaccess.Persist] was granted.
// Each session is a folder. Its messages are in files of 50 messages each, one record a line, and
// a change rewrites one of them. After a crash during a Put each file has its old or its new
// content, never a part of it. The files of messages lie beside them, each under its SHA-256. Lock does not lock a session against other programs that use the
// same folder.
func FolderStore(fsys fsaccess.FS) Store { return newSegmented(folderFiles{fsys}) }

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

func (f folderFiles) segment(ctx context.Context, id string, n int) ([]byte, error) {
	return fsaccess.WithContext(ctx, f.fs).ReadFile(segmentName(id, n))
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

func fileName(id, name string) string { return id + "/files/" + name }

func (f folderFiles) file(ctx context.Context, id, name string) ([]byte, error) {
	return fsaccess.WithContext(ctx, f.fs).ReadFile(fileName(id, name))
}

func (f folderFiles) putFile(ctx context.Context, id, name string, data []byte) error {
	bound := fsaccess.WithContext(ctx, f.fs)
	if old, err := bound.ReadFile(fileName(id, name)); err == nil && bytes.Equal(old, data) {
		return nil // another content, though it has the name, is damaged
	}
	if err := bound.MkdirAll(id+"/files", 0o755); err != nil {
		return err
	}
	return bound.WriteFile(fileName(id, name), data, 0o600)
}

func (f folderFiles) remove(ctx context.Context, id string) error {
	return fsaccess.WithContext(ctx, f.fs).RemoveAll(id)
}
