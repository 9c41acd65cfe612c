package web_test

import (
	"fmt"

	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/web"
)

// A model may read from the hosts that the policy grants. It never sees the key for one of them. It
// writes {{secret:issues}} in a header, and the broker inserts the key into the request.
func ExampleNewBroker() {
	broker, err := web.NewBroker(web.BrokerOptions{
		Transport:   fetch.Browser(),
		Credentials: []web.Credential{{Name: "issues", Value: "the key", Hosts: []string{"api.example.org"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(web.Fetch(broker).ID)
	// Output: web_fetch
}
