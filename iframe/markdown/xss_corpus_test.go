package markdown_test

import (
	"testing"

	"github.com/bailey-go/bailey/iframe/internal/xss"
)

// xssPayload is a row of the collection in iframe/internal/xss.
type xssPayload struct{ xss.Payload }

// xssSink is the address for requests of payloads in tests without a server.
const xssSink = "http://127.0.0.1:9/sink"

func loadXSS(t testing.TB) []xssPayload {
	t.Helper()
	return sampleXSS(t, 1)
}

// sampleXSS returns one row of every so many, of each class of the collection.
func sampleXSS(t testing.TB, every int) []xssPayload {
	t.Helper()
	all, err := xss.Load()
	if err != nil {
		t.Fatal(err)
	}
	var rows []xssPayload
	for _, p := range xss.Sample(all, every) {
		rows = append(rows, xssPayload{p})
	}
	return rows
}

func (p xssPayload) expand(sink string) string  { return p.Expand(sink) }
func (p xssPayload) forms(sink string) []string { return p.Forms(sink) }
