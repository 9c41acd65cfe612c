package headers

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// The values of [Use].Isolation.
const (
	credentialless         = ""
	requireCORP            = "require-corp"
	documentIsolation      = "document"
	documentCredentialless = "document-credentialless"
	noIsolation            = "none"
)

// Use lists the resources that a page uses. The zero value is a page that loads its own files,
// connects to its own origin, shows data: images and starts workers from its own files or from
// blob: URLs. The JSON form is the headers.json of a page's folder.
type Use struct {
	// Connect lists hosts that the page fetches from or opens sockets to, as patterns of
	// [CheckHost].
	Connect []string `json:"connect,omitempty"`
	// Images lists hosts whose images the page shows.
	Images []string `json:"images,omitempty"`
	// Navigate lists hosts to which the page may navigate. In a browser with
	// Connection-Allowlist a link to any other host does not open.
	Navigate []string `json:"navigate,omitempty"`
	// ScriptHashes and StyleHashes list inline scripts and styles by hash ("sha256-…",
	// "sha384-…", "sha512-…"), such as those of the trusted frames.
	ScriptHashes []string `json:"scriptHashes,omitempty"`
	StyleHashes  []string `json:"styleHashes,omitempty"`
	// BlobScripts lets scripts of the page and of its srcdoc frames come from blob: URLs. Only
	// a script of the same origin can make such a URL. An enclave with a document, a warm
	// enclave and the page of a tool (iframe.NewApp) need it, unless they have a page of their own.
	BlobScripts bool `json:"blobScripts,omitempty"`
	// Features lists browser features of Permissions-Policy that the page itself may use, such
	// as "clipboard-write". Frames of other origins never get them.
	Features []string `json:"features,omitempty"`
	// Frames lists the origins of frames loaded by URL: "self" or host patterns. srcdoc frames
	// need no entry.
	Frames []string `json:"frames,omitempty"`
	// Ancestors lists the origins that may show this page in a frame: "self" or host patterns.
	// The default is none.
	Ancestors []string `json:"ancestors,omitempty"`
	// TrustedTypes lists names of Trusted Types policies besides "bailey". A name may be used
	// again, because a program that restarts in the same page makes its policy again.
	TrustedTypes []string `json:"trustedTypes,omitempty"`
	// Isolation is how the page is separated from other pages' processes:
	//
	//   - "", the default, is Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy:
	//     credentialless. Resources of other origins load without credentials. It gives
	//     crossOriginIsolated in Chromium and Firefox. WebKit does not support credentialless and
	//     isolates by site alone. It cuts the link to windows of other origins.
	//   - "require-corp" is the same with Cross-Origin-Embedder-Policy: require-corp. Resources of other
	//     origins load only with their server's consent. It gives crossOriginIsolated in every engine. In
	//     WebKitGTK 2.50 no enclave starts in such a page.
	//   - "document" is Document-Isolation-Policy: isolate-and-require-corp. It is for pages that must
	//     keep their link to another origin's window, such as a sign-in pop-up. Chromium only.
	//   - "document-credentialless" is Document-Isolation-Policy: isolate-and-credentialless, which is
	//     "document" without the need for consent.
	//   - "none" leaves the page without crossOriginIsolated. It has coarser timers, no
	//     SharedArrayBuffer, and may share a process with its opener.
	Isolation string `json:"isolation,omitempty"`
	// Redirects lets requests follow redirects. The server that answers chooses the target of a
	// redirect, so Connection-Allowlist blocks all redirects unless this is set.
	Redirects bool `json:"redirects,omitempty"`
	// HSTS is Strict-Transport-Security's max-age in seconds. 0 omits the header, because it
	// applies to the whole host for that long.
	HSTS int `json:"hsts,omitempty"`
}

// Default returns the headers of a page that uses only its own files and origin.
func Default() Headers {
	h, err := For(Use{})
	if err != nil {
		panic("headers: the zero Use is valid: " + err.Error())
	}
	return h
}

// For returns the headers of a page that uses the resources listed in u. The error lists
// everything that is wrong with u.
func For(u Use) (Headers, error) {
	var errs []error
	add := func(err error) { errs = append(errs, err) }

	connect := []string{"'self'"}
	allow := []string{}
	images := []string{"'self'", "data:"}
	each(u.Connect, "connect", add, func(h host) {
		connect = append(connect, h.sources()...)
		allow = append(allow, h.patterns()...)
	})
	each(u.Images, "images", add, func(h host) {
		images = append(images, h.patterns()...)
		allow = append(allow, h.patterns()...)
	})
	each(u.Navigate, "navigate", add, func(h host) { allow = append(allow, h.patterns()...) })

	frames := []string{}
	each(without(u.Frames, "self", func() { frames = append(frames, "'self'") }), "frames", add, func(h host) {
		frames = append(frames, h.patterns()...)
		allow = append(allow, h.patterns()...)
	})
	ancestors := []string{}
	each(without(u.Ancestors, "self", func() { ancestors = append(ancestors, "'self'") }), "ancestors", add, func(h host) {
		ancestors = append(ancestors, h.patterns()...)
	})
	// A program that restarts in the same page makes its policy a second time, and so does a
	// second program.
	types := append(append([]string{"bailey"}, u.TrustedTypes...), "'allow-duplicates'")
	for _, t := range u.TrustedTypes {
		if !validPolicyName(t) {
			add(errors.New("trustedTypes: " + strconv.Quote(t) + " is not a policy name (letters, digits and -#=_/@.%)"))
		}
	}
	scripts := append([]string{"'self'", "'wasm-unsafe-eval'"}, hashes(u.ScriptHashes, "scriptHashes", add)...)
	if u.BlobScripts {
		scripts = append(scripts, "blob:")
	}
	if u.HSTS < 0 {
		add(errors.New("hsts: seconds cannot be negative"))
	}

	csp := CSP{
		{"default-src", none(nil)},
		{"script-src", scripts},
		{"style-src", append([]string{"'self'"}, hashes(u.StyleHashes, "styleHashes", add)...)},
		{"img-src", unique(images)},
		{"font-src", []string{"'self'"}},
		{"connect-src", unique(connect)},
		{"worker-src", []string{"'self'", "blob:"}},
		{"frame-src", none(unique(frames))},
		{"manifest-src", []string{"'self'"}},
		{"base-uri", none(nil)},
		{"form-action", none(nil)},
		{"frame-ancestors", none(unique(ancestors))},
		{"require-trusted-types-for", []string{"'script'"}},
		{"trusted-types", unique(types)},
	}
	perms, err := permissionsFor(u.Features)
	if err != nil {
		add(err)
	}
	h := Headers{
		CSP:           csp,
		Connections:   Allowlist{Origin: true, Patterns: unique(allow), Redirects: u.Redirects},
		Permissions:   perms,
		Resource:      "same-origin",
		Referrer:      "no-referrer",
		NoSniff:       true,
		NoDNSPrefetch: true,
		HSTS:          u.HSTS,
	}
	switch u.Isolation {
	case requireCORP:
		h.Opener, h.Embedder = "same-origin", "require-corp"
	case credentialless:
		h.Opener, h.Embedder = "same-origin", "credentialless"
	case documentIsolation:
		h.Isolation = "isolate-and-require-corp"
	case documentCredentialless:
		h.Isolation = "isolate-and-credentialless"
	case noIsolation:
	default:
		add(errors.New("isolation: " + strconv.Quote(u.Isolation) +
			" is unknown; leave it out, or use require-corp, document, document-credentialless or none"))
	}
	if len(errs) > 0 {
		return Headers{}, errors.Join(errs...)
	}
	return h, h.Validate()
}

// each parses every pattern, calls good with the valid ones and bad with the errors.
func each(patterns []string, field string, bad func(error), good func(host)) {
	for _, p := range patterns {
		h, err := parseHost(p)
		if err != nil {
			bad(errors.New(field + ": " + err.Error()))
			continue
		}
		good(h)
	}
}

func without(list []string, word string, found func()) []string {
	var rest []string
	for _, s := range list {
		if s == word {
			found()
		} else {
			rest = append(rest, s)
		}
	}
	return rest
}

func hashes(list []string, field string, bad func(error)) []string {
	var out []string
	for _, s := range list {
		s = strings.Trim(s, "'")
		if !validHash(s) {
			bad(errors.New(field + ": " + strconv.Quote(s) + " is not a hash; it looks like sha256- and 44 base64 characters"))
			continue
		}
		out = append(out, "'"+s+"'")
	}
	return unique(out)
}

func validHash(s string) bool {
	alg, sum, ok := strings.Cut(s, "-")
	size := map[string]int{"sha256": 32, "sha384": 48, "sha512": 64}[alg]
	raw, err := base64.StdEncoding.DecodeString(sum)
	return ok && size > 0 && err == nil && len(raw) == size
}

func none(list []string) []string {
	if len(list) == 0 {
		return []string{"'none'"}
	}
	return list
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
