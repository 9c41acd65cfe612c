package web

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/nets"
	"github.com/bailey-go/bailey/internal/rate"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// Credential is a secret that the model can use but never see. The broker replaces the sentinel
// {{secret:Name}} in a header by Value. It sends Value only to Hosts, or to the relay in requests
// for Hosts.
type Credential struct {
	Name  string   // a letter, then letters, digits, _ and -
	Hosts []string // patterns, as in a policy, such as "*.example.com"
	Value string   // one line
}

// BrokerOptions configure a [Broker]. A field that is zero has its default.
type BrokerOptions struct {
	Transport   fetch.Transport // default fetch.Browser()
	Credentials []Credential
	MaxBytes    int64 // of one response, default 5 MiB
	MaxTotal    int64 // of all responses, default 200 MiB
	Rate        int   // requests a minute, default 60
	// Relay is an address of the app that fetches pages for which the server sends no CORS headers.
	// It receives each request, with the address in the query parameter url, after its own query if
	// it has one. It is an https address, an address on this machine, or a path on the page's own
	// server. The relay sees all fetched data and all credentials. Empty is no relay. The relay is in
	// another network than the page, so it is not asked for addresses of a private network, and must
	// itself refuse a name that resolves to one.
	Relay string
	// Insecure permits http for hosts other than this machine.
	Insecure bool
	Now      func() time.Time // default time.Now

	// In attack tests.
	escaped bool // search only the literal address for credentials
	inner   bool // ask the relay for addresses of its own network
	raw     bool // a page's invisible characters, and its type, stay as they are
}

// Broker sends requests that a model chose. It is safe for concurrent use.
type Broker struct {
	o         BrokerOptions
	transport sandbox.Gated[fetch.Transport]
	hosts     map[string][]protocol.HostPattern
	rate      *rate.Limiter

	mu    sync.Mutex
	total int64
}

// NewBroker returns a broker. Invalid options are an error, such as a credential for all hosts.
func NewBroker(o BrokerOptions) (*Broker, error) {
	if o.Transport == nil {
		o.Transport = fetch.Browser()
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 5 << 20
	}
	if o.MaxTotal == 0 {
		o.MaxTotal = 200 << 20
	}
	if o.Rate == 0 {
		o.Rate = 60
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Relay != "" && !o.relays() {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "relay", o.Relay, "must be an https address, or a path on the page's own server, without user, fragment or a query parameter url")
	}
	b := &Broker{o: o, transport: sandbox.Gate(o.Transport), hosts: map[string][]protocol.HostPattern{}}
	for _, c := range o.Credentials {
		if protocol.ValidToolName(c.Name) != nil || len(c.Hosts) == 0 || strings.ContainsAny(c.Value, "\r\n") {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "credential", c.Name, "needs a name of letters and digits, hosts, and a value in one line")
		}
		for _, h := range c.Hosts {
			p, err := protocol.ParseHost(h)
			if err != nil {
				return nil, err
			}
			b.hosts[c.Name] = append(b.hosts[c.Name], p)
		}
	}
	var err error
	b.rate, err = rate.New(o.Rate, time.Minute, o.Now)
	return b, err
}

// relays reports whether the relay's address is valid.
func (o *BrokerOptions) relays() bool {
	u, err := url.Parse(o.Relay)
	if err != nil || u.User != nil || u.Fragment != "" || u.Query().Has("url") {
		return false
	}
	switch u.Scheme {
	case "":
		return u.Host == "" && strings.HasPrefix(u.Path, "/")
	case "http":
		return u.Host != "" && (o.Insecure || protocol.Loopback(u.Hostname()))
	}
	return u.Scheme == "https" && u.Host != ""
}

// Target returns the "host:port" of an address, for the policy. An address with another scheme, a
// user or a sentinel is [protocol.ErrInvalidParams]. An address that contains a credential is
// [protocol.ErrSecurityViolation].
func (b *Broker) Target(address string) (string, error) {
	bad := func(why string) (string, error) {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "fetch", "", "%s", why)
	}
	if len(address) > 8<<10 {
		return bad("the address is longer than 8 KiB")
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return bad("this is not an address; write https://host/path")
	}
	if u.User != nil {
		return bad("an address must not hold a user or a password")
	}
	port := u.Port()
	host, _, err := protocol.SplitHost(u.Host)
	if err != nil {
		return bad(protocol.Public(err).Message)
	}
	switch {
	case u.Scheme == "https" && port == "":
		port = "443"
	case u.Scheme == "http" && (b.o.Insecure || protocol.Loopback(host)):
		if port == "" {
			port = "80"
		}
	case u.Scheme != "https":
		return bad("only https is allowed")
	}
	if b.o.Relay != "" && !b.o.inner && nets.Private(host) {
		return "", protocol.Errorf(protocol.ErrSecurityViolation, "fetch", host, "the address is in a private network; the relay is not asked for it")
	}
	texts, whole := unescaped(address)
	if b.o.escaped {
		texts, whole = []string{address}, true
	}
	if !whole {
		return bad("the address is escaped more than " + strconv.Itoa(maxEscapes) + " times over; write it plainly")
	}
	for _, text := range texts {
		if found := secrets.Find(context.Background(), text); len(found) > 0 {
			return "", protocol.Errorf(protocol.ErrSecurityViolation, "fetch", host, "the address carries a %s; a credential may not be sent in an address", found[0].Kind)
		}
	}
	if strings.Contains(address, "{{secret:") {
		return bad("a secret goes into a header, never into an address")
	}
	return host + ":" + port, nil
}

// maxEscapes is the number of times that an address is unescaped to be searched.
const maxEscapes = 8

// unescaped returns all forms in which a server could read an address: the address itself, and the
// address after unescaping it once, twice and so on, each also with "+" as a space. An invalid
// escape stays, and does not hide others. If escapes are left after maxEscapes times, whole is
// false.
func unescaped(address string) (texts []string, whole bool) {
	for text, n := address, 0; ; n++ {
		texts = append(texts, text)
		if strings.Contains(text, "+") {
			texts = append(texts, strings.ReplaceAll(text, "+", " "))
		}
		next := unescapedOnce(text)
		if next == text || n == maxEscapes {
			return texts, next == text
		}
		text = next
	}
}

func unescapedOnce(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// Do sends a request with a permit for its target. Reading the response's body fails with
// [protocol.ErrOutputTooLarge] after MaxBytes. Do returns a redirect like any other response. A
// caller that follows it needs a permit for the new target. Exceeding Rate or MaxTotal is
// [protocol.ErrResourceLimit].
func (b *Broker) Do(ctx context.Context, p sandbox.Permit, r fetch.Request) (*fetch.Response, error) {
	return b.do(ctx, p, r, b.inject)
}

// do is Do with another function that completes the header of a request to a target.
func (b *Broker) do(ctx context.Context, p sandbox.Permit, r fetch.Request, inject func(header map[string]string, target string) (map[string]string, error)) (*fetch.Response, error) {
	target, err := b.Target(r.URL)
	if err != nil {
		return nil, err
	}
	t, err := b.transport.Get(p, policy.Need{Capability: protocol.NetFetch, Subject: target})
	if err != nil {
		return nil, err
	}
	if err := b.rate.Allow(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	total := b.total
	b.mu.Unlock()
	if total >= b.o.MaxTotal {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "fetch", "", "%d bytes were fetched already, which is all that is allowed", total)
	}
	if r.Header, err = inject(r.Header, target); err != nil {
		return nil, err
	}
	if b.o.Relay != "" {
		sep := "?"
		if strings.Contains(b.o.Relay, "?") {
			sep = "&"
		}
		r.URL = b.o.Relay + sep + "url=" + url.QueryEscape(r.URL)
	}
	res, err := t.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	res.Body = &counted{ReadCloser: res.Body, b: b, left: b.o.MaxBytes}
	return res, nil
}

// inject replaces the sentinels in headers by credentials.
func (b *Broker) inject(header map[string]string, target string) (map[string]string, error) {
	host, port, err := protocol.SplitHost(target)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for k, v := range header {
		for _, c := range b.o.Credentials {
			sentinel := "{{secret:" + c.Name + "}}"
			if !strings.Contains(v, sentinel) {
				continue
			}
			ok := false
			for _, h := range b.hosts[c.Name] {
				ok = ok || h.Match(host, port)
			}
			if !ok {
				return nil, protocol.Errorf(protocol.ErrSecurityViolation, "fetch", target, "the secret %s is not for this host", c.Name)
			}
			v = strings.ReplaceAll(v, sentinel, c.Value)
		}
		if strings.Contains(v, "{{secret:") {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "fetch", target, "there is no such secret")
		}
		out[k] = v
	}
	return out, nil
}

// clean replaces credentials in a response by their sentinels.
func (b *Broker) clean(s string) string {
	for _, c := range b.o.Credentials {
		if len(c.Value) >= 4 {
			s = strings.ReplaceAll(s, c.Value, "{{secret:"+c.Name+"}}")
		}
	}
	return s
}

type counted struct {
	io.ReadCloser
	b    *Broker
	left int64
}

var errTooLong = protocol.Errorf(protocol.ErrOutputTooLarge, "fetch", "", "the answer is longer than is allowed")

func (c *counted) Read(p []byte) (int, error) {
	if c.left <= 0 {
		var one [1]byte // is there more data?
		if n, err := c.ReadCloser.Read(one[:]); n == 0 && errors.Is(err, io.EOF) {
			return 0, io.EOF
		}
		return 0, errTooLong
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	c.b.mu.Lock()
	c.b.total += int64(n)
	c.b.mu.Unlock()
	return n, err
}
