package iframe

import (
	"errors"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

func TestNarrowed(t *testing.T) {
	for _, c := range []struct {
		name string
		csp  string
		want string
		err  error
	}{
		{"nothing", "", "", nil},
		{"the dialect's example", `{"default-src": "'none'", "script-src": "'unsafe-inline'"}`, "", nil},
		{"narrower", `{"img-src": "data:"}`, "img-src data:", nil},
		{"none", `{"font-src": "'none'"}`, "font-src 'none'", nil},
		{"wider", `{"connect-src": "https://a.example"}`, "", protocol.ErrCapabilityDenied},
		{"no directive", `{"img-src": "data:; script-src *"}`, "", protocol.ErrInvalidParams},
		{"wider scripts", `{"script-src": "https://a.example"}`, "", protocol.ErrCapabilityDenied},
	} {
		config := ""
		if c.csp != "" {
			config = `{"config":{"sandbox":"iframe","iframeOptions":{"csp":` + c.csp + `}}}`
		}
		got, err := narrowed(config)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q %v, want %q %v", c.name, got, err, c.want, c.err)
		}
	}
}

// The proof that code with a document starts has a time limit of its own. That of the user's code may
// be shorter.
func TestProofHasItsOwnTime(t *testing.T) {
	for _, limit := range []time.Duration{100 * time.Millisecond, proofTime, time.Minute} {
		o, err := EnclaveOptions{Limits: protocol.Limits{Time: limit}}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			run  RunOptions
			want time.Duration
		}{{RunOptions{time: proofTime}, proofTime}, {RunOptions{}, limit}, {RunOptions{Limits: protocol.Limits{Time: time.Minute}}, min(limit, time.Minute)}} {
			_, _, start, limits, err := newProgram(PoolOptions{EnclaveOptions: o}, "", "r", c.run)
			if err != nil || limits.Time != c.want || start.Limits.Time != c.want {
				t.Errorf("with a limit of %v: %v, %v, want %v", limit, limits.Time, err, c.want)
			}
		}
	}
}
