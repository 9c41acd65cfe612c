package testpage

import (
	"testing"
	"time"
)

// Origin returns the n-th origin that the runner serves beside the page's own, on another site:
// http://127.0.0.2:PORT and so on (or http://oN.localhost:PORT on a system without these
// addresses). Origin(0) is the origin of ordinary test pages. [Serve] serves a page of another
// origin.
func Origin(t testing.TB, n int) string {
	t.Helper()
	var s string
	must(t, "origin", map[string]any{"n": n}, &s)
	return s
}

// HostOrigin returns the runner's own origin under another name, such as "localhost" or
// "a.localhost". It has the same port, but is another site.
func HostOrigin(t testing.TB, host string) string {
	t.Helper()
	var s string
	must(t, "hostorigin", map[string]any{"host": host}, &s)
	return s
}

// Response is the runner's response at a path.
type Response struct {
	// Origin is the number of the origin, see the function Origin.
	Origin int
	// Path begins with a slash. If it is empty, the runner chooses an unused one. It is served at
	// each host name of the origin.
	Path string
	// Prefix serves all paths below Path too.
	Prefix bool
	// Status is the HTTP status. 0 means 200.
	Status int
	// Header is sent unchanged. The default of Content-Type is text/plain.
	Header map[string]string
	Body   string
	// Delay is the time before the response.
	Delay time.Duration
}

// Request is a request that reached the runner.
type Request struct {
	Method string
	// URL is the whole address, with the query.
	URL    string
	Header map[string]string
	Body   string
	// At is the time of arrival.
	At time.Time
}

// Endpoint is an address at which the runner responds and records the requests.
type Endpoint struct {
	// URL is the address, without a slash at its end.
	URL string
	id  string
	t   testing.TB
}

// Serve makes the runner respond at a path until the test ends.
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

// Sink returns an address on a site and a port that nothing else uses. It records everything that
// arrives: requests to any path below it, connections without a request (a preconnect), and
// datagrams (STUN, QUIC). It responds with 200 to every request, and allows every origin to read
// the response.
func Sink(t testing.TB) *Endpoint {
	t.Helper()
	e := &Endpoint{t: t}
	var made struct{ URL, ID string }
	must(t, "sink", nil, &made)
	e.URL, e.id = made.URL, made.ID
	t.Cleanup(func() { must(t, "unserve", map[string]any{"id": e.id}, nil) })
	return e
}

// Traffic is the traffic that reached an [Endpoint]. Only a [Sink] counts connections and
// datagrams.
type Traffic struct {
	Requests    []Request
	Connections int
	Datagrams   int
}

// Total returns the number of requests, connections and datagrams.
func (t Traffic) Total() int { return len(t.Requests) + t.Connections + t.Datagrams }

// Traffic returns the traffic until now. A request that a page has just made may still be on its
// way: see Wait and Quiet.
func (e *Endpoint) Traffic() Traffic {
	e.t.Helper()
	var v Traffic
	must(e.t, "traffic", map[string]any{"id": e.id}, &v)
	return v
}

// Requests returns Traffic().Requests.
func (e *Endpoint) Requests() []Request {
	e.t.Helper()
	return e.Traffic().Requests
}

// Wait returns the traffic as soon as n requests have arrived, or when limit is over. It is the
// positive control of a test that expects no traffic.
func (e *Endpoint) Wait(n int, limit time.Duration) Traffic {
	e.t.Helper()
	var v Traffic
	must(e.t, "traffic", map[string]any{"id": e.id, "wait": n, "limitMs": limit.Milliseconds()}, &v)
	return v
}

// Quiet waits for the given time, or until anything arrives, and returns the traffic.
func (e *Endpoint) Quiet(during time.Duration) Traffic {
	e.t.Helper()
	var v Traffic
	must(e.t, "traffic", map[string]any{"id": e.id, "wait": 1, "limitMs": during.Milliseconds()}, &v)
	return v
}

// Reset clears the recorded traffic.
func (e *Endpoint) Reset() {
	e.t.Helper()
	must(e.t, "reset", map[string]any{"id": e.id}, nil)
}
