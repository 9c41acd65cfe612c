package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// requested makes a call whose server sends a request first, and returns the client's answer to it.
func requested(t *testing.T, method string, params string, more ...func(*mcpclient.Options)) string {
	t.Helper()
	answer := ""
	params = strings.ReplaceAll(params, "\n", " ")
	s := &server{do: func(m string, msg args) (fetch.Response, string) {
		switch {
		case m == "tools/call":
			return sse(`{"jsonrpc":"2.0","id":"q1","method":"`+method+`","params":`+params+`}`, result(msg, said("done")))
		case m == "POST" && msg["id"] == "q1":
			for _, key := range []string{"result", "error"} {
				if v, ok := msg[key]; ok {
					text, _ := json.Marshal(v)
					answer = string(text)
				}
			}
		case m == "GET":
			return fetch.Response{Status: 405}, ""
		}
		return fetch.Response{}, ""
	}}
	c, err := connect(t, s, more...)
	must(t, err)
	res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{"text": "x"})
	if m, _ := res.Data.(args); m["content"] != "done" {
		t.Errorf("the call: %+v", res)
	}
	must(t, c.Close(t.Context()))
	return answer
}

// A server's questions are shown to the user, whose answers are checked.
func TestElicitation(t *testing.T) {
	const schema = `{"message":"Book it?","requestedSchema":{"type":"object","required":["name","seats"],"properties":{
		"name":{"type":"string","title":"Your name","minLength":2,"maxLength":5},
		"seats":{"type":"integer","minimum":1,"maximum":4},
		"class":{"type":"string","oneOf":[{"const":"1","title":"First"},{"const":"2","title":"Second"}],"default":"2"},
		"meal":{"type":"boolean"},
		"extras":{"type":"array","items":{"type":"string","enum":["bike","dog"]},"maxItems":1}}}}`
	var shown []sandbox.ModelQuestion
	ask := func(list ...[][]string) func(*mcpclient.Options) {
		return func(o *mcpclient.Options) {
			o.Ask = func(_ context.Context, q []sandbox.ModelQuestion) ([][]string, error) {
				shown = q
				if len(list) == 0 {
					return nil, errors.New("no")
				}
				a := list[0]
				list = list[1:]
				return a, nil
			}
		}
	}
	for name, c := range map[string]struct {
		answers [][][]string
		want    string
	}{
		"all":                 {[][][]string{{{"Anna"}, {" 2 "}, {"First"}, {"Yes"}, {"dog"}}}, `{"action":"accept","content":{"class":"1","extras":["dog"],"meal":true,"name":"Anna","seats":2}}`},
		"the needed ones":     {[][][]string{{{"Anna"}, {"4"}, {}, {""}}}, `{"action":"accept","content":{"class":"2","name":"Anna","seats":4}}`},
		"values, not titles":  {[][][]string{{{"An"}, {"1"}, {"2"}, {"false"}}}, `{"action":"accept","content":{"class":"2","meal":false,"name":"An","seats":1}}`},
		"right at the second": {[][][]string{{{"A"}, {"1"}}, {{"Anna"}, {"1"}}}, `{"action":"accept","content":{"class":"2","name":"Anna","seats":1}}`},
		"too many seats":      {[][][]string{{{"Anna"}, {"5"}}, {{"Anna"}, {"0"}}, {{"Anna"}, {"1.5"}}}, `{"action":"cancel"}`},
		"too long":            {[][][]string{{{"Annabe"}, {"1"}}, {{"Anna"}, {"1"}, {"Third"}}, {{"Anna"}, {"1"}, {}, {}, {"dog", "bike"}}}, `{"action":"cancel"}`},
		"declined":            {nil, `{"action":"decline"}`},
	} {
		if got := requested(t, "elicitation/create", schema, ask(c.answers...)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	requested(t, "elicitation/create", schema, ask())
	if text := fmt.Sprintf("%+v", shown); len(shown) != 5 || shown[0].Header != "Your name" || !strings.Contains(shown[0].Question, "Book it?") || !strings.Contains(text, "{Label:Second Description:}") || !shown[4].MultiSelect {
		t.Errorf("shown: %s", text)
	}
	fields := func(n, choices int) string {
		list, values := []string{}, []string{}
		for i := range choices {
			values = append(values, fmt.Sprintf(`"%d"`, i))
		}
		for i := range n {
			list = append(list, fmt.Sprintf(`"f%d":{"type":"string","enum":[%s]}`, i, strings.Join(values, ",")))
		}
		return `{"message":"m","requestedSchema":{"properties":{` + strings.Join(list, ",") + `}}}`
	}
	for name, c := range map[string]struct {
		params string
		ok     bool
	}{
		"20 fields": {fields(20, 1), true}, "21 fields": {fields(21, 1), false}, "100 choices": {fields(1, 100), true}, "101 choices": {fields(1, 101), false},
		"an address": {`{"mode":"url","url":"https://evil.example","elicitationId":"1","message":"m"}`, false},
		"an object":  {`{"message":"m","requestedSchema":{"properties":{"a":{"type":"object"}}}}`, false},
		"no object":  {`{"message":"m","requestedSchema":{"properties":[1]}}`, false},
		"nothing":    {`{"message":"m"}`, true},
	} {
		got := requested(t, "elicitation/create", c.params, ask([][]string{}))
		if strings.Contains(got, `"accept"`) != c.ok || strings.Contains(got, "-32602") == c.ok {
			t.Errorf("%s: %s", name, got)
		}
	}
	closed := func(o *mcpclient.Options) {
		o.Ask = func(context.Context, []sandbox.ModelQuestion) ([][]string, error) { return nil, context.Canceled }
	}
	if got := requested(t, "elicitation/create", schema, closed); got != `{"action":"cancel"}` {
		t.Errorf("closed without a choice: %s", got)
	}
	if got := requested(t, "elicitation/create", schema); !strings.Contains(got, "-32601") {
		t.Errorf("without an asker: %s", got)
	}
}

// A server reaches the app's model only if the app lets it.
func TestSampling(t *testing.T) {
	const params = `{"systemPrompt":"Be brief.","maxTokens":%d,"messages":[{"role":"user","content":{"type":"text","text":"hi"}},{"role":"assistant","content":[{"type":"text","text":"oh"}]}]}`
	if got := requested(t, "sampling/createMessage", fmt.Sprintf(params, 10)); !strings.Contains(got, "-32601") {
		t.Errorf("refused: %s", got)
	}
	var asked sandbox.ModelRequest
	var failed error
	finish := "stop"
	model := func(o *mcpclient.Options) {
		o.Sample = func(_ context.Context, r sandbox.ModelRequest) (string, string, error) {
			asked = r
			return "hello", finish, failed
		}
	}
	got := requested(t, "sampling/createMessage", fmt.Sprintf(params, 1_000_000), model)
	if !strings.Contains(got, `"text":"hello"`) || !strings.Contains(got, `"stopReason":"endTurn"`) || asked.System != "Be brief." || asked.MaxTokens != 4096 || len(asked.Messages) != 2 || asked.Messages[1].Role != sandbox.RoleAssistant {
		t.Errorf("%s, asked %+v", got, asked)
	}
	for name, params := range map[string]string{
		"an image":        `{"messages":[{"role":"user","content":{"type":"image","data":""}}]}`,
		"tools":           `{"tools":[{"name":"x"}],"messages":[{"role":"user","content":{"type":"text","text":"x"}}]}`,
		"results":         `{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]}]}]}`,
		"another role":    `{"messages":[{"role":"system","content":{"type":"text","text":"x"}}]}`,
		"no list":         `{"messages":7}`,
		"a wrong content": `{"messages":[{"role":"user","content":7}]}`,
	} {
		asked.Messages = nil
		if got := requested(t, "sampling/createMessage", params, model); !strings.Contains(got, "-32602") || asked.Messages != nil {
			t.Errorf("%s: %s, asked %v", name, got, asked.Messages)
		}
	}
	finish = "length"
	if got := requested(t, "sampling/createMessage", fmt.Sprintf(params, 10), model); !strings.Contains(got, `"stopReason":"maxTokens"`) {
		t.Errorf("an answer that was cut: %s", got)
	}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{protocol.Errorf(protocol.ErrCapabilityDenied, "x", "", "the user said no, and why").WithReason(protocol.ReasonRejected), []string{`"code":-1`, "the user declined"}},
		{protocol.Errorf(protocol.ErrResourceLimit, "x", "", "the budget is used up"), []string{`"code":-32602`, "the budget is used up"}},
		{&sandbox.ModelError{Status: 401, Message: "the key sk-secret is wrong"}, []string{`"code":-32602`, "did not answer"}},
	} {
		failed = c.err
		got := requested(t, "sampling/createMessage", fmt.Sprintf(params, 10), model)
		for _, w := range c.want {
			if !strings.Contains(got, w) || strings.Contains(got, "sk-secret") || strings.Contains(got, "and why") {
				t.Errorf("%v: %s", c.err, got)
			}
		}
	}
	failed = nil
	if got := requested(t, "roots/list", `{}`, model); !strings.Contains(got, "-32601") {
		t.Errorf("roots: %s", got)
	}
}

// A server takes back a question, on the stream of the call or on the other one: it is shown no longer, and gets no
// answer. One that waits behind it is shown then.
func TestQuestionsAreTakenBack(t *testing.T) {
	const question = `{"jsonrpc":"2.0","id":%q,"method":"elicitation/create","params":{"message":%q}}`
	const back = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q,"reason":"late"}}`
	for _, other := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var shown, answered []string
			calls := make(chan struct{})
			s := &server{do: func(method string, msg args) (fetch.Response, string) {
				switch method {
				case "tools/call":
					close(calls)
					list := []string{fmt.Sprintf(question, "a", "first"), fmt.Sprintf(question, "b", "second"), fmt.Sprintf(question, "c", "third"), fmt.Sprintf(back, "b")}
					if !other {
						list = append(list, fmt.Sprintf(back, "a"))
					}
					return sse(append(list, result(msg, said("done")))...)
				case "GET":
					<-calls
					<-time.After(time.Minute)
					if other {
						return sse(fmt.Sprintf(back, "a"))
					}
					return fetch.Response{Status: 405}, ""
				case "POST":
					mu.Lock()
					defer mu.Unlock()
					answered = append(answered, fmt.Sprint(msg["id"]))
				}
				return fetch.Response{}, ""
			}}
			c, err := connect(t, s, func(o *mcpclient.Options) {
				o.Ask = func(ctx context.Context, q []sandbox.ModelQuestion) ([][]string, error) {
					mu.Lock()
					shown = append(shown, q[0].Question)
					mu.Unlock()
					if q[0].Question == "first" {
						<-ctx.Done()
						return nil, context.Cause(ctx)
					}
					return nil, nil
				}
			})
			must(t, err)
			res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{"text": "x"})
			if m, _ := res.Data.(args); m["content"] != "done" {
				t.Errorf("the call: %+v", res)
			}
			must(t, c.Close(t.Context()))
			mu.Lock()
			defer mu.Unlock()
			if got := fmt.Sprint(answered); got != "[c]" {
				t.Errorf("other stream %t: %s is answered", other, got)
			}
			if got := strings.TrimPrefix(fmt.Sprint(shown), "[first "); got != "third]" && got != "[third]" {
				t.Errorf("other stream %t: shown are %q", other, shown)
			}
			<-time.After(time.Hour)
		})
	}
}
