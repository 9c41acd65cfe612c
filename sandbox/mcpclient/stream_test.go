package mcpclient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// offering makes a server say what it has.
func offering(capabilities args, do func(method string, msg args) (fetch.Response, string)) func(method string, msg args) (fetch.Response, string) {
	return func(method string, msg args) (fetch.Response, string) {
		if method == "initialize" {
			return fetch.Response{Header: map[string]string{"content-type": "application/json", "mcp-session-id": "s-1"}},
				result(msg, args{"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": args{"name": "a server", "version": "3"}})
		}
		return do(method, msg)
	}
}

func said(text string) args { return args{"content": []any{args{"type": "text", "text": text}}} }

// events returns a stream of literal lines.
func events(text string) (fetch.Response, string) {
	return fetch.Response{Header: map[string]string{"content-type": "text/event-stream"}}, text
}

// A stream that ends without the response is continued after the time that the server wants, from the last
// event on.
func TestCutStreamsAreContinued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked args
		var gets []string
		began := time.Now()
		s := &server{}
		s.do = func(method string, msg args) (fetch.Response, string) {
			switch method {
			case "tools/call":
				asked = msg
				return events("id: one\nretry: 700\ndata: \n\n")
			case "GET":
				gets = append(gets, fmt.Sprint(time.Since(began)))
				switch len(gets) {
				case 1:
					return fetch.Response{Status: 502}, "later"
				case 2:
					return events("id: two\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
				}
				return events("id: three\ndata: " + result(asked, said("whole")) + "\n\n")
			}
			return fetch.Response{}, ""
		}
		c, err := connect(t, &server{do: s.do})
		must(t, err)
		res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{"text": "x"})
		if m, _ := res.Data.(args); m["content"] != "whole" || fmt.Sprint(gets) != "[700ms 1.4s 2.1s]" {
			t.Errorf("%+v after %v", res, gets)
		}
		must(t, c.Close(t.Context()))
	})
}

// A server can't keep a call busy by cutting its stream for ever, or send a header by an id.
func TestAttackEndlessStream(t *testing.T) {
	count := attack.Start(t, "19")
	count.NoSwitch("a client without the limit would never end")
	synctest.Test(t, func(t *testing.T) {
		for name, event := range map[string]string{"one id": "id: same\ndata: \n\n", "no event": ""} {
			gets := 0
			c, err := connect(t, &server{do: func(method string, _ args) (fetch.Response, string) {
				switch method {
				case "tools/call":
					return events("id: same\nretry: 0\ndata: \n\n")
				case "GET":
					gets++
					return events(event)
				}
				return fetch.Response{}, ""
			}})
			must(t, err)
			res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{"text": "x"})
			count.Try(name, gets > 6 || !errors.Is(res.Err(), protocol.ErrExecution))
			must(t, c.Close(t.Context()))
		}
		for _, id := range []string{"a\x01b", "é", strings.Repeat("x", 1025)} {
			gets := 0
			c, err := connect(t, &server{do: func(method string, _ args) (fetch.Response, string) {
				switch method {
				case "tools/call":
					return events("id: " + id + "\ndata: \n\n")
				case "GET":
					gets++
				}
				return fetch.Response{}, ""
			}})
			must(t, err)
			res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{"text": "x"})
			count.Try("the id "+id[:1], gets > 0 || res.Err() == nil)
			must(t, c.Close(t.Context()))
		}
		// An id of exactly 1,024 bytes is used. Each new event gives the stream more time, up to the call's.
		gets := 0
		c, err := connect(t, &server{do: func(method string, _ args) (fetch.Response, string) {
			switch method {
			case "tools/call":
				return events("id: " + strings.Repeat("x", 1024) + "\nretry: 1000\ndata: \n\n")
			case "GET":
				gets++
				return events(fmt.Sprintf("id: %d\ndata: \n\n", gets))
			}
			return fetch.Response{}, ""
		}})
		must(t, err)
		res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{"text": "x"})
		count.Try("ids without end", !errors.Is(res.Err(), protocol.ErrTimeout))
		if gets != 59 && gets != 60 {
			t.Errorf("%d times in a minute", gets)
		}
		must(t, c.Close(t.Context()))
	})
}

// The progress of a call is reported, at most ten lines a second.
func TestProgressIsReported(t *testing.T) {
	var lines []string
	note := func(method string, params string) string {
		return `{"jsonrpc":"2.0","method":"notifications/` + method + `","params":` + params + `}`
	}
	s := &server{do: func(method string, msg args) (fetch.Response, string) {
		if method != "tools/call" {
			return fetch.Response{}, ""
		}
		id := fmt.Sprint(msg["params"].(args)["_meta"].(args)["progressToken"])
		return sse(note("progress", `{"progressToken":999,"progress":1,"message":"of another call"}`), note("progress", `{"progressToken":`+id+`,"progress":1,"total":4,"message":"a\nb"}`),
			strings.Repeat(note("progress", `{"progressToken":`+id+`,"progress":2}`)+"\n\ndata: ", 1000)+note("message", `{"data":"a line"}`), result(msg, said("done")))
	}}
	synctest.Test(t, func(t *testing.T) {
		c, err := connect(t, s)
		must(t, err)
		tools, err := c.Tools(t.Context())
		must(t, err)
		p, err := policy.Parse(fmt.Sprintf(rules, ""), policy.Options{})
		must(t, err)
		var mu sync.Mutex
		b, err := sandbox.New(sandbox.Options{Policy: p, Tools: tools, Ask: sandboxtest.Always(policy.AnswerOnce), OnProgress: func(p sandbox.Progress) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, p.Call+" "+p.Text)
		}})
		must(t, err)
		res := b.CallAll(t.Context(), sandbox.ToolCall{ID: "m1", Tool: "far_echo", Args: args{"text": "x"}})
		must(t, res[0].Err())
		must(t, c.Close(t.Context()))
	})
	if fmt.Sprint(lines) != "[m1 25 % a b]" {
		t.Errorf("%d lines: %.300q", len(lines), lines)
	}
}

// The app hears of a changed list once a second, whatever the server does. The stream for it is opened again.
func TestChangesAreAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, gets := 0, 0
		changed := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		s := &server{do: offering(args{"tools": args{"listChanged": true}}, func(method string, msg args) (fetch.Response, string) {
			if method == "GET" {
				gets++
				return sse(strings.Repeat(changed+"\n\ndata: ", 5000) + changed)
			}
			return fetch.Response{}, ""
		})}
		c, err := connect(t, s, func(o *mcpclient.Options) { o.OnChange = func() { heard++ } })
		must(t, err)
		<-time.After(500 * time.Millisecond) // in the bubble's own time
		if heard != 0 {
			t.Errorf("heard at once")
		}
		<-time.After(9 * time.Second)
		synctest.Wait()
		if heard < 2 || heard > 10 || gets < 3 || gets > 5 { // 1, 2, 4, 8 s after the one before
			t.Errorf("heard %d times of %d streams in 10 s", heard, gets)
		}
		must(t, c.Close(t.Context()))
		was := heard
		<-time.After(time.Minute)
		if heard != was {
			t.Error("heard after the end")
		}
	})
	// A server without the stream is asked once.
	synctest.Test(t, func(t *testing.T) {
		gets := 0
		s := &server{do: offering(args{"tools": args{"listChanged": true}}, func(method string, msg args) (fetch.Response, string) {
			if method == "GET" {
				gets++
				return fetch.Response{Status: 405}, "no"
			}
			return fetch.Response{}, ""
		})}
		c, err := connect(t, s, func(o *mcpclient.Options) { o.OnChange = func() {} })
		must(t, err)
		<-time.After(10 * time.Minute)
		if gets != 1 {
			t.Errorf("asked %d times", gets)
		}
		must(t, c.Close(t.Context()))
	})
}

// resumed records from which event each stream of announcements goes on.
type resumed struct {
	*server
	from *[]string
}

func (r resumed) Do(ctx context.Context, req fetch.Request) (*fetch.Response, error) {
	if req.Method == "GET" {
		*r.from = append(*r.from, req.Header["last-event-id"])
	}
	return r.server.Do(ctx, req)
}

// The stream of announcements goes on behind the last event, also after a stream without one and after a server that was
// away. A server that does not know the event any more is asked from the beginning.
func TestAnnouncementsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const changed = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"
		streams := []func() (fetch.Response, string){
			func() (fetch.Response, string) { return events("id: one\n" + changed) },
			func() (fetch.Response, string) { return events(": nothing new\n\n") },
			func() (fetch.Response, string) { return fetch.Response{Status: 503}, "away" },
			func() (fetch.Response, string) { return events("id: two\n" + changed + changed) },
			func() (fetch.Response, string) { return events("id: \x01\n" + changed) }, // it can be no header
			func() (fetch.Response, string) { return fetch.Response{Status: 400}, "no such event" },
			func() (fetch.Response, string) { return events("id: three\n" + changed) },
			func() (fetch.Response, string) { return fetch.Response{Status: 405}, "no more" },
		}
		heard := 0
		s := &server{do: offering(args{"tools": args{"listChanged": true}}, func(method string, _ args) (fetch.Response, string) {
			if method != "GET" {
				return fetch.Response{}, ""
			}
			next := streams[0]
			streams = streams[1:]
			return next()
		})}
		var from []string
		c, err := connect(t, s, func(o *mcpclient.Options) {
			o.Transport, o.OnChange = resumed{s, &from}, func() { heard++ }
		})
		must(t, err)
		<-time.After(time.Hour)
		if got := strings.Join(from, ","); got != ",one,one,one,two,two,,three" || heard != 4 {
			t.Errorf("it goes on from %q, and heard of %d changes", got, heard)
		}
		must(t, c.Close(t.Context()))
	})
}

// A tool that is a task is asked for its result when it is done. Its state is the progress of the call.
func TestTasks(t *testing.T) {
	serve := func(states ...string) (*server, *[]string) {
		var log []string
		return &server{do: func(method string, msg args) (fetch.Response, string) {
			p, _ := msg["params"].(args)
			state := func(s string) args {
				return args{"taskId": "t1", "status": s, "statusMessage": "now " + s, "ttl": nil, "pollInterval": 5.0}
			}
			switch method {
			case "tools/list":
				return fetch.Response{}, result(msg, args{"tools": []any{args{"name": "echo", "inputSchema": args{"type": "object"}, "execution": args{"taskSupport": "required"}}}})
			case "tools/call":
				log = append(log, fmt.Sprint("call ", p["task"]))
				return fetch.Response{}, result(msg, args{"task": state("working")})
			case "tasks/get":
				s := states[0]
				if len(states) > 1 {
					states = states[1:]
				}
				log = append(log, "get "+s)
				return fetch.Response{}, result(msg, state(s))
			case "tasks/result", "tasks/cancel":
				log = append(log, fmt.Sprint(method, " ", p["taskId"]))
				return fetch.Response{}, result(msg, said("researched"))
			}
			return fetch.Response{}, ""
		}}, &log
	}
	synctest.Test(t, func(t *testing.T) {
		for _, last := range []string{"completed", "input_required", "failed"} {
			s, log := serve("working", last)
			c, err := connect(t, s)
			must(t, err)
			began := time.Now()
			res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{})
			if m, _ := res.Data.(args); m["content"] != "researched" || fmt.Sprint(*log) != "[call map[ttl:600000] get working get "+last+" tasks/result t1]" || time.Since(began) != 200*time.Millisecond {
				t.Errorf("%+v %v after %v", res, *log, time.Since(began))
			}
			must(t, c.Close(t.Context()))
		}
		s, log := serve("working") // for ever
		c, err := connect(t, s)
		must(t, err)
		res := box(t, c, "", sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "far_echo", args{})
		synctest.Wait()
		must(t, c.Close(context.Background()))
		if !errors.Is(res.Err(), protocol.ErrTimeout) || (*log)[len(*log)-1] != "tasks/cancel t1" || len(*log) > 602 {
			t.Errorf("%v, %d requests, the last %s", res.Err(), len(*log), (*log)[len(*log)-1])
		}
	})
}

// A model lists and reads the resources and prompts of a server.
func TestResourcesAndPrompts(t *testing.T) {
	s := &server{do: offering(args{"resources": args{}, "prompts": args{}}, func(method string, msg args) (fetch.Response, string) {
		p, _ := msg["params"].(args)
		switch method {
		case "tools/list":
			t.Error("the server has no tools")
		case "resources/list":
			if p["cursor"] == nil {
				return fetch.Response{}, result(msg, args{"resources": []any{args{"uri": "x://a", "name": "A", "mimeType": "text/plain"}}, "nextCursor": "2"})
			}
			return fetch.Response{}, result(msg, args{"resources": []any{args{"uri": "x://b", "name": "B", "description": "the second"}}})
		case "resources/templates/list":
			return fetch.Response{}, result(msg, args{"resourceTemplates": []any{args{"uriTemplate": "x://{n}", "name": "any"}}})
		case "resources/read":
			return fetch.Response{}, result(msg, args{"contents": []any{args{"uri": p["uri"], "text": "text of " + fmt.Sprint(p["uri"])}, args{"uri": "x://a.gif", "mimeType": "image/gif", "blob": "R0lGODlhAQABAAAAACwAAAAAAQABAAACAkwBADs="}}})
		case "prompts/list":
			return fetch.Response{}, result(msg, args{"prompts": []any{args{"name": "greet", "description": "Greets.", "arguments": []any{args{"name": "who", "required": true}}}}})
		case "prompts/get":
			return fetch.Response{}, result(msg, args{"messages": []any{args{"role": "user", "content": args{"type": "text", "text": fmt.Sprint("Greet ", p["arguments"])}}}})
		}
		return fetch.Response{}, ""
	})}
	c, err := connect(t, s)
	must(t, err)
	b := box(t, c, "", sandboxtest.Always(policy.AnswerOnce))
	for _, c := range []struct {
		tool string
		args args
		want []string
	}{
		{"far_resources", args{}, []string{"x://a  A  text/plain", "x://b  B    the second", "x://{n}  any"}},
		{"far_resources", args{"uri": "x://a"}, []string{"text of x://a", "a.gif"}},
		{"far_prompts", args{}, []string{"greet: Greets.", "who, required"}},
		{"far_prompts", args{"name": "greet", "arguments": args{"who": "Anna"}}, []string{"user: Greet map[who:Anna]"}},
	} {
		res := b.Call(t.Context(), c.tool, c.args)
		m, _ := res.Data.(args)
		for _, w := range c.want {
			if !strings.Contains(fmt.Sprint(m["content"]), w) {
				t.Errorf("%s %v: %+v, want %q", c.tool, c.args, res, w)
			}
		}
	}
	if res := b.Call(t.Context(), "far_resources", args{"uri": "x://a"}); len(res.Files) != 1 || res.Files[0].MediaType != "image/gif" {
		t.Errorf("files: %v", res.Files)
	}
	// Nobody is there to ask: they are the server's, like its tools.
	if res := box(t, c, "", nil).Call(t.Context(), "far_resources", args{}); res.Code != protocol.ErrCapabilityDenied {
		t.Errorf("%+v", res)
	}
}
