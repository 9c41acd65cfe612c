package sandbox

import (
	"context"
	"reflect"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// An asker receives every field of the gate's request but the key, and its reply arrives whole.
func TestRequestsAndRepliesCrossWhole(t *testing.T) {
	effect := gate.Effect{Text: "text", Risk: protocol.RiskHigh, Destroys: true, InTitle: true, Needs: []policy.Need{{Subject: "s"}}}
	in := gate.Request{Call: "call", ToolCall: "model", Tool: "tool", Title: "title", Description: "description", Effects: []gate.Effect{effect, {}}, Args: "args", Needs: []policy.Need{{Subject: "n"}},
		Risk: protocol.RiskLow, Destroys: true, Untrusted: true, Reason: "reason", Diff: "diff", Session: "session", Agent: "agent", Patterns: []string{"p"}, Once: true, Unified: true, App: "app", Key: "key"}
	reply := Reply{Answer: policy.AnswerSession, Pattern: "pattern", Reason: "why"}
	var got Prompt
	replies, err := gateAsk(AskFunc(func(_ context.Context, p Prompt) ([]Reply, error) { got = p; return []Reply{reply}, nil }))(t.Context(), []gate.Request{in})
	if err != nil || len(got.Requests) != 1 || len(replies) != 1 || Reply(replies[0]) != reply {
		t.Fatalf("%+v, %+v, %v", got, replies, err)
	}
	from, to := reflect.ValueOf(in), reflect.ValueOf(got.Requests[0])
	if from.NumField()-1 != to.NumField() {
		t.Errorf("%d fields, want %d", to.NumField(), from.NumField()-1)
	}
	for i := range from.NumField() {
		name := from.Type().Field(i).Name
		switch a, b := from.Field(i), to.FieldByName(name); {
		case a.IsZero():
			t.Errorf("the test does not set %s", name)
		case name == "Key": // the gate's own, for its list of refusals
		case name == "Effects":
			if b.Len() != a.Len() || !reflect.DeepEqual(b.Index(0).Interface(), Effect(effect)) {
				t.Errorf("effects %v", b)
			}
		case !reflect.DeepEqual(a.Interface(), b.Interface()):
			t.Errorf("%s is %v", name, b)
		}
	}
}
