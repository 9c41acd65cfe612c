package enclave_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

func encodeMany(n int) error {
	b := enclave.Batch{Gen: 1}
	for range n {
		b.Messages = append(b.Messages, &enclave.MsgPing{})
	}
	_, err := enclave.EncodeBatch(b, enclave.HostToBroker, protocol.JSONLimits{})
	return err
}

func encodeGen(n int) error {
	_, err := enclave.EncodeBatch(enclave.Batch{Gen: n}, enclave.HostToBroker, protocol.JSONLimits{})
	return err
}

func TestBoundsOfABatch(t *testing.T) {
	for name, c := range map[string][2]error{
		"batch to write": {encodeMany(1024), encodeMany(1025)},
		"generation":     {encodeGen(1<<31 - 1), encodeGen(1 << 31)},
	} {
		if c[0] != nil {
			t.Errorf("%s, at the limit: %v", name, c[0])
		}
		if c[1] == nil {
			t.Errorf("%s, above the limit: taken", name)
		}
	}
}

// EncodeBatch checks a message like DecodeBatch does, so a side never sends a message that the
// other side refuses.
func TestEncodeBatchChecks(t *testing.T) {
	bad := map[string]enclave.Message{
		"callId 0":          &enclave.MsgToolCall{Tool: "a"},
		"a bad name":        &enclave.MsgToolCall{CallID: 1, Tool: "a b"},
		"an unknown level":  &enclave.MsgConsole{Level: "loud"},
		"value and failure": &enclave.MsgResult{Value: 1, Error: &protocol.RunError{Code: protocol.ErrAborted}},
		"success and error": &enclave.MsgResult{Success: true, Error: &protocol.RunError{Code: protocol.ErrAborted}},
		"failure alone":     &enclave.MsgResult{},
		"an unknown code":   &enclave.MsgResult{Error: &protocol.RunError{Code: "X"}},
		"no layer":          &enclave.MsgViolation{Code: protocol.ErrAborted},
		"a function":        &enclave.MsgResult{Success: true, Value: func() {}},
		"wrong direction":   &enclave.MsgStart{Run: "r"},
	}
	for name, m := range bad {
		if text, err := enclave.EncodeBatch(enclave.Batch{Gen: 1, Messages: []enclave.Message{m}}, enclave.BrokerToHost, protocol.JSONLimits{}); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
	for name, m := range map[string]enclave.Message{
		"no id": &enclave.MsgStart{}, "a keyword": &enclave.MsgStart{Run: "r", Context: map[string]any{"class": 1}}, "a bad tool": &enclave.MsgStart{Run: "r", Tools: []string{""}},
		"a bad server": &enclave.MsgStart{Run: "r", Servers: map[string][]string{"a b": nil}}, "bad limits": &enclave.MsgStart{Run: "r", Limits: protocol.Limits{Time: -1}},
		"answer to nothing": &enclave.MsgToolResponse{}, "result and error": &enclave.MsgToolResponse{CallID: 1, Result: 1, Error: &protocol.PublicError{Code: protocol.ErrAborted}},
		"a long message":    &enclave.MsgToolResponse{CallID: 1, Error: &protocol.PublicError{Code: protocol.ErrAborted, Message: strings.Repeat("a", 64<<10+1)}},
		"an unknown reason": &enclave.MsgToolResponse{CallID: 1, Error: &protocol.PublicError{Code: protocol.ErrAborted, Reason: "x"}},
	} {
		if text, err := enclave.EncodeBatch(enclave.Batch{Gen: 1, Messages: []enclave.Message{m}}, enclave.HostToBroker, protocol.JSONLimits{}); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
	text, err := enclave.EncodeBatch(enclave.Batch{Gen: 1, Messages: []enclave.Message{&enclave.MsgAbort{Reason: strings.Repeat("é", 2000)}}}, enclave.HostToBroker, protocol.JSONLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := enclave.DecodeBatch(text, enclave.HostToBroker, protocol.JSONLimits{}); err != nil {
		t.Errorf("a reason that was cut: %v", err)
	}
	// Levels cross whole.
	for i := range 4 {
		l := protocol.Level(i).Limits()
		text, err := enclave.EncodeBatch(enclave.Batch{Gen: 1, Messages: []enclave.Message{&enclave.MsgStart{Run: "r", Limits: l}}}, enclave.HostToBroker, protocol.JSONLimits{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := enclave.DecodeBatch(text, enclave.HostToBroker, protocol.JSONLimits{})
		if err != nil || b.Messages[0].(*enclave.MsgStart).Limits != l {
			t.Errorf("%s: %v", protocol.Level(i), err)
		}
	}
}
