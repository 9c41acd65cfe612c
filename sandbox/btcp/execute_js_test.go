package btcp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/sandbox/btcp"
)

// The tools of BTCP's documents run in the two kinds of sandboxes.
func TestExecuteInEnclaves(t *testing.T) {
	const config = `{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-scripts","csp":{"default-src":"'none'","script-src":"'unsafe-inline'"}}}}`
	worker, err := iframe.NewEnclave(t.Context(), iframe.EnclaveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	dom, err := iframe.NewDOMEnclave(t.Context(), iframe.DOMEnclaveOptions{AllowWithoutConnectionAllowlist: true, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	defer dom.Close()
	const xml = `const doc = new DOMParser().parseFromString(args.xml, 'application/xml'); return Array.from(doc.querySelectorAll('item')).map((i) => i.querySelector('title')?.textContent)`
	for _, c := range []struct {
		kind, message, want string
		e                   *iframe.Enclave
	}{
		{"worker", `{"id":"1","type":"execute","toolCode":"return args.a.map((x) => x * 2)","args":{"a":[1,2]},"capabilities":[]}`, `{"id":"1","result":[2,4],"type":"result"}`, worker},
		{"worker", `{"id":"2","type":"execute","toolCode":"return typeof DOMParser","args":null,"capabilities":[]}`, `{"id":"2","result":"undefined","type":"result"}`, worker},
		{"worker", `{"id":"3","type":"execute","toolCode":"throw new Error('no')","args":null,"capabilities":[]}`, `"id":"3","type":"error"}`, worker},
		{"iframe", `{"id":"4","type":"execute","toolCode":"` + xml + `","args":{"xml":"<r><item><title>A</title></item><item><title>B</title></item></r>"},"capabilities":[]}`, `{"id":"4","result":["A","B"],"type":"result"}`, dom},
		{"iframe", `{"id":"5","type":"execute","toolCode":"const d = document.createElement('div'); d.innerHTML = '<h1>x</h1>'; return d.querySelectorAll('h1').length","args":null,"capabilities":[]}`, `{"id":"5","result":1,"type":"result"}`, dom},
		{"iframe", `{"id":"6","type":"execute","toolCode":"return parent.document.title","args":null,"capabilities":[]}`, `"id":"6","type":"error"}`, dom},
	} {
		got := btcp.Execute(t.Context(), c.message, nil, func(ctx context.Context, code string, args any) (any, error) {
			r, err := c.e.Run(ctx, code, iframe.RunOptions{Args: args})
			return r.Value, err
		})
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.kind, c.message, got, c.want)
		}
	}
}
