package mcpclient_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

func TestNamesAndSchemas(t *testing.T) {
	s := &server{}
	s.do = func(method string, msg args) (r fetch.Response, b string) {
		if method != "tools/list" {
			return r, b
		}
		var tools []any
		for _, n := range []string{"a.b", "a/b", "a_b", strings.Repeat("n", 256), strings.Repeat("n", 257), ""} {
			tools = append(tools, args{"name": n, "inputSchema": args{"type": "object"}, "description": strings.Repeat("d", 20<<10)})
		}
		return r, result(msg, args{"tools": append(tools, args{"name": "schema", "inputSchema": args{"type": "nonsense"}})})
	}
	c, err := connect(t, s)
	must(t, err)
	tools, err := c.Tools(context.Background())
	must(t, err)
	var got []string
	for _, tool := range tools {
		if tool.Missing == "" {
			got = append(got, tool.ID[:min(len(tool.ID), 12)])
		}
		if !tool.Untrusted || tool.Server != "far" || len(tool.Description) > 5<<10 {
			t.Errorf("%+v", tool.Tool)
		}
	}
	if fmt.Sprint(got) != "[far_a_b far_a_b_2 far_a_b_3 far_nnnnnnnn]" {
		t.Error(got)
	}
	box(t, c, "", nil) // takes them all
}

// Parsing a schema may take milliseconds. Between two of them the client yields to the page and
// checks the context.
func TestListOfToolsRests(t *testing.T) {
	s := &server{}
	s.do = func(method string, msg args) (r fetch.Response, b string) {
		if method != "tools/list" {
			return r, b
		}
		var tools []any
		for i := range 500 {
			tools = append(tools, args{"name": fmt.Sprint("t", i), "inputSchema": args{"type": "object"}})
		}
		return r, result(msg, args{"tools": tools})
	}
	c, err := connect(t, s)
	must(t, err)
	ctx := &until.Looks{Context: context.Background()}
	if tools, err := c.Tools(ctx); err != nil || len(tools) != 500 || ctx.N < 500 {
		t.Errorf("%d tools, %d looks: %v", len(tools), ctx.N, err)
	}
	end := &until.Looks{Context: context.Background(), End: ctx.N - 100}
	if _, err := c.Tools(end); err == nil || end.N > end.End+10 {
		t.Errorf("%d looks, the end was at %d: %v", end.N, end.End, err)
	}
}

// answering returns a box with the tools of a server that answers each call with *res.
func answering(t *testing.T, res *args) *sandbox.Box {
	s := &server{}
	s.do = func(method string, msg args) (r fetch.Response, b string) {
		if method == "tools/call" {
			b = result(msg, *res)
		}
		return r, b
	}
	c, err := connect(t, s)
	must(t, err)
	return box(t, c, "", sandboxtest.Always(policy.AnswerOnce))
}

func TestResults(t *testing.T) {
	var res args
	b := answering(t, &res)
	res = args{"structuredContent": args{"n": 1}, "content": []any{args{"type": "text", "text": "one"}, args{"type": "image", "mimeType": "image/png", "data": "AAAA"},
		args{"type": "resource", "resource": args{"uri": "x:1", "text": "inside"}}, args{"type": "resource", "resource": args{"uri": "x:2", "blob": "AAAA"}}, args{"type": "resource_link", "name": "n", "uri": "x:3"}, args{"type": "new"}}}
	got := b.Call(context.Background(), "far_echo", args{})
	m, _ := got.Data.(args)
	want := "one\n(image: image/png, about 3 bytes, which are left out: file image-2.png: the content is no such image and not image/png; leave the media type empty)\ninside\n[file: x:2, application/octet-stream, 3 bytes]\n(a link to n: x:3)\n(new: , about 0 bytes, which are not shown)"
	if m["content"] != want || fmt.Sprint(m["structured"]) != "map[n:1]" {
		t.Errorf("%+v", got)
	}
	res = args{"isError": true, "content": []any{args{"type": "text", "text": "it broke"}}}
	if got := b.Call(context.Background(), "far_echo", args{}); got.Code != protocol.ErrExecution || !strings.Contains(got.ErrorText, "it broke") {
		t.Errorf("%+v", got)
	}
}

// Images, audio and contents of resources are files of the result.
func TestFilesOfResults(t *testing.T) {
	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	var res args
	b := answering(t, &res)
	image := args{"type": "image", "mimeType": "image/png", "data": b64(gif)}
	for _, c := range []struct {
		name string
		part args
		file string // its String, or ""
		says string // part of the text if there is no file
	}{
		{"an image of another type", image, "[image: image-1.gif, image/gif, 29 bytes]", ""},
		{"audio", args{"type": "audio", "mimeType": "audio/WAV; codecs=1", "data": b64("RIFF")}, "[audio: audio-1.wav, audio/wav, 4 bytes]", ""},
		{"a resource", args{"type": "resource", "resource": args{"uri": "file:///x/a.pdf", "mimeType": "application/pdf", "blob": b64("%PDF")}}, "[file: a.pdf, application/pdf, 4 bytes]", ""},
		{"a resource without a name", args{"type": "resource", "resource": args{"uri": "", "blob": b64("x")}}, "[file: resource-1, text/plain, 1 bytes]", ""},
		{"a resource of a server", args{"type": "resource", "resource": args{"uri": "/", "blob": b64("%PDF-1.7")}}, "[file: resource-1, application/pdf, 8 bytes]", ""},
		{"no base64", args{"type": "image", "mimeType": "image/png", "data": "%%%%"}, "", "which are left out: the data is not base64"},
		{"half an image", args{"type": "image", "mimeType": "image/gif", "data": b64(gif[:7])}, "", "damaged or cut off"},
		{"a type that is none", args{"type": "audio", "mimeType": "audio", "data": b64("x")}, "", "the media type must be like image/png"},
		{"nothing", args{"type": "image", "mimeType": "image/png", "data": ""}, "", "which are left out"},
	} {
		res = args{"content": []any{c.part}}
		got := b.Call(context.Background(), "far_echo", args{})
		m, _ := got.Data.(args)
		text, _ := m["content"].(string)
		switch {
		case (c.file == "") == (c.says == ""):
			t.Fatalf("%s: the row expects nothing", c.name)
		case c.file != "" && (text != c.file || len(got.Files) != 1 || got.Files[0].String() != c.file):
			t.Errorf("%s: %q, %v", c.name, text, got.Files)
		case c.says != "" && (len(got.Files) != 0 || !strings.Contains(text, c.says)):
			t.Errorf("%s: %q, %v", c.name, text, got.Files)
		}
	}
	for _, n := range []int{10, 11} {
		res = args{"content": slices.Repeat([]any{image}, n)}
		got := b.Call(context.Background(), "far_echo", args{})
		m, _ := got.Data.(args)
		if text, _ := m["content"].(string); len(got.Files) != 10 || strings.Count(text, "which are left out") != n-10 {
			t.Errorf("%d images: %d files, %s", n, len(got.Files), text)
		}
	}
	res = args{"isError": true, "content": []any{args{"type": "text", "text": "it broke"}, image}}
	if got := b.Call(context.Background(), "far_echo", args{}); len(got.Files) != 0 || !strings.Contains(got.ErrorText, "which are not shown") {
		t.Errorf("%+v", got)
	}
}
