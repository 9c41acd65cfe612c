package iframe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/hosted"
	"github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
)

// DOMEnclaveOptions configure a DOM enclave. The zero value is the strictest level, an
// invisible frame, and a Connection-Allowlist required for the page.
type DOMEnclaveOptions struct {
	EnclaveOptions

	// AllowWithoutConnectionAllowlist lets the enclave start even if the page has no
	// Connection-Allowlist that this browser enforces. The code can then send data to any host
	// by name look-ups (dns-prefetch, preconnect, its own navigation) and by WebRTC's STUN. No
	// other policy of today's browsers closes these channels for code with a document.
	AllowWithoutConnectionAllowlist bool

	// Connect lists the origins from which the code may fetch: https://host, or http:// for this
	// machine only. The code can
	// also send data to these origins. The page's connect-src and Connection-Allowlist must
	// list them too, unless the enclave has its own page (URL). A server receives the origin
	// "null". The default is none, and the code then has no fetch.
	Connect []string

	// Parent is the element at whose end the frame of the code is shown, as wide as the
	// element. The user can click in it. With the zero value nothing is shown, and the code
	// renders and measures invisibly in 1024 by 768 pixels.
	Parent Element

	// Height is the height of the visible frame in CSS pixels. The default is 320, the maximum
	// 10,000.
	Height int

	// Label is the accessible name of the frame. The default is "Sandbox".
	Label string

	// Config, if set, narrows the policy of the code's document. It is the JSON of BTCP's iframe
	// sandbox:
	//
	//	{"config": {"sandbox": "iframe", "iframeOptions": {"sandbox": "allow-scripts", "csp": {"default-src": "'none'"}}}}
	//
	// A flag except allow-scripts, a source that the policy lacks and an unknown key are errors.
	// 'unsafe-inline' is left out: the enclave's scripts run by their hashes.
	Config string
}

// NewDOMEnclave makes an enclave whose code has its own document: DOMParser, querySelector,
// rendering, measuring and, if it is visible, events of the user. Everything else is as with
// [NewEnclave], but the code runs in a frame instead of a worker:
//
//   - It can reach the network as far as a document can in spite of its policy. For this reason a page without a
//     Connection-Allowlist is refused with [ErrLeaks], unless AllowWithoutConnectionAllowlist is set.
//   - Code that never yields blocks all sandboxed frames of the site in Chromium, documents included, until its time
//     limit. In Firefox and WebKit it blocks the page itself, and the limit takes effect too late. Use it for code of
//     tools rather than for code of a model.
//   - WebKitGTK 2.50 doesn't start it, and the error matches [errors.ErrUnsupported].
//   - A page with a Content-Security-Policy needs, beside [ScriptHashes] and worker-src blob:, also blob: in script-src
//     (blobScripts in wasm_exec's headers.json).
//
// A DOM enclave never shares an outer frame with another enclave. Each run has a new document,
// which is removed when the run ends. Code that shows something must wait with an await until
// the user has seen or clicked it.
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

const proofTime = 15 * time.Second

// proveDOM runs an empty program once. A browser that starts no code in the innermost frame
// reports no error, and WebKitGTK 2.50 is one. After 15 s the result is an error that matches
// errors.ErrUnsupported. A start takes a tenth of a second, and on a loaded machine took over 3. So the
// limit of the enclave's own code, which may be shorter, is not that of this program.
func proveDOM(ctx context.Context, p *EnclavePool) error {
	_, err := p.Run(ctx, "", RunOptions{time: proofTime})
	if errors.Is(err, protocol.ErrTimeout) && ctx.Err() == nil {
		return fmt.Errorf("iframe: code with a document doesn't start in this browser; NewEnclave's code, without one, does: %w", errors.ErrUnsupported)
	}
	return err
}

// ErrLeaks is returned by [NewDOMEnclave] if the page's own headers leave channels open that no
// frame can close.
var ErrLeaks = errors.New("iframe: code with a document could reach the network here")

func leaksError(why string) error {
	return fmt.Errorf("%w: %s. Serve the page with the header Connection-Allowlist: (response-origin), or give the enclave a page of its own (URL), "+
		"or set AllowWithoutConnectionAllowlist and accept that the code can send by name look-ups and STUN", ErrLeaks, why)
}

// domFrame describes the frames of a pool whose code gets a document.
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
		if err := hosted.CheckConnect(c); err != nil {
			return nil, err
		}
	}
	return &domFrame{parent: o.Parent, height: o.Height, label: o.Label, extra: extra, connect: o.Connect}, nil
}

// narrowed returns the directives of a configuration that are stricter than the enclave's own.
func narrowed(config string) (string, error) {
	if config == "" {
		return "", nil
	}
	c, err := btcp.ParseIframeConfig(config)
	if err != nil {
		return "", err
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
