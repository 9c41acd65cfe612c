package protocol_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

// The limits that stand in no other table, each at its end and beyond.
func TestBounds(t *testing.T) {
	everywhere := everything(t)
	path := func(n int) string { return strings.Repeat("a/", n/2)[:n-1] + "b" }
	host := func(n int) string {
		s := strings.Repeat(strings.Repeat("a", 62)+".", 5)
		return s[len(s)-n+4:] + "test"
	}
	schema := func(n int) string { return `{"title":"` + strings.Repeat("a", n-12) + `"}` }
	vars := func(n int) map[string]string { return map[string]string{"V": strings.Repeat("a", n)} }
	expand := func(n int) error { _, err := protocol.Expand("$V", vars(n)); return err }
	parseHost := func(s string) error { _, err := protocol.ParseHost(s); return err }
	parseSchema := func(s string) error { _, err := protocol.ParseSchema(s); return err }
	parsePolicy := func(s string) error { _, err := protocol.ParsePolicy(s, protocol.PolicyOptions{}); return err }
	json := func(n int) string { return `{}` + strings.Repeat(" ", n-2) }
	command := func(n int) error {
		_, err := protocol.NewAuthority(protocol.Grant{Capability: protocol.ShellRun, Scope: []string{strings.Repeat("a", n)}})
		return err
	}
	rules := func(n int) string {
		return `{"rules":[` + strings.TrimSuffix(strings.Repeat(`{"permission":"a","action":"ask"},`, n), ",") + `]}`
	}
	pattern := func(n int) string { return `{"pattern":"` + strings.Repeat("a", n) + `"}` }
	for name, c := range map[string][2]error{
		"a path's bytes":      {everywhere.Check(protocol.OpWrite, path(protocol.MaxPath)), everywhere.Check(protocol.OpWrite, path(protocol.MaxPath+1))},
		"a host's bytes":      {parseHost(host(253)), parseHost(host(254))},
		"a label's bytes":     {parseHost(strings.Repeat("a", 63) + ".test"), parseHost(strings.Repeat("a", 64) + ".test")},
		"a port":              {parseHost("a.test:65535"), parseHost("a.test:65536")},
		"a schema's bytes":    {parseSchema(schema(protocol.MaxSchema)), parseSchema(schema(protocol.MaxSchema + 1))},
		"a schema's pattern":  {parseSchema(pattern(protocol.MaxPattern)), parseSchema(pattern(protocol.MaxPattern + 1))},
		"a variable's bytes":  {expand(16384), expand(16385)},
		"a policy's bytes":    {parsePolicy(json(1 << 20)), parsePolicy(json(1<<20 + 1))},
		"a policy's rules":    {parsePolicy(rules(protocol.MaxPatterns)), parsePolicy(rules(protocol.MaxPatterns + 1))},
		"a command's bytes":   {command(256), command(257)},
		"a tool name's bytes": {protocol.ValidToolName(strings.Repeat("a", 256)), protocol.ValidToolName(strings.Repeat("a", 257))},
		"an id's bytes":       {(&protocol.SessionRecord{ID: strings.Repeat("a", 64)}).Validate(), (&protocol.SessionRecord{ID: strings.Repeat("a", 65)}).Validate()},
		"a part type's bytes": {part(strings.Repeat("a", 128)).Validate(), part(strings.Repeat("a", 129)).Validate()},
		"batch to write":      {encodeMany(1024), encodeMany(1025)},
		"generation":          {encodeGen(1<<31 - 1), encodeGen(1 << 31)},
		"sequence's steps":    {steps(8), steps(9)},
	} {
		if c[0] != nil {
			t.Errorf("%s, at the limit: %v", name, c[0])
		}
		if c[1] == nil {
			t.Errorf("%s, above the limit: taken", name)
		}
	}
	if runtime.GOOS == "js" && testing.Short() {
		return // these take a page seconds
	}
	s := &protocol.Toolset{}
	for i := range 10_000 {
		if err := s.Add(protocol.Tool{ID: fmt.Sprintf("t%d", i), Execute: nothing}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(protocol.Tool{ID: "one-more", Execute: nothing}); err == nil {
		t.Error("10,001 tools")
	}
}

func part(kind string) *protocol.PartRecord {
	return &protocol.PartRecord{ID: "p", MessageID: "m", SessionID: "s", Type: kind}
}

func encodeMany(n int) error {
	b := protocol.Batch{Gen: 1}
	for range n {
		b.Messages = append(b.Messages, &protocol.MsgPing{})
	}
	_, err := protocol.EncodeBatch(b, protocol.HostToFrame, protocol.JSONLimits{})
	return err
}

func encodeGen(n int) error {
	_, err := protocol.EncodeBatch(protocol.Batch{Gen: n}, protocol.HostToFrame, protocol.JSONLimits{})
	return err
}

func steps(n int) error {
	s := protocol.Sequence{Name: "s", Steps: make([]protocol.Step, n)}
	for i := range s.Steps {
		s.Steps[i].Kind = protocol.StepList
	}
	_, err := protocol.NewWatch(protocol.WatchOptions{Sequences: []protocol.Sequence{s}})
	return err
}

// EncodeBatch checks a message like DecodeBatch does, so a side never sends a message that the
// other side refuses.
func TestEncodeBatchChecks(t *testing.T) {
	bad := map[string]protocol.Message{
		"callId 0":            &protocol.MsgToolCall{Tool: "a"},
		"a bad name":          &protocol.MsgToolCall{CallID: 1, Tool: "a b"},
		"an unknown level":    &protocol.MsgConsole{Level: "loud"},
		"value and failure":   &protocol.MsgResult{Value: 1, Error: &protocol.RunError{Code: protocol.ErrAborted}},
		"success and error":   &protocol.MsgResult{Success: true, Error: &protocol.RunError{Code: protocol.ErrAborted}},
		"failure alone":       &protocol.MsgResult{},
		"an unknown code":     &protocol.MsgResult{Error: &protocol.RunError{Code: "X"}},
		"negative iterations": &protocol.MsgResult{Success: true, Iterations: -1},
		"no layer":            &protocol.MsgViolation{Code: protocol.ErrAborted},
		"a function":          &protocol.MsgResult{Success: true, Value: func() {}},
		"wrong direction":     &protocol.MsgStart{Run: "r"},
	}
	for name, m := range bad {
		if text, err := protocol.EncodeBatch(protocol.Batch{Gen: 1, Messages: []protocol.Message{m}}, protocol.BrokerToHost, protocol.JSONLimits{}); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
	for name, m := range map[string]protocol.Message{
		"no id": &protocol.MsgStart{}, "a keyword": &protocol.MsgStart{Run: "r", Context: map[string]any{"class": 1}}, "a bad tool": &protocol.MsgStart{Run: "r", Tools: []string{""}},
		"a bad server": &protocol.MsgStart{Run: "r", Servers: map[string][]string{"a b": nil}}, "bad limits": &protocol.MsgStart{Run: "r", Limits: protocol.Limits{Time: -1}},
		"answer to nothing": &protocol.MsgToolResponse{}, "result and error": &protocol.MsgToolResponse{CallID: 1, Result: 1, Error: &protocol.PublicError{Code: protocol.ErrAborted}},
		"a long message":    &protocol.MsgToolResponse{CallID: 1, Error: &protocol.PublicError{Code: protocol.ErrAborted, Message: strings.Repeat("a", 64<<10+1)}},
		"an unknown reason": &protocol.MsgToolResponse{CallID: 1, Error: &protocol.PublicError{Code: protocol.ErrAborted, Reason: "x"}},
	} {
		if text, err := protocol.EncodeBatch(protocol.Batch{Gen: 1, Messages: []protocol.Message{m}}, protocol.HostToBroker, protocol.JSONLimits{}); err == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
	text, err := protocol.EncodeBatch(protocol.Batch{Gen: 1, Messages: []protocol.Message{&protocol.MsgAbort{Reason: strings.Repeat("é", 2000)}}}, protocol.HostToBroker, protocol.JSONLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := protocol.DecodeBatch(text, protocol.HostToBroker, protocol.JSONLimits{}); err != nil {
		t.Errorf("a reason that was cut: %v", err)
	}
	// Levels cross whole.
	for i := range 4 {
		l := protocol.Level(i).Limits()
		text, err := protocol.EncodeBatch(protocol.Batch{Gen: 1, Messages: []protocol.Message{&protocol.MsgStart{Run: "r", Limits: l}}}, protocol.HostToBroker, protocol.JSONLimits{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := protocol.DecodeBatch(text, protocol.HostToBroker, protocol.JSONLimits{})
		if err != nil || b.Messages[0].(*protocol.MsgStart).Limits != l {
			t.Errorf("%s: %v", protocol.Level(i), err)
		}
	}
}
