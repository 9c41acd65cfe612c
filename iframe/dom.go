package iframe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/protocol/compat"
)

// DOMEnclaveOptions configure a DOM enclave. The zero value is the strictest level,
// not shown, and only for pages with a Connection-Allowlist.
type DOMEnclaveOptions struct {
	EnclaveOptions

	// AllowWithoutConnectionAllowlist lets the enclave start although the page has no
	// Connection-Allowlist that this browser enforces. Its code can then send to
	// whom it likes, by name look-ups (dns-prefetch, preconnect, its own
	// navigation) and by WebRTC's STUN: no other policy of today's browsers closes
	// them for code that has a document.
	AllowWithoutConnectionAllowlist bool

	// Connect are origins from which the code may fetch, as [compat.ConnectSrc] writes
	// them: https://host, and http:// for this machine only. What it fetches, it can also send
	// to. The page's connect-src and Connection-Allowlist must list them too, unless the enclave has a page of its own
	// (URL). A server sees the origin null. The default is none: code has no fetch.
	Connect []string

	// Parent shows what the code renders, at the end of this element and as wide as
	// it is; the person can click in it. The zero value shows nothing, and the code
	// renders and measures unseen in 1024 by 768 pixels.
	Parent Element

	// Height of what is shown, in CSS pixels. The default is 320, the most 10,000.
	Height int

	// Label is the frame's accessible name. The default is "Sandbox".
	Label string

	// Config narrows the policy of the code's document, as the sandbox
	// configuration of other systems does; see [compat.ParseIframeConfig].
	Config compat.IframeConfig
}

// NewDOMEnclave makes an enclave whose code has a document of its own: DOMParser,
// querySelector, rendering, measuring and, if it is shown, events of the person. All
// else is as with [NewEnclave]; but the code runs in a frame and not in a worker:
//
//   - It can reach the network as far as a document can in spite of its policy, so that a page
//     without Connection-Allowlist is refused with [ErrLeaks], unless it is allowed by name.
//   - Code that never yields holds all sandboxed frames of the site in Chromium, documents
//     included, until its limit; in Firefox and WebKit it holds the page itself,
//     and the limit comes too late. Use it for code of tools, rather than for a model's.
//   - WebKitGTK 2.50 doesn't start it: the error is [errors.ErrUnsupported].
//   - A page with a Content-Security-Policy needs, beside [ScriptHashes] and worker-src
//     blob:, also blob: in script-src (blobScripts in wasm_exec's headers.json).
//
// It never shares an outer frame with any other enclave. Each run has a new document,
// which is gone when the run ends: what is to be seen or clicked waits with an await.
func NewDOMEnclave(ctx context.Context, opts DOMEnclaveOptions) (*Enclave, error) {
	var err error
	if opts.EnclaveOptions, err = opts.EnclaveOptions.withDefaults(); err != nil {
		return nil, err
	}
	if opts.Height < 0 || opts.Height > 10_000 {
		return nil, fmt.Errorf("iframe: DOMEnclaveOptions: Height is %d; it must be 0 to 10,000 CSS pixels", opts.Height)
	}
	if opts.Height == 0 {
		opts.Height = 320
	}
	if opts.Label == "" {
		opts.Label = "Sandbox"
	}
	d, err := opts.frame()
	if err != nil {
		return nil, err
	}
	if !opts.AllowWithoutConnectionAllowlist {
		if err := connectionsClosed(ctx, opts.URL); err != nil {
			return nil, err
		}
	}
	pool := PoolOptions{EnclaveOptions: opts.EnclaveOptions, Max: 1, Spare: 1}
	pool.dom = d
	p, err := newPool(ctx, pool)
	if err != nil {
		return nil, err
	}
	if err := proveDOM(ctx, p); err != nil {
		_ = p.Close()
		return nil, err
	}
	return &Enclave{p}, nil
}

// proveDOM runs nothing once: a browser that lets no code start in the innermost frame
// says nothing of it. WebKitGTK 2.50 is one.
func proveDOM(ctx context.Context, p *EnclavePool) error {
	_, err := p.Run(ctx, "", RunOptions{Limits: protocol.Limits{Time: 3 * time.Second}})
	if errors.Is(err, protocol.ErrTimeout) && ctx.Err() == nil {
		return fmt.Errorf("iframe: code with a document doesn't start in this browser; NewEnclave's code, without one, does: %w", errors.ErrUnsupported)
	}
	return err
}

// ErrLeaks is returned by [NewDOMEnclave] where the page's own headers leave ways out
// that no frame can close.
var ErrLeaks = errors.New("iframe: code with a document could reach the network here")

func leaksError(why string) error {
	return fmt.Errorf("%w: %s. Serve the page with the header Connection-Allowlist: (response-origin), or give the enclave a page of its own (URL), "+
		"or set AllowWithoutConnectionAllowlist and accept that the code can send by name look-ups and STUN", ErrLeaks, why)
}

// domFrame is what a pool's frames are if its code gets a document.
type domFrame struct {
	parent Element
	height int
	label  string
	extra  string // directives for the code's document

	connect []string
}

func (o DOMEnclaveOptions) frame() (*domFrame, error) {
	extra, err := narrowed(o.Config)
	if err != nil {
		return nil, err
	}
	for _, c := range o.Connect {
		if err := checkConnect(c); err != nil {
			return nil, err
		}
	}
	return &domFrame{parent: o.Parent, height: o.Height, label: o.Label, extra: extra, connect: o.Connect}, nil
}

// checkConnect takes an origin that can stand in a policy.
func checkConnect(origin string) error {
	host, ok := strings.CutPrefix(origin, "https://")
	if !ok {
		if host, ok = strings.CutPrefix(origin, "http://"); ok {
			name, _, err := protocol.SplitHost(host)
			ok = err == nil && protocol.Loopback(name)
		}
	}
	if ok {
		_, err := protocol.ParseHost(host)
		ok = err == nil
	}
	if !ok {
		return protocol.Errorf(protocol.ErrInvalidParams, "enclave", "", "Connect: %q: it must be an origin such as https://api.example.com; http: is for this machine only", origin)
	}
	return nil
}

// narrowed is the part of a configuration that is stricter than the enclave's own.
func narrowed(c compat.IframeConfig) (string, error) {
	if len(c.CSP) == 0 {
		return "", nil
	}
	base := map[string][]string{"default-src": {"'none'"}}
	for _, d := range frame.DOMSources() {
		base[d[0]] = strings.Fields(d[1])
	}
	all, err := c.Narrow(base)
	if err != nil {
		return "", err
	}
	var out []string
	for name := range c.CSP {
		switch name {
		case "default-src", "script-src", "script-src-elem", "worker-src":
		default:
			out = append(out, name+" "+strings.Join(all[name], " "))
		}
	}
	return strings.Join(out, "; "), nil
}
