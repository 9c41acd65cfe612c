package iframe

import "github.com/bailey-go/bailey/internal/hosted"

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
	return PoolOptions{EnclaveOptions: o}.hosted(embedders)
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
	return PoolOptions{EnclaveOptions: o.EnclaveOptions, dom: d}.hosted(embedders)
}

func (o PoolOptions) hosted(embedders []string) (HostedPage, error) {
	p, err := hosted.Enclave(o.describe(), embedders)
	return HostedPage(p), err
}

// describe returns the description of the frames.
func (o PoolOptions) describe() hosted.Options {
	d := hosted.Options{Level: o.Level, Warm: o.Warm, Policy: o.TrustedTypesPolicy, Off: o.off}
	if o.dom != nil {
		d.DOM, d.Extra, d.Connect = true, o.dom.extra, o.dom.connect
	}
	return d
}
