// Package pml reads and writes the messages between a bridge and a worker of Casys PML's sandbox, and
// has the names of its errors. It runs no code and sends nothing.
//
//	init                bridge → worker: the code and the tools that it may call
//	rpc_call            worker → bridge: a call of a tool
//	rpc_result          bridge → worker: its result
//	execution_complete  worker → bridge: the end of the run
//
// A message is an object that the structured clone carries in PML. Here it is the object's JSON. Like the other codecs the
// package trusts no message: an unknown key is an error.
package pml

import (
	"github.com/bailey-go/bailey/internal/wire/members"
	"github.com/bailey-go/bailey/protocol"
)

// limits are the limits of a message.
var limits = protocol.JSONLimits{Bytes: 16 << 20}

// maxTools is the most tools of an init.
const maxTools = 1000

// Tool is a tool that code of an [Init] may call.
type Tool struct{ Server, Name string }

// Init is the message that starts a run.
type Init struct {
	Code    string
	Tools   []Tool
	Context map[string]any // variables of the code, by their names
	Inline  string         // code of the run's capabilities, which comes before Code
}

// DecodeInit returns the init of a text. Descriptions and schemas of tools are left out: the bridge checks the arguments of
// its tools.
func DecodeInit(text string) (Init, error) {
	r, err := open(text, "init")
	if err != nil {
		return Init{}, err
	}
	m := Init{Code: r.Text("code", limits.Bytes)}
	if r.Has("capabilityContext") {
		m.Inline = r.Text("capabilityContext", limits.Bytes)
	}
	if r.Has("context") {
		c := r.Object("context")
		m.Context = map[string]any{}
		for _, key := range c.Keys() {
			m.Context[key] = c.Any(key)
		}
		r.Close(c)
	}
	r.Any("parentTraceId")
	list, ok := r.Any("toolDefinitions").([]any)
	if !ok || len(list) > maxTools {
		r.Fail("toolDefinitions", "must be an array of at most 1,000 tools")
		list = nil
	}
	for _, v := range list {
		d, _ := v.(map[string]any)
		server, ok := d["server"].(string)
		name, ok2 := d["name"].(string)
		if !ok || !ok2 {
			r.Fail("toolDefinitions", "must have a server and a name each")
		}
		m.Tools = append(m.Tools, Tool{server, name})
	}
	return m, r.Done()
}

// Call is a call of a tool.
type Call struct {
	ID   string
	Tool Tool
	Args any
}

// EncodeCall returns the text of an rpc_call.
func EncodeCall(c Call) (string, error) {
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	return protocol.EncodeJSON(map[string]any{"type": "rpc_call", "id": c.ID, "server": c.Tool.Server, "tool": c.Tool.Name, "args": args}, limits)
}

// DecodeCall returns the rpc_call of a text. If only its id can be read, the id is there beside the error.
func DecodeCall(text string) (Call, error) {
	r, err := open(text, "rpc_call")
	if err != nil {
		return Call{}, err
	}
	c := Call{ID: r.ID("id"), Tool: Tool{r.Text("server", 256), r.Text("tool", 256)}, Args: r.Any("args")}
	r.Any("parentTraceId")
	return c, r.Done()
}

// Result is the end of a call or of a run: a value or an error.
type Result struct {
	ID    string // of the call, "" for a run
	Value any
	Err   error
}

// EncodeResult returns the text of an rpc_result, or of an execution_complete if r has no ID. The message of an error
// begins with PML's name for it.
func EncodeResult(r Result) string {
	out := map[string]any{"type": "execution_complete", "success": r.Err == nil}
	if r.ID != "" {
		out["type"], out["id"] = "rpc_result", r.ID
	}
	if r.Err == nil {
		out["result"] = r.Value
		text, err := protocol.EncodeJSON(out, limits)
		if err == nil {
			return text
		}
		delete(out, "result")
		out["success"], r.Err = false, err
	}
	p := protocol.Public(r.Err)
	out["error"] = nameOf(p.Code) + ": " + p.Message
	text, err := protocol.EncodeJSON(out, limits)
	if err != nil { // the message is not UTF-8, or too long
		out["error"] = nameOf(p.Code)
		text, _ = protocol.EncodeJSON(out, limits)
	}
	return text
}

// DecodeResult returns the rpc_result of a text. An error of the tool is in Err, and an error of the message is the second
// result.
func DecodeResult(text string) (Result, error) {
	r, err := open(text, "rpc_result")
	if err != nil {
		return Result{}, err
	}
	out := Result{ID: r.ID("id")}
	success, ok := r.Any("success").(bool)
	if !ok {
		r.Fail("success", "must be true or false")
	}
	out.Value = r.Any("result")
	if r.Has("error") {
		out.Err = errorOf(r.Text("error", 64<<10))
	}
	if success != (out.Err == nil) {
		r.Fail("success", "does not fit the error")
	}
	return out, r.Done()
}

func open(text, kind string) (*members.Object, error) {
	r, err := members.Open("pml message", text, limits)
	if err != nil {
		return nil, err
	}
	if is := r.Text("type", 32); is != kind {
		r.Fail("type", "want "+kind)
	}
	return r, nil
}
