package iframe

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/hosted"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
)

// A tool in BTCP's dialect reads the page, as far as the host consents.
func TestBTCPToolReadsThePage(t *testing.T) {
	long := strings.Repeat("é", 60)
	root := element(t, "div", map[string]string{"id": "root"})
	must(jsx.Call(root, "insertAdjacentHTML", "beforeend", `<p id="a" class="k" data-x="1" nonce="secret" __proto__="x">text <b>bold</b></p><textarea>typed</textarea>`+
		`<input id="i" value="typed" type="text"><p id="long">`+long+`</p>`))(t)
	var asked []string
	tool, err := ParentDOM(ParentDOMOptions{Root: ElementOf(jsx.ToRaw(root)), MaxText: 50, Consent: func(_ context.Context, selector string) error {
		asked = append(asked, selector)
		if strings.Contains(selector, "#secret") {
			return protocol.Errorf(protocol.ErrCapabilityDenied, "dom_querySelector", "", "the user declined")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	e := testEnclave(t, EnclaveOptions{Tools: toolset(t, tool)})
	grants, err := btcp.ParseCapabilities([]string{"dom:read"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ selector, want string }{
		{"p", `{"attributes":{"class":"k","data-x":"1","id":"a"},"className":"k","id":"a","tagName":"P","textContent":"text bold"}`},
		{"textarea", `{"attributes":{},"className":"","id":"","tagName":"TEXTAREA"}`},
		{"#i", `{"attributes":{"id":"i","type":"text"},"className":"","id":"i","tagName":"INPUT"}`},
		{"#long", `{"attributes":{"id":"long"},"className":"","id":"long","tagName":"P","textContent":"` + long[:100] + `"}`},
		{"h1", `null`},
		{"body", `null`}, // outside of the root
		{"p[", `"INVALID_PARAMS"`},
		{"#secret", `"` + string(protocol.ErrCapabilityDenied) + `"`},
		{strings.Repeat("p", 1000), `null`},
		{strings.Repeat("p", 1001), `"INVALID_PARAMS"`},
	} {
		code := btcp.Code(`try { return await btcp.parentDOM.querySelector(args) } catch (e) { return e.code }`, grants)
		res, err := e.Run(testContext(t), code, RunOptions{Args: c.selector})
		if err != nil {
			t.Errorf("%.20s: %v", c.selector, err)
			continue
		}
		if got := wire(res.Value); got != c.want {
			t.Errorf("%.20s:\ngot  %s\nwant %s", c.selector, got, c.want)
		}
	}
	if len(asked) != 9 {
		t.Errorf("the host was asked %d times: %.60q", len(asked), asked)
	}
	// Without the capability there is nothing to call.
	res, err := e.Run(testContext(t), btcp.Code(`return typeof btcp.parentDOM`, nil), RunOptions{})
	if err != nil || res.Value != "undefined" {
		t.Errorf("%+v, %v", res, err)
	}
}

// The code fetches from the origins that it was given, and from no other.
func TestDOMEnclaveConnects(t *testing.T) {
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		given, other := testpage.Sink(t), testpage.Sink(t)
		origin := given.URL[:len("http://")+strings.Index(given.URL[len("http://"):]+"/", "/")]
		code := `const out = [typeof XMLHttpRequest, typeof WebSocket];
			for (const u of args) try { out.push((await fetch(u)).status) } catch (e) { out.push("no") }
			return out`
		for _, c := range []struct {
			connect []string
			want    string
		}{{nil, `["undefined","undefined","no","no"]`}, {[]string{origin}, `["undefined","undefined",200,"no"]`}} {
			e := domEnclave(t, DOMEnclaveOptions{Connect: c.connect})
			res, err := e.Run(testContext(t), code, RunOptions{Args: []any{given.URL + "/x", other.URL + "/x"}})
			if err != nil {
				t.Fatal(err)
			}
			if got := wire(res.Value); got != c.want {
				t.Errorf("Connect %v: got %s, want %s", c.connect, got, c.want)
			}
			e.Close()
		}
		if n := given.Traffic(); len(n.Requests) != 1 {
			t.Errorf("%d requests reached the origin that was given", len(n.Requests))
		}
		if n := other.Traffic().Total(); n != 0 {
			t.Errorf("%d things reached the other", n)
		}
	})
}

func TestConnectOriginsAreChecked(t *testing.T) {
	for _, bad := range []string{"", "*", "https:", "https://*", "https://*.com", "http://api.example.com", "https://a b", "https://a.example;script-src *", `https://a"b.example`, "https://a.example/x", "ws://a.example"} {
		_, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{Connect: []string{bad}, AllowWithoutConnectionAllowlist: true})
		if !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"https://api.example.com", "https://*.example.com:8443", "http://localhost:8080", "http://127.0.0.1:1"} {
		if err := hosted.CheckConnect(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}
