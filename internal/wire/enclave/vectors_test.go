package enclave_test

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// Go and JavaScript must both accept or both refuse each vector, with the same code. A row of caps
// is bytes, depth, nodes.
var (
	//go:embed testdata/vectors/values.json
	valueVectors []byte
	//go:embed testdata/vectors/batches.json
	batchVectors []byte
)

type vector struct {
	Name    string
	Text    string
	OK      bool
	Code    protocol.Code
	Canon   string // the value written again
	CanonJS string // where JavaScript writes it with other escapes
	From    string
	Gen     int
	Count   int
	Caps    []int
	Repeat  []any // a text and the number of its repetitions, for texts that are too long for the file
}

func (v vector) limits() protocol.JSONLimits {
	if v.Caps == nil {
		return protocol.JSONLimits{Bytes: 1 << 20, Depth: 64, Nodes: 200_000}
	}
	return protocol.JSONLimits{Bytes: v.Caps[0], Depth: v.Caps[1], Nodes: v.Caps[2]}
}

func vectors(t testing.TB, data []byte, least int) []vector {
	t.Helper()
	var out []vector
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		if v.Repeat != nil {
			out[i].Text = strings.Repeat(v.Repeat[0].(string), int(v.Repeat[1].(float64)))
		}
	}
	if len(out) < least {
		t.Fatalf("only %d vectors", len(out))
	}
	return out
}

func directions() map[string]enclave.Direction {
	return map[string]enclave.Direction{
		"CodeToBroker": enclave.CodeToBroker, "BrokerToCode": enclave.BrokerToCode, "BrokerToHost": enclave.BrokerToHost, "HostToBroker": enclave.HostToBroker,
	}
}

func TestValueVectors(t *testing.T) {
	for _, v := range vectors(t, valueVectors, 180) {
		got, err := enclave.DecodeValue(v.Text, v.limits())
		if (err == nil) != v.OK || err != nil && protocol.CodeOf(err) != v.Code {
			t.Errorf("%s: %.60s: %v, want %s", v.Name, v.Text, err, string(v.Code))
			continue
		}
		if !v.OK {
			continue
		}
		again, err := enclave.EncodeValue(got, v.limits())
		if err != nil || again != v.Canon {
			t.Errorf("%s: written again as %.80s, %v; want %.80s", v.Name, again, err, v.Canon)
		}
	}
}

func TestBatchVectors(t *testing.T) {
	for _, v := range vectors(t, batchVectors, 150) {
		d, ok := directions()[v.From]
		if !ok {
			t.Fatalf("%s: no direction %q", v.Name, v.From)
		}
		b, err := enclave.DecodeBatch(v.Text, d, v.limits())
		if (err == nil) != v.OK || err != nil && protocol.CodeOf(err) != v.Code {
			t.Errorf("%s: %.120s: %v, want %s", v.Name, v.Text, err, string(v.Code))
			continue
		}
		if !v.OK {
			continue
		}
		if len(b.Messages) != v.Count || len(b.Sizes) != v.Count || b.Gen != v.Gen {
			t.Errorf("%s: %d messages of generation %d", v.Name, len(b.Messages), b.Gen)
		}
		again, err := enclave.EncodeBatch(b, d, v.limits())
		if err != nil || again != v.Text {
			t.Errorf("%s: written again as\n%.300s, %v; want\n%.300s", v.Name, again, err, v.Text)
		}
	}
}
