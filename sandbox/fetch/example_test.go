package fetch_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/bailey-go/bailey/sandbox/fetch"
)

// This example reads a response while it streams. In a page the transport is Browser(), and
// natively it is that of package nethttp. Here it is a function, as in a test.
func Example() {
	var transport fetch.Transport = fetch.TransportFunc(func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
		fmt.Println(r.Method, r.URL)
		stream := "event: token\ndata: Hello\n\nevent: token\ndata: there\n\nevent: end\ndata:\n\n"
		return &fetch.Response{Status: 200, Body: io.NopCloser(strings.NewReader(stream))}, nil
	})
	res, err := transport.Do(context.Background(), fetch.Request{Method: "POST", URL: "https://api.example.org/chat", Body: []byte(`{"stream": true}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	err = fetch.Events(res.Body, func(e fetch.Event) error {
		fmt.Printf("%s %q\n", e.Name, e.Data)
		return nil
	})
	fmt.Println(res.Status, err)
	// Output:
	// POST https://api.example.org/chat
	// token "Hello"
	// token "there"
	// end ""
	// 200 <nil>
}
