package place

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestParse(t *testing.T) {
	b, err := Parse(` {"address":"http://127.0.0.1:8730","credential":"abc","session":"ses-1","confined":true} ` + "\n")
	if err != nil || b.URL != "http://127.0.0.1:8730" || b.Credential != "abc" || b.Host() != "127.0.0.1:8730" {
		t.Errorf("%+v %v", b, err)
	}
	for _, bad := range []string{"", "http://127.0.0.1:8730", `{"address":"http://127.0.0.1:8730"}`, `{"credential":"abc"}`, `{"address":"unix:/tmp/box.sock","credential":"abc"}`,
		`{"address":"http://evil.example:8730","credential":"abc"}`, `{"address":"https://127.0.0.1:8730","credential":"abc"}`, `{"address":"http://127.0.0.1:8730/x","credential":"abc"}`,
		`{"address":"http://127.0.0.1:8730@evil.example","credential":"abc"}`, `{"address":"http://127.0.0.1.evil.example:8730","credential":"abc"}`, `{"address":"http://127.0.0.1","credential":"abc"}`,
		`{"address":"http://127.0.0.1:8730","credential":"a\r\nx: b"}`} {
		if b, err := Parse(bad); err == nil {
			t.Errorf("%s was read as %+v", bad, b)
		}
	}
}

func TestParseFront(t *testing.T) {
	for line, want := range map[string]string{" https://front.example bailey-ABC\n": "https://front.example", "https://front.example:8443/ bailey-ABC": "https://front.example:8443", "http://127.0.0.1:8800 bailey-ABC": "http://127.0.0.1:8800"} {
		if b, err := ParseFront(line); err != nil || b.URL != want || b.Credential != "bailey-ABC" {
			t.Errorf("%q: %+v %v", line, b, err)
		}
	}
	for _, bad := range []string{"", "https://front.example", "bailey-ABC", "https://front.example a b", "http://front.example bailey-ABC", "ftp://front.example bailey-ABC", "//front.example bailey-ABC", "https:///x bailey-ABC",
		"https://front.example/path bailey-ABC", "https://user@front.example bailey-ABC", "https://front.example?x bailey-ABC", "https://front.example#x bailey-ABC", "http://127.0.0.1.evil.example bailey-ABC", "javascript:alert(1) bailey-ABC"} {
		if b, err := ParseFront(bad); err == nil {
			t.Errorf("%q was read as %+v", bad, b)
		}
	}
	if a, b := SessionOf("ses-1"), SessionOf("ses-2"); a == b || len(a) != 32 || strings.Contains(a, "ses") {
		t.Errorf("%s %s", a, b)
	}
}

// front answers requests by their method and path, and notes them.
func front(t *testing.T, answers map[string]string) (Box, *[]string) {
	t.Helper()
	asked := &[]string{}
	return Box{URL: "https://front.example", Credential: "abc", Origin: "https://app.example", Session: "s", Transport: fetch.TransportFunc(func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
		at := r.Method + " " + strings.TrimPrefix(r.URL, "https://front.example")
		*asked = append(*asked, at)
		text, ok := answers[at]
		if r.Header["authorization"] != "Bearer abc" {
			t.Errorf("%s has %v", at, r.Header)
		}
		status := 200
		if !ok {
			status, text = 404, `{"error":"there is no such session"}`
		} else if n, rest, ok := strings.Cut(text, " "); ok && len(n) == 3 {
			status, text = map[string]int{"204": 204, "401": 401, "409": 409}[n], rest
		}
		return &fetch.Response{Status: status, Body: io.NopCloser(strings.NewReader(text))}, nil
	})}, asked
}

// A box of a front end has the same requests, about a session of its own.
func TestFront(t *testing.T) {
	about := `{"api":1,"model":"","copies":true,"walls":[{"name":"Pod","how":"x"}]}`
	b, _ := front(t, map[string]string{"GET /v1/about": about})
	if a, err := b.About(t.Context()); err != nil || a.Files.ID != "" || len(a.Walls) != 1 {
		t.Errorf("a new session: %+v %v", a, err)
	}
	b, asked := front(t, map[string]string{"GET /v1/about": about, "GET /v1/sessions/s": `{"id":"s","files":"7"}`, "PUT /v1/sessions/s/files?keep=7": `{"id":"8"}`, "POST /v1/sessions/s/messages": "data: {\"type\":\"start-step\"}\n\ndata: [DONE]\n\n",
		"POST /v1/sessions/s/answers": `{}`, "POST /v1/sessions/s/stop": `{}`, "GET /v1/sessions/s/archive?since=8": "zip", "DELETE /v1/sessions/s": "204 "})
	a, err := b.About(t.Context())
	must(t, err)
	c, err := b.Put(t.Context(), nil, a.Files.ID)
	must(t, err)
	list, err := read(b)
	must(t, err)
	must(t, b.Answer(t.Context(), "q", nil))
	must(t, b.Stop(t.Context()))
	data, err := b.Changes(t.Context(), c.ID)
	must(t, err)
	must(t, b.End(t.Context()))
	if len(list) != 1 || string(data) != "zip" || len(*asked) != 8 {
		t.Errorf("%v %s %q", list, data, *asked)
	}
	// Files in place of a session of before end that one first.
	gone := false
	b = Box{URL: "https://front.example", Credential: "abc", Session: "s", Transport: fetch.TransportFunc(func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
		status, text := 409, `{"error":"there are files"}`
		switch {
		case r.Method == "DELETE":
			gone, status, text = true, 204, ""
		case gone:
			status, text = 200, `{"id":"1"}`
		}
		return &fetch.Response{Status: status, Body: io.NopCloser(strings.NewReader(text))}, nil
	})}
	if c, err := b.Put(t.Context(), nil, ""); err != nil || c.ID != "1" {
		t.Errorf("%+v %v", c, err)
	}
	gone = false
	if _, err := b.Put(t.Context(), nil, "7"); err == nil || gone {
		t.Errorf("a session that goes on was ended: %v", err)
	}
}

// A front end that means harm says nothing that the page takes for an answer.
func TestAttackFront(t *testing.T) {
	count := attack.Start(t, "machine")
	count.NoSwitch("each answer is decoded into a type: there is no reading without it")
	good := map[string]string{"GET /v1/about": `{"api":1,"copies":true}`, "GET /v1/sessions/s": `{"files":"7"}`}
	with := func(at, text string) Box {
		answers := maps.Clone(good)
		answers[at] = text
		b, _ := front(t, answers)
		return b
	}
	for name, text := range map[string]string{
		"a page": "<html>", "no object": `[1]`, "walls that are no list": `{"api":1,"walls":"strong"}`, "a version of another type": `{"api":"1"}`, "another version": `{"api":2}`, "no version": `{"model":"m"}`, "too much": strings.Repeat(" ", maxAnswer+1),
		"a model that is an object": `{"api":1,"model":{"name":"m"}}`, "a refusal": "401 {}",
	} {
		_, err := with("GET /v1/about", text).About(t.Context())
		count.Try("about: "+name, err == nil)
	}
	for name, text := range map[string]string{"a page": "<html>", "a number": `{"files":7}`, "too much": strings.Repeat(" ", maxAnswer+1), "another status": "409 {}"} {
		_, err := with("GET /v1/sessions/s", text).About(t.Context())
		count.Try("session: "+name, err == nil)
	}
	for name, text := range map[string]string{"no id": `{}`, "a number": `{"id":7}`, "a list": `["7"]`, "names that are numbers": `{"id":"7","left_out":[7]}`} {
		_, err := with("PUT /v1/sessions/s/files?keep=7", text).Put(t.Context(), nil, "7")
		count.Try("copy: "+name, err == nil)
	}
	_, err := with("GET /v1/sessions/s/archive?since=7", strings.Repeat("x", maxArchive+1)).Changes(t.Context(), "7")
	count.Try("changes: too large", err == nil)
	for name, text := range map[string]string{"a page": "<html>", "no end": "data: {\"type\":\"start-step\"}\n\n", "no type": "data: {}\n\ndata: [DONE]\n\n", "a question without an id": "data: {\"type\":\"data-question\",\"data\":{\"requests\":[{}]}}\n\ndata: [DONE]\n\n",
		"a long event": "data: {\"type\":\"" + strings.Repeat("x", maxEvent) + "\"}\n\ndata: [DONE]\n\n", "a type that is a number": "data: {\"type\":7}\n\ndata: [DONE]\n\n"} {
		_, err := read(with("POST /v1/sessions/s/messages", text))
		count.Try("answer: "+name, err == nil)
	}
	// An answer to the question of a session is for one call, whatever the front end says about it.
	list, err := read(with("POST /v1/sessions/s/messages", "data: {\"type\":\"data-question\",\"data\":{\"id\":\"q\",\"once\":false,\"requests\":[{\"title\":\"x\",\"once\":false,\"session\":\"other\",\"always\":true}]}}\n\ndata: [DONE]\n\n"))
	must(t, err)
	r := list[0].Data.(Question).Prompt("mine").Requests[0]
	count.Try("a question that allows more", !r.Once || r.Session != "mine")
}

// box answers each request with a status and a text, or fails with an error.
func box(status int, text string, err error) Box {
	return Box{URL: "http://127.0.0.1:8730", Credential: "abc", Origin: "https://app.example", Transport: fetch.TransportFunc(func(_ context.Context, r fetch.Request) (*fetch.Response, error) {
		if r.Header["authorization"] != "Bearer abc" || !strings.HasPrefix(r.URL, "http://127.0.0.1:8730/") {
			return nil, errors.New("wrong request")
		}
		if err != nil {
			return nil, err
		}
		return &fetch.Response{Status: status, Body: io.NopCloser(strings.NewReader(text))}, nil
	})}
}

// Every failure tells the user what to do.
func TestAbout(t *testing.T) {
	if a, err := box(200, `{"api":1,"model":"m","copies":true,"walls":[{"name":"Landlock","how":"files"}],"lacks":["x"],"files":{"id":"f"}}`, nil).About(t.Context()); err != nil || a.Model != "m" || a.Files.ID != "f" || len(a.Lacks) != 1 || a.Walls[0] != (Wall{"Landlock", "files"}) {
		t.Errorf("%+v %v", a, err)
	}
	for want, b := range map[string]Box{
		"do not fit together":          box(200, `{"api":2,"model":"m","copies":true}`, nil),
		"start it again with -model":   box(200, `{"api":1,"copies":true}`, nil),
		"start it again without -dir":  box(200, `{"api":1,"model":"m"}`, nil),
		"is no bailey-box":             box(200, `<html>`, nil),
		"or an older one":              box(404, `404 page not found`, nil),
		"Connect it with the new line": box(401, `{"error":"the credential of this launch is needed"}`, nil),
		"The box says: it is full.":    box(500, `{"error":"it is full"}`, nil),
		"refused the request (418)":    box(418, `teapot`, nil),
		"-origin https://app.example":  box(0, "", errors.New("no answer")),
		"reload it":                    box(0, "", errors.New("the page's Content-Security-Policy does not list the host, so nothing was sent")),
		"answers in another form":      box(200, strings.Repeat(" ", maxAnswer+1), nil),
	} {
		if _, err := b.About(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func read(b Box) (list []sandbox.Chunk, err error) {
	for c, e := range b.Chat(context.Background(), "hello") {
		if e != nil {
			return list, e
		}
		list = append(list, c)
	}
	return list, nil
}

func TestChat(t *testing.T) {
	q := `{"id":"q1","requests":[{"toolCallId":"c","title":"run perl","effects":["run perl"],"risk":"high","destroys":true}]}`
	list, err := read(box(200, "data: {\"type\":\"start-step\"}\n\n: quiet\n\ndata: {\"type\":\"text-delta\",\"id\":\"t\",\"delta\":\"hi\"}\n\n"+
		"data: {\"type\":\"data-question\",\"id\":\"q1\",\"data\":"+q+"}\n\ndata: {\"type\":\"data-kept\",\"data\":{\"kept\":[\"x\"]}}\n\n"+
		"data: {\"type\":\"tool-approval-request\",\"toolCallId\":\"c\",\"approvalId\":\"a\"}\n\ndata: {\"type\":\"tool-approval-response\",\"approvalId\":\"a\",\"approved\":true}\n\n"+
		"data: {\"type\":\"tool-approval-response\",\"approvalId\":\"unknown\"}\n\ndata: [DONE]\n\n", nil))
	must(t, err)
	if len(list) != 6 || list[5].ToolCallID != "c" || !list[5].Approved || list[1].Delta != "hi" || list[3].Data.(map[string]any)["kept"] == nil {
		t.Fatalf("%+v", list)
	}
	p := list[2].Data.(Question).Prompt("ses-1")
	if r := p.Requests[0]; len(p.Requests) != 1 || !r.Once || !r.Destroys || r.Session != "ses-1" || r.Risk != protocol.Risk("high") || r.Effects[0].Text != "run perl" || r.ToolCall != "c" {
		t.Errorf("%+v", p)
	}
	for name, text := range map[string]string{
		"no end":               "data: {\"type\":\"start-step\"}\n\n",
		"no JSON":              "data: {\n\ndata: [DONE]\n\n",
		"no type":              "data: {}\n\ndata: [DONE]\n\n",
		"a call without id":    "data: {\"type\":\"tool-input-start\"}\n\ndata: [DONE]\n\n",
		"an empty question":    "data: {\"type\":\"data-question\",\"data\":{}}\n\ndata: [DONE]\n\n",
		"an event without end": "data: " + strings.Repeat("x", maxEvent+1),
	} {
		if list, err := read(box(200, text, nil)); err == nil {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// The records of an answer are those that a box of the page would store: they can be read again, and a model gets them.
func TestRecorder(t *testing.T) {
	store := sandbox.MemoryStore()
	b, err := sandbox.New(sandbox.Options{Sessions: store, Policy: policy.AskBeforeChanges()})
	must(t, err)
	s, err := b.NewSession(t.Context(), sandbox.SessionOptions{})
	must(t, err)
	_, err = s.Say(t.Context(), "hello")
	must(t, err)
	r := NewRecorder(s.ID(), "far")
	for _, c := range []sandbox.Chunk{
		{Type: "start"}, {Type: "start-step"}, {Type: "text-delta", Delta: "dropped"}, {Type: "tool-input-available", ToolCallID: "x", ToolName: "read", Input: map[string]any{}}, {Type: "reset-step"},
		{Type: "start-step"}, {Type: "reasoning-delta", Delta: "hm"}, {Type: "reasoning-delta", Delta: ", hm"}, {Type: "reasoning-end"}, {Type: "text-start"}, {Type: "text-delta", Delta: "I "}, {Type: "text-delta", Delta: "write."}, {Type: "text-end"},
		{Type: "tool-input-start", ToolCallID: "c", ToolName: "write"}, {Type: "tool-input-available", ToolCallID: "c", ToolName: "write", Input: map[string]any{"path": "a"}},
		{Type: "tool-output-available", ToolCallID: "c", Output: "half", Preliminary: true}, {Type: "tool-output-available", ToolCallID: "c", Output: "all"},
		{Type: "tool-input-available", ToolCallID: "d", ToolName: "bash", Input: map[string]any{}}, {Type: "tool-output-denied", ToolCallID: "d"},
		{Type: "tool-input-available", ToolCallID: "e", ToolName: "a tool/that is none", Input: map[string]any{}}, {Type: "tool-output-available", ToolCallID: "e", Output: "x"},
		{Type: "tool-input-error", ToolCallID: "f", ToolName: "read", Input: "{", ErrorText: "no JSON"},
		{Type: "start-step"}, {Type: "text-delta", Delta: "Done."}, {Type: "tool-input-available", ToolCallID: "g", ToolName: "read", Input: map[string]any{}},
	} {
		r.Add(c)
	}
	messages, parts := r.Records(false)
	rec := s.Record()
	s.Close()
	must(t, store.Put(t.Context(), rec, messages, parts))
	s, err = b.OpenSession(t.Context(), rec.ID)
	must(t, err)
	defer s.Close()
	list := s.Messages()
	if len(list) != 3 || !list[2].Metadata.Partial || list[1].Metadata.Partial || list[1].Metadata.Model != "far" {
		t.Fatalf("%+v", list)
	}
	var got []string
	for _, m := range list[1:] {
		for _, p := range m.Parts {
			d := p.Data.(map[string]any)
			text, _ := d["text"].(string)
			why, _ := d["error"].(string)
			got = append(got, p.Type+" "+text+why+" "+string(p.ToolState))
		}
	}
	want := []string{"reasoning hm, hm ", "text I write. ", "tool-write  output-available", "tool-bash You said no. output-error", "tool-read no JSON output-error", "text Done. ", "tool-read stopped output-error"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func folder(t *testing.T, files map[string]string) *fsaccess.Folder {
	t.Helper()
	f := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	for name, text := range files {
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			must(t, f.MkdirAll(name[:i], 0o755))
		}
		must(t, f.WriteFile(name, []byte(text), 0o644))
	}
	return f
}

func rules(t *testing.T) protocol.FSPolicy {
	t.Helper()
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "filesystem": {"denyRead": ["private", ".env"], "denyWrite": [".env"]}}`, policy.Options{})
	must(t, err)
	return p.FS
}

// Files that the policy keeps from a model are not in the archive, and their names are listed.
func TestPack(t *testing.T) {
	f := folder(t, map[string]string{"a.txt": "hello", "sub/b.txt": "b", ".env": "KEY=secret", "private/c.txt": "secret", ".gitignore": "built/\n", "built/d": "d", ".git/config": "[core]"})
	last := 0
	p, err := Pack(t.Context(), f, rules(t), func(n int) { last = n })
	must(t, err)
	z, err := zip.NewReader(bytes.NewReader(p.Archive), int64(len(p.Archive)))
	must(t, err)
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{".gitignore", "a.txt", "sub/b.txt"}) || p.Files != 3 || last != 3 || bytes.Contains(p.Archive, []byte("secret")) {
		t.Errorf("%q %+v", names, p.Files)
	}
	slices.Sort(p.Denied)
	if !slices.Equal(p.Denied, []string{".env", "private/c.txt"}) {
		t.Errorf("%q", p.Denied)
	}
}

type change struct{ Path, Was string }

// changes makes an archive as a box does.
func changes(t *testing.T, files map[string][2]string, removed ...change) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	names := slices.Sorted(maps.Keys(files))
	list := map[string]any{"id": "f", "removed": removed, "left_out": []Left{}}
	var all []change
	for _, n := range names {
		all = append(all, change{n, files[n][1]})
	}
	list["files"] = all
	w, err := z.Create("changes.json")
	must(t, err)
	must(t, json.NewEncoder(w).Encode(list))
	for _, n := range names {
		w, err := z.Create("files/" + n)
		must(t, err)
		_, err = io.WriteString(w, files[n][0])
		must(t, err)
	}
	must(t, z.Close())
	return b.Bytes()
}

func all(t *testing.T, f fsaccess.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	for e, err := range fsaccess.Walk(t.Context(), f, ".", fsaccess.WalkOptions{}) {
		must(t, err)
		if !e.Dir {
			data, err := f.ReadFile(e.Path)
			must(t, err)
			out[e.Path] = string(data)
		}
	}
	return out
}

// Changes reach the folder only when they are applied, as one step, and a file that was changed here meanwhile stays.
func TestArrive(t *testing.T) {
	before := map[string]string{"a.txt": "one\ntwo\n", "mine.txt": "changed here", "gone.txt": "gone", "kept.txt": "changed here too", "same.txt": "taken before"}
	f := folder(t, before)
	work := fsaccess.NewJournal(f, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	archive := changes(t, map[string][2]string{"a.txt": {"one\nTWO\n", of([]byte(before["a.txt"]))}, "new/b.txt": {"b", ""}, "mine.txt": {"changed there", of([]byte("old"))}, "same.txt": {"taken before", of([]byte("x"))}},
		change{"gone.txt", of([]byte("gone"))}, change{"kept.txt", of([]byte("old"))}, change{"never.txt", of([]byte("x"))})
	a, err := Arrive(t.Context(), archive, work, rules(t), nil)
	must(t, err)
	if got := all(t, f); !maps.Equal(got, before) {
		t.Errorf("the folder was changed: %v", got)
	}
	list, err := a.Changes(t.Context())
	must(t, err)
	var what []string
	for _, c := range list {
		if !c.Dir {
			what = append(what, string(c.Kind)+" "+c.Path)
		}
	}
	if !slices.Equal(what, []string{"changed a.txt", "removed gone.txt", "added mine (from the box).txt", "added new/b.txt"}) || len(a.Beside) != 1 || len(a.LeftOut) != 1 || a.LeftOut[0].Path != "kept.txt" {
		t.Errorf("%q %v %v", what, a.Beside, a.LeftOut)
	}
	_, err = a.Apply(t.Context())
	must(t, err)
	want := map[string]string{"a.txt": "one\nTWO\n", "mine.txt": "changed here", "mine (from the box).txt": "changed there", "kept.txt": "changed here too", "same.txt": "taken before", "new/b.txt": "b"}
	if got := all(t, f); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	must(t, work.Undo(t.Context()))
	if got := all(t, f); !maps.Equal(got, before) {
		t.Errorf("undo: %v", got)
	}
}

func TestAttackArrive(t *testing.T) {
	count := attack.Start(t, "machine")
	before := map[string]string{"a.txt": "hello", ".env": "KEY=secret", "private/c.txt": "secret"}
	link := func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("changes.json")
		must(t, err)
		_, err = io.WriteString(w, `{"files":[{"Path":"l"}]}`)
		must(t, err)
		head := &zip.FileHeader{Name: "files/l"}
		head.SetMode(0o777 | 1<<27) // fs.ModeSymlink
		w, err = z.CreateHeader(head)
		must(t, err)
		_, err = io.WriteString(w, "/etc")
		must(t, err)
		must(t, z.Close())
		return b.Bytes()
	}
	many := map[string][2]string{}
	for i := range maxFiles + 1 {
		many["f"+strings.Repeat("x", i%70)+strings.Repeat("y", i/70)] = [2]string{"", ""}
	}
	for name, archive := range map[string][]byte{
		"a name above the folder":            changes(t, map[string][2]string{"../a.txt": {"x", ""}}),
		"a name from the root":               changes(t, map[string][2]string{"/a.txt": {"x", ""}}),
		"a hook of git":                      changes(t, map[string][2]string{".git/hooks/pre-commit": {"#!/bin/sh", ""}}),
		"a file that the policy keeps back":  changes(t, map[string][2]string{".env": {"x", of([]byte(before[".env"]))}}),
		"a script that nobody was asked of":  changes(t, map[string][2]string{"run.sh": {"#!/bin/sh\nrm -rf ~", ""}}),
		"a removal above the folder":         changes(t, nil, change{"../a.txt", ""}),
		"a removal of what was never copied": changes(t, nil, change{"a.txt", of([]byte("x"))}),
		"a removal of all":                   changes(t, nil, change{".", ""}),
		"a link":                             link(),
		"more bytes than it has":             changes(t, map[string][2]string{"big": {strings.Repeat("\x00", maxUnpacked+1), ""}}),
		"more files than are taken":          changes(t, many),
		"no archive":                         []byte("PK no"),
	} {
		f := folder(t, before)
		if a, err := Arrive(t.Context(), archive, f, rules(t), nil); err == nil {
			_, _ = a.Apply(t.Context())
		}
		count.Try(name, !maps.Equal(all(t, f), before))
		// Without the checks: the same files, written as they are.
		f = folder(t, before)
		z, bad := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if bad == nil {
			for _, e := range z.File[1:] {
				room := int64(1 << 40)
				if data, err := content(e, &room); err == nil && len(data) < 1<<20 {
					name := strings.TrimPrefix(e.Name, "files/")
					if i := strings.LastIndexByte(name, '/'); i > 0 {
						_ = f.MkdirAll(name[:i], 0o755)
					}
					_ = f.WriteFile(name, data, 0o644)
				}
			}
		}
		count.Off(name, !maps.Equal(all(t, f), before))
	}
	// A script comes once the user was asked.
	asked := ""
	f := folder(t, before)
	a, err := Arrive(t.Context(), changes(t, map[string][2]string{"run.sh": {"#!/bin/sh", ""}}), f, rules(t), func(_ context.Context, q fsaccess.Question) (bool, error) { asked = q.Path; return true, nil })
	must(t, err)
	if list, err := a.Changes(t.Context()); err != nil || len(list) != 1 || asked != "run.sh" {
		t.Errorf("%v %v %q", list, err, asked)
	}
}
