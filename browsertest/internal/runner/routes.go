package runner

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// request is a request that reached an endpoint. It becomes a testpage.Request.
type request struct {
	Method string
	URL    string
	Header map[string]string
	Body   string
	At     time.Time
}

// endpoint is an address that a test has asked for, with its traffic.
type endpoint struct {
	id     string
	path   string
	prefix bool
	status int
	header map[string]string
	body   string
	delay  time.Duration
	sink   bool
	close  func()

	mu          sync.Mutex
	changed     chan struct{}
	requests    []request
	connections int
	datagrams   int
}

// The limits of an endpoint's memory: the number of requests, and the bytes of a body.
const (
	maxLog  = 20000
	maxBody = 1 << 20
)

func (e *endpoint) note(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxBody))
	h := map[string]string{}
	for k, v := range r.Header {
		h[k] = strings.Join(v, ", ")
	}
	e.note(func() {
		if len(e.requests) < maxLog {
			e.requests = append(e.requests, request{r.Method, "http://" + r.Host + r.URL.String(), h, string(body), time.Now()})
		}
	})
	if e.delay > 0 {
		select {
		case <-time.After(e.delay):
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if e.sink {
		o := r.Header.Get("Origin")
		if o == "" {
			o = "*"
		}
		w.Header().Set("Access-Control-Allow-Origin", o)
		w.Header().Set("Access-Control-Allow-Headers", "*")
		w.Header().Set("Access-Control-Allow-Methods", "*")
		w.Header().Set("Access-Control-Allow-Private-Network", "true")
		w.Header().Set("Timing-Allow-Origin", "*")
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	for k, v := range e.header {
		w.Header().Set(k, v)
	}
	status := e.status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	io.WriteString(w, e.body)
}

// traffic is the traffic of an endpoint. It becomes a testpage.Traffic.
type traffic struct {
	Requests    []request
	Connections int
	Datagrams   int
}

func (e *endpoint) traffic() (traffic, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return traffic{append([]request{}, e.requests...), e.connections, e.datagrams}, e.changed
}

// origin is a host and port that serves endpoints.
type origin struct {
	url string
	mu  sync.Mutex
	at  map[string]*endpoint
}

func (o *origin) find(path string) *endpoint {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.at[path]; e != nil {
		return e
	}
	var best *endpoint
	for _, e := range o.at {
		if e.prefix && strings.HasPrefix(path, strings.TrimSuffix(e.path, "/")+"/") && (best == nil || len(e.path) > len(best.path)) {
			best = e
		}
	}
	return best
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e := o.find(r.URL.Path); e != nil {
		e.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// origins makes origins at their first use. Number 0 is the runner's own.
type origins struct {
	mu    sync.Mutex
	list  map[int]*origin
	ends  map[string]*endpoint
	close []func()
	next  int
}

func newOrigins(own *origin) *origins {
	return &origins{list: map[int]*origin{0: own}, ends: map[string]*endpoint{}}
}

// loopback listens on a loopback address of its own for n, which is a site of its own, such as
// 127.0.0.5 for n = 4. On systems with only 127.0.0.1 the site is a name below localhost, which
// browsers resolve to loopback themselves. It returns the listener and the origin.
func loopback(n int) (net.Listener, string, error) {
	if runtime.GOOS == "linux" || runtime.GOOS == "windows" {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.%d.%d:0", (n+1)/250, (n+1)%250))
		if err == nil {
			return l, "http://" + l.Addr().String(), nil
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return l, "http://o" + strconv.Itoa(n) + ".localhost:" + port, nil
}

func (s *origins) get(n int) (*origin, error) {
	if n < 0 || n > 200 {
		return nil, fmt.Errorf("origin %d: use 0 to 200", n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.list[n]; o != nil {
		return o, nil
	}
	l, url, err := loopback(n)
	if err != nil {
		return nil, err
	}
	o := &origin{url: url, at: map[string]*endpoint{}}
	srv := &http.Server{Handler: noStore(o)}
	go srv.Serve(l)
	s.close = append(s.close, func() { srv.Close() })
	s.list[n] = o
	return o, nil
}

func (s *origins) add(n int, e *endpoint) (string, error) {
	o, err := s.get(n)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	s.next++
	e.id = strconv.Itoa(s.next)
	s.mu.Unlock()
	if e.path == "" {
		e.path = "/t/" + e.id
	}
	if !strings.HasPrefix(e.path, "/") || strings.HasPrefix(e.path, "/_bt/") {
		return "", fmt.Errorf("path %q: it must begin with a slash, and /_bt/ is the runner's own", e.path)
	}
	e.changed = make(chan struct{})
	o.mu.Lock()
	taken := o.at[e.path] != nil
	if !taken {
		o.at[e.path] = e
	}
	o.mu.Unlock()
	if taken {
		return "", fmt.Errorf("path %q of origin %d is already served by another test", e.path, n)
	}
	e.close = func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.at, e.path)
	}
	s.mu.Lock()
	s.ends[e.id] = e
	s.mu.Unlock()
	return o.url + strings.TrimSuffix(e.path, "/"), nil
}

// countingListener calls accepted for each connection, also for those that carry no request.
type countingListener struct {
	net.Listener
	accepted func()
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.accepted()
	}
	return c, err
}

// addSink makes a listener for all requests, TCP connections and UDP datagrams of one port.
func (s *origins) addSink() (*endpoint, string, error) {
	s.mu.Lock()
	s.next++
	e := &endpoint{id: strconv.Itoa(s.next), sink: true, path: "/", prefix: true, changed: make(chan struct{})}
	s.mu.Unlock()
	l, url, err := loopback(240)
	if err != nil {
		return nil, "", err
	}
	udp, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		l.Close()
		return nil, "", err
	}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			if _, _, err := udp.ReadFrom(buf); err != nil {
				return
			}
			e.note(func() { e.datagrams++ })
		}
	}()
	srv := &http.Server{Handler: noStore(e)}
	go srv.Serve(countingListener{l, func() { e.note(func() { e.connections++ }) }})
	var once sync.Once
	e.close = func() {
		once.Do(func() {
			srv.Close()
			udp.Close()
		})
	}
	s.mu.Lock()
	s.ends[e.id] = e
	s.close = append(s.close, e.close)
	s.mu.Unlock()
	return e, url, nil
}

func (s *origins) endpoint(id string) (*endpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.ends[id]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("endpoint %q is no longer served", id)
}

func (s *origins) remove(id string) {
	s.mu.Lock()
	e := s.ends[id]
	delete(s.ends, id)
	s.mu.Unlock()
	if e != nil {
		e.close()
	}
}

func (s *origins) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.close {
		f()
	}
}
