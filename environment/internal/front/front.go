// Package front starts jobs for the requests of tenants, over HTTP behind a balancer that has TLS:
//
//	GET    /healthz                       200, or 503 while the front end drains. It needs no credential
//	GET    /v1/about                      the version of these requests, the model's name, and the protections of a job
//	GET    /v1/sessions                   the tenant's sessions
//	GET    /v1/sessions/{id}              its messages, and whether each was answered
//	DELETE /v1/sessions/{id}              removes it with all of its files
//	POST   /v1/sessions/{id}/messages     {"text": …} runs the model; the response is a UI message stream
//	GET    /v1/sessions/{id}/stream       the stream of the active run again, from Last-Event-ID on, or 204
//	POST   /v1/sessions/{id}/stop         interrupts the run
//	GET    /v1/sessions/{id}/questions    the questions that wait for an answer
//	POST   /v1/sessions/{id}/answers      {"id": …, "answers": ["once", "reject", …]}
//	GET    /v1/sessions/{id}/changes      the files that changed, with diffs; ?from=N&to=N are numbers of entries
//	GET    /v1/sessions/{id}/files/{path} the content of a file; ?at=N is the number of an entry
//	PUT    /v1/sessions/{id}/files        a ZIP archive takes the place of the folder; ?keep=ID goes on with a session
//	GET    /v1/sessions/{id}/archive      ?since=ID: a ZIP archive of the changes since the files with the id were copied in
//
// An id is chosen by the client: 1 to 36 lower-case letters, digits and hyphens, such as a UUID. The session of an id
// that is not known begins with its first message, or with files that are copied in. The two last requests are those of
// package daemon, and are answered without a job.
//
// A session is a job (package jobs). It is created by a message and paused when it is idle. While it runs, this front
// end has its lock in the store, and other ones answer 409. When its run has ended, all work is in the store, and the
// next message may come to any front end.
//
// The package trusts the store and the file of credentials. It trusts no request, and no answer of a job: a job is its
// tenant's, and what it says is checked, has limits, and goes to that tenant alone. Logs and metrics have no contents.
package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
	"golang.org/x/time/rate"

	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/models"
)

// Options configure a [Front]. Jobs.Store, Tenants, and Jobs.Box with Jobs.Dir or Source are required.
type Options struct {
	// Jobs are the options of the provider. Tenant and OnPause are set by New. Idle is 5 minutes and PerTenant 4 by default.
	Jobs jobs.Options
	// Source has the places of jobs, which Drain closes. The default is this machine, and of Jobs Box and Dir are needed
	// then. With another source the limits of Jobs are its own.
	Source  jobs.Source
	Tenants *Tenants
	// Model, if set, is the model of all jobs. They reach it through the front end, which has the key, while a run is
	// active. Done is set by New. The default is the model in the command Jobs.Box. It can't be with Source.
	Model *models.Options
	// Name is the name of the model for users. The default is that of Model.
	Name string
	// Origins are the origins whose pages may send requests, such as https://app.example. The default is none.
	Origins []string
	// MaxJobs is the most jobs of all tenants that run at the same time. The default is 64.
	MaxJobs int
	// MaxSessions is the most sessions that a tenant may have in the store. The default is 1,000.
	MaxSessions int
	// MaxText is the most bytes of a request's body. The default is 1 MiB.
	MaxText int64
	// BodyTime is the most time for a request's body. The default is 30 s.
	BodyTime time.Duration
	// RunTime is the most time of a run, which is then stopped. The default is 30 minutes.
	RunTime time.Duration
	// StopTime is the time for a run to end by itself after it was stopped. Its job is killed afterwards, and the work of
	// the run is lost. The default is 20 s.
	StopTime time.Duration
	// StoreTime is the most time for a change of the store, and for a drain to store everything. The default is 2 minutes.
	StoreTime time.Duration
	// Rate is the most requests of a tenant in a second, and Burst the most at once, see package rate. The defaults are 20
	// and 60.
	Rate  float64
	Burst int
	// Open is the most requests of a tenant that are open at the same time, streams among them. The default is 64.
	Open int
	// Log gets what happens, without contents. The default is none.
	Log *slog.Logger
	// Meter makes the instruments. The default is none.
	Meter metric.MeterProvider

	off off
}

// off are defences that a test switches off.
type off struct{ credential, owner, body, flood, origin, lies, chunked, files, keep, uploads bool }

// Front is a front end. Serve its requests with an [http.Server], and end it by [Front.Drain].
type Front struct {
	o        Options
	provider interface {
		jobs.Provider
		Notes() []string
		Walls() []jobs.Wall
	}
	models   *models.Proxy // nil without Options.Model
	tenants  atomic.Pointer[Tenants]
	mux      *http.ServeMux
	meters   *meters
	draining atomic.Bool
	runs     sync.WaitGroup
	ends     sync.WaitGroup // of what waits for the ends of jobs

	mu       sync.Mutex
	sessions map[string]*session // by the name of the job
	gates    map[string]*gate    // by tenant
	taken    int                 // jobs that exist or are being created
}

// New returns a front end, which begins to start its waiting jobs.
func New(o Options) (*Front, error) {
	if o.Tenants == nil {
		return nil, errors.New("front: Options.Tenants is needed: ReadTenants returns them")
	}
	for _, l := range []struct {
		name  string
		value *time.Duration
		usual time.Duration
	}{{"BodyTime", &o.BodyTime, 30 * time.Second}, {"RunTime", &o.RunTime, 30 * time.Minute}, {"StopTime", &o.StopTime, 20 * time.Second}, {"StoreTime", &o.StoreTime, 2 * time.Minute}, {"Jobs.Idle", &o.Jobs.Idle, 5 * time.Minute}} {
		if *l.value == 0 {
			*l.value = l.usual
		}
		if *l.value < 0 {
			return nil, fmt.Errorf("front: Options.%s is %v; want more than 0, or 0 for %v", l.name, *l.value, l.usual)
		}
	}
	for _, l := range []struct {
		name  string
		value *int
		usual int
	}{{"MaxJobs", &o.MaxJobs, 64}, {"MaxSessions", &o.MaxSessions, 1000}, {"Burst", &o.Burst, 60}, {"Open", &o.Open, 64}, {"Jobs.PerTenant", &o.Jobs.PerTenant, 4}} {
		if *l.value == 0 {
			*l.value = l.usual
		}
		if *l.value < 0 {
			return nil, fmt.Errorf("front: Options.%s is %d; want at least 1, or 0 for %d", l.name, *l.value, l.usual)
		}
	}
	if o.Model != nil && o.Source != nil {
		return nil, errors.New("front: Options.Model needs jobs on this machine, which reach its address on loopback: leave out Model, and have Source give one to its jobs")
	}
	if o.MaxText == 0 {
		o.MaxText = 1 << 20
	}
	if o.Rate == 0 {
		o.Rate = 20
	}
	if o.MaxText < 0 || o.Rate < 0 {
		return nil, errors.New("front: Options.MaxText and Rate must be more than 0, or 0 for 1 MiB and 20")
	}
	for _, origin := range o.Origins {
		if !originForm.MatchString(origin) {
			return nil, fmt.Errorf("front: Options.Origins: %q is no origin: want https://host or https://host:port", origin)
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f := &Front{o: o, sessions: map[string]*session{}, gates: map[string]*gate{}}
	f.tenants.Store(o.Tenants)
	o.Jobs.Tenant = tenantOf
	o.Jobs.OnPause = f.paused
	f.o = o
	var err error
	if f.meters, err = newMeters(o.Meter, f); err != nil {
		return nil, err
	}
	if o.Model != nil {
		m := *o.Model
		m.Done = f.meters.asked
		if f.models, err = models.New(m); err != nil {
			return nil, errors.Join(err, f.meters.close())
		}
		o.Jobs.Attach = func() (jobs.Attachment, error) { return f.models.Job() }
	}
	if o.Source != nil {
		f.provider, err = jobs.NewPool(o.Jobs, o.Source)
	} else {
		f.provider, err = jobs.NewLocal(o.Jobs)
	}
	if err != nil {
		return nil, errors.Join(err, f.meters.close(), f.models.Close())
	}
	f.mux = http.NewServeMux()
	for pattern, handler := range map[string]func(*request){
		"GET /v1/about":                         f.about,
		"GET /v1/sessions":                      f.list,
		"GET /v1/sessions/{id}":                 f.show,
		"DELETE /v1/sessions/{id}":              f.remove,
		"POST /v1/sessions/{id}/messages":       f.message,
		"GET /v1/sessions/{id}/stream":          f.again,
		"POST /v1/sessions/{id}/stop":           f.stop,
		"GET /v1/sessions/{id}/questions":       f.questions,
		"POST /v1/sessions/{id}/answers":        f.answer,
		"GET /v1/sessions/{id}/changes":         f.changes,
		"GET /v1/sessions/{id}/files/{path...}": f.file,
		"PUT /v1/sessions/{id}/files":           f.copyIn,
		"GET /v1/sessions/{id}/archive":         f.archive,
	} {
		f.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			q := &request{w: w, r: r, tenant: r.Context().Value(tenantKey{}).(string), id: r.PathValue("id")}
			if strings.Contains(pattern, "{id}") && !idForm.MatchString(q.id) {
				f.refuse(q.w, q.tenant, refusal{http.StatusNotFound, "id", "the id of a session has 1 to 36 lower-case letters, digits and hyphens, and begins with no hyphen", 0})
				return
			}
			handler(q)
		})
	}
	return f, nil
}

// Notes returns the limits that this machine does not have, a sentence for each.
func (f *Front) Notes() []string { return f.provider.Notes() }

// Found returns the number of jobs that front ends of the same folder had left when they were killed, and that were ended
// and removed. The error lists those that could not be removed, which the next start tries again.
// Jobs of [Options.Source] are its own matter, and not among them.
func (f *Front) Found() (int, error) {
	if l, ok := f.provider.(*jobs.Local); ok {
		return l.Found()
	}
	return 0, nil
}

// SetTenants replaces the tenants. Requests that are open go on.
func (f *Front) SetTenants(t *Tenants) { f.tenants.Store(t) }

var (
	idForm     = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,35}$`)
	originForm = regexp.MustCompile(`^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)
)

// jobOf returns the name of a session's job. A tenant has no hyphen, so the name has one reading.
func jobOf(tenant, id string) string { return tenant + "-" + id }

func tenantOf(job string) string {
	tenant, _, _ := strings.Cut(job, "-")
	return tenant
}

// request is a request with the tenant that sent it.
type request struct {
	w      http.ResponseWriter
	r      *http.Request
	tenant string
	id     string // of a session, in its form
}

type tenantKey struct{}

// refusal is the answer to a request that is not done. Its reason is one of few, for the metrics.
type refusal struct {
	status int
	reason string
	text   string
	after  int // seconds, for Retry-After
}

func (r refusal) Error() string { return r.text }

func (f *Front) refuse(w http.ResponseWriter, tenant string, err error) {
	r, ok := errors.AsType[refusal](err)
	if !ok { // of the store, with the operator's addresses
		r = refusal{http.StatusServiceUnavailable, "store", "the front end can't reach its store or start a job at the moment: try again", 5}
		f.o.Log.Error("request failed", "tenant", tenant, "error", private(err))
	}
	f.meters.refused(tenant, r.reason)
	if r.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(r.after))
	}
	send(w, r.status, map[string]string{"error": r.text})
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// gate bounds the requests of a tenant.
type gate struct {
	rate *rate.Limiter
	open int // under the lock of the front end
	puts int // archives that come in, under the lock of the front end
}

func (f *Front) enter(tenant string) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.gates[tenant]
	if g == nil {
		g = &gate{rate: rate.NewLimiter(rate.Limit(f.o.Rate), f.o.Burst)}
		f.gates[tenant] = g
	}
	if !f.o.off.flood {
		if g.open >= f.o.Open {
			return nil, refusal{http.StatusTooManyRequests, "open", fmt.Sprintf("%d requests of this tenant are open, as many as may be: wait until one has ended", g.open), 1}
		}
		if !g.rate.Allow() {
			return nil, refusal{http.StatusTooManyRequests, "rate", fmt.Sprintf("more than %g requests a second: send fewer", f.o.Rate), 1}
		}
	}
	g.open++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		g.open--
	}, nil
}

// ServeHTTP implements [http.Handler].
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !f.o.off.body && r.ContentLength > 0 { // also that of a request that is refused, which the server reads
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(f.o.BodyTime))
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	if r.URL.Path == "/healthz" {
		status := http.StatusOK
		if f.draining.Load() {
			status = http.StatusServiceUnavailable
		}
		send(w, status, map[string]bool{"ok": status == http.StatusOK})
		return
	}
	// Two programs on the way that disagree about the end of a chunked body see two requests in one.
	if !f.o.off.chunked && (len(r.TransferEncoding) > 0 || r.ContentLength < 0 || r.Header.Get("Upgrade") != "") {
		h.Set("Connection", "close")
		f.refuse(w, "", refusal{http.StatusLengthRequired, "length", "the request needs a Content-Length and no Transfer-Encoding or Upgrade", 0})
		return
	}
	h.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); origin != "" && !f.o.off.origin {
		if len(r.Header.Values("Origin")) > 1 || !slices.Contains(f.o.Origins, origin) {
			f.refuse(w, "", refusal{http.StatusForbidden, "origin", "pages of this origin may not use the front end: the operator can list it with -origin", 0})
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Retry-After, ETag, X-Vercel-AI-UI-Message-Stream")
		if r.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	tenant, ok := f.tenants.Load().of(r.Header.Values("Authorization"), f.o.off.credential)
	if !ok {
		h.Set("WWW-Authenticate", "Bearer")
		f.refuse(w, "", refusal{http.StatusUnauthorized, "credential", "the credential is missing or unknown: send one of the operator as Authorization: Bearer …", 0})
		return
	}
	leave, err := f.enter(tenant)
	if err != nil {
		f.refuse(w, tenant, err)
		return
	}
	defer leave()
	f.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, tenant)))
}

// maxHeader is the most bytes of a request's line and headers, to which net/http adds 4 KiB.
const maxHeader = 16 << 10

// Server returns a server for the requests, with its limits. Its address is for the caller to choose.
func (f *Front) Server() *http.Server {
	s := &http.Server{Handler: f, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 5 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)} // its lines have parts of requests
	s.Protocols = new(http.Protocols)
	s.Protocols.SetHTTP1(true)
	return s
}

// receive reads the body of a request.
func (f *Front) receive(q *request, to any) error {
	if t, _, _ := strings.Cut(q.r.Header.Get("Content-Type"), ";"); t != "application/json" {
		return refusal{http.StatusUnsupportedMediaType, "body", "the content type must be application/json", 0}
	}
	c := http.NewResponseController(q.w)
	body := q.r.Body
	if !f.o.off.body {
		body = http.MaxBytesReader(q.w, body, f.o.MaxText)
	}
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil && d.More() {
		err = errors.New("more than one value")
	}
	if err == nil {
		// The server reads on, in order to hear of the end of the connection.
		return c.SetReadDeadline(time.Time{})
	}
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return refusal{http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("the body has more than %d bytes", f.o.MaxText), 0}
	}
	q.w.Header().Set("Connection", "close")
	if t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && t.Timeout() {
		return refusal{http.StatusRequestTimeout, "slow", fmt.Sprintf("the body did not come within %v", f.o.BodyTime), 0}
	}
	return refusal{http.StatusBadRequest, "body", "the body is not the JSON object that is expected here", 0}
}

// private is an error for the log, without what a message, a file or a job may have put into it.
func private(err error) string {
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, jobs.ErrConflict, jobs.ErrHeld, jobs.ErrTenant, errDied, errLie} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if e, ok := errors.AsType[*jobs.PlaceError](err); ok {
		return e.Error()
	}
	return fmt.Sprintf("%T", root(err))
}

// root returns the innermost error.
func root(err error) error {
	for {
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			next := x.Unwrap()
			if next == nil {
				return err
			}
			err = next
		case interface{ Unwrap() []error }:
			if len(x.Unwrap()) == 0 {
				return err
			}
			err = x.Unwrap()[0]
		default:
			return err
		}
	}
}
