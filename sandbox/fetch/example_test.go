package fetch_test

import (
	"bufio"
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
		return &fetch.Response{Status: 200, Body: io.NopCloser(strings.NewReader("Hello\nthere\n"))}, nil
	})
	res, err := transport.Do(context.Background(), fetch.Request{Method: "POST", URL: "https://api.example.org/chat", Body: []byte(`{"stream": true}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		fmt.Printf("%q\n", lines.Text())
	}
	fmt.Println(res.Status)
	// Output:
	// POST https://api.example.org/chat
	// "Hello"
	// "there"
	// 200
}
