// Package hosted makes the pages of walls that a server sends: the page of an enclave, and the sandbox proxy
// of pages of tools, each with its headers. Package iframe uses it, and the command wasm_exec, which links no
// renderer of Markdown for them.
//
// It trusts its caller's options after its own checks: an origin with a quotation mark or a semicolon would
// be another directive of a policy.
package hosted

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// MaxOrigins is the maximum number of origins in a list of an app.
const MaxOrigins = 50

// Page is a page for a server to send, with its response headers as an http.Header.
type Page struct {
	HTML   string
	Header map[string][]string
}

// Options describe the frames of an enclave.
type Options struct {
	Level   protocol.Level
	Warm    bool
	DOM     bool
	Policy  string   // the Trusted Types policy. Empty is bailey
	Extra   string   // more directives of a DOM enclave
	Connect []string // origins of a DOM enclave
	Off     []frame.Layer
}

// Page returns the description of the frames.
func (o Options) Page() (frame.DomainPage, error) {
	if o.Level > protocol.Permissive {
		return frame.DomainPage{}, protocol.Errorf(protocol.ErrInvalidParams, "page", "", "unknown level %d", o.Level)
	}
	if o.Policy == "" {
		o.Policy = "bailey"
	}
	p := frame.DomainPage{Programs: frame.EnclavePrograms(), PolicyName: o.Policy, Level: o.Level, Off: o.Off, Warm: o.Warm}
	if o.DOM {
		p.DOM, p.Extra, p.Connect, p.Warm = true, o.Extra, strings.Join(o.Connect, " "), false
	}
	if !p.Warm {
		return p, nil
	}
	var err error
	p.Sample, err = EncodeStart(1, &enclave.MsgStart{Run: "sample", Limits: o.Level.Limits()})
	return p, err
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

// Enclave returns the page of an enclave. embedders are the origins of the pages that may embed it. With none,
// only pages of the same origin may.
func Enclave(o Options, embedders []string) (Page, error) {
	if err := checkEmbedders(embedders); err != nil {
		return Page{}, err
	}
	if len(embedders) == 0 {
		embedders = []string{"'self'"}
	}
	p, err := o.Page()
	if err != nil {
		return Page{}, err
	}
	page, policy := p.Hosted()
	// Nothing is allowed, not even the page's own origin.
	allowed := "()"
	if p.Connect != "" {
		allowed = `("` + strings.ReplaceAll(p.Connect, " ", `" "`) + `")`
	}
	header := headerOf(policy+"; sandbox "+frame.Sandbox+"; frame-ancestors "+strings.Join(embedders, " "), allowed, permissions(), p.Digest())
	return Page{HTML: page, Header: header}, nil
}

// headerOf returns the response headers of a page for a server.
func headerOf(policy, allowed, permissions, digest string) map[string][]string {
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

// Proxy returns the sandbox proxy of the conforming mode. The lists of p are the most that any app can have
// there. p.Hosts are the origins of the pages around, at least one.
func Proxy(p frame.ProxyPage) (Page, error) {
	fail := func(format string, args ...any) (Page, error) {
		return Page{}, protocol.Errorf(protocol.ErrInvalidParams, "page", "", format, args...)
	}
	if len(p.Hosts) == 0 {
		return fail("the proxy needs the origin of a page around, such as https://app.example")
	}
	if err := checkEmbedders(p.Hosts); err != nil {
		return Page{}, err
	}
	for i, list := range [][]string{p.Connect, p.Resources, p.Frames} {
		if got := Agreed(list, list, i == 0); len(got) != len(list) {
			return fail("%q: want different origins such as https://api.example.com, at most %d; wss: is for Connect alone, http: for this machine", list, MaxOrigins)
		}
	}
	for _, f := range p.Features {
		if !slices.Contains(frame.AppFeatures(), f) {
			return fail("Permissions: %q: the features are %s", f, strings.Join(frame.AppFeatures(), ", "))
		}
	}
	html, digest := p.HTML()
	allowed := []string{}
	for _, origin := range slices.Concat(p.Connect, p.Resources, p.Frames) {
		origin = strings.Replace(origin, "wss:", "https:", 1) // the pattern covers both
		if s := `"` + origin + `"`; !slices.Contains(allowed, s) {
			allowed = append(allowed, s)
		}
	}
	header := headerOf(p.Policy()+"; frame-ancestors "+strings.Join(p.Hosts, " "), "("+strings.Join(allowed, " ")+")", permissions(p.Features...), digest)
	if len(p.Frames) > 0 {
		delete(header, "Cross-Origin-Embedder-Policy") // few pages of others would load below it
	}
	return Page{HTML: html, Header: header}, nil
}

// Agreed returns the origins that the page declares and the user agreed to. Anything that is no plain
// origin is left out: a quotation mark or a semicolon would be another directive of the policy.
func Agreed(yes, declared []string, sockets bool) []string {
	out := []string{} // an empty list in JSON, and not null
	for _, origin := range declared {
		plain := origin
		if sockets {
			if host, ok := strings.CutPrefix(origin, "wss://"); ok {
				plain = "https://" + host
			}
		}
		if len(out) < MaxOrigins && slices.Contains(yes, origin) && CheckConnect(plain) == nil && !slices.Contains(out, origin) {
			out = append(out, origin)
		}
	}
	return out
}

// CheckConnect returns an error unless origin can be a source of connect-src.
func CheckConnect(origin string) error {
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

// EncodeStart encodes m. It does not apply the message limits of the run, because the size of
// the arguments is under the host's own control.
func EncodeStart(gen int, m *enclave.MsgStart) (string, error) {
	return enclave.EncodeBatch(enclave.Batch{Gen: gen, Messages: []enclave.Message{m}}, enclave.HostToBroker,
		protocol.JSONLimits{Bytes: 256 << 20, Depth: 128, Nodes: 10_000_000})
}
