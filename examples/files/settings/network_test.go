//go:build !js

package settings

import (
	"fmt"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		kept Kept
		want string
	}{
		{Kept{}, "[]"},
		{Kept{Web: Web{Relay: "/relay", Sites: []string{"a.example"}, Engine: "brave", Key: "k"}}, "[]"},
		{Kept{Web: Web{Relay: "https://relay.example/get", Engine: "brave", Key: "k"}}, "[https://relay.example]"},
		{Kept{Web: Web{Sites: []string{"*.a.example", "localhost:81"}, Engine: "tavily"}}, "[http://localhost:81 https://*.a.example https://api.tavily.com https://localhost:81]"},
		{Kept{Servers: []Server{{URL: "https://b.example/mcp", Origins: []string{"https://login.example"}}, {URL: "http://localhost:80/x"}, {URL: "https://b.example/2"}, {URL: "javascript:x"}}}, "[http://localhost:80 https://b.example https://login.example]"},
	} {
		if got := fmt.Sprint(c.kept.origins()); got != c.want {
			t.Errorf("%+v: %s, want %s", c.kept, got, c.want)
		}
	}
}

func TestWebIsChecked(t *testing.T) {
	for _, c := range []struct {
		web Web
		ok  bool
	}{
		{Web{}, true},
		{Web{Relay: "https://relay.example/get"}, true},
		{Web{Relay: "/relay"}, true},
		{Web{Relay: "//relay.example"}, false},
		{Web{Relay: "relay.example"}, false},
		{Web{Relay: "ftp://relay.example"}, false},
		{Web{Sites: []string{"a.example", "*.b.example:8443"}}, true},
		{Web{Sites: []string{"*"}}, false},
		{Web{Sites: []string{"https://a.example"}}, false},
		{Web{Engine: "brave"}, false},
		{Web{Engine: "brave", Key: "k"}, true},
	} {
		if err := c.web.Check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.web, err)
		}
	}
}

func TestDecisionsBecomeRules(t *testing.T) {
	s := Server{Name: "far", Actions: map[string]protocol.Action{"echo": protocol.ActionAllow, "a b": protocol.ActionAllow, "drop": "maybe"}}
	if got := fmt.Sprint(s.Rules()); len(s.Rules()) != 1 || s.Rules()[0].Permission != "mcp:far:echo" {
		t.Errorf("rules: %s", got)
	}
}
