//go:build !js

package nethttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/fetch/nethttp"
)

// A program outside of a page passes this transport to the providers, to the broker of package web,
// and to the client of package mcpclient. A redirect is returned like any other response.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusFound)
			return
		}
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()
	transport := nethttp.New(nil)
	for _, path := range []string{"/new", "/old"} {
		res, err := transport.Do(context.Background(), fetch.Request{URL: server.URL + path})
		if err != nil {
			fmt.Println(err)
			return
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		fmt.Printf("%d %.5q %q %v\n", res.Status, body, res.Header["location"], err)
	}
	// Output:
	// 200 "hello" "" <nil>
	// 302 "<a hr" "/new" <nil>
}
