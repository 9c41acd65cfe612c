package markdown_test

import (
	"testing"

	"github.com/bailey-go/bailey/iframe/internal/xss"
)

// xssPayload is a row of the collection in iframe/internal/xss.
type xssPayload struct{ xss.Payload }

// xssSink is where a payload phones when nobody listens.
const xssSink = "http://127.0.0.1:9/sink"

func loadXSS(t testing.TB) []xssPayload {
	t.Helper()
	all, err := xss.Load()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]xssPayload, len(all))
	for i, p := range all {
		rows[i] = xssPayload{p}
	}
	return rows
}

func (p xssPayload) expand(sink string) string  { return p.Expand(sink) }
func (p xssPayload) forms(sink string) []string { return p.Forms(sink) }
