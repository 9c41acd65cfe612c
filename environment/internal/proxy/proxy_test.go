package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
)

const (
	value = "sk-the-value-of-the-secret"
	token = "bailey-placeholder-0123456789abcdef"
)

// world is a network in memory: no packet leaves the test.
type world struct {
	t  *testing.T
	ca *Proxy // the authority of its servers

	mu      sync.Mutex
	names   map[string][][]netip.Addr // the answers to a name, one after the other
	heard   map[string]string         // what the server at an address heard last
	log     []Decision
	answers func(r *http.Request) string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ca, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	of := func(list ...string) (out []netip.Addr) {
		for _, s := range list {
			out = append(out, netip.MustParseAddr(s))
		}
		return out
	}
	return &world{t: t, ca: ca, heard: map[string]string{}, names: map[string][][]netip.Addr{
		"a.example": {of("93.184.216.34")}, "b.example": {of("93.184.216.35")}, "denied.example": {of("93.184.216.36")},
		"inner.example": {of("10.0.0.1")}, "meta.example": {of("169.254.169.254")}, "self.example": {of("127.0.0.1")}, "six.example": {of("::1")}, "mapped.example": {of("::ffff:127.0.0.1")},
		"both.example": {of("93.184.216.34", "10.0.0.1")}, "rebinds.example": {of("93.184.216.34"), of("10.0.0.1")},
	}}
}

func (w *world) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.names[host]
	if len(list) == 0 {
		return nil, errors.New("no such host")
	}
	if len(list) > 1 {
		w.names[host] = list[1:]
	}
	return list[0], nil
}

// dial connects to a server that records what it hears. On port 443 it speaks TLS.
func (w *world) dial(_ context.Context, a netip.AddrPort) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close()
		var c net.Conn = theirs
		if a.Port() == 443 {
			c = tls.Server(theirs, &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) { return w.ca.leaf(h.ServerName) }})
		}
		r := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			w.mu.Lock()
			w.heard[a.Addr().String()] = req.Host + " " + req.Header.Get("Authorization")
			body := "hello"
			if w.answers != nil {
				body = w.answers(req)
			}
			w.mu.Unlock()
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nX-Echo: %s\r\nTransfer-Encoding: chunked\r\n\r\n", req.Header.Get("Authorization"))
			for i := range len(body) { // one byte a chunk
				fmt.Fprintf(c, "1\r\n%s\r\n", body[i:i+1])
			}
			io.WriteString(c, "0\r\n\r\n")
		}
	}()
	return ours, nil
}

// proxy returns a client whose requests go through a proxy.
func (w *world) proxy(o off) *http.Client {
	w.t.Helper()
	h, err := protocol.ParseHost("a.example")
	if err != nil {
		w.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(w.ca.ca)
	p, err := New(Options{Resolve: w.resolve, Dial: w.dial, Roots: roots, off: o,
		Secrets: []Secret{{Placeholder: token, Value: value, Hosts: []protocol.HostPattern{h}}},
		Allow: func(_ context.Context, hostport string) error {
			if strings.HasPrefix(hostport, "denied.example") {
				return protocol.Errorf(protocol.ErrCapabilityDenied, "connect", hostport, "the policy denies this host")
			}
			return nil
		},
		Log: func(d Decision) { w.mu.Lock(); w.log = append(w.log, d); w.mu.Unlock() },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	l := &memory{conns: make(chan net.Conn), done: make(chan struct{})}
	ctx, end := context.WithCancel(w.t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { p.Serve(ctx, l) })
	w.t.Cleanup(func() { end(); wg.Wait() })
	trusted := x509.NewCertPool()
	trusted.AddCert(w.ca.ca)
	trusted.AppendCertsFromPEM(p.Certificate())
	t := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: trusted}, DialContext: func(context.Context, string, string) (net.Conn, error) { return l.dial() },
		Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://proxy:1") }}
	w.t.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

func (w *world) get(c *http.Client, address, host string) (string, error) {
	req, err := http.NewRequestWithContext(w.t.Context(), "GET", address, nil)
	if err != nil {
		return "", err
	}
	req.Host = host
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != 200 {
		err = fmt.Errorf("%s: %s", resp.Status, b)
	}
	return resp.Header.Get("X-Echo") + "|" + string(b), err
}

// memory is a listener in memory.
type memory struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (m *memory) dial() (net.Conn, error) {
	a, b := net.Pipe()
	select {
	case m.conns <- b:
		return a, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}
func (m *memory) Close() error   { m.once.Do(func() { close(m.done) }); return nil }
func (m *memory) Addr() net.Addr { return &net.UnixAddr{} }

func TestProxy(t *testing.T) {
	w := newWorld(t)
	c := w.proxy(off{})
	// The server of a secret gets the value, and the program sees neither the value nor where it was.
	w.answers = func(r *http.Request) string { return "you sent " + r.Header.Get("Authorization") }
	got, err := w.get(c, "https://a.example/", "")
	if err != nil || got != "Bearer "+token+"|you sent Bearer "+token {
		t.Errorf("%q %v", got, err)
	}
	if w.heard["93.184.216.34"] != "a.example Bearer "+value {
		t.Errorf("the server heard %q", w.heard["93.184.216.34"])
	}
	w.answers = nil
	for _, address := range []string{"http://b.example/", "https://b.example/"} {
		if got, err := w.get(c, address, ""); err != nil || !strings.HasSuffix(got, "|hello") {
			t.Errorf("%s: %q %v", address, got, err)
		}
	}
	if _, err := w.get(c, "http://denied.example/", ""); err == nil || !strings.Contains(err.Error(), "the policy denies this host") {
		t.Errorf("%v", err)
	}
	last := w.log[len(w.log)-1]
	if len(w.log) != 4 || last.Allowed || last.Host != "denied.example:80" || !w.log[0].Allowed || w.log[0].Address.String() != "93.184.216.34:443" {
		t.Errorf("%+v", w.log)
	}
}

func TestAttackProxy(t *testing.T) {
	count := attack.Start(t, "proxy")
	type row struct {
		name, address, host string
		at                  string // the server that must not hear it
		hears               string // what it must not hear, if it may hear something
		back                bool   // the program must not see the value
		off                 off
	}
	no := off{}
	for _, r := range []row{
		{name: "a host that the policy denies", address: "http://denied.example/", at: "93.184.216.36", off: off{policy: true}},
		{name: "a tunnel to it", address: "https://denied.example/", at: "93.184.216.36", off: off{policy: true}},
		{name: "a name in a private network", address: "http://inner.example/", at: "10.0.0.1", off: off{addresses: true}},
		{name: "a name of the cloud's metadata", address: "http://meta.example/latest", at: "169.254.169.254", off: off{addresses: true}},
		{name: "the address of the cloud's metadata", address: "http://169.254.169.254/latest", at: "169.254.169.254", off: off{addresses: true}},
		{name: "a name of this machine", address: "https://self.example/", at: "127.0.0.1", off: off{addresses: true}},
		{name: "a name of this machine, IPv6", address: "http://six.example/", at: "::1", off: off{addresses: true}},
		{name: "IPv4 in IPv6", address: "http://mapped.example/", at: "127.0.0.1", off: off{addresses: true}},
		{name: "an address in brackets", address: "http://[::1]/", at: "::1", off: off{addresses: true}},
		{name: "one answer of two is private", address: "http://both.example/", at: "93.184.216.34", off: off{addresses: true}},
		{name: "a name that changes after the check", address: "http://rebinds.example/", at: "10.0.0.1", off: off{addresses: true, pinned: true}},
		{name: "the secret for another host", address: "https://b.example/", at: "93.184.216.35", hears: value, off: off{hosts: true}},
		{name: "the secret in an answer's body", address: "https://a.example/", back: true, off: off{responses: true}},
		{name: "a decimal address", address: "http://2130706433/", at: "127.0.0.1"},
		{name: "a short address", address: "http://127.1/", at: "127.0.0.1"},
		{name: "a hexadecimal address", address: "http://0x7f000001/", at: "127.0.0.1"},
		{name: "an octal address", address: "http://0177.0.0.1/", at: "127.0.0.1"},
		{name: "the secret in clear text", address: "http://a.example/", at: "93.184.216.34", hears: value},
		{name: "the header names another site of the server", address: "https://a.example/", host: "denied.example", at: "93.184.216.34"},
		{name: "a name with a dot at its end", address: "http://denied.example./", at: "93.184.216.36"},
		{name: "a name in capitals", address: "http://DENIED.example/", at: "93.184.216.36"},
	} {
		run := func(o off) (string, bool) {
			w := newWorld(t)
			w.answers = func(r *http.Request) string { return r.Header.Get("Authorization") }
			got, err := w.get(w.proxy(o), r.address, r.host)
			w.mu.Lock()
			defer w.mu.Unlock()
			heard, ok := w.heard[r.at]
			if r.back {
				return got, strings.Contains(got, value)
			}
			return fmt.Sprint(heard, err), ok && strings.Contains(heard, r.hears)
		}
		said, ok := run(no)
		count.Try(r.name+": "+said, ok)
		if r.off == no {
			continue // a spelling of the row above it
		}
		said, ok = run(r.off)
		count.Off(r.name, ok)
		if !ok {
			t.Errorf("%s: with its layer off it did not succeed: %s", r.name, said)
		}
	}
}

func TestOptions(t *testing.T) {
	h, _ := protocol.ParseHost("a.example")
	for _, bad := range []Options{{Most: -1}, {Most: 1025}, {Secrets: []Secret{{}}}, {Secrets: []Secret{{Placeholder: token, Value: value}}},
		{Secrets: []Secret{{Placeholder: token, Value: "short", Hosts: []protocol.HostPattern{h}}}}, {Secrets: []Secret{{Placeholder: token, Value: "line\r\nbreak-x", Hosts: []protocol.HostPattern{h}}}}} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// Values that two reads cut are found.
func TestHider(t *testing.T) {
	for size := range 40 {
		in := strings.Repeat("x", size) + value + "y" + value[:10] + value + value[:5]
		got, err := io.ReadAll(newHider(&small{in}, []Secret{{Placeholder: token, Value: value}}))
		if want := strings.ReplaceAll(in, value, token); err != nil || string(got) != want {
			t.Errorf("%d: %q, want %q: %v", size, got, want, err)
		}
	}
}

// small returns three bytes a read.
type small struct{ s string }

func (s *small) Read(p []byte) (int, error) {
	if s.s == "" {
		return 0, io.EOF
	}
	n := copy(p, s.s[:min(3, len(s.s))])
	s.s = s.s[n:]
	return n, nil
}

// The client gets one answer for a request, without the values of secrets in any part of it.
func TestExchange(t *testing.T) {
	hide := []Secret{{Value: "S3cret-value", Placeholder: "{{secret:a}}"}}
	for name, c := range map[string]struct {
		hide   []Secret
		answer string
		want   string
		more   bool
	}{
		"a body":           {hide, "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n<S3cret-value>", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n<{{secret:a}}>\r\n0\r\n\r\n", true},
		"the status text":  {hide, "HTTP/1.1 200 S3cret-value\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 {{secret:a}}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true},
		"a trailer":        {hide, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n2\r\nok\r\n0\r\nX-A: S3cret-value\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true},
		"no body":          {hide, "HTTP/1.1 204 No Content\r\nX-A: S3cret-value\r\n\r\n", "HTTP/1.1 204 No Content\r\nX-A: {{secret:a}}\r\n\r\n", true},
		"not modified":     {hide, "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n", true},
		"an early answer":  {hide, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true},
		"another protocol": {hide, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "HTTP/1.1 502 ", false},
		"in clear text":    {nil, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false},
	} {
		t.Run(name, func(t *testing.T) {
			out, server := net.Pipe()
			go func() {
				_, _ = http.ReadRequest(bufio.NewReader(server))
				_, _ = io.WriteString(server, c.answer)
				_ = server.Close()
			}()
			req, err := http.NewRequest("GET", "http://host/", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Expect", "100-continue")
			var got bytes.Buffer
			if more := exchange(&got, out, bufio.NewReader(out), req, c.hide, c.hide); more != c.more || !strings.HasPrefix(got.String(), c.want) || c.more && got.String() != c.want {
				t.Errorf("%q %v, want %q %v", got.String(), more, c.want, c.more)
			}
		})
	}
}

// A request to a server that never answers ends with the context.
func TestSilentServer(t *testing.T) {
	asked := make(chan struct{})
	p, err := New(Options{Allow: func(context.Context, string) error { return nil },
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Dial: func(context.Context, netip.AddrPort) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				_, _ = http.ReadRequest(bufio.NewReader(theirs))
				close(asked)
			}()
			return ours, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	l := &memory{conns: make(chan net.Conn), done: make(chan struct{})}
	ctx, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { p.Serve(ctx, l) })
	c, err := l.dial()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-asked
	end()
	wg.Wait()
}

// A program that sends the beginning of a request, a byte at a time, does not keep its connection.
func TestSlowRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := net.Pipe()
		began := time.Now()
		var slow sync.WaitGroup
		slow.Go(func() {
			for err := error(nil); err == nil; {
				time.Sleep(idle - time.Second)
				_, err = theirs.Write([]byte("G"))
			}
		})
		p.serve(t.Context(), ours)
		if took := time.Since(began); took != idle {
			t.Errorf("it ended after %v, want %v", took, idle)
		}
		theirs.Close()
		slow.Wait()
	})
}
