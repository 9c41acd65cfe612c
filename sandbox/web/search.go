package web

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
)

// Result is one hit of a search.
type Result struct {
	Title, URL, Snippet string
}

// An Engine is a search engine for web_search: [Brave], [Tavily], or one of the app.
type Engine interface {
	// Request returns the request for a query with at most most results. Its header may contain a
	// sentinel for a [Credential] of the broker.
	Request(query string, most int) fetch.Request
	// Results returns the hits in a response's body.
	Results(body []byte) ([]Result, error)
}

const maxSearches = 25 // per session

// Search returns the tool web_search over a broker and an engine. A session may search 25 times. If
// b or e is nil, the tool is listed as missing.
func Search(b *Broker, e Engine) sandbox.Tool {
	t := sandbox.Tool{
		Tool: protocol.Tool{ID: "web_search", Requires: []protocol.Grant{{Capability: protocol.NetFetch}}, Time: 15e9,
			Description: "Searches the web. Returns titles, addresses and snippets.",
			Parameters:  `{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":500},"max_results":{"type":"integer","minimum":1,"maximum":20}},"required":["query"],"additionalProperties":false}`},
		Needs: func(ctx context.Context, c *sandbox.Call) ([]policy.Need, error) {
			q, _ := query(c)
			texts, whole := unescaped(q)
			if !whole || slices.ContainsFunc(texts, func(s string) bool { return len(secrets.Find(ctx, s)) > 0 }) {
				return nil, protocol.Errorf(protocol.ErrSecurityViolation, "web_search", "", "the query carries a credential")
			}
			target, err := b.Target(request(e, c).URL)
			if err != nil {
				return nil, err
			}
			return []policy.Need{{Capability: protocol.NetFetch, Subject: target, Words: "search at " + target + " for " + strconv.Quote(q)}}, nil
		},
		Run: func(ctx context.Context, c *sandbox.Call) (any, error) {
			if err := c.CountUse("web_search", maxSearches); err != nil {
				return nil, err
			}
			return b.search(ctx, c, e)
		},
		Rows: "results",
	}
	if e == nil || b == nil {
		t.Missing = "there is no search engine; give it one with a key"
	}
	return t
}

func query(c *sandbox.Call) (string, int) {
	m, _ := c.Args.(map[string]any)
	q, _ := m["query"].(string)
	n, _ := m["max_results"].(float64)
	if n == 0 {
		n = 8
	}
	return q, int(n)
}

func request(e Engine, c *sandbox.Call) fetch.Request { return e.Request(query(c)) }

func (b *Broker) search(ctx context.Context, c *sandbox.Call, e Engine) (any, error) {
	res, err := b.Do(ctx, c.Permit, request(e, c))
	if err != nil {
		return nil, b.failed(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, b.failed(err)
	}
	switch res.Status {
	case 200:
	case 401, 403:
		return nil, protocol.Errorf(protocol.ErrExecution, "web_search", "", "the search engine does not accept the key (%d); the user has to give it another, so go on without a search", res.Status)
	case 429:
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "web_search", "", "the search engine takes no more requests for now (429); go on without a search, or try later")
	default:
		return nil, protocol.Errorf(protocol.ErrExecution, "web_search", "", "the search engine answered %d", res.Status)
	}
	hits, err := e.Results(body)
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrExecution, "web_search", "", "the search engine's answer can't be read").WithReason(protocol.ReasonParse)
	}
	_, most := query(c)
	rows := []any{}
	for _, h := range hits[:min(len(hits), most)] {
		rows = append(rows, map[string]any{"title": b.clean(h.Title), "url": b.clean(h.URL), "snippet": b.clean(h.Snippet)})
	}
	return map[string]any{"results": rows}, nil
}

type brave struct{ key string }

// Brave returns Brave's search engine. key is the name of the [Credential] for
// api.search.brave.com.
func Brave(key string) Engine { return brave{key} }

func (e brave) Request(q string, most int) fetch.Request {
	return fetch.Request{URL: "https://api.search.brave.com/res/v1/web/search?q=" + url.QueryEscape(q) + "&count=" + strconv.Itoa(most),
		Header: map[string]string{"accept": "application/json", "x-subscription-token": "{{secret:" + e.key + "}}"}}
}

func (brave) Results(body []byte) ([]Result, error) {
	var a struct {
		Web struct {
			Results []struct{ Title, URL, Description string }
		}
	}
	err := json.Unmarshal(body, &a)
	var out []Result
	for _, r := range a.Web.Results {
		out = append(out, Result{r.Title, r.URL, r.Description})
	}
	return out, err
}

type tavily struct{ key string }

// Tavily returns Tavily's search engine. key is the name of the [Credential] for api.tavily.com.
func Tavily(key string) Engine { return tavily{key} }

func (e tavily) Request(q string, most int) fetch.Request {
	body, _ := json.Marshal(map[string]any{"query": q, "max_results": most})
	return fetch.Request{Method: "POST", URL: "https://api.tavily.com/search", Body: body,
		Header: map[string]string{"content-type": "application/json", "authorization": "Bearer {{secret:" + e.key + "}}"}}
}

func (tavily) Results(body []byte) ([]Result, error) {
	var a struct {
		Results []struct{ Title, URL, Content string }
	}
	err := json.Unmarshal(body, &a)
	var out []Result
	for _, r := range a.Results {
		out = append(out, Result{r.Title, r.URL, r.Content})
	}
	return out, err
}
