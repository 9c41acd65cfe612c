package iframe

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/protocol"
)

// host serves a page on another site, the n-th, as a separate server would.
func host(t *testing.T, n int, p HostedPage, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]string{}
	for k, v := range p.Header {
		header[k] = v[0]
	}
	return testpage.Serve(t, testpage.Response{Origin: n, Header: header, Body: p.HTML}).URL
}

// here returns this page's origin, the only embedder.
func here(t *testing.T) string {
	t.Helper()
	return must(jsx.String(must(jsx.Lookup(jsx.Global(), "location.origin"))(t), 1000))(t)
}

func hostedEnclave(t *testing.T, n int, opts EnclaveOptions) string {
	p, err := opts.Page(here(t))
	return host(t, n, p, err)
}

// bare is a page whose policy allows no frame script and no blob:, with frames from elsewhere.
func bare(t *testing.T, more string) testpage.Page {
	t.Helper()
	return testpage.Page{Header: map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; frame-src " + testpage.Origin(t, 1) + more,
	}}
}

func TestEnclaveFromURL(t *testing.T) {
	testpage.Run(t, bare(t, ""), func(t *testing.T) {
		// In place, the page's own policy prevents the enclave.
		if _, err := NewEnclave(testContext(t), EnclaveOptions{ReadyTimeout: 15 * time.Second}); !errors.Is(err, ErrFrameBlocked) {
			t.Fatalf("in place: want ErrFrameBlocked, got %v", err)
		}
		for _, warm := range []bool{false, true} {
			opts := EnclaveOptions{Level: protocol.Secure, Tools: toolset(t, echo("echo")), Warm: warm}
			opts.URL = hostedEnclave(t, 1, opts)
			p := pool(t, PoolOptions{EnclaveOptions: opts, Max: 2, Spare: 2})
			for i := range 3 {
				res, err := p.Run(testContext(t), `return (await callTool("echo", {i: args})).i + 1`, RunOptions{Args: i})
				if err != nil || res.Value != float64(i+1) {
					t.Errorf("warm %v: %+v, %v", warm, res, err)
				}
			}
			// After a kill the frames are made again, from the same address.
			if _, err := p.Run(testContext(t), `for (;;);`, RunOptions{Limits: protocol.Limits{Time: 200 * time.Millisecond}}); !errors.Is(err, protocol.ErrTimeout) {
				t.Errorf("warm %v: %v", warm, err)
			}
			if res, err := p.Run(testContext(t), `return 2`, RunOptions{}); err != nil || res.Value != 2.0 {
				t.Errorf("warm %v after a kill: %+v, %v", warm, res, err)
			}
			p.Close()
		}
	})
}

func TestEnclaveURLRefused(t *testing.T) {
	testpage.Run(t, bare(t, ""), func(t *testing.T) {
		strict := hostedEnclave(t, 1, EnclaveOptions{})
		foreign, err := EnclaveOptions{}.Page("https://elsewhere.example")
		var wg sync.WaitGroup // some answers are only known after a while, so all are waited for at once
		for _, c := range []struct{ name, url, want string }{
			{"another level's page", strict, "other options"},
			{"no such page", testpage.Origin(t, 1) + "/nothing-here", "did not answer"},
			{"frame-src does not list it", hostedEnclave(t, 2, EnclaveOptions{Level: protocol.Secure}), "frame-src"},
			{"it does not list the embedder", host(t, 1, foreign, err), "embedders"},
			{"a script", "javascript:alert(1)", "https: or http:"},
			{"data", "data:text/html,x", "https: or http:"},
			{"no address", "http://[", "URL"},
		} {
			wg.Go(func() {
				_, err := NewEnclave(testContext(t), EnclaveOptions{Level: protocol.Secure, URL: c.url, ReadyTimeout: 8 * time.Second})
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: want an error about %q, got %v", c.name, c.want, err)
				}
			})
		}
		wg.Wait()
		if n := jsx.Live()[jsx.Frames]; n != 0 {
			t.Errorf("%d frames live", n)
		}
	})
}

// A cross-origin isolated page can embed an enclave's page from another site.
func TestEnclaveFromURLInIsolatedPage(t *testing.T) {
	page := bare(t, "")
	page.Header["Cross-Origin-Opener-Policy"], page.Header["Cross-Origin-Embedder-Policy"] = "same-origin", "require-corp"
	testpage.Run(t, page, func(t *testing.T) {
		if on := must(jsx.GetBool(jsx.Global(), "crossOriginIsolated"))(t); !on {
			t.Fatal("the page is not isolated")
		}
		opts := EnclaveOptions{ReadyTimeout: 8 * time.Second}
		opts.URL = hostedEnclave(t, 1, opts)
		e, err := NewEnclave(testContext(t), opts)
		if testpage.Has(testpage.NoCredentialless) {
			if !errors.Is(err, ErrFrameBlocked) {
				t.Errorf("%v: WebKitGTK 2.50 knows no credentialless; if it does now, end this exception", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if res, err := e.Run(testContext(t), `return 1`, RunOptions{}); err != nil || res.Value != 1.0 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// The page has no headers of its own. The headers of the enclave's page close the leaks.
func TestDOMEnclaveFromURL(t *testing.T) {
	if testpage.Has(testpage.NoConnectionAllowlist) {
		t.Skipf("%s has no Connection-Allowlist", testpage.Engine())
	}
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		if _, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{}); !errors.Is(err, ErrLeaks) {
			t.Fatalf("in place: want ErrLeaks, got %v", err)
		}
		page, err := DOMEnclaveOptions{}.Page(here(t))
		e, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{EnclaveOptions: EnclaveOptions{URL: host(t, 1, page, err)}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		res, err := e.Run(testContext(t), `document.body.innerHTML = "<p>x<p>y"; return document.querySelectorAll("p").length`, RunOptions{})
		if err != nil || res.Value != 2.0 {
			t.Errorf("%+v, %v", res, err)
		}
		delete(page.Header, "Connection-Allowlist")
		if _, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{EnclaveOptions: EnclaveOptions{URL: host(t, 1, page, nil)}}); !errors.Is(err, ErrLeaks) {
			t.Errorf("without the header: want ErrLeaks, got %v", err)
		}
	})
}

// Code with a document holds its thread. Enclaves on one site share it. Enclaves on different
// sites share nothing.
func TestEnclavesOfTwoSites(t *testing.T) {
	if testpage.Has(testpage.OneProcessForTwoSites) {
		t.Skipf("%s has no process for each site here", testpage.Engine())
	}
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		page, err := DOMEnclaveOptions{}.Page(here(t))
		enclave := func(site int) *Enclave {
			e, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{EnclaveOptions: EnclaveOptions{URL: host(t, site, page, err)}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return e
		}
		held := func(neighbour, spinner *Enclave, limit time.Duration) bool {
			up, done := make(chan struct{}, 1), make(chan struct{})
			go func() {
				defer close(done)
				_, _ = spinner.Run(testContext(t), `console.log(1); for (;;);`, RunOptions{Limits: protocol.Limits{Time: 3 * limit},
					OnConsole: func(protocol.ConsoleRow) { up <- struct{}{} }})
			}()
			<-up
			_, err := neighbour.Run(testContext(t), `return document.body.tagName`, RunOptions{Limits: protocol.Limits{Time: limit}})
			if err != nil && !errors.Is(err, protocol.ErrTimeout) {
				t.Error(err)
			}
			<-done
			return err != nil
		}
		if !growing(time.Second, func(limit time.Duration) bool { return !held(enclave(1), enclave(2), limit) }) {
			t.Error("a site of its own did not help")
		}
		if !held(enclave(1), enclave(1), time.Second) {
			t.Error("enclaves of one site don't share a thread here: this test shows nothing")
		}
	})
}
