package iframe

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// HostedPage is a page for a server to send, for [EnclaveOptions.URL].
type HostedPage struct {
	// HTML is the page. It is the same for equal options and the same version of Bailey.
	HTML string

	// Header contains the response headers, as an http.Header: the enclave's own policy, a
	// Connection-Allowlist that is empty except for the origins of Connect, and headers that
	// let a cross-origin isolated page embed the page. Without these headers the page still
	// works, with the policy in the page itself. Name look-ups, preconnect and STUN are then
	// closed only by the browser's defaults.
	Header map[string][]string
}

// Page returns the page for a server to send at [EnclaveOptions.URL]. It uses only the options
// Level, Warm and TrustedTypesPolicy. They must equal those of the enclave. Page works natively
// too:
//
//	page, err := iframe.EnclaveOptions{Level: protocol.Secure}.Page("https://app.example")
//	…
//	http.HandleFunc("GET /enclave", func(w http.ResponseWriter, r *http.Request) {
//		maps.Copy(w.Header(), page.Header)
//		io.WriteString(w, page.HTML)
//	})
//
// embedders are the origins of the pages that may embed it. With none, only pages of the same
// origin may. The server of the page is trusted like the app, because its scripts count,
// validate and kill. These scripts still run in an opaque origin and can't reach the app.
func (o EnclaveOptions) Page(embedders ...string) (HostedPage, error) {
	o, err := o.withDefaults()
	if err != nil {
		return HostedPage{}, err
	}
	return hosted(PoolOptions{EnclaveOptions: o}, embedders)
}

// Page is [EnclaveOptions.Page] for [NewDOMEnclave]. It also uses the options Config and Connect.
func (o DOMEnclaveOptions) Page(embedders ...string) (HostedPage, error) {
	var err error
	if o.EnclaveOptions, err = o.EnclaveOptions.withDefaults(); err != nil {
		return HostedPage{}, err
	}
	d, err := o.frame()
	if err != nil {
		return HostedPage{}, err
	}
	return hosted(PoolOptions{EnclaveOptions: o.EnclaveOptions, dom: d}, embedders)
}

func checkEmbedders(embedders []string) error {
	for _, e := range embedders {
		scheme, host, ok := strings.Cut(e, "://")
		if !ok || (scheme != "https" && scheme != "http") || host == "" || strings.ContainsAny(host, " ;,'\"/?#\\") || strings.ContainsFunc(host, notASCII) {
			return protocol.Errorf(protocol.ErrInvalidParams, "page", "", "embedder %q: it must be an origin such as https://app.example", e)
		}
	}
	return nil
}

func hosted(opts PoolOptions, embedders []string) (HostedPage, error) {
	if err := checkEmbedders(embedders); err != nil {
		return HostedPage{}, err
	}
	if len(embedders) == 0 {
		embedders = []string{"'self'"}
	}
	p, err := opts.page()
	if err != nil {
		return HostedPage{}, err
	}
	page, policy := p.Hosted()
	// Nothing is allowed, not even the page's own origin.
	allowed := "()"
	if p.Connect != "" {
		allowed = `("` + strings.ReplaceAll(p.Connect, " ", `" "`) + `")`
	}
	header := hostedHeader(policy+"; sandbox "+frame.Sandbox+"; frame-ancestors "+strings.Join(embedders, " "), allowed, permissions(), p.Digest())
	return HostedPage{HTML: page, Header: header}, nil
}

// hostedHeader returns the response headers of a page for a server.
func hostedHeader(policy, allowed, permissions, digest string) map[string][]string {
	header := map[string][]string{}
	for _, h := range [][2]string{
		{"Content-Security-Policy", policy},
		{"Connection-Allowlist", allowed},
		{"Permissions-Policy", permissions},
		// An isolated page accepts credentialless. With require-corp, WebKitGTK 2.50 starts no
		// worker here.
		{"Cross-Origin-Embedder-Policy", "credentialless"},
		{"Cross-Origin-Resource-Policy", "cross-origin"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-DNS-Prefetch-Control", "off"},
		// These let the app check that the headers are there.
		{"Access-Control-Allow-Origin", "*"},
		{"Access-Control-Expose-Headers", "Connection-Allowlist"},
		{"Content-Type", "text/html; charset=utf-8"},
		{"Cache-Control", "no-cache"},
		{"Etag", `"` + digest + `"`},
	} {
		header[h[0]] = []string{h[1]}
	}
	return header
}

// permissions returns the frames' allow attribute in the syntax of the Permissions-Policy
// header, without some features. The page has these if its embedder lets it.
func permissions(without ...string) string {
	var list []string
	for item := range strings.SplitSeq(frame.Allow, ";") {
		if name, _, _ := strings.Cut(strings.TrimSpace(item), " "); !slices.Contains(without, name) {
			list = append(list, name+"=()")
		}
	}
	return strings.Join(list, ", ")
}

func notASCII(r rune) bool { return r <= 0x20 || r > 0x7e }

// page returns the description of the frames.
func (o PoolOptions) page() (frame.DomainPage, error) {
	p := frame.DomainPage{Programs: frame.EnclavePrograms(), PolicyName: o.TrustedTypesPolicy, Level: o.Level, Off: o.off, Warm: o.Warm}
	if o.dom != nil {
		p.DOM, p.Extra, p.Connect, p.Warm = true, o.dom.extra, strings.Join(o.dom.connect, " "), false
	}
	if !p.Warm {
		return p, nil
	}
	var err error
	p.Sample, err = encodeStart(1, &enclave.MsgStart{Run: "sample", Limits: o.Level.Limits()})
	return p, err
}
