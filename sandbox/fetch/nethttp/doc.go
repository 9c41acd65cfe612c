// Package nethttp implements [fetch.Transport] with net/http, for programs outside of a page. In a
// build for a page the package is empty, so that no page contains net/http.
//
// [fetch.Transport]: https://pkg.go.dev/github.com/bailey-go/bailey/sandbox/fetch#Transport
package nethttp
