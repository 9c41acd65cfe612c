package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/models"
	"github.com/bailey-go/bailey/internal/chat"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// session is a session that this front end has a job for, or had one a moment ago.
type session struct {
	tenant, name string
	state        atomic.Int32 // one of the states below, for the metrics
	used         atomic.Int64 // when it was used last, in ns

	turn chan struct{} // has one value while nobody changes what follows
	gone bool          // it is no longer in the map: take it again
	job  *jobs.Job
	// unlock gives the session's lock in the store back. This front end has it while a run is active, and until its work
	// is stored.
	unlock func()
	run    *run // the last one, or nil
}

// States of a session.
const (
	without = iota // a job
	idle
	running
)

// refusals that are given in several places.
var (
	errElsewhere = refusal{http.StatusConflict, "elsewhere", "another front end works on this session: send the request there, or again when its run has ended", 5}
	errDraining  = refusal{http.StatusServiceUnavailable, "drain", "this front end is about to end: send the request again, to another one", 1}
	errActive    = refusal{http.StatusConflict, "active", "a run is active: wait until it has ended, or stop it", 1}
	errNone      = refusal{http.StatusNotFound, "none", "there is no such session", 0}
)

// take returns a session that nobody else changes until it is released.
func (f *Front) take(ctx context.Context, tenant, id string) (*session, error) {
	name := jobOf(tenant, id)
	if f.o.off.owner { // whose id begins with a tenant's name may be that tenant's
		name = id
	}
	for {
		f.mu.Lock()
		s := f.sessions[name]
		if s == nil {
			s = &session{tenant: tenantOf(name), name: name, turn: make(chan struct{}, 1)}
			s.turn <- struct{}{}
			f.sessions[name] = s
		}
		f.mu.Unlock()
		select {
		case <-s.turn:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !s.gone {
			return s, nil
		}
		s.turn <- struct{}{}
	}
}

// release ends the turn. A session without a job leaves the map.
func (f *Front) release(s *session) {
	if s.job == nil && (s.run == nil || s.run.ended()) {
		s.free()
		f.mu.Lock()
		if f.sessions[s.name] == s {
			delete(f.sessions, s.name)
		}
		f.mu.Unlock()
		s.gone = true
	}
	s.turn <- struct{}{}
}

// lock takes the session's lock in the store.
func (f *Front) lock(ctx context.Context, s *session) (err error) {
	if s.unlock, err = f.o.Jobs.Store.Lock(ctx, s.name); errors.Is(err, jobs.ErrHeld) {
		err = errElsewhere
	}
	return err
}

// free gives the lock back.
func (s *session) free() {
	if s.unlock != nil {
		s.unlock()
		s.unlock = nil
	}
}

func (s *session) active() bool { return s.run != nil && !s.run.ended() }

// drop ends the job without storing anything.
func (f *Front) drop(s *session) {
	if s.job != nil {
		if err := s.job.Close(); err != nil {
			f.o.Log.Warn("job not removed", "session", s.name, "error", private(err))
		}
		f.forget(s)
	}
}

// forget counts the job of a session no longer.
func (f *Front) forget(s *session) {
	s.job = nil
	s.state.Store(without)
	f.mu.Lock()
	f.taken--
	f.mu.Unlock()
}

// paused is called after each try to pause an idle job.
func (f *Front) paused(j *jobs.Job, err error) {
	f.meters.paused(tenantOf(j.Name), err)
	f.mu.Lock()
	s := f.sessions[j.Name]
	f.mu.Unlock()
	if s == nil {
		return
	}
	<-s.turn
	defer f.release(s)
	if s.gone || s.job != j {
		return
	}
	switch {
	case err == nil:
		f.o.Log.Info("job paused", "session", s.name)
		f.forget(s)
		s.free()
	case errors.Is(err, jobs.ErrConflict): // another front end went on
		f.o.Log.Info("job closed, as its session went on elsewhere", "session", s.name)
		f.drop(s)
		s.free()
	default:
		f.o.Log.Error("job not paused, it is tried again", "session", s.name, "error", private(err))
	}
}

// message begins a run.
func (f *Front) message(q *request) {
	var in struct {
		Text string `json:"text"`
	}
	err := f.receive(q, &in)
	if err == nil && strings.TrimSpace(in.Text) == "" {
		err = refusal{http.StatusBadRequest, "body", `the body must be {"text": "…"}`, 0}
	}
	var r *run
	if err == nil {
		r, err = f.begin(q, in.Text)
	}
	if err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	stream(q, r, 0)
}

func (f *Front) begin(q *request, text string) (_ *run, err error) {
	ctx := q.r.Context()
	s, err := f.take(ctx, q.tenant, q.id)
	if err != nil {
		return nil, err
	}
	defer f.release(s)
	if f.draining.Load() {
		return nil, errDraining
	}
	if s.active() {
		return nil, errActive
	}
	if s.unlock == nil {
		if err = f.lock(ctx, s); err != nil {
			return nil, err
		}
		// A lock that was kept is that of work that is not stored yet.
		defer func() {
			if err != nil {
				s.free()
			}
		}()
	}
	if s.job != nil {
		now, err := s.job.Current(ctx)
		if err != nil {
			return nil, err
		}
		if !now {
			f.drop(s)
		}
	}
	if s.job == nil {
		if err := f.create(ctx, s); err != nil {
			return nil, err
		}
	}
	done, err := s.job.Use()
	if err != nil { // it was paused just now, with all of its work
		f.drop(s)
		if err := f.create(ctx, s); err != nil {
			return nil, err
		}
		if done, err = s.job.Use(); err != nil {
			return nil, err
		}
	}
	s.used.Store(time.Now().UnixNano())
	// The client may leave. Its message is stored or not, and it finds out which.
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.o.StoreTime)
	defer cancel()
	e, err := s.job.Say(stored, text)
	if err != nil {
		done()
		if errors.Is(err, jobs.ErrConflict) {
			f.drop(s)
			return nil, errElsewhere
		}
		return nil, err
	}
	r := newRun(e.N)
	s.run = r
	s.state.Store(running)
	f.o.Log.Info("run begins", "session", s.name, "entry", e.N)
	j := s.job
	f.runs.Go(func() { f.follow(s, j, r, text, done) })
	return r, nil
}

// room returns an error if a tenant may not begin another session.
func (f *Front) room(ctx context.Context, tenant string) error {
	list, err := f.o.Jobs.Store.Jobs(ctx, tenant)
	if err == nil && len(list) >= f.o.MaxSessions {
		err = refusal{http.StatusTooManyRequests, "sessions", fmt.Sprintf("the tenant has %d sessions, as many as may be: delete one", len(list)), 60}
	}
	return err
}

// create makes the job of a session whose turn and lock this is.
func (f *Front) create(ctx context.Context, s *session) error {
	entries, err := f.o.Jobs.Store.Entries(ctx, s.name)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		if err := f.room(ctx, s.tenant); err != nil {
			return err
		}
	}
	began := time.Now()
	for {
		f.mu.Lock()
		full := f.taken >= f.o.MaxJobs
		if !full {
			f.taken++
		}
		f.mu.Unlock()
		if !full {
			break
		}
		if !f.evict(ctx, "", s) {
			return refusal{http.StatusServiceUnavailable, "jobs", fmt.Sprintf("%d jobs run here, as many as may be: send the request again, or to another front end", f.o.MaxJobs), 10}
		}
	}
	j, err := f.provider.Create(ctx, s.name)
	if errors.Is(err, jobs.ErrTenant) && f.evict(ctx, s.tenant, s) {
		j, err = f.provider.Create(ctx, s.name)
	}
	if err != nil {
		f.mu.Lock()
		f.taken--
		f.mu.Unlock()
		if errors.Is(err, jobs.ErrTenant) {
			return refusal{http.StatusTooManyRequests, "tenant", fmt.Sprintf("%d runs of this tenant are active, as many as may be: wait until one has ended", f.o.Jobs.PerTenant), 5}
		}
		return err
	}
	s.job = j
	s.state.Store(idle)
	f.ends.Go(func() { f.ended(s, j) })
	f.meters.started(s.tenant, j.Restored, time.Since(began))
	return nil
}

// ended waits for the end of a job. One that died while it was idle is no longer counted.
func (f *Front) ended(s *session, j *jobs.Job) {
	<-j.Ended()
	<-s.turn
	defer f.release(s)
	if s.job == j && !s.active() {
		f.drop(s)
		s.free()
	}
}

// evict pauses the job that is idle for the longest time, of a tenant or of all, and reports whether there was one.
func (f *Front) evict(ctx context.Context, tenant string, but *session) bool {
	tried := map[*session]bool{but: true}
	for {
		f.mu.Lock()
		var oldest *session
		for _, s := range f.sessions {
			if !tried[s] && s.state.Load() == idle && (tenant == "" || s.tenant == tenant) && (oldest == nil || s.used.Load() < oldest.used.Load()) {
				oldest = s
			}
		}
		f.mu.Unlock()
		if oldest == nil {
			return false
		}
		tried[oldest] = true
		select {
		case <-oldest.turn:
		default: // a request is about to use it
			continue
		}
		ok := false
		if !oldest.gone && oldest.job != nil && !oldest.active() {
			ok = f.put(ctx, oldest) == nil
		}
		f.release(oldest)
		if ok {
			return true
		}
	}
}

// put pauses the job of a session. One that is not current any more is closed.
func (f *Front) put(ctx context.Context, s *session) error {
	err := s.job.Pause(ctx)
	f.meters.paused(s.tenant, err)
	select {
	case <-s.job.Ended(): // paused, or dead
	default:
		if err != nil && !errors.Is(err, jobs.ErrConflict) {
			return err
		}
	}
	f.drop(s)
	s.free()
	return nil
}

// follow sends a message to the job and stores its work when its run has ended. Whoever reads the last event finds the
// work in the store.
func (f *Front) follow(s *session, j *jobs.Job, r *run, text string, done func()) {
	began := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := boxOf(j)
	ended := make(chan struct{})
	var watch atomic.Bool
	stopping := make(chan struct{})
	go func() { // stops the run, by asking first
		defer close(stopping)
		limit := time.NewTimer(f.o.RunTime)
		defer limit.Stop()
		select {
		case <-ended:
			return
		case <-r.stopped:
		case <-limit.C:
		}
		watch.Store(true)
		last := time.NewTimer(f.o.StopTime)
		defer last.Stop()
		var out struct{}
		// The run may not have begun yet in the job, so it is asked until the end.
		again := time.NewTicker(200 * time.Millisecond)
		defer again.Stop()
		for {
			_, _ = b.ask(ctx, http.MethodPost, "/stop", struct{}{}, &out)
			select {
			case <-ended:
				return
			case <-last.C:
				cancel()
				return
			case <-again.C:
			}
		}
	}()
	asks := func() {}
	if m, ok := j.Attached.(*models.Job); ok {
		asks = m.Begin(s.tenant)
	}
	err := b.chat(ctx, text, r, f.o.off.lies)
	asks()
	close(ended)
	<-stopping
	result := "done"
	if watch.Load() {
		result = "stopped"
	}
	<-s.turn
	defer f.release(s)
	stored := err
	if err == nil || f.o.off.lies {
		limited, cancel := context.WithTimeout(context.Background(), f.o.StoreTime)
		stored = j.Checkpoint(limited)
		cancel()
	}
	switch {
	case err != nil && !f.o.off.lies:
		result = "lost"
		f.o.Log.Error("run lost with its job", "session", s.name, "entry", r.n, "error", private(err))
		f.drop(s)
		s.free()
		r.fail("The session's program ended before the run did. Your message is stored, the work of this run is lost. Send the message again if you want it to be done.")
	case errors.Is(stored, jobs.ErrConflict):
		result = "lost"
		f.o.Log.Error("run lost, as another front end took the session", "session", s.name, "entry", r.n)
		f.drop(s)
		s.free()
		r.fail("Another front end took the session, because this one did not reach the store for too long. The work of this run is lost.")
	case stored != nil: // the lock is kept, and the job until it could be stored
		result = "unstored"
		f.o.Log.Error("work not stored, it is tried again", "session", s.name, "entry", r.n, "error", private(stored))
		s.state.Store(idle)
		r.fail("The work of this run could not be stored yet. It is tried again.")
	default:
		s.state.Store(idle)
		s.free()
	}
	s.used.Store(time.Now().UnixNano())
	done()
	f.meters.ran(s.tenant, result, time.Since(began))
	f.o.Log.Info("run ended", "session", s.name, "entry", r.n, "result", result, "ms", time.Since(began).Milliseconds())
	r.finish()
}

// here returns the active run of a session with its job, if it is here.
func (f *Front) here(q *request) (*run, *jobs.Job, error) {
	s, err := f.take(q.r.Context(), q.tenant, q.id)
	if err != nil {
		return nil, nil, err
	}
	defer f.release(s)
	if s.active() {
		return s.run, s.job, nil
	}
	if s.run != nil && s.unlock != nil {
		return s.run, nil, nil
	}
	unlock, err := f.o.Jobs.Store.Lock(q.r.Context(), s.name)
	if errors.Is(err, jobs.ErrHeld) {
		return nil, nil, errElsewhere
	}
	if err != nil {
		return nil, nil, err
	}
	unlock()
	return s.run, nil, nil
}

// again sends a stream once more.
func (f *Front) again(q *request) {
	r, j, err := f.here(q)
	if err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	if r != nil {
		i, known := lastEvent(q.r.Header.Get("Last-Event-ID"), r)
		if !known {
			i = 0
		}
		if j != nil || known { // a client that missed the end gets it
			stream(q, r, i)
			return
		}
	}
	q.w.WriteHeader(http.StatusNoContent)
}

func (f *Front) stop(q *request) {
	r, j, err := f.here(q)
	if err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	if j != nil {
		r.stop()
	}
	send(q.w, http.StatusOK, map[string]bool{"ok": j != nil})
}

func (f *Front) questions(q *request) {
	_, j, err := f.here(q)
	list := []chat.Shown{}
	if err == nil && j != nil {
		var status int
		if status, err = boxOf(j).ask(q.r.Context(), http.MethodGet, "/questions", nil, &list); err == nil && status != http.StatusOK {
			err = errLie
		}
	}
	if err != nil {
		f.refuse(q.w, q.tenant, ofJob(err))
		return
	}
	send(q.w, http.StatusOK, list)
}

// ofJob is the answer to a request that a job did not answer.
func ofJob(err error) error {
	if errors.Is(err, errDied) || errors.Is(err, errLie) {
		return refusal{http.StatusBadGateway, "job", "the session's program did not answer: its run ends, or it was stopped", 1}
	}
	return err
}

func (f *Front) answer(q *request) {
	var in struct {
		ID      string          `json:"id"`
		Answers []policy.Answer `json:"answers"`
	}
	err := f.receive(q, &in)
	var j *jobs.Job
	if err == nil {
		_, j, err = f.here(q)
	}
	unknown := refusal{http.StatusConflict, "answer", "there is no such question in this session, it was answered or withdrawn, or the answers are not one of once, session, project, reject and never for each of its requests", 0}
	if err == nil && j == nil {
		err = unknown
	}
	if err == nil {
		var status int
		var out struct{}
		if status, err = boxOf(j).ask(q.r.Context(), http.MethodPost, "/answer", in, &out); err == nil && status != http.StatusOK {
			err = unknown
		}
	}
	if err != nil {
		f.refuse(q.w, q.tenant, ofJob(err))
		return
	}
	send(q.w, http.StatusOK, map[string]bool{"ok": true})
}

// list answers with the tenant's sessions.
func (f *Front) list(q *request) {
	names, err := f.o.Jobs.Store.Jobs(q.r.Context(), q.tenant)
	if err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	type one struct {
		ID string `json:"id"`
	}
	list := []one{}
	for _, name := range names {
		list = append(list, one{strings.TrimPrefix(name, q.tenant+"-")})
	}
	send(q.w, http.StatusOK, map[string]any{"sessions": list})
}

// said is a message as a client sees it. A lost one was stored, and the work for it was not.
type said struct {
	N     int    `json:"n"` // the number of its entry
	Text  string `json:"text"`
	State string `json:"state"` // done, running or lost
}

func (f *Front) show(q *request) {
	name, entries, err := f.entries(q)
	if err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	list := []said{}
	for i, e := range entries {
		if e.Paused {
			continue
		}
		m := said{e.N, e.Message, "done"}
		switch {
		case i == len(entries)-1:
			m.State = "running"
			if unlock, err := f.o.Jobs.Store.Lock(q.r.Context(), name); err == nil {
				unlock()
				m.State = "lost"
			}
		case entries[i+1].State == e.State: // the conversation went on from before it
			m.State = "lost"
		}
		list = append(list, m)
	}
	out := map[string]any{"id": q.id, "entries": len(entries), "messages": list}
	if n := copied(entries); n > 0 {
		out["files"] = strconv.Itoa(n)
	}
	send(q.w, http.StatusOK, out)
}

// entries returns the entries of a session that exists.
func (f *Front) entries(q *request) (string, []jobs.Entry, error) {
	name := jobOf(q.tenant, q.id)
	if f.o.off.owner {
		name = q.id
	}
	list, err := f.o.Jobs.Store.Entries(q.r.Context(), name)
	if err == nil && len(list) == 0 {
		err = errNone
	}
	return name, list, err
}

// remove deletes a session.
func (f *Front) remove(q *request) {
	if err := f.delete(q); err != nil {
		f.refuse(q.w, q.tenant, err)
		return
	}
	q.w.WriteHeader(http.StatusNoContent)
}

func (f *Front) delete(q *request) error {
	s, err := f.take(q.r.Context(), q.tenant, q.id)
	if err != nil {
		return err
	}
	defer f.release(s)
	if s.active() {
		return errActive
	}
	if s.unlock == nil {
		if err = f.lock(q.r.Context(), s); err != nil {
			return err
		}
	}
	defer s.free()
	f.drop(s)
	s.run = nil
	f.o.Log.Info("session deleted", "session", s.name)
	return f.o.Jobs.Store.Delete(context.WithoutCancel(q.r.Context()), s.name)
}

// Times between two tries of a drain to store a job. They double.
const firstRest, longestRest = 50 * time.Millisecond, time.Second

// Drain refuses new runs, waits for the active ones until ctx is done, stops those that are left, and stores and ends
// all jobs. It returns an error if work could not be stored, which it tries for Options.StoreTime. Serve requests until it has
// returned, so that clients read the ends of their streams.
func (f *Front) Drain(ctx context.Context) error {
	f.draining.Store(true)
	f.o.Log.Info("drain begins")
	var all []*session
	// A request that was let through before has its turn, and the run that it began is seen after it.
	f.mu.Lock()
	for _, s := range f.sessions {
		all = append(all, s)
	}
	f.mu.Unlock()
	var active []*run
	for _, s := range all {
		<-s.turn
		if s.active() {
			active = append(active, s.run)
		}
		f.release(s)
	}
	ended := make(chan struct{})
	go func() {
		f.runs.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		for _, r := range active {
			r.stop()
		}
		<-ended
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.o.StoreTime)
	defer cancel()
	lost := 0
	for _, s := range all {
		<-s.turn
		rest := firstRest
		for !s.gone && s.job != nil {
			err := f.put(limited, s)
			if err == nil {
				break
			}
			f.o.Log.Error("job not stored, it is tried again", "session", s.name, "error", private(err))
			if limited.Err() != nil {
				lost++
				f.drop(s)
				s.free()
				break
			}
			wait := time.NewTimer(rest)
			select {
			case <-wait.C:
			case <-limited.Done():
			}
			wait.Stop()
			rest = min(2*rest, longestRest)
		}
		f.release(s)
	}
	err := f.provider.Close()
	f.ends.Wait()
	err = errors.Join(err, f.models.Close(), f.meters.close())
	if lost > 0 {
		err = errors.Join(fmt.Errorf("front: the work of %d sessions could not be stored", lost), err)
	}
	f.o.Log.Info("drain ended", "lost", lost)
	return err
}
