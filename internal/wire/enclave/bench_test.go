package enclave_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

func BenchmarkBatch(b *testing.B) {
	one := `{"type":"tool-call","callId":1,"toolName":"users:list","args":{"limit":10,"offset":0,"filter":{"active":true,"name":"ada"}}}`
	for _, c := range []struct {
		name  string
		texts int
	}{{"one", 1}, {"hundred", 100}} {
		text := `{"v":1,"gen":1,"msgs":[` + strings.TrimSuffix(strings.Repeat(one+",", c.texts), ",") + `]}`
		b.Run("decode/"+c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := enclave.DecodeBatch(text, enclave.BrokerToHost, protocol.JSONLimits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	batch := enclave.Batch{Gen: 1, Messages: []enclave.Message{&enclave.MsgToolResponse{CallID: 1, Result: map[string]any{"a": 1, "b": []any{"x", true, nil}}}}}
	b.Run("encode/one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := enclave.EncodeBatch(batch, enclave.HostToBroker, protocol.JSONLimits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecodeMegabyte(b *testing.B) {
	text := `["` + strings.Repeat("a", 500_000) + `",` + strings.TrimSuffix(strings.Repeat(`{"name":"x","n":1.5},`, 25_000), ",") + `]`
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := enclave.DecodeValue(text, protocol.JSONLimits{Bytes: 2 << 20}); err != nil {
			b.Fatal(err)
		}
	}
}

// The rows of the row enclave.result.1MiB of the browser bench.
func BenchmarkDecodeRows(b *testing.B) {
	text := "[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"name":"a name","tags":["x","y"],"ok":true},`, 19_800), ",") + "]"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := enclave.DecodeValue(text, protocol.JSONLimits{Bytes: 2 << 20, Nodes: 1e6}); err != nil {
			b.Fatal(err)
		}
	}
}
