// Package nethttp is a [fetch.Transport] over net/http, for programs outside of a
// page. Built for a page it is empty, so that no page ever holds net/http.
//
// [fetch.Transport]: https://pkg.go.dev/github.com/bailey-go/bailey/sandbox/fetch#Transport
package nethttp
