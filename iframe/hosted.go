package iframe

import (
	"strings"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
)

// HostedPage is a page that a server sends, for [EnclaveOptions.URL].
type HostedPage struct {
	// HTML is the page. It is the same for the same options and version of Bailey.
	HTML string

	// Header are the response's headers, as an http.Header: the enclave's own policy,
	// a Connection-Allowlist with nothing in it, and what lets an isolated page embed it. Without
	// them the page still works, under the policy that stands in the page itself; then
	// nothing but the browser's defaults closes name look-ups, preconnect and STUN.
	Header map[string][]string
}

// EnclavePage makes the page that a server sends at [EnclaveOptions.URL]. Of the
// options Level, Warm and TrustedTypesPolicy matter; they must be those with which
// the enclave is made. It works natively too:
//
//	page, err := iframe.EnclavePage(iframe.EnclaveOptions{Level: protocol.Secure}, "https://app.example")
//	…
//	http.HandleFunc("GET /enclave", func(w http.ResponseWriter, r *http.Request) {
//		maps.Copy(w.Header(), page.Header)
//		io.WriteString(w, page.HTML)
//	})
//
// embedders are the origins of the pages that may embed it; none is the page's own
// origin. Who serves the page is trusted like the app: its scripts count, validate
// and kill. They are still behind an opaque origin, and can't reach the app.
func EnclavePage(opts EnclaveOptions, embedders ...string) (HostedPage, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return HostedPage{}, err
	}
	return hosted(PoolOptions{EnclaveOptions: opts}, embedders)
}

// DOMEnclavePage is [EnclavePage] for [NewDOMEnclave]. Of the options Config and Connect matter, too.
func DOMEnclavePage(opts DOMEnclaveOptions, embedders ...string) (HostedPage, error) {
	var err error
	if opts.EnclaveOptions, err = opts.EnclaveOptions.withDefaults(); err != nil {
		return HostedPage{}, err
	}
	d, err := opts.frame()
	if err != nil {
		return HostedPage{}, err
	}
	return hosted(PoolOptions{EnclaveOptions: opts.EnclaveOptions, dom: d}, embedders)
}

func hosted(opts PoolOptions, embedders []string) (HostedPage, error) {
	for _, e := range embedders {
		scheme, host, ok := strings.Cut(e, "://")
		if !ok || (scheme != "https" && scheme != "http") || host == "" || strings.ContainsAny(host, " ;,'\"/?#\\") || strings.ContainsFunc(host, notASCII) {
			return HostedPage{}, protocol.Errorf(protocol.ErrInvalidParams, "page", "", "embedder %q: it must be an origin such as https://app.example", e)
		}
	}
	if len(embedders) == 0 {
		embedders = []string{"'self'"}
	}
	p, err := opts.page()
	if err != nil {
		return HostedPage{}, err
	}
	page, policy := p.Hosted()
	// Nothing at all: not even the origin that it comes from.
	allowed := "()"
	if p.Connect != "" {
		allowed = `("` + strings.ReplaceAll(p.Connect, " ", `" "`) + `")`
	}
	header := map[string][]string{}
	for _, h := range [][2]string{
		{"Content-Security-Policy", policy + "; sandbox " + frame.Sandbox + "; frame-ancestors " + strings.Join(embedders, " ")},
		{"Connection-Allowlist", allowed},
		{"Permissions-Policy", permissions()},
		// An isolated page takes it; under require-corp WebKitGTK 2.50 starts no worker here.
		{"Cross-Origin-Embedder-Policy", "credentialless"},
		{"Cross-Origin-Resource-Policy", "cross-origin"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-DNS-Prefetch-Control", "off"},
		// So that the app can see that the headers are there.
		{"Access-Control-Allow-Origin", "*"},
		{"Access-Control-Expose-Headers", "Connection-Allowlist"},
		{"Content-Type", "text/html; charset=utf-8"},
		{"Cache-Control", "no-cache"},
		{"Etag", `"` + p.Digest() + `"`},
	} {
		header[h[0]] = []string{h[1]}
	}
	return HostedPage{HTML: page, Header: header}, nil
}

// permissions is the frames' allow attribute as a header.
func permissions() string {
	var list []string
	for item := range strings.SplitSeq(frame.Allow, ";") {
		name, _, _ := strings.Cut(strings.TrimSpace(item), " ")
		list = append(list, name+"=()")
	}
	return strings.Join(list, ", ")
}

func notASCII(r rune) bool { return r <= 0x20 || r > 0x7e }

// page is what the frames are made of.
func (o PoolOptions) page() (frame.DomainPage, error) {
	p := frame.DomainPage{PolicyName: o.TrustedTypesPolicy, Level: o.Level, Off: o.off, Warm: o.Warm}
	if o.dom != nil {
		p.DOM, p.Extra, p.Connect, p.Warm = true, o.dom.extra, strings.Join(o.dom.connect, " "), false
	}
	if !p.Warm {
		return p, nil
	}
	var err error
	p.Sample, err = encodeStart(1, &protocol.MsgStart{Run: "sample", Limits: o.Level.Limits()})
	return p, err
}
