// Package headers describes the response headers that hold a page, as a Go
// value: what the page uses goes in, strict headers come out, and everything
// that was not named stays closed.
//
//	h, err := headers.For(headers.Use{Connect: []string{"api.example.com"}})
//	for _, header := range h.List() { … }
//
// [Default] is the page that talks to its own origin only. [Render] writes the
// same headers as configuration for nginx, Caddy, Apache, Netlify, a Go server,
// or as JSON, together with what a server needs to send a built page well.
// [Check] runs in the page itself and says which of the headers really hold
// there, and what each missing one costs.
//
// What it trusts: the deployer who writes the [Use], and the server that sends
// the result. What it never does: widen a policy by default, fetch anything from
// another origin, import net/http, or accept a host pattern such as "*" or
// "*.com" that would open the page to everybody.
//
// The headers are a layer, not the wall: the frames and the sanitiser hold
// without them. They close what no frame can close, above all name look-ups and
// navigations (Connection-Allowlist), and they hold for the host page, where a
// mistake of the app's own would otherwise reach the network.
package headers
