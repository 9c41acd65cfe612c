package btcp_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
)

func TestIframeConfig(t *testing.T) {
	base := map[string][]string{"default-src": {"'none'"}, "script-src": {"'sha256-x'"}, "img-src": {"data:", "blob:"}}
	c, err := btcp.ParseIframeConfig(`{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-scripts","csp":{"default-src":"'none'","script-src":"'unsafe-inline'","img-src":"data:"}}}}`)
	if err != nil {
		t.Fatal(c, err)
	}
	got, err := c.Narrow(base)
	if err != nil || !reflect.DeepEqual(got, map[string][]string{"default-src": {"'none'"}, "script-src": {"'sha256-x'"}, "img-src": {"data:"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if !slices.Equal(base["img-src"], []string{"data:", "blob:"}) {
		t.Error("the base was changed")
	}
	for _, text := range []string{
		``, `{}`, `{"config":{}}`, `{"config":{"sandbox":"worker"}}`, `{"config":{"sandbox":"iframe","x":1}}`,
		`{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-scripts allow-same-origin"}}}`, `{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-popups"}}}`,
		`{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"ALLOW-SAME-ORIGIN"}}}`, `{"config":{"sandbox":"iframe","iframeOptions":{"csp":{"default-src":"'none'; script-src *"}}}}`,
		`{"config":{"sandbox":"iframe","iframeOptions":{"csp":{"x y":"a"}}}}`, `{"config":{"sandbox":"iframe","iframeOptions":{"csp":{"img-src":1}}}}`, `{"config":{"sandbox":"iframe","iframeOptions":{"src":"x"}}}`,
	} {
		if c, err := btcp.ParseIframeConfig(text); err == nil {
			t.Errorf("%s is taken: %+v", text, c)
		}
	}
	for _, csp := range []string{`{"connect-src":"https://a.com"}`, `{"img-src":"*"}`, `{"script-src":"'unsafe-eval'"}`, `{"default-src":"*"}`, `{"font-src":"data:"}`} {
		c, err := btcp.ParseIframeConfig(`{"config":{"sandbox":"iframe","iframeOptions":{"csp":` + csp + `}}}`)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Narrow(base); !errors.Is(err, protocol.ErrCapabilityDenied) {
			t.Errorf("%s widened the policy: %v, %v", csp, got, err)
		}
	}
}

func FuzzIframeConfig(f *testing.F) {
	f.Add(`{"config":{"sandbox":"iframe","iframeOptions":{"sandbox":"allow-scripts","csp":{"img-src":"data:"}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := btcp.ParseIframeConfig(text)
		if err != nil {
			return
		}
		base := map[string][]string{"default-src": {"'none'"}, "img-src": {"data:"}}
		out, err := c.Narrow(base)
		if err != nil {
			return
		}
		for name, sources := range out {
			for _, s := range sources {
				if s != "'none'" && !(name == "img-src" && s == "data:") {
					t.Fatalf("%q gives %s %s", text, name, s)
				}
			}
		}
	})
}
