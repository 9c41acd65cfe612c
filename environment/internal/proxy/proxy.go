// Package proxy is the only way to a network for programs of the machine. It decides about each host by
// the policy, resolves names itself, connects to no address that is not one of the internet, and
// reports each decision. It puts the values of secrets in the place of placeholders, for the hosts for
// which a secret is granted, so no program ever has a value.
//
// The package trusts the policy and the resolver's answers for public addresses. It trusts no program
// and no server.
package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/nets"
	"github.com/bailey-go/bailey/protocol"
)

// Secret is a value that programs use without having it.
type Secret struct {
	Placeholder string // what a program sends
	Value       string
	Hosts       []protocol.HostPattern // that get the value
}

// Decision is a line of the log.
type Decision struct {
	Host    string // as the program wrote it, with its port
	Address netip.AddrPort
	Allowed bool
	Reason  string
}

// Options configure a [Proxy].
type Options struct {
	// Allow returns nil if a program may reach a host ("name:port"). nil allows none.
	Allow func(ctx context.Context, hostport string) error
	// Secrets are replaced in the headers of requests, and their values in responses.
	Secrets []Secret
	// Log is called with each decision.
	Log func(Decision)
	// Resolve returns the addresses of a name. nil is the system's resolver.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address. nil is the system's.
	Dial func(ctx context.Context, address netip.AddrPort) (net.Conn, error)
	// Roots are the certificates that servers of secrets are checked with. nil are the system's.
	Roots *x509.CertPool
	// Most is the number of connections at once. The default is 32.
	Most int

	off off
}

// off switches defences off, for tests that show what each is for.
type off struct {
	policy    bool // the policy decides about hosts
	addresses bool // addresses of private networks are refused
	pinned    bool // the address that was checked is the one that is connected to
	hosts     bool // a secret goes to its hosts only
	responses bool // values are taken out of responses
}

// Proxy serves programs. It is safe for concurrent use.
type Proxy struct {
	o     Options
	slots chan struct{}

	ca   *x509.Certificate
	key  *ecdsa.PrivateKey
	mu   sync.Mutex
	made map[string]*tls.Certificate
}

// New returns a proxy with a certificate authority of its own, whose key never leaves it.
func New(o Options) (*Proxy, error) {
	if o.Most == 0 {
		o.Most = 32
	}
	if o.Most < 1 || o.Most > 1024 {
		return nil, fmt.Errorf("proxy: Options.Most is %d; want 1 to 1024, or 0 for 32", o.Most)
	}
	for _, s := range o.Secrets {
		if len(s.Placeholder) < 16 || len(s.Value) < 8 || strings.ContainsAny(s.Value+s.Placeholder, "\r\n\x00") || len(s.Hosts) == 0 {
			return nil, errors.New("proxy: a secret needs a placeholder of at least 16 bytes, a value of at least 8 without line breaks, and hosts")
		}
	}
	if o.Resolve == nil {
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, a netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", a.String())
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bailey-box"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	return &Proxy{o: o, slots: make(chan struct{}, o.Most), ca: ca, key: key, made: map[string]*tls.Certificate{}}, nil
}

// Certificate returns the authority's certificate as PEM, which programs must trust for hosts with secrets.
func (p *Proxy) Certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.ca.Raw})
}

// Serve serves the connections of a listener until it is closed, or ctx ends. It closes the listener
// and all connections.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) {
	ctx, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer end()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case p.slots <- struct{}{}:
		default:
			c.Close()
			continue
		}
		wg.Go(func() {
			defer func() { <-p.slots }()
			defer context.AfterFunc(ctx, func() { c.Close() })()
			defer c.Close()
			p.serve(ctx, c)
		})
	}
}

const idle = 2 * time.Minute

// steady is a connection whose every read and write has the time idle. A peer that neither sends nor takes anything
// would hold it for good.
type steady struct{ net.Conn }

func (s steady) Read(p []byte) (int, error) {
	_ = s.SetReadDeadline(time.Now().Add(idle))
	return s.Conn.Read(p)
}

func (s steady) Write(p []byte) (int, error) {
	_ = s.SetWriteDeadline(time.Now().Add(idle))
	return s.Conn.Write(p)
}

// CloseWrite tells the peer that nothing more comes.
func (s steady) CloseWrite() error {
	if c, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return s.Close()
}

// serve answers the requests of one connection.
func (p *Proxy) serve(ctx context.Context, c net.Conn) {
	c = steady{c}
	r := bufio.NewReader(io.LimitReader(c, 1<<40))
	for {
		req, err := readRequest(c, r)
		if err != nil {
			return
		}
		if req.Method == http.MethodConnect {
			p.connect(ctx, c, r, req.Host)
			return
		}
		if req.URL.Scheme != "http" || req.URL.Host == "" || req.URL.User != nil {
			refuse(c, http.StatusBadRequest, "the proxy takes http:// addresses and CONNECT")
			return
		}
		// The address decides, and the header says the same to the server.
		req.Host = req.URL.Host
		hostport := req.URL.Host
		if req.URL.Port() == "" {
			hostport = net.JoinHostPort(req.URL.Hostname(), "80")
		}
		out, err := p.dial(ctx, hostport)
		if err != nil {
			refuse(c, http.StatusForbidden, protocol.Public(err).Message)
			return
		}
		// A secret goes nowhere in clear text.
		stop := context.AfterFunc(ctx, func() { out.Close() })
		more := exchange(c, out, bufio.NewReader(out), req, nil, nil)
		stop()
		out.Close()
		if !more {
			return
		}
	}
}

// readRequest reads a request with at most 64 KiB of headers, which have arrived after the time idle. Otherwise c is
// closed.
func readRequest(c io.Closer, r *bufio.Reader) (*http.Request, error) {
	late := time.AfterFunc(idle, func() { c.Close() })
	defer late.Stop()
	req, err := http.ReadRequest(r)
	if err != nil {
		return nil, err
	}
	size := len(req.URL.String())
	for k, v := range req.Header {
		size += len(k) + len(strings.Join(v, ""))
	}
	if size > 64<<10 {
		return nil, errors.New("the headers are too long")
	}
	return req, nil
}

func refuse(w io.Writer, code int, why string) {
	body := "bailey-box: " + why + "\n"
	fmt.Fprintf(w, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", code, http.StatusText(code), len(body), body)
}

// dial connects to a host that the policy allows, at an address of the internet. The address that was
// checked is the one that is connected to, so a name can't change in between.
func (p *Proxy) dial(ctx context.Context, hostport string) (net.Conn, error) {
	address, err := p.address(ctx, hostport)
	d := Decision{Host: hostport, Address: address, Allowed: err == nil}
	if err != nil {
		d.Reason = err.Error()
	}
	if p.o.Log != nil {
		p.o.Log(d)
	}
	if err != nil {
		return nil, err
	}
	if p.o.off.pinned {
		if address, err = p.resolve(ctx, hostport); err != nil {
			return nil, err
		}
	}
	c, err := p.o.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	return steady{c}, nil
}

func denied(hostport, format string, args ...any) error {
	return protocol.Errorf(protocol.ErrCapabilityDenied, "connect", hostport, format, args...)
}

func (p *Proxy) address(ctx context.Context, hostport string) (netip.AddrPort, error) {
	if _, _, err := protocol.SplitHost(hostport); err != nil {
		return netip.AddrPort{}, denied("", "%v", err)
	}
	if p.o.Allow == nil {
		return netip.AddrPort{}, denied(hostport, "no host is granted")
	}
	if err := p.o.Allow(ctx, hostport); err != nil && !p.o.off.policy {
		return netip.AddrPort{}, err
	}
	return p.resolve(ctx, hostport)
}

// resolve returns an address of a host. If one of a name's addresses is not of the internet, the name
// is refused, as the next answer may have that one only.
func (p *Proxy) resolve(ctx context.Context, hostport string) (netip.AddrPort, error) {
	host, text, err := net.SplitHostPort(hostport)
	if err != nil {
		return netip.AddrPort{}, denied(hostport, "the host has no port")
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return netip.AddrPort{}, denied(hostport, "the port is no number from 1 to 65535")
	}
	var list []netip.Addr
	if a, err := netip.ParseAddr(host); err == nil {
		list = []netip.Addr{a}
	} else {
		ctx, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		if list, err = p.o.Resolve(ctx, host); err != nil || len(list) == 0 {
			return netip.AddrPort{}, denied(hostport, "the name has no address")
		}
	}
	for _, a := range list {
		if nets.Special(a) && !p.o.off.addresses {
			return netip.AddrPort{}, denied(hostport, "it is on this machine or in a private network")
		}
	}
	return netip.AddrPortFrom(list[0].Unmap(), uint16(port)), nil
}

// connect serves a tunnel. That to a host of a secret ends here, so that the value can be put in.
func (p *Proxy) connect(ctx context.Context, c net.Conn, r *bufio.Reader, hostport string) {
	out, err := p.dial(ctx, hostport)
	if err != nil {
		refuse(c, http.StatusForbidden, protocol.Public(err).Message)
		return
	}
	defer out.Close()
	defer context.AfterFunc(ctx, func() { out.Close() })()
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	secrets := p.secrets(hostport)
	if len(secrets) == 0 {
		var wg sync.WaitGroup
		wg.Go(func() { pipe(out, r) })
		wg.Go(func() { pipe(c, out) })
		wg.Wait()
		return
	}
	host, _, _ := net.SplitHostPort(hostport)
	inner := tls.Server(&joined{c, r}, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.leaf(host) }})
	outer := tls.Client(out, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, RootCAs: p.o.Roots})
	if inner.HandshakeContext(ctx) != nil {
		return
	}
	if err := outer.HandshakeContext(ctx); err != nil {
		refuse(inner, http.StatusBadGateway, "the server's certificate could not be checked")
		return
	}
	br, in := bufio.NewReader(inner), bufio.NewReader(outer)
	for {
		req, err := readRequest(c, br)
		if err != nil {
			return
		}
		if req.Host != hostport && req.Host != host { // a server may have other sites
			refuse(inner, http.StatusForbidden, "the request names another host than the connection")
			return
		}
		hide := secrets
		if p.o.off.responses {
			hide = nil
		}
		if !exchange(inner, outer, in, req, secrets, hide) {
			return
		}
	}
}

// secrets returns the secrets of a host.
func (p *Proxy) secrets(hostport string) (out []Secret) {
	host, port, err := protocol.SplitHost(hostport)
	for _, s := range p.o.Secrets {
		for _, h := range s.Hosts {
			if err == nil && h.Match(host, port) || p.o.off.hosts {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// exchange sends a request to out and its response, from in, to c. It reports whether the connection may go on.
func exchange(c, out io.Writer, in *bufio.Reader, req *http.Request, put, hide []Secret) bool {
	for k, list := range req.Header {
		for i, v := range list {
			for _, s := range put {
				v = strings.ReplaceAll(v, s.Placeholder, s.Value)
			}
			req.Header[k][i] = v
		}
	}
	for _, k := range []string{"Proxy-Connection", "Proxy-Authorization", "Upgrade", "Te", "Trailer", "Expect"} {
		req.Header.Del(k)
	}
	if len(hide) > 0 {
		req.Header.Set("Accept-Encoding", "identity") // so that values are found
	}
	if err := req.Write(out); err != nil {
		refuse(c, http.StatusBadGateway, "the server ended the connection")
		return false
	}
	resp, err := http.ReadResponse(in, req)
	for n := 0; err == nil && resp.StatusCode < 200 && n < 10; n++ { // news before the answer
		if resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		resp, err = http.ReadResponse(in, req)
	}
	if err != nil || resp.StatusCode < 200 {
		refuse(c, http.StatusBadGateway, "the server's answer can't be read")
		return false
	}
	defer resp.Body.Close()
	if len(hide) > 0 {
		if resp.Header.Get("Content-Encoding") != "" {
			refuse(c, http.StatusBadGateway, "the server's answer is encoded although that was refused")
			return false
		}
		for k, list := range resp.Header {
			for i, v := range list {
				for _, s := range hide {
					v = strings.ReplaceAll(v, s.Value, s.Placeholder)
				}
				resp.Header[k][i] = v
			}
		}
		for _, s := range hide {
			resp.Status = strings.ReplaceAll(resp.Status, s.Value, s.Placeholder)
		}
		resp.Trailer = nil
		resp.Header.Del("Content-Length")
		if req.Method != http.MethodHead && resp.StatusCode != http.StatusNoContent && resp.StatusCode != http.StatusNotModified {
			resp.ContentLength = -1
			resp.TransferEncoding = []string{"chunked"}
			resp.Body = io.NopCloser(newHider(resp.Body, hide))
		}
	}
	resp.Close = req.Close || resp.Close
	return resp.Write(c) == nil && !resp.Close && len(put) > 0
}

// Hide returns a reader that has placeholders in the place of values. It holds no byte back that is not the beginning
// of a value.
func Hide(r io.Reader, secrets []Secret) io.Reader { return newHider(r, secrets) }

// hider replaces values in a stream, also those that two reads cut.
type hider struct {
	r    io.Reader
	hide []Secret
	buf  []byte
	out  []byte
	err  error
}

func newHider(r io.Reader, hide []Secret) *hider { return &hider{r: r, hide: hide} }

// begun returns the number of bytes at the end of the buffer that may be the beginning of a value.
func (h *hider) begun() (keep int) {
	for _, s := range h.hide {
		for n := min(len(s.Value)-1, len(h.buf)); n > keep; n-- {
			if bytes.HasSuffix(h.buf, []byte(s.Value[:n])) {
				keep = n
			}
		}
	}
	return keep
}

func (h *hider) Read(p []byte) (int, error) {
	for len(h.out) == 0 {
		if h.err != nil {
			return 0, h.err
		}
		b := make([]byte, 16<<10)
		n, err := h.r.Read(b)
		h.buf, h.err = append(h.buf, b[:n]...), err
		for _, s := range h.hide {
			h.buf = bytes.ReplaceAll(h.buf, []byte(s.Value), []byte(s.Placeholder))
		}
		keep := 0
		if err == nil {
			keep = h.begun()
		}
		h.out, h.buf = h.buf[:len(h.buf)-keep], bytes.Clone(h.buf[len(h.buf)-keep:])
	}
	n := copy(p, h.out)
	h.out = h.out[n:]
	return n, nil
}

// joined is a connection whose first bytes were read already.
type joined struct {
	net.Conn
	r io.Reader
}

func (j *joined) Read(p []byte) (int, error) { return j.r.Read(p) }

// pipe copies bytes until one side ends, and then ends the other.
func pipe(to net.Conn, from io.Reader) {
	_, _ = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 32<<10))
	if t, ok := to.(interface{ CloseWrite() error }); ok {
		_ = t.CloseWrite()
		return
	}
	_ = to.Close()
}

// leaf returns a certificate for a host.
func (p *Proxy) leaf(host string) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.made[host]; c != nil {
		return c, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: host}, NotBefore: p.ca.NotBefore, NotAfter: p.ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if a := net.ParseIP(host); a != nil {
		t.IPAddresses = []net.IP{a}
	} else {
		t.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, p.ca, &key.PublicKey, p.key)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	p.made[host] = c
	return c, nil
}
