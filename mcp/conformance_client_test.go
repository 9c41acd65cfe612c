//go:build !js

package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch/nethttp"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// conformanceClient is the program that MCP's conformance suite runs for each scenario of a client, with the
// address of the suite's server. It connects, calls every tool once through a box, and closes.
func conformanceClient(url string) error {
	ctx, stop := context.WithTimeout(context.Background(), 25*time.Second)
	defer stop()
	o := mcpclient.Options{Name: "far", URL: url, Transport: nethttp.New(nil), Redirect: "http://localhost:3000/callback",
		ClientID: "https://conformance-test.local/client-metadata.json",
		Ask: func(_ context.Context, list []sandbox.ModelQuestion) ([][]string, error) {
			return make([][]string, len(list)), nil // the user leaves the server's suggestions as they are
		},
		Authorize: func(ctx context.Context, address string) (string, error) {
			c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			req, err := http.NewRequestWithContext(ctx, "GET", address, nil)
			if err != nil {
				return "", err
			}
			res, err := c.Do(req)
			if err != nil {
				return "", err
			}
			defer res.Body.Close()
			return res.Header.Get("Location"), nil
		}}
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return err
		}
		if given.ID != "" {
			o.ClientID, o.ClientSecret = given.ID, given.Secret
		}
	}
	c, err := mcpclient.Connect(ctx, o)
	if err != nil {
		return err
	}
	defer c.Close(context.Background())
	tools, err := c.Tools(ctx)
	if err != nil {
		return err
	}
	p, err := policy.Parse(fmt.Sprintf(`{"capabilities": {"net.fetch": [%q]}}`, c.Target()), policy.Options{})
	if err != nil {
		return err
	}
	box, err := sandbox.New(sandbox.Options{Policy: p, Tools: tools, Ask: sandboxtest.Always(policy.AnswerOnce)})
	if err != nil {
		return err
	}
	for _, t := range tools {
		args := map[string]any{}
		if t.ID == "far_add_numbers" {
			args = map[string]any{"a": 5.0, "b": 3.0}
		}
		res := box.Call(ctx, t.ID, args)
		fmt.Println(t.ID, res.Data, res.Err(), protocol.CodeOf(res.Err()))
	}
	return nil
}
