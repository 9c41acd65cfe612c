package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// Fork returns a new session with copies of the visible messages up to and including the given one,
// or of all if message is "". The copies have new ids. The session's grants are not copied.
func (s *Session) Fork(ctx context.Context, message string) (*Session, error) {
	list, err := s.History(ctx)
	if err != nil {
		return nil, err
	}
	rec := s.Record()
	if message != "" {
		at := slices.IndexFunc(list, func(m Message) bool { return m.ID == message })
		if at < 0 {
			return nil, protocol.Errorf(protocol.ErrSession, "fork", message, "there is no such message").WithReason(protocol.ReasonNotFound)
		}
		list = list[:at+1]
		rec.ParentMessageID = message
	} else if len(list) > 0 {
		rec.ParentMessageID = list[len(list)-1].ID
	}
	rec.ParentID, rec.ID, rec.Permissions, rec.ArchivedAt = rec.ID, "ses-"+randomID(9), nil, time.Time{}
	now := s.clock()
	rec.CreatedAt, rec.UpdatedAt = now, now
	ms, ps := renamed(list, rec.ID)
	return s.box.begin(ctx, s.store, rec, ms, ps, nil, s.content)
}

// copyFiles stores the files of the parts of a new session. A file whose content is not there is left
// out.
func copyFiles(ctx context.Context, store Store, rec SessionRecord, ps []PartRecord, content func(ctx context.Context, id string) ([]byte, error)) error {
	done := map[string]bool{}
	for _, p := range ps {
		for _, f := range storedFiles(p) {
			if done[f.id] {
				continue
			}
			done[f.id] = true
			data, err := content(ctx, f.id)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = store.PutFile(ctx, rec.ID, f.id, data)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// renamed returns copies of the messages with new ids, also where a summary names one. Calls without
// a result are left out.
func renamed(list []Message, session string) (ms []MessageRecord, ps []PartRecord) {
	ids := map[string]string{}
	for _, m := range list {
		ids[m.ID] = "msg-" + randomID(9)
	}
	for _, m := range list {
		m.MessageRecord.ID, m.SessionID = ids[m.ID], session
		ms = append(ms, m.MessageRecord)
		for _, p := range m.Parts {
			if p.Orphaned() {
				continue
			}
			p.ID, p.MessageID, p.SessionID = "prt-"+randomID(9), m.MessageRecord.ID, session
			if d, ok := p.Data.(map[string]any); ok && p.Type == "data-compaction" {
				d = maps.Clone(d)
				if kept, _ := d["kept"].(string); kept != "" {
					d["kept"] = cmp.Or(ids[kept], kept)
				}
				p.Data = d
			}
			ps = append(ps, p)
		}
	}
	return ms, ps
}

// Rename sets the session's name for display, the member "title" of its metadata.
func (s *Session) Rename(ctx context.Context, title string) error {
	s.mu.Lock()
	data := maps.Clone(s.rec.Metadata)
	if data == nil {
		data = map[string]any{}
	}
	data["title"] = title
	s.rec.Metadata = data
	s.mu.Unlock()
	return s.put(ctx, nil, nil)
}

// Archive marks the session as archived, or as not archived if done is false.
func (s *Session) Archive(ctx context.Context, done bool) error {
	s.mu.Lock()
	s.rec.ArchivedAt = time.Time{}
	if done {
		s.rec.ArchivedAt = s.now()
	}
	s.mu.Unlock()
	return s.put(ctx, nil, nil)
}

// sessionFile is the JSON format of an exported session.
type sessionFile struct {
	Format   string          `json:"format"` // always "bailey-session-1"
	Session  SessionRecord   `json:"session"`
	Messages []MessageRecord `json:"messages"`
	Parts    []PartRecord    `json:"parts"`
	// Files has the contents of files by the SHA-256 in hex. JSON has them in base64.
	Files map[string][]byte `json:"files,omitempty"`
}

const exportFormat = "bailey-session-1"

// Export writes the whole session as JSON, including hidden messages and files.
func (s *Session) Export(w io.Writer) error {
	ms, parts, err := s.whole(context.Background())
	if err != nil {
		return err
	}
	e := sessionFile{Format: exportFormat, Session: s.Record(), Messages: ms}
	for _, m := range ms {
		e.Parts = append(e.Parts, parts[m.ID]...)
	}
	for _, p := range e.Parts {
		for _, f := range storedFiles(p) {
			if _, have := e.Files[f.id]; have {
				continue
			}
			data, err := s.content(context.Background(), f.id)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if e.Files == nil {
				e.Files = map[string][]byte{}
			}
			e.Files[f.id] = data
		}
	}
	return json.NewEncoder(w).Encode(e)
}

// maxImport is the maximum length of an exported session, in bytes.
const maxImport = 64 << 20

// importSession reads an exported session, see [Box.ImportSession].
func importSession(ctx context.Context, b *Box, r io.Reader) (*Session, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxImport+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxImport {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "import", "", "the session has more than %d bytes", maxImport)
	}
	if strictjson.TooDeep(data) {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "decode", "", "the text is nested more than %d deep", strictjson.MaxDepth)
	}
	var e sessionFile
	if err := json.Unmarshal(data, &e); err != nil || e.Format != exportFormat {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "import", "", "this is not an exported session")
	}
	if err := importedFiles(&e); err != nil {
		return nil, err
	}
	s := Session{messages: e.Messages, parts: map[string][]PartRecord{}}
	for _, m := range e.Messages {
		if err := m.Validate(); err != nil {
			return nil, err
		}
		if m.Role == RoleSystem {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "import", m.ID, "an imported session must not contain a system message")
		}
	}
	for _, p := range e.Parts {
		if err := p.Validate(); err != nil {
			return nil, err
		}
		s.parts[p.MessageID] = append(s.parts[p.MessageID], p)
	}
	rec := e.Session
	rec.ID, rec.Permissions, rec.ParentID, rec.ParentMessageID = "ses-"+randomID(9), nil, "", ""
	rec.Sent, rec.Derived, rec.Long = nil, nil, nil // of another folder
	ms, ps := renamed(s.visible(), rec.ID)
	// A model receives a summary in place of the messages that the user sees, and reasoning in
	// addition to them. A stranger must be able to set neither.
	ps = slices.DeleteFunc(ps, func(p PartRecord) bool { return p.Type == "data-compaction" || p.Type == "reasoning" })
	ps = slices.DeleteFunc(ps, func(p PartRecord) bool { // a link of a stranger's is one of a page
		_, ok := importedSource(p)
		return strings.HasPrefix(p.Type, "source-") && !ok
	})
	for i := range ps {
		if strings.HasPrefix(ps[i].Type, "source-") {
			ps[i].Data, _ = importedSource(ps[i])
		}
	}
	for i := range ps { // a stranger must not forge signatures or decisions
		if d, ok := ps[i].Data.(map[string]any); ok {
			delete(d, "meta")
			delete(d, "decided")
			cutSeen(d)
		}
	}
	ms = slices.DeleteFunc(ms, func(m MessageRecord) bool { // what a summary leaves would count as a turn
		return !slices.ContainsFunc(ps, func(p PartRecord) bool { return p.MessageID == m.ID })
	})
	for i := range ms {
		ms[i].Metadata.SnapshotID = "" // of the journal of another folder
		ms[i].Metadata.Usage = nil     // a forged count would make summaries that nobody needs, or none
	}
	return b.begin(ctx, b.o.Sessions, rec, ms, ps, nil, func(_ context.Context, id string) ([]byte, error) {
		if data, ok := e.Files[id]; ok {
			return data, nil
		}
		return nil, noFile(id)
	})
}

// importedFiles checks the files of an exported session as those of messages are checked, and gives
// each part what follows from the content.
func importedFiles(e *sessionFile) error {
	sizes := map[string]int{}
	count, sum := map[string]int{}, map[string]int{} // of a message's files, or of a result's
	for i := range e.Parts {
		p := &e.Parts[i]
		list, holder := filesOf(*p), p.MessageID
		if p.Type != "file" {
			holder = p.ID
		}
		var out []any
		for _, f := range list {
			if data, ok := e.Files[f.id]; ok {
				checked, err := File{Name: f.Name, MediaType: f.MediaType, Data: data, imported: true}.checked()
				if err != nil {
					return err
				}
				if checked.id != f.id {
					return protocol.Errorf(protocol.ErrInvalidParams, "import", f.id, "the content of a file is not the one of its SHA-256")
				}
				checked.local = f.local
				f = checked
			}
			if err := fits(sizes, []File{f}); err != nil {
				return err
			}
			count[holder]++
			if sum[holder] += f.size; count[holder] > maxFiles || sum[holder] > maxFilesBytes {
				return protocol.Errorf(protocol.ErrResourceLimit, "import", holder, "a message or a result has more than %d files, or more than %d bytes of them", maxFiles, maxFilesBytes)
			}
			f.imported, f.far = true, nil
			out = append(out, f.record())
		}
		d, ok := p.Data.(map[string]any)
		switch {
		case p.Type == "file" && len(out) == 1:
			p.Data = out[0]
		case p.Type == "file":
			return protocol.Errorf(protocol.ErrInvalidParams, "import", p.ID, "the part has no file")
		case ok && len(out) > 0:
			d["files"] = out
		case ok:
			delete(d, "files")
		}
	}
	return nil
}

// cutSeen truncates the text of a call for the model. A page shows only a part of a long one to the
// user, but the model would receive all of it.
func cutSeen(call map[string]any) {
	tool, _ := call["tool"].(string)
	limit := outputLimit{Bytes: outputLimitFor(tool).Bytes}
	for _, key := range []string{"model", "far"} {
		if text, ok := call[key].(string); ok {
			call[key], _ = limit.truncate(context.Background(), text, nil)
		}
	}
}
