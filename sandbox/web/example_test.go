package web_test

import (
	"fmt"

	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/web"
)

// A model may read the hosts that the policy grants. Its key for one of them it never sees:
// it writes {{secret:issues}}, and the broker puts the key in on the way out.
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
