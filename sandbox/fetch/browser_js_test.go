package fetch_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

func TestMain(m *testing.M) { jsxtest.Main(m) }

func TestBrowserFetches(t *testing.T) {
	cors := map[string]string{"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*", "Access-Control-Allow-Headers": "*", "Content-Type": "text/event-stream"}
	e := testpage.Serve(t, testpage.Response{Origin: 1, Header: cors, Body: "event: a\ndata: one\ndata: two\n\ndata: three\n\ndata: cut"})
	res, err := fetch.Browser().Do(context.Background(), fetch.Request{Method: "POST", URL: e.URL, Body: []byte(`{"x":1}`), Header: map[string]string{"content-type": "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var got []string
	if err := eventstream.Read(res.Body, func(e eventstream.Event) error { got = append(got, e.Name+"="+e.Data); return nil }); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, ";") != "a=one\ntwo;message=three" || res.Status != 200 || !strings.HasPrefix(res.Header["content-type"], "text/event-stream") {
		t.Errorf("%d %v %q", res.Status, res.Header, got)
	}
	post := 0
	for _, r := range e.Requests() {
		if r.Method == "POST" {
			post++
			if r.Body != `{"x":1}` || r.Header["Cookie"] != "" || r.Header["Referer"] != "" {
				t.Errorf("sent %+v", r)
			}
		}
	}
	if post != 1 {
		t.Errorf("%d requests", post)
	}
}

func TestBrowserRefusesRedirectsAndForeigners(t *testing.T) {
	target := testpage.Serve(t, testpage.Response{Origin: 1, Header: map[string]string{"Access-Control-Allow-Origin": "*"}, Body: "reached"})
	for name, e := range map[string]*testpage.Endpoint{
		"redirect": testpage.Serve(t, testpage.Response{Origin: 1, Status: 302, Header: map[string]string{"Access-Control-Allow-Origin": "*", "Location": target.URL}}),
		"no CORS":  testpage.Serve(t, testpage.Response{Origin: 1, Body: "secret"}),
	} {
		res, err := fetch.Browser().Do(context.Background(), fetch.Request{URL: e.URL})
		if err == nil {
			b, _ := io.ReadAll(res.Body)
			res.Body.Close()
			t.Errorf("%s: %d %q", name, res.Status, b)
		}
	}
	if n := len(target.Requests()); n != 0 {
		t.Errorf("the redirect was followed: %d", n)
	}
}

func TestBrowserHonoursItsContext(t *testing.T) {
	e := testpage.Serve(t, testpage.Response{Origin: 1, Header: map[string]string{"Access-Control-Allow-Origin": "*"}, Body: "late", Delay: 1 << 34})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { e.Wait(1, 1<<33); cancel() }()
	if _, err := fetch.Browser().Do(ctx, fetch.Request{URL: e.URL}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A host that the page's own policy does not list is told apart from a server that gives no answer.
func TestBrowserNamesTheBlockingPolicy(t *testing.T) {
	for _, c := range []struct{ name, policy, want, not string }{
		{"blocked", "connect-src 'self'", `add it to headers.json, {"connect": ["`, "CORS"},
		{"reported only", "", "let pages of http", "headers.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := testpage.Page{Header: map[string]string{"Content-Security-Policy-Report-Only": "connect-src 'none'"}}
			if c.policy != "" {
				page.Header["Content-Security-Policy"] = c.policy
			}
			testpage.Run(t, page, func(t *testing.T) {
				e := testpage.Serve(t, testpage.Response{Origin: 1, Body: "no CORS"})
				_, err := fetch.Browser().Do(t.Context(), fetch.Request{URL: e.URL})
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) {
					t.Errorf("%v", err)
				}
				if n := len(e.Requests()); (n == 0) != (c.policy != "") {
					t.Errorf("the server got %d requests", n)
				}
			})
		})
	}
}
