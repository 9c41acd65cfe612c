package btcp

import (
	"net/url"
	"strings"
	"time"

	wire "github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// Options are a connection to a relay. URL and Session are required, and for [Serve] also Tools.
type Options struct {
	// URL is the relay's address without /events: https, or http on this machine.
	URL string
	// Session names the session: 16 to 128 ASCII letters, digits, dots, underscores and hyphens. Agents need
	// it to join, so make it at random, for example with crypto/rand.Text.
	Session string
	// Token, if set, is sent to the relay as a bearer token.
	Token string
	// Transport sends the requests. nil is fetch.Browser().
	Transport fetch.Transport
	// Time is the limit of one call. The default is 30 s, the maximum 300 s. The relay has a limit of its own.
	Time time.Duration
	// MaxBytes is the limit of one message. The default is 1 MiB, the maximum 8 MiB.
	MaxBytes int

	// Tools are the ids of the tools that Serve offers.
	Tools []string
	// Caller is the session whose grants, refusals and versions of files apply to the calls of agents. nil is
	// the box's own.
	Caller *sandbox.Session
	// Local declares that the agents, the models behind them and the relay are on this machine. They then
	// receive complete results. Otherwise they receive the content that the policy's "send" allows, without
	// credentials.
	Local bool
	// OnState, if set, receives nil when Serve has registered its tools, and the reason when the connection is
	// lost. Serve connects again by itself. OnState must return soon.
	OnState func(err error)

	pause func(n int) <-chan time.Time // the wait before attempt n, counted from 1
}

const (
	defaultTime, maxTime   = 30 * time.Second, 300 * time.Second
	defaultBytes, maxBytes = 1 << 20, 8 << 20
)

func (o Options) withDefaults() (Options, error) {
	bad := func(field, format string, args ...any) (Options, error) {
		return o, protocol.Errorf(protocol.ErrInvalidParams, "btcp.Options."+field, "", format, args...)
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return bad("URL", "want the relay's address, such as https://relay.example, without query, fragment and user")
	}
	switch host := u.Hostname(); {
	case u.Scheme == "https":
	case u.Scheme == "http" && (host == "localhost" || host == "127.0.0.1" || host == "::1"):
	default:
		return bad("URL", "use https; http is for this machine only")
	}
	o.URL = strings.TrimSuffix(o.URL, "/")
	if !wire.ValidSession(o.Session) {
		return bad("Session", "want 16 to 128 letters, digits, dots, underscores and hyphens, made at random")
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return bad("Token", "want printable ASCII characters without spaces")
	}
	if o.Transport == nil {
		o.Transport = fetch.Browser()
	}
	if o.Time == 0 {
		o.Time = defaultTime
	}
	if o.Time < 0 || o.Time > maxTime {
		return bad("Time", "is %v; want at most %v", o.Time, maxTime)
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultBytes
	}
	if o.MaxBytes < 1<<10 || o.MaxBytes > maxBytes {
		return bad("MaxBytes", "is %d; want 1 KiB to 8 MiB", o.MaxBytes)
	}
	if o.pause == nil {
		o.pause = backoff
	}
	return o, nil
}

// backoff waits 1, 2, 4, 8, 16 and then always 30 s.
func backoff(n int) <-chan time.Time {
	return time.After(min(time.Second<<min(n-1, 5), 30*time.Second))
}
