// Package models sends the requests of jobs to a model, with a key that no job has. Each job has a listener on loopback
// and a token of its own, which stand for the model's address and the key. A token is good at its own listener, while a
// run of its job is active, for one path, one model and one server, and within the limits of its tenant. The sandbox of
// a job lets it connect to the port of its own listener and to no other one.
//
// The package trusts the model's server, which has the key. It trusts no job: of a request it sends on the body, with
// the name of the model as it was configured, and no header. Of a response it sends on the status, two headers and the
// body, in which the key is replaced.
package models

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/environment/internal/proxy"
)

// Options configure a [Proxy]. Model and URL are required.
type Options struct {
	// Model is the name of the model, and URL the address of its API of Chat Completions, such as https://host/v1.
	// http:// is for a server on a network that others can't read, such as loopback.
	Model, URL string
	// Key is sent as a bearer token, and has at least 8 bytes. The default is none.
	Key string
	// Requests, Bytes (of bodies, in both directions) and Tokens are the most of a tenant in an hour. They come back
	// steadily, and not all at once. The defaults are 3,600, 1 GiB and 20,000,000. Tokens are those that the server
	// reports. If it reports none, they are a fourth of the request's bytes, and one for each event of the response.
	Requests, Bytes, Tokens int64
	// Open is the most requests of a tenant at the same time. The default is 16.
	Open int
	// MaxRequest and MaxResponse are the most bytes of a body. The defaults are 32 and 64 MiB.
	MaxRequest, MaxResponse int64
	// Time is the most time of a request. The default is 10 minutes.
	Time time.Duration
	// Done is called after each request, with one of few words, and the tokens that were counted. It may be nil.
	Done func(tenant, result string, tokens int64)

	off off
	now func() time.Time // for tests
}

// off are defences that a test switches off.
type off struct{ token, active, path, headers, redirects, echo, model, limits bool }

// Proxy is the way of all jobs of a provider to a model. It is safe for concurrent use.
type Proxy struct {
	o      Options
	to     *url.URL
	client *http.Client
	server *http.Server

	mu      sync.Mutex
	jobs    map[string]*Job // by their tokens
	tenants map[string]*account
}

// New returns a proxy. Close it after all of its jobs.
func New(o Options) (*Proxy, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("models: Options.URL must be https://host/path, without a query")
	}
	if o.Model == "" || strings.ContainsAny(o.Model, "@\x00") {
		return nil, errors.New("models: Options.Model is needed: the name of the model, without @")
	}
	if o.Key != "" && len(o.Key) < 8 || strings.ContainsAny(o.Key, "\r\n\x00 ") {
		return nil, errors.New("models: Options.Key needs at least 8 bytes, and no spaces and line breaks")
	}
	for _, l := range []struct {
		name  string
		value *int64
		usual int64
	}{{"Requests", &o.Requests, 3600}, {"Bytes", &o.Bytes, 1 << 30}, {"Tokens", &o.Tokens, 20_000_000}, {"MaxRequest", &o.MaxRequest, 32 << 20}, {"MaxResponse", &o.MaxResponse, 64 << 20}} {
		if *l.value == 0 {
			*l.value = l.usual
		}
		if *l.value < 0 {
			return nil, fmt.Errorf("models: Options.%s is %d; want at least 1, or 0 for %d", l.name, *l.value, l.usual)
		}
	}
	if o.Open == 0 {
		o.Open = 16
	}
	if o.Time == 0 {
		o.Time = 10 * time.Minute
	}
	if o.Open < 0 || o.Time < 0 {
		return nil, errors.New("models: Options.Open and Time must be more than 0, or 0 for 16 and 10 minutes")
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.Done == nil {
		o.Done = func(string, string, int64) {}
	}
	p := &Proxy{o: o, to: u.JoinPath("/chat/completions"), jobs: map[string]*Job{}, tenants: map[string]*account{}}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true // the key is looked for in the bytes that come
	t.MaxResponseHeaderBytes = 64 << 10
	p.client = &http.Client{Transport: t}
	if !o.off.redirects {
		p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	p.server = &http.Server{Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // its lines have parts of requests
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, jobKey{}, c.(conn).j)
		}}
	return p, nil
}

// Close ends all requests. A nil proxy has none.
func (p *Proxy) Close() error {
	if p == nil {
		return nil
	}
	err := p.server.Close()
	p.client.CloseIdleConnections()
	return err
}

// Job is the way of one job to the model.
type Job struct {
	p     *Proxy
	token string
	l     net.Listener

	mu  sync.Mutex
	run *run // the active one, or nil
}

// run is the time in which a token is good.
type run struct {
	tenant string
	ctx    context.Context
}

type (
	jobKey struct{}
	// conn and listener have the job to which a connection came.
	conn struct {
		net.Conn
		j *Job
	}
	listener struct {
		net.Listener
		j *Job
	}
)

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn{c, l.j}, nil
}

// Job returns the way of a new job. It is good for nothing until [Job.Begin].
func (p *Proxy) Job() (*Job, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	j := &Job{p: p, token: "bailey-job-" + rand.Text() + rand.Text(), l: l}
	p.mu.Lock()
	p.jobs[j.token] = j
	p.mu.Unlock()
	go func() { _ = p.server.Serve(listener{l, j}) }()
	return j, nil
}

// Args returns the arguments with which bailey-box uses the model.
func (j *Job) Args() []string {
	return []string{"-model", j.p.o.Model + "@http://" + j.l.Addr().String() + "/v1"}
}

// Env returns the variable with the token.
func (j *Job) Env() []string { return []string{"BAILEY_KEY=" + j.token} }

// Begin makes the token good for a run of a tenant, until end is called, which ends its requests.
func (j *Job) Begin(tenant string) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{tenant, ctx}
	j.mu.Lock()
	j.run = r
	j.mu.Unlock()
	return func() {
		j.mu.Lock()
		if j.run == r {
			j.run = nil
		}
		j.mu.Unlock()
		cancel()
	}
}

// Close ends the token for good.
func (j *Job) Close() error {
	j.p.mu.Lock()
	delete(j.p.jobs, j.token)
	j.p.mu.Unlock()
	return j.l.Close()
}

// active returns the run of the job whose token a request has, if the request may be sent on.
func (p *Proxy) active(r *http.Request) (*run, error) {
	j := r.Context().Value(jobKey{}).(*Job)
	list := r.Header.Values("Authorization")
	given := ""
	if len(list) == 1 {
		given, _ = strings.CutPrefix(list[0], "Bearer ")
	}
	if p.o.off.token { // a token is good everywhere
		p.mu.Lock()
		if other := p.jobs[given]; other != nil {
			j = other
		}
		p.mu.Unlock()
	}
	if subtle.ConstantTimeCompare([]byte(given), []byte(j.token)) != 1 {
		return nil, refusal{http.StatusUnauthorized, "token", "this is not the token of this job", 0}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.run == nil && p.o.off.active {
		return &run{"none", context.Background()}, nil
	}
	if j.run == nil {
		return nil, refusal{http.StatusForbidden, "run", "no run of this job is active", 0}
	}
	return j.run, nil
}

// refusal is the answer to a request that is not sent on.
type refusal struct {
	status int
	result string
	text   string
	after  int64 // seconds, for Retry-After
}

func (r refusal) Error() string { return r.text }

func refuse(w http.ResponseWriter, r refusal) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if r.status != http.StatusServiceUnavailable {
		h.Set("X-Should-Retry", "false") // for the clients of models
	}
	if r.after > 0 {
		h.Set("Retry-After", strconv.FormatInt(r.after, 10))
	}
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": "the front end: " + r.text, "type": "bailey_front"}})
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	tenant, tokens, err := p.pass(w, r)
	result := "done"
	if err != nil {
		x, ok := errors.AsType[refusal](err)
		if !ok { // the response has begun
			p.o.Done(tenant, "cut", tokens)
			panic(http.ErrAbortHandler)
		}
		result = x.result
		refuse(w, x)
	}
	p.o.Done(tenant, result, tokens)
}

// pass sends a request on, and its response back.
func (p *Proxy) pass(w http.ResponseWriter, r *http.Request) (tenant string, tokens int64, err error) {
	run, err := p.active(r)
	if err != nil {
		return "", 0, err
	}
	tenant = run.tenant
	if !p.o.off.path && (r.Method != http.MethodPost || r.RequestURI != "/v1/chat/completions") {
		return tenant, 0, refusal{http.StatusNotFound, "path", "a job may send POST /v1/chat/completions and nothing else", 0}
	}
	if r.ContentLength < 0 || r.ContentLength > p.o.MaxRequest || len(r.TransferEncoding) > 0 {
		return tenant, 0, refusal{http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("the request needs a Content-Length of at most %d", p.o.MaxRequest), 0}
	}
	a, err := p.enter(tenant, r.ContentLength)
	if err != nil {
		return tenant, 0, err
	}
	defer p.leave(a)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return tenant, 0, refusal{http.StatusBadRequest, "body", "the body did not come to its end", 0}
	}
	if body, err = p.body(body); err != nil {
		return tenant, 0, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), p.o.Time)
	defer cancel()
	defer context.AfterFunc(run.ctx, cancel)()
	out, err := p.request(ctx, r, body)
	if err != nil {
		return tenant, 0, refusal{http.StatusBadRequest, "path", "the request has no form that can be sent on", 0}
	}
	resp, err := p.client.Do(out)
	if err != nil { // it has the operator's address
		return tenant, 0, refusal{http.StatusServiceUnavailable, "server", "the model's server can't be reached, or the run has ended", 0}
	}
	defer resp.Body.Close()
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	switch {
	case p.o.off.echo:
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden: // its words may have a part of the key
		return tenant, 0, refusal{http.StatusBadGateway, "key", "the model's server does not take the operator's key", 0}
	case resp.StatusCode < 200 || resp.StatusCode >= 300 && resp.StatusCode < 400:
		return tenant, 0, refusal{http.StatusBadGateway, "redirect", "the model's server answered with a redirect, which is not followed", 0}
	case kind != "application/json" && kind != "text/event-stream" || resp.Header.Get("Content-Encoding") != "":
		return tenant, 0, refusal{http.StatusBadGateway, "form", "the model's server answered in another form than JSON or events", 0}
	}
	secrets := p.secrets(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	for _, k := range []string{"Content-Type", "Retry-After"} {
		if v := resp.Header.Get(k); v != "" {
			w.Header().Set(k, replaced(v, secrets))
		}
	}
	if p.o.off.headers {
		for k, list := range resp.Header {
			w.Header()[k] = slices.Clone(list)
		}
		w.Header().Del("Content-Length")
	}
	w.WriteHeader(resp.StatusCode)
	c := &counter{asked: int64(len(body)), events: kind == "text/event-stream"}
	err = p.copy(w, io.TeeReader(resp.Body, c), secrets, a)
	tokens = c.tokens()
	p.mu.Lock()
	a.tokens.add(p.o.now(), tokens)
	p.mu.Unlock()
	return tenant, tokens, err
}

// body returns a request with the name of the model as it was configured. A job can't choose a dearer one, also not by a
// name that is there twice.
func (p *Proxy) body(text []byte) ([]byte, error) {
	if p.o.off.model {
		return text, nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields == nil {
		return nil, refusal{http.StatusBadRequest, "body", "the body is no JSON object", 0}
	}
	fields["model"], _ = json.Marshal(p.o.Model)
	// bailey-box chooses this name by the server's, which it does not know here. OpenAI's newer models refuse the old one.
	if host := p.to.Hostname(); strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".openai.azure.com") {
		if n, ok := fields["max_tokens"]; ok {
			delete(fields, "max_tokens")
			fields["max_completion_tokens"] = n
		}
	}
	return json.Marshal(fields)
}

// request returns the request to the model's server. Nothing but the body is the job's.
func (p *Proxy) request(ctx context.Context, r *http.Request, body []byte) (*http.Request, error) {
	to := p.to
	if p.o.off.path { // as a proxy does that follows the line of the request
		u, err := p.to.Parse(r.RequestURI)
		if err != nil {
			return nil, err
		}
		to = u
	}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if p.o.off.headers {
		out.Header, out.Host = r.Header.Clone(), r.Host
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Accept", "text/event-stream, application/json")
	out.Header.Set("User-Agent", "bailey-front")
	out.Header.Del("Authorization")
	if p.o.Key != "" {
		out.Header.Set("Authorization", "Bearer "+p.o.Key)
	}
	return out, nil
}

// secrets returns the forms of the key that are replaced by a job's token: as it is, and as JSON may write it.
func (p *Proxy) secrets(token string) (out []proxy.Secret) {
	if p.o.Key == "" || p.o.off.echo {
		return nil
	}
	b, _ := json.Marshal(p.o.Key)
	quoted := string(b[1 : len(b)-1])
	for _, v := range []string{p.o.Key, quoted, strings.ReplaceAll(quoted, "/", `\/`), strings.ReplaceAll(p.o.Key, "/", `\/`), url.QueryEscape(p.o.Key)} {
		if !slices.ContainsFunc(out, func(s proxy.Secret) bool { return s.Value == v }) {
			out = append(out, proxy.Secret{Placeholder: token, Value: v})
		}
	}
	return out
}

func replaced(v string, secrets []proxy.Secret) string {
	for _, s := range secrets {
		v = strings.ReplaceAll(v, s.Value, s.Placeholder)
	}
	return v
}

// writeTime is the most time for a piece of a response that a job does not read.
const writeTime = 30 * time.Second

// errLimit ends a response within its body.
var errLimit = errors.New("models: the response has more bytes than it may")

// copy sends the body of a response on, each piece at once.
func (p *Proxy) copy(w http.ResponseWriter, from io.Reader, secrets []proxy.Secret, a *account) error {
	c := http.NewResponseController(w)
	in := proxy.Hide(from, secrets)
	b := make([]byte, 16<<10)
	left := p.o.MaxResponse
	for {
		n, err := in.Read(b)
		p.mu.Lock()
		a.bytes.add(p.o.now(), int64(n))
		over := a.bytes.over(p.o.now())
		p.mu.Unlock()
		if left -= int64(n); left < 0 || over && !p.o.off.limits {
			return errLimit
		}
		if n > 0 {
			if err := c.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
				return err
			}
			if _, err := w.Write(b[:n]); err != nil {
				return err
			}
			if err := c.Flush(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
