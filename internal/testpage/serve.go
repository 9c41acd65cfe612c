package testpage

import (
	"testing"
	"time"
)

// Origin is the n-th origin that the runner serves beside the page's own, on
// another site: http://127.0.0.2:PORT and so on (where a system has no such
// addresses, http://oN.localhost:PORT). Origin(0) is the origin of ordinary test
// pages. A page with a foreign origin is served by [Serve].
func Origin(t testing.TB, n int) string {
	t.Helper()
	var s string
	must(t, "origin", map[string]any{"n": n}, &s)
	return s
}

// HostOrigin is the runner's own origin under another name, such as
// "localhost" or "a.localhost": the same port, another site.
func HostOrigin(t testing.TB, host string) string {
	t.Helper()
	var s string
	must(t, "hostorigin", map[string]any{"host": host}, &s)
	return s
}

// Response is what the runner answers at a path.
type Response struct {
	// Origin is the number of the origin, see the function Origin.
	Origin int
	// Path begins with a slash; empty for one that nobody else has. It is served
	// at each host name of the origin.
	Path string
	// Prefix answers all paths below Path too.
	Prefix bool
	// Status is 200 if zero.
	Status int
	// Header is sent as it is; Content-Type is text/plain if absent.
	Header map[string]string
	Body   string
	// Delay holds the answer back.
	Delay time.Duration
}

// Request is a request that reached the runner.
type Request struct {
	Method string
	// URL is the whole address, query included.
	URL    string
	Header map[string]string
	Body   string
	// At is when it arrived.
	At time.Time
}

// Endpoint is an address at which the runner answers, and remembers who asked.
type Endpoint struct {
	// URL is the address, without a slash at its end.
	URL string
	id  string
	t   testing.TB
}

// Serve makes the runner answer at a path until the test ends.
func Serve(t testing.TB, r Response) *Endpoint {
	t.Helper()
	e := &Endpoint{t: t}
	var made struct{ URL, ID string }
	must(t, "serve", map[string]any{
		"origin": r.Origin, "path": r.Path, "prefix": r.Prefix, "status": r.Status,
		"header": r.Header, "body": r.Body, "delayMs": r.Delay.Milliseconds(),
	}, &made)
	e.URL, e.id = made.URL, made.ID
	t.Cleanup(func() { must(t, "unserve", map[string]any{"id": e.id}, nil) })
	return e
}

// Sink makes an address, on a site and a port that nothing else uses, that takes
// whatever comes and remembers it: requests to any path below it, connections
// that never carried one (a preconnect), and datagrams (STUN, QUIC). It answers
// 200 to everyone and allows every origin to read the answer.
func Sink(t testing.TB) *Endpoint {
	t.Helper()
	e := &Endpoint{t: t}
	var made struct{ URL, ID string }
	must(t, "sink", nil, &made)
	e.URL, e.id = made.URL, made.ID
	t.Cleanup(func() { must(t, "unserve", map[string]any{"id": e.id}, nil) })
	return e
}

// Traffic is all that reached an [Endpoint]. Only a [Sink] counts connections
// and datagrams.
type Traffic struct {
	Requests    []Request
	Connections int
	Datagrams   int
}

// Total is 0 if nothing came in any way.
func (t Traffic) Total() int { return len(t.Requests) + t.Connections + t.Datagrams }

// Traffic returns what has arrived until now. A request that a page has just
// made may still be on its way: see Wait and Quiet.
func (e *Endpoint) Traffic() Traffic {
	e.t.Helper()
	var v Traffic
	must(e.t, "traffic", map[string]any{"id": e.id}, &v)
	return v
}

// Requests is Traffic().Requests.
func (e *Endpoint) Requests() []Request {
	e.t.Helper()
	return e.Traffic().Requests
}

// Wait returns as soon as n requests have arrived, or, failing that, what has
// arrived when the time is up. It is the positive control of a test that
// expects silence.
func (e *Endpoint) Wait(n int, limit time.Duration) Traffic {
	e.t.Helper()
	var v Traffic
	must(e.t, "traffic", map[string]any{"id": e.id, "wait": n, "limitMs": limit.Milliseconds()}, &v)
	return v
}

// Quiet waits for as long as given, or until anything has arrived, and returns
// what has.
func (e *Endpoint) Quiet(during time.Duration) Traffic {
	e.t.Helper()
	var v Traffic
	must(e.t, "traffic", map[string]any{"id": e.id, "wait": 1, "limitMs": during.Milliseconds()}, &v)
	return v
}

// Reset forgets what has arrived.
func (e *Endpoint) Reset() {
	e.t.Helper()
	must(e.t, "reset", map[string]any{"id": e.id}, nil)
}
