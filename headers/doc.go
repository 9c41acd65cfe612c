// Package headers builds the response headers that protect a page. Its input is a [Use], which
// lists the hosts, scripts and browser features that the page uses. Its output is strict
// headers that deny everything else.
//
//	h, err := headers.For(headers.Use{Connect: []string{"api.example.com"}})
//	for _, header := range h.List() { … }
//
// [Default] returns the headers of a page that connects to its own origin only.
// [Headers.Render] returns the headers as configuration for nginx, Caddy, Apache, Netlify or a Go server, or as
// JSON, together with the settings that a server needs for a built page. [Check] runs in the
// page itself. It returns which of the headers are in force there, and the risk of each missing
// one.
//
// The package trusts the deployer, who writes the [Use], and the server that sends the result.
// It never widens a policy by default, requests anything from another origin, or imports
// net/http. It never accepts a host pattern such as "*" or "*.com", which would open the page
// to everyone.
//
// The headers are an additional layer: the frames and the sanitiser protect the page without
// them. They stop name look-ups and navigations (Connection-Allowlist), which no frame can
// stop. They also protect the host page, where a mistake in the app could otherwise send data
// to the network.
package headers
