package iframe

import (
	"errors"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/protocol/compat"
)

func TestNarrowed(t *testing.T) {
	for _, c := range []struct {
		name string
		csp  map[string][]string
		want string
		err  error
	}{
		{"nothing", nil, "", nil},
		{"the dialect's example", map[string][]string{"default-src": {"'none'"}, "script-src": {"'unsafe-inline'"}}, "", nil},
		{"narrower", map[string][]string{"img-src": {"data:"}}, "img-src data:", nil},
		{"none", map[string][]string{"font-src": {"'none'"}}, "font-src 'none'", nil},
		{"wider", map[string][]string{"connect-src": {"https://a.example"}}, "", protocol.ErrCapabilityDenied},
		{"wider scripts", map[string][]string{"script-src": {"https://a.example"}}, "", protocol.ErrCapabilityDenied},
	} {
		got, err := narrowed(compat.IframeConfig{CSP: c.csp})
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q %v, want %q %v", c.name, got, err, c.want, c.err)
		}
	}
}
