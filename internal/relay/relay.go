// Package relay fetches web pages for the pages of a site on this machine, most of which send no CORS
// headers. The command serves it with its option -relay. It trusts neither the page nor the servers, and
// nothing but [Options] opens it further.
package relay

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bailey-go/bailey/internal/nets"
	"github.com/bailey-go/bailey/internal/rate"
)

// Path is the address of the relay on the page's own server.
const Path = "/.relay"

// Limits of the relay.
const (
	relayBytes  = 5 << 20 // of one answer, as of web.BrokerOptions
	relayAtOnce = 4
	relayRate   = 60 // requests a minute, as of web.BrokerOptions
	relayHops   = 5
	relayTime   = 20 * time.Second
)

// engine returns the header with the user's key of a search engine that package web knows, and whether it is
// asked by POST. Other hosts have no such header.
func engine(host string) (header string, post bool) {
	switch host {
	case "api.search.brave.com":
		return "X-Subscription-Token", false
	case "api.tavily.com":
		return "Authorization", true
	}
	return "", false
}

// relayQuery is the maximum size of a search engine's request, in bytes.
const relayQuery = 64 << 10

// Relay fetches web pages for the pages of a site. It serves the page with its token alone, by fetch, and
// asks addresses on the internet alone: what a name resolves to is checked at each connection. It sends no
// cookie and no header of the page but Accept, and the key of a search engine to that one alone. It follows
// redirects to the same host, and names the address of another one, which the user is asked about then.
type Relay struct {
	o     Options
	token string
	rate  *rate.Limiter
	slots chan struct{}
	http  *http.Client

	mu sync.Mutex // of o.Log
}

// Options are the options of a relay. Log and Local are required. The others are for tests, which have no
// internet: the zero values are the strict ones.
type Options struct {
	Log   io.Writer                  // a line for each request, without its query
	Local func(hostport string) bool // reports whether a Host header names this machine

	Bytes   int64                       // of one answer, default 5 MiB
	TLS     *tls.Config                 // of connections to servers
	Resolve func(address string) string // what a "host:port" is connected as
	Open    bool                        // addresses that are not on the internet may be connected to
}

// New returns a relay with a new token.
func New(o Options) (*Relay, error) {
	var b [24]byte
	_, _ = rand.Read(b[:]) // which never fails
	limit, err := rate.New(relayRate, time.Minute, time.Now)
	if err != nil {
		return nil, err
	}
	if o.Bytes == 0 {
		o.Bytes = relayBytes
	}
	r := &Relay{o: o, token: base64.RawURLEncoding.EncodeToString(b[:]), rate: limit, slots: make(chan struct{}, relayAtOnce)}
	r.start()
	return r, nil
}

// errPrivate is the error of a connection to an address that is not on the internet.
var errPrivate = errors.New("the address is in a private network")

// start makes the client.
func (r *Relay) start() {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if r.o.Resolve != nil {
			address = r.o.Resolve(address)
		}
		d := net.Dialer{Timeout: relayTime, Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address) // after the name was resolved
			if err != nil || !r.o.Open && nets.Special(at.Addr()) {
				return errPrivate
			}
			return nil
		}}
		return d.DialContext(ctx, network, address)
	}
	t := &http.Transport{DialContext: dial, TLSClientConfig: r.o.TLS, TLSHandshakeTimeout: relayTime, ResponseHeaderTimeout: relayTime, MaxResponseHeaderBytes: 64 << 10, MaxConnsPerHost: relayAtOnce, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	// A proxy would resolve the names itself, so there is none.
	r.http = &http.Client{Transport: t, Timeout: relayTime, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > relayHops {
			return fmt.Errorf("more than %d redirects", relayHops)
		}
		if next.URL.Host != via[0].URL.Host || next.URL.Scheme != "https" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

// Address returns the address of the relay for the settings of a page.
func (r *Relay) Address() string { return Path + "?token=" + r.token }

// ServeHTTP implements [http.Handler].
func (r *Relay) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h := w.Header()
	// The answer has the words of a stranger and the origin of the page. No browser may take it for a document.
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Disposition", "attachment")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	refuse := func(status int, why string) {
		r.note(status, "", why)
		http.Error(w, why, status)
	}
	query := q.URL.Query()
	switch {
	case !r.o.Local(q.Host):
		refuse(http.StatusMisdirectedRequest, "the relay answers to localhost and 127.0.0.1 only")
		return
	case subtle.ConstantTimeCompare([]byte(query.Get("token")), []byte(r.token)) != 1:
		refuse(http.StatusForbidden, "the relay needs its token: serve -relay prints the address for the settings, and each start has another one")
		return
	case q.Header.Get("Sec-Fetch-Site") != "same-origin" || q.Header.Get("Sec-Fetch-Dest") != "empty":
		refuse(http.StatusForbidden, "the relay answers to a fetch by a page of this server only")
		return
	}
	target, err := relayTarget(query["url"])
	if err != nil {
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	if _, post := engine(target.Host); q.Method != http.MethodGet && (q.Method != http.MethodPost || !post) {
		h.Set("Allow", "GET")
		refuse(http.StatusMethodNotAllowed, "the relay takes GET only, and POST for a search engine")
		return
	}
	if err := r.rate.Allow(); err != nil {
		refuse(http.StatusTooManyRequests, fmt.Sprintf("more than %d requests a minute", relayRate))
		return
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-q.Context().Done():
		return
	}
	r.fetch(w, q, target)
}

// relayTarget returns the address to fetch.
func relayTarget(list []string) (*url.URL, error) {
	if len(list) != 1 || len(list[0]) > 8<<10 {
		return nil, errors.New("the parameter url must be one address of at most 8 KiB")
	}
	u, err := url.Parse(list[0])
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil:
		return nil, errors.New("the address must be https://host/path")
	case u.Port() != "" && u.Port() != "443":
		return nil, errors.New("the relay asks port 443 only")
	case nets.Private(strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))):
		return nil, errPrivate
	}
	u.Fragment = ""
	return u, nil
}

// fetch answers with what a server says.
func (r *Relay) fetch(w http.ResponseWriter, q *http.Request, target *url.URL) {
	began, shown := time.Now(), target.Scheme+"://"+target.Host+target.EscapedPath()
	var body io.Reader
	if q.Method == http.MethodPost {
		data, err := io.ReadAll(http.MaxBytesReader(w, q.Body, relayQuery))
		if err != nil {
			http.Error(w, fmt.Sprintf("the request has more than %d bytes", relayQuery), http.StatusRequestEntityTooLarge)
			return
		}
		body = bytes.NewReader(data)
	}
	out, err := http.NewRequestWithContext(q.Context(), q.Method, target.String(), body)
	if err != nil {
		http.Error(w, "the address can't be asked", http.StatusBadRequest)
		return
	}
	if header, post := engine(target.Host); header != "" {
		out.Header.Set(header, q.Header.Get(header))
		if post {
			out.Header.Set("Content-Type", "application/json")
		}
	}
	out.Header.Set("User-Agent", "bailey-relay")
	if accept := q.Header.Get("Accept"); len(accept) < 1024 {
		out.Header.Set("Accept", accept)
	}
	res, err := r.http.Do(out)
	if err != nil {
		why := "the server did not answer"
		switch {
		case errors.Is(err, errPrivate):
			why = errPrivate.Error()
		case errors.Is(err, context.DeadlineExceeded):
			why = "the server did not answer in time"
		}
		r.note(http.StatusBadGateway, shown, why)
		http.Error(w, why, http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	if next := res.Header.Get("Location"); res.StatusCode >= 300 && res.StatusCode < 400 && next != "" {
		to, err := res.Request.URL.Parse(next)
		if err != nil || len(to.String()) > 2048 {
			next = "an address that can't be read"
		} else {
			next = to.String()
		}
		r.note(res.StatusCode, shown, "redirects to another host")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprintf(w, "The page has moved to %s\nFetch that address, if it is the right one.\n", next)
		return
	}
	if res.StatusCode < 200 || res.StatusCode > 599 { // a server may write any number
		why := fmt.Sprintf("the server answered with the status %d, which HTTP does not have", res.StatusCode)
		r.note(http.StatusBadGateway, shown, why)
		http.Error(w, why, http.StatusBadGateway)
		return
	}
	kind, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		kind, params = "application/octet-stream", nil
	}
	if set := params["charset"]; set != "" {
		kind = mime.FormatMediaType(kind, map[string]string{"charset": set})
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(res.StatusCode)
	n, err := io.Copy(w, io.LimitReader(res.Body, r.o.Bytes))
	if more := (&[1]byte{}); err == nil {
		if k, _ := io.ReadFull(res.Body, more[:]); k > 0 {
			err = fmt.Errorf("the answer has more than %d bytes", r.o.Bytes)
		}
	}
	if err != nil {
		r.note(res.StatusCode, shown, fmt.Sprintf("cut off after %d bytes: %v", n, err))
		panic(http.ErrAbortHandler) // the page must not take a part for the whole
	}
	r.note(res.StatusCode, shown, fmt.Sprintf("%d bytes in %s", n, time.Since(began).Round(time.Millisecond)))
}

// note writes a line of the log. A server's words are quoted.
func (r *Relay) note(status int, address, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.o.Log, "relay %s %d %q %s\n", time.Now().UTC().Format(time.RFC3339), status, address, strings.ToValidUTF8(text, "?"))
}

// Beside serves the relay beside a site.
func (r *Relay) Beside(site http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == Path {
			r.ServeHTTP(w, q)
			return
		}
		site.ServeHTTP(w, q)
	})
}
