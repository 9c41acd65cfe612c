package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Status is the current activity of a session. It is not stored.
type Status string

// The states of a session.
const (
	StatusIdle     Status = "idle"     // StatusIdle: no run is active.
	StatusBusy     Status = "busy"     // StatusBusy: a run is active.
	StatusRetrying Status = "retrying" // StatusRetrying: a run waits before it repeats a request to the model.
	StatusError    Status = "error"    // StatusError: the last run ended with an error.
)

// A Session is a conversation: its messages, the permissions granted and refused in it, and the
// versions of the files that the model has seen. Only one program can have it open at a time. It is
// safe for concurrent use.
type Session struct {
	box    *Box
	scope  *scope
	store  Store
	unlock func()

	mu       sync.Mutex
	rec      SessionRecord
	messages []MessageRecord         // all, or those that [Session.fold] left in memory
	parts    map[string][]PartRecord // by message, in order
	at       *places                 // of the messages and parts; nil until they are needed
	folded   bool                    // older messages are in the store alone
	calls    map[string]bool         // the ids of all calls, also those of hidden and folded messages
	sizes    map[string]int          // of the files of folded messages, by id
	status   Status
	steer    []heard           // steered messages that are not stored yet
	loaded   map[string][]byte // the contents of the files of the last request, by id
	stop     context.CancelCauseFunc
	closed   bool

	hearing sync.Mutex // held while a steered message is stored; locked before mu
}

// heard is a message of the user.
type heard struct {
	text  string
	files []File
}

// SessionOptions configure a new session. The zero value is valid.
type SessionOptions struct {
	Agent     string // name of the agent; default "main"
	Workspace string // name of the folder, for display
	Metadata  map[string]any
	// Ephemeral keeps the session in memory only.
	Ephemeral bool
}

// NewSession creates a session and stores it. Close it when it is no longer used.
func (b *Box) NewSession(ctx context.Context, o SessionOptions) (*Session, error) {
	if o.Agent == "" {
		o.Agent = "main"
	}
	now := b.o.Now().UTC()
	rec := SessionRecord{ID: "ses-" + randomID(9), Agent: o.Agent, Workspace: o.Workspace, Metadata: o.Metadata, CreatedAt: now, UpdatedAt: now}
	store := b.o.Sessions
	if o.Ephemeral {
		store = MemoryStore()
	}
	return b.begin(ctx, store, rec, nil, nil, nil, nil)
}

// begin stores a session and locks it. content returns the files of its parts. It is nil for a session
// without parts.
func (b *Box) begin(ctx context.Context, store Store, rec SessionRecord, ms []MessageRecord, ps []PartRecord, parent *scope, content func(ctx context.Context, id string) ([]byte, error)) (*Session, error) {
	if err := rec.Validate(); err != nil {
		return nil, err
	}
	unlock, err := store.Lock(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	err = store.Put(ctx, rec, nil, nil)
	if err == nil && len(ps) > 0 {
		err = copyFiles(ctx, store, rec, ps, content)
	}
	if err == nil && len(ms) > 0 {
		err = store.Put(ctx, rec, ms, ps)
	}
	if err != nil {
		_ = store.Delete(context.WithoutCancel(ctx), rec.ID) // no half of a copy stays
		unlock()
		return nil, err
	}
	return b.adopt(store, rec, ms, ps, parent, unlock)
}

func (b *Box) adopt(store Store, rec SessionRecord, ms []MessageRecord, ps []PartRecord, parent *scope, unlock func()) (*Session, error) {
	authority := b.policy.Authority()
	if parent != nil {
		authority = parent.gate.Authority
	}
	sc, err := newScope(b, rec.ID, authority, parent)
	if err != nil {
		unlock()
		return nil, err
	}
	sc.gate.Restore(rec.Permissions)
	if sc.root == sc {
		sc.ledger = newLedger(&rec)
	}
	sc.store = store
	sc.remember(ps)
	s := &Session{box: b, scope: sc, store: store, unlock: unlock, rec: rec, status: StatusIdle}
	sc.session = s
	if parent != nil && parent.session != nil {
		sc.starter = parent
	}
	s.hold(ms, ps)
	return s, nil
}

// hold sets the messages in memory. mu is held.
func (s *Session) hold(ms []MessageRecord, ps []PartRecord) {
	s.messages, s.at, s.folded, s.sizes = ms, nil, false, nil
	s.parts = partsOf(ps)
	if s.calls == nil {
		s.calls = map[string]bool{}
	}
	for _, p := range ps {
		if p.ToolCallID != "" {
			s.calls[p.ToolCallID] = true
		}
	}
}

// partsOf returns parts by message, in order.
func partsOf(ps []PartRecord) map[string][]PartRecord {
	out := map[string][]PartRecord{}
	for _, p := range ps {
		out[p.MessageID] = append(out[p.MessageID], p)
	}
	for id := range out {
		slices.SortStableFunc(out[id], func(a, b PartRecord) int { return a.Index - b.Index })
	}
	return out
}

// OpenSession opens a stored session. If it is open elsewhere, the error is [protocol.ErrSession].
// If it does not exist, the error wraps [io/fs.ErrNotExist]. Calls that were running when the last
// program ended get an error as their result.
func (b *Box) OpenSession(ctx context.Context, id string) (*Session, error) {
	unlock, err := b.o.Sessions.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	rec, err := b.o.Sessions.Session(ctx, id)
	if err != nil {
		unlock()
		return nil, err
	}
	ms, ps, err := b.o.Sessions.Messages(ctx, id)
	if err != nil {
		unlock()
		return nil, err
	}
	s, err := b.adopt(b.o.Sessions, rec, ms, ps, nil, unlock)
	if err != nil {
		return nil, err
	}
	if err := s.repair(ctx); err != nil {
		s.Close()
		return nil, err
	}
	s.fold()
	return s, nil
}

// Sessions returns the stored sessions, the last changed one first.
func (b *Box) Sessions(ctx context.Context) ([]SessionRecord, error) {
	return b.o.Sessions.Sessions(ctx)
}

// ImportSession reads an exported session of at most 64 MiB, and stores it under a new id. The file
// may have been written by anyone. For this reason its grants, summaries, reasoning, provider
// signatures and recorded decisions are left out, and a system message is an error. Messages that a
// summary replaced are sent to the model again. [Session.Files] returns the files of the conversation,
// but no model receives them or their names, because a page may not show them. The results of calls for the model are truncated to
// 200 KiB, as the box truncates results, with a note.
func (b *Box) ImportSession(ctx context.Context, r io.Reader) (*Session, error) {
	return importSession(ctx, b, r)
}

// Close interrupts the active run, stores the queued messages of Steer and releases the session. It
// may wait for the store and its lock. Close is idempotent. Later changes of the session fail with
// [protocol.ErrSession].
func (s *Session) Close() {
	s.Interrupt("the session was closed")
	var err error
	for !s.shut(err != nil) {
		_, _, err = s.hear(context.Background()) // an active run yields the error itself
	}
}

// ID returns the session's id.
func (s *Session) ID() string { return s.rec.ID }

// Record returns the session's record.
func (s *Session) Record() SessionRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec
}

// Status returns the current activity of the session.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// Context returns a context in which [Box.Call] makes a call of this session.
func (s *Session) Context(ctx context.Context) context.Context { return in(ctx, s.scope) }

// Todos returns the model's list of tasks.
func (s *Session) Todos() []Todo {
	s.scope.mu.Lock()
	defer s.scope.mu.Unlock()
	return slices.Clone(s.scope.todos)
}

// Grants returns the rules that the user's answers made in this session. Forget removes them,
// together with the refusals.
func (s *Session) Grants() policy.Rules { return s.scope.gate.Grants() }

// Forget removes the permissions that were granted and refused in this session.
func (s *Session) Forget() { s.scope.gate.Forget() }

// Message is a message with its parts.
type Message struct {
	MessageRecord
	Parts []PartRecord
}

// Messages returns the messages that are not hidden. A session has only its latest messages in memory, see
// [Session.Recent], and reads the older ones from the store. If that fails, it returns the latest ones.
// [Session.History] returns the error in place of that.
func (s *Session) Messages() []Message {
	list, err := s.History(context.Background())
	if err != nil {
		return s.Recent()
	}
	return list
}

// History returns the messages that are not hidden, also those that only the store has.
func (s *Session) History(ctx context.Context) ([]Message, error) {
	s.mu.Lock()
	if !s.folded {
		defer s.mu.Unlock()
		return s.visible(), nil
	}
	s.mu.Unlock()
	ms, parts, err := s.whole(ctx)
	return visible(ms, parts), err
}

// Recent returns the latest messages that are not hidden: those that the next request to a model has. They
// are all messages until a summary replaces older ones, see [RunOptions].Context. Unless the session has no
// message, the last one is among them. Recent does not use the store.
func (s *Session) Recent() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.visible()
}

// whole returns all messages with their parts, also the hidden ones.
func (s *Session) whole(ctx context.Context) ([]MessageRecord, map[string][]PartRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.folded {
		parts := make(map[string][]PartRecord, len(s.parts))
		for id, list := range s.parts {
			parts[id] = slices.Clone(list)
		}
		return slices.Clone(s.messages), parts, nil
	}
	ms, ps, err := s.store.Messages(ctx, s.rec.ID) // put keeps a record only after it is stored
	return ms, partsOf(ps), err
}

// fold drops the messages from memory that no request needs any more: those that a summary has replaced for
// every model. A day of use would otherwise fill the memory of the page.
func (s *Session) fold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := visible(s.messages, s.parts)
	first := len(list)
	for _, far := range []bool{false, true} {
		from, summary := viewed(list, far)
		first = min(first, from, max(summary, 0))
	}
	if first == 0 || first == len(list) {
		return
	}
	at := slices.IndexFunc(s.messages, func(m MessageRecord) bool { return m.ID == list[first].ID })
	for _, m := range s.messages[:at] {
		if slices.ContainsFunc(s.parts[m.ID], func(p PartRecord) bool { return p.Orphaned() }) {
			return // its result is yet to come
		}
	}
	if s.sizes == nil {
		s.sizes = map[string]int{}
	}
	for _, m := range s.messages[:at] {
		for _, p := range s.parts[m.ID] {
			for _, f := range storedFiles(p) {
				s.sizes[f.id] = f.size
			}
		}
		delete(s.parts, m.ID)
	}
	s.messages, s.at, s.folded = slices.Clone(s.messages[at:]), nil, true
}

// unfold reads all messages back from the store.
func (s *Session) unfold(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.folded {
		return nil
	}
	ms, ps, err := s.store.Messages(ctx, s.rec.ID)
	if err == nil {
		s.hold(ms, ps)
	}
	return err
}

// Part returns the part of a call by the model's id of the call. If several visible messages have
// such a part, it returns the last. Unlike Messages, it does not copy the messages.
func (s *Session) Part(call string) (PartRecord, bool) {
	if call == "" {
		return PartRecord{}, false
	}
	s.mu.Lock()
	p, ok := partOf(call, s.messages, s.parts)
	older := !ok && s.folded && s.calls[call]
	s.mu.Unlock()
	if older {
		if ms, parts, err := s.whole(context.Background()); err == nil {
			return partOf(call, ms, parts)
		}
	}
	return p, ok
}

func partOf(call string, ms []MessageRecord, parts map[string][]PartRecord) (PartRecord, bool) {
	for _, m := range slices.Backward(ms) {
		if !m.Metadata.HiddenAt.IsZero() {
			continue
		}
		for _, p := range slices.Backward(parts[m.ID]) {
			if p.ToolCallID == call {
				return p, true
			}
		}
	}
	return PartRecord{}, false
}

// places has the index of each message in messages, and of each part in those of its message, so that
// a change takes no longer in a longer session.
type places struct {
	messages map[string]int
	parts    map[partPlace]int
}

type partPlace struct{ message, part string }

// place returns the places. mu is held.
func (s *Session) place() *places {
	if s.at != nil {
		return s.at
	}
	s.at = &places{map[string]int{}, map[partPlace]int{}}
	for i, m := range s.messages {
		if _, twice := s.at.messages[m.ID]; !twice {
			s.at.messages[m.ID] = i
		}
	}
	for _, list := range s.parts {
		for i, p := range list {
			s.at.add(p, i)
		}
	}
	return s.at
}

// add adds a part with its index. The first of two parts with one id counts.
func (at *places) add(p PartRecord, i int) {
	key := partPlace{p.MessageID, p.ID}
	if _, twice := at.parts[key]; !twice {
		at.parts[key] = i
	}
}

// called reports whether a stored call has the id, also one of a hidden message.
func (s *Session) called(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}

// visible returns the messages in memory that are not hidden. mu is held.
func (s *Session) visible() []Message {
	list := visible(s.messages, s.parts)
	for i := range list {
		list[i].Parts = slices.Clone(list[i].Parts) // put changes them in their place
	}
	return list
}

// visible returns the messages that are not hidden. They share their parts with the map.
func visible(ms []MessageRecord, parts map[string][]PartRecord) []Message {
	out := make([]Message, 0, len(ms))
	for _, m := range ms {
		if m.Metadata.HiddenAt.IsZero() {
			out = append(out, Message{m, parts[m.ID]})
		}
	}
	return out
}

// put stores records, and keeps them in s after that.
func (s *Session) put(ctx context.Context, ms []MessageRecord, ps []PartRecord) error {
	if root := s.scope.root; root != s.scope && root.session != nil && root.ledger.changed() {
		// The counts of a subagent are those of the session that started it. Without this, a reload before
		// that session's next change would forget them.
		if err := root.session.put(ctx, nil, nil); err != nil && protocol.CodeOf(err) != protocol.ErrSession {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return protocol.Errorf(protocol.ErrSession, "session", s.rec.ID, "the session is closed")
	}
	now := s.now()
	s.rec.UpdatedAt = now
	s.rec.Permissions = s.scope.gate.Grants()
	if s.scope.root == s.scope {
		s.scope.ledger.store(&s.rec)
	}
	for i := range ms {
		ms[i].UpdatedAt = now
		if err := ms[i].Validate(); err != nil {
			return err
		}
	}
	for i := range ps {
		ps[i].UpdatedAt = now
		if err := ps[i].Validate(); err != nil {
			return err
		}
	}
	if err := s.store.Put(ctx, s.rec, ms, ps); err != nil {
		return err
	}
	at := s.place()
	for _, m := range ms {
		if i, ok := at.messages[m.ID]; ok {
			s.messages[i] = m
		} else {
			at.messages[m.ID] = len(s.messages)
			s.messages = append(s.messages, m)
		}
	}
	for _, p := range ps {
		list := s.parts[p.MessageID]
		if i, ok := at.parts[partPlace{p.MessageID, p.ID}]; ok {
			list[i] = p
		} else {
			s.parts[p.MessageID] = append(list, p)
		}
		at.add(p, len(list))
		if p.ToolCallID != "" {
			s.calls[p.ToolCallID] = true
		}
	}
	return nil
}

// now returns the current time, but never a time before the session's last change. mu is held.
func (s *Session) now() time.Time {
	now := s.box.o.Now().UTC()
	if now.Before(s.rec.UpdatedAt) {
		return s.rec.UpdatedAt
	}
	return now
}

func (s *Session) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func (s *Session) newMessage(role Role) MessageRecord {
	now := s.clock()
	return MessageRecord{ID: "msg-" + randomID(9), SessionID: s.rec.ID, Role: role, CreatedAt: now, UpdatedAt: now}
}

func (s *Session) newPart(m MessageRecord, index int, kind string, data any) PartRecord {
	now := s.clock()
	return PartRecord{ID: "prt-" + randomID(9), MessageID: m.ID, SessionID: s.rec.ID, Index: index, Type: kind, Data: data, CreatedAt: now, UpdatedAt: now}
}

// Say adds a message of the user, with a snapshot of the folder for [Session.Rewind]. The message is
// stored before Say returns. Say also forgets the refusals of the session, so the user may be asked
// again about effects that they refused before this message.
//
// A message may have files, such as images and PDFs. They go to the model as they are: the user chose
// them, so the policy's "send", which is about the folder, does not narrow them. The limits are
// 3.75 MiB and 8,000 pixels on each side of an image, 8 MiB of another file, 10 files and 12 MiB of
// one message, and 32 MiB of a session, where equal files count once. For files beyond them the error
// is [protocol.ErrResourceLimit], for an empty file, a wrong media type or one that is not that of an
// image's content [protocol.ErrInvalidParams], and for a damaged image [protocol.ErrExecution]. Nothing
// is stored then. Each request has the newest 20 files, up to 12 MiB, and a line such as
// "[image: a.png, image/png, 1234 bytes; it is too old to be sent again]" for each older one.
func (s *Session) Say(ctx context.Context, text string, files ...File) (id string, err error) {
	if files, err = checkFiles(nil, files...); err != nil {
		return "", err
	}
	for s.leftBehind() { // an earlier Steer comes first
		if _, _, err := s.hear(ctx); err != nil {
			return "", err
		}
	}
	return s.say(ctx, heard{text, files}, "")
}

func (s *Session) say(ctx context.Context, h heard, trigger string) (string, error) {
	// The limit of the session's files was checked when a steered message was queued.
	if err := s.storeFiles(ctx, h.files, trigger == "steer"); err != nil {
		return "", err
	}
	m := s.newMessage(RoleUser)
	m.Metadata.Trigger = trigger
	snapshot, err := s.box.fs.Snapshot()
	if err != nil {
		return "", err
	}
	m.Metadata.SnapshotID = snapshot
	var ps []PartRecord
	for _, f := range h.files { // models read images better in front of the text
		ps = append(ps, s.newPart(m, len(ps), "file", f.record()))
	}
	if h.text != "" || len(ps) == 0 {
		ps = append(ps, s.newPart(m, len(ps), "text", map[string]any{"text": h.text}))
	}
	if err := s.put(ctx, []MessageRecord{m}, ps); err != nil {
		return "", err
	}
	s.scope.gate.Reconsider()
	return m.ID, nil
}

// Interrupt stops the active run and all its calls. It does not wait for them. The reason why is in
// their errors.
func (s *Session) Interrupt(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop(protocol.Errorf(protocol.ErrAborted, "run", "", "%s", why))
	}
}

// repair gives an error result to each call that has no result.
func (s *Session) repair(ctx context.Context) error {
	s.mu.Lock()
	var ps []PartRecord
	for _, m := range s.messages {
		for _, p := range s.parts[m.ID] {
			if !p.Orphaned() {
				continue
			}
			p.ToolState = ToolOutputError
			next := with(p.Data, "error", "the program ended before the call did; what it had done is done")
			next["code"] = string(protocol.ErrAborted)
			next["model"] = "error ABORTED: the program ended before this call did; look at what it had done before you repeat it"
			p.Data = next
			ps = append(ps, p)
		}
	}
	s.mu.Unlock()
	if len(ps) == 0 {
		return nil
	}
	return s.put(ctx, nil, ps)
}

// Rewind hides a message of the user and all messages after it. If files is set, it also restores
// the folder to its state before that message. No message is deleted, and the restored folder is a
// new step of the journal, which can be undone. If another program has changed one of the files
// since, Rewind changes no file, hides no message and returns an error. During a run, and if files
// is set but the folder had no journal, it returns [protocol.ErrSession].
func (s *Session) Rewind(ctx context.Context, message string, files bool) error {
	if err := s.unfold(ctx); err != nil {
		return err
	}
	defer s.fold()
	s.mu.Lock()
	if s.busy() {
		s.mu.Unlock()
		return protocol.Errorf(protocol.ErrSession, "rewind", s.rec.ID, "a run is under way; interrupt it first")
	}
	at := slices.IndexFunc(s.messages, func(m MessageRecord) bool { return m.ID == message })
	if at < 0 || s.messages[at].Role != RoleUser {
		s.mu.Unlock()
		return protocol.Errorf(protocol.ErrSession, "rewind", message, "there is no such message of the user").WithReason(protocol.ReasonNotFound)
	}
	snapshot := s.messages[at].Metadata.SnapshotID
	var ms []MessageRecord
	for _, m := range s.messages[at:] {
		if m.Metadata.HiddenAt.IsZero() {
			m.Metadata.HiddenAt = s.now()
			ms = append(ms, m)
		}
	}
	s.mu.Unlock()
	if files {
		if snapshot == "" {
			return protocol.Errorf(protocol.ErrSession, "rewind", message, "the files had no journal then; rewind without them")
		}
		if err := s.box.fs.Rewind(ctx, snapshot); err != nil {
			return err
		}
	}
	return s.put(ctx, ms, nil)
}

// start marks the session as busy with a run.
func (s *Session) start(stop context.CancelCauseFunc, m Model) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return protocol.Errorf(protocol.ErrSession, "run", s.rec.ID, "the session is closed")
	case s.stop != nil:
		return protocol.Errorf(protocol.ErrSession, "run", s.rec.ID, "a run is under way; steer it or interrupt it")
	}
	s.stop, s.status, s.rec.Model = stop, StatusBusy, m.Name()
	s.scope.mu.Lock()
	s.scope.model = m
	s.scope.mu.Unlock()
	return nil
}

func (s *Session) setStatus(st Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = st
}

// Steer queues a user message for the active run. The model receives it before its next step. If no
// run is active, the message is stored as with [Session.Say]. If the run has no further step, the
// message is stored when the run ends. In both cases the next run answers it. Queued messages are
// in memory until they are stored, and [Session.Close] stores the rest. If storing one fails, the
// run yields the error. The message is then stored before any later one, by the next run or by Say.
// The files have the limits and the errors of Say.
func (s *Session) Steer(ctx context.Context, text string, files ...File) error {
	checked, err := checkFiles(nil, files...)
	if err != nil {
		return err
	}
	s.mu.Lock()
	busy := s.busy() && !s.closed
	if busy {
		have := s.fileSizes()
		for _, h := range s.steer {
			_ = fits(have, h.files)
		}
		if len(checked) > 0 {
			err = fits(have, checked)
		}
		if err == nil {
			s.steer = append(s.steer, heard{text, checked})
		}
	}
	s.mu.Unlock()
	if busy {
		return err
	}
	_, err = s.Say(ctx, text, files...)
	return err
}

// hear stores the first queued message and returns its id and content, or "" if the queue is empty. It
// works even after ctx has ended, because an interruption must not lose a message of the user. If
// storing fails, the message stays first in the queue.
func (s *Session) hear(ctx context.Context) (id string, h heard, err error) {
	s.hearing.Lock() // the run and Close may both call hear
	defer s.hearing.Unlock()
	s.mu.Lock()
	if len(s.steer) == 0 {
		s.mu.Unlock()
		return "", h, nil
	}
	h = s.steer[0]
	s.mu.Unlock()
	if id, err = s.say(context.WithoutCancel(ctx), h, "steer"); err != nil {
		return "", h, err
	}
	s.mu.Lock()
	s.steer = s.steer[1:]
	s.mu.Unlock()
	return id, h, nil
}

// leftBehind reports whether an earlier run failed to store all queued messages.
func (s *Session) leftBehind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steer) > 0 && !s.busy()
}

// busy reports whether a run is active. mu is held.
func (s *Session) busy() bool { return s.status == StatusBusy || s.status == StatusRetrying }

// giveBack ends a run's use of the session. If messages are queued and anyway is not set, it does
// nothing and returns false: they must be stored first. If anyway is set, they stay in the queue
// for the next run.
func (s *Session) giveBack(st Status, anyway bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steer) > 0 && !anyway {
		return false
	}
	s.stop, s.status = nil, st
	return true
}

// shut closes the session. If messages are queued and anyway is not set, it does nothing and
// returns false.
func (s *Session) shut(anyway bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
	case len(s.steer) > 0 && !anyway:
		return false
	default:
		s.closed = true
		s.unlock()
	}
	return true
}

// StopCall ends one call of the active run, by the model's id of the call. The run continues, and
// the model receives why as the call's error. It reports whether there was such a call, and does
// not wait for it.
func (s *Session) StopCall(call, why string) bool {
	s.scope.mu.Lock()
	stop := s.scope.stops[call]
	s.scope.mu.Unlock()
	if stop == nil {
		return false
	}
	stop(protocol.Errorf(protocol.ErrAborted, "call", "", "%s", why))
	return true
}

// spend adds a request to the session's record. The money counts for the sessions that started it, too.
func (s *Session) spend(u Usage, money float64) {
	s.mu.Lock()
	s.rec.InputTokens += u.Input
	s.rec.OutputTokens += u.Output
	s.rec.CachedTokens += u.Cached
	s.rec.ReasoningTokens += u.Reasoning
	s.rec.Money += money
	s.mu.Unlock()
	for sc := s.scope.starter; sc != nil; sc = sc.starter {
		sc.session.mu.Lock()
		sc.session.rec.Money += money
		sc.session.mu.Unlock()
	}
}

// modelMessages returns the conversation for a model: the messages after the last compaction, with
// its summary before them, and without hidden messages.
func (s *Session) modelMessages(m Model) []ModelMessage {
	list, summary := s.view(m)
	var out []ModelMessage
	if summary != nil {
		out = append(out, summaryMessage(summary))
	}
	for _, msg := range list {
		out = append(out, modelMessage(msg, m)...)
	}
	// Providers differ about a conversation that ends with the model's own words.
	if n := len(out); len(list) > 0 && n > 0 && out[n-1].Role == RoleAssistant && list[len(list)-1].Metadata.Partial {
		out = append(out, ModelMessage{RoleUser, []ModelPart{{Type: PartText, Text: "Your last message was cut off. Continue it where it ends, and repeat nothing."}}})
	}
	return out
}

// modelMessage returns one stored message in the form for a model. An assistant's message is
// followed by a message with the results of its calls.
func modelMessage(m Message, to Model) []ModelMessage {
	model := to.Name()
	msg, results := ModelMessage{Role: m.Role}, ModelMessage{Role: RoleUser}
	for _, p := range m.Parts {
		d, _ := p.Data.(map[string]any)
		str := func(key string) string { v, _ := d[key].(string); return v }
		var meta json.RawMessage
		if s := str("meta"); s != "" && m.Metadata.Model == model {
			meta = json.RawMessage(s)
		}
		switch {
		case p.Type == "text":
			if str("text") != "" || meta != nil {
				msg.Parts = append(msg.Parts, ModelPart{Type: PartText, Text: str("text"), Meta: meta})
			}
		case p.Type == "file":
			for _, f := range filesOf(p) {
				if f.imported {
					msg.Parts = append(msg.Parts, ModelPart{Type: PartText, Text: importedLine})
				} else if m.Role == RoleAssistant && meta == nil { // its provider does not take it back, or another model made it
					msg.Parts = append(msg.Parts, ModelPart{Type: PartText, Text: f.String()})
				} else if files := sendableFiles([]File{f}, to); len(files) > 0 {
					msg.Parts = append(msg.Parts, ModelPart{Type: PartFile, Files: files, Meta: meta})
				}
			}
		case p.Type == "reasoning":
			if m.Metadata.Model == model { // the reasoning of another model is of no use
				msg.Parts = append(msg.Parts, ModelPart{Type: PartReasoning, Text: str("text"), Meta: meta})
			}
		case p.ToolCallID != "":
			args, err := json.Marshal(d["input"])
			if _, isText := d["input"].(string); err != nil || isText || d["input"] == nil {
				args = []byte("{}")
			}
			name := str("tool")
			if protocol.ValidToolName(name) != nil {
				name = "unknown"
			}
			msg.Parts = append(msg.Parts, ModelPart{Type: PartCall, CallID: p.ToolCallID, Tool: name, Args: args, Meta: meta})
			text := str("model")
			if far, ok := d["far"].(string); ok && !to.Local() { // a model on this machine had received more
				text = far
			}
			files := sendableFiles(filesOf(p), to)
			if slices.ContainsFunc(files, func(f File) bool { return f.imported }) {
				files, text = nil, text+"\n"+importedLine // all of them are
			}
			results.Parts = append(results.Parts, ModelPart{Type: PartResult, CallID: p.ToolCallID, Tool: name, Text: text, Failed: p.ToolState == ToolOutputError, Files: files})
		}
	}
	var out []ModelMessage
	if len(msg.Parts) > 0 {
		out = append(out, msg)
	}
	if len(results.Parts) > 0 {
		out = append(out, results)
	}
	return out
}

// running reports whether a run of the session is active.
func (s *Session) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy()
}
