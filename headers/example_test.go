package headers_test

import (
	"fmt"

	"github.com/bailey-go/bailey/headers"
)

// A page that talks to one model provider, and offers to copy code.
func Example() {
	h, err := headers.For(headers.Use{
		Connect:  []string{"api.example.com"},
		Features: []string{"clipboard-write"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	connect, _ := h.CSP.Get("connect-src")
	fmt.Println(connect)
	fmt.Println(h.Connections)
	// Output:
	// ['self' https://api.example.com wss://api.example.com]
	// (response-origin "https://api.example.com")
}
