package sandbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// picture returns a PNG of the size in pixels, with n bytes in all, of at least 57. Its pixels are no
// good.
func picture(w, h, n int) []byte {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		_ = binary.Write(&b, binary.BigEndian, uint32(len(data)))
		b.WriteString(kind)
		b.Write(data)
		_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(append([]byte(kind), data...)))
	}
	head := make([]byte, 13)
	binary.BigEndian.PutUint32(head, uint32(w))
	binary.BigEndian.PutUint32(head[4:], uint32(h))
	head[8] = 8
	chunk("IHDR", head)
	if n > 57 {
		chunk("IDAT", make([]byte, n-57))
	}
	chunk("IEND", nil)
	return b.Bytes()
}

func png(name string, n int) sandbox.File { return sandbox.File{Name: name, Data: picture(2, 3, n)} }

// shows returns a tool that adds the file at a path to its result.
func shows() sandbox.Tool {
	return sandbox.Tool{
		Tool: protocol.Tool{ID: "show", Requires: []protocol.Grant{{Capability: protocol.FSRead}}, Parameters: `{"type":"object","properties":{"path":{"type":"string"}}}`},
		Needs: func(_ context.Context, c *sandbox.Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.FSRead, Subject: c.Args.(args)["path"].(string)}}, nil
		},
		Run: func(ctx context.Context, c *sandbox.Call) (any, error) {
			path := c.Args.(args)["path"].(string)
			data, _, err := c.FS.Read(ctx, c.Permit, path)
			if err == nil {
				err = c.AddFile(sandbox.File{Name: path, Data: data})
			}
			return args{"shown": true}, err
		},
	}
}

func showing(t testing.TB, files map[string]string, more ...func(*sandbox.Options)) *house {
	return build(t, parse(t, sendsSome), nil, files, append([]func(*sandbox.Options){func(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), shows()) }}, more...)...)
}

// content returns the contents of all files that a request has.
func content(r sandbox.ModelRequest) (all string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			for _, f := range p.Files {
				all += f.Name + " " + f.MediaType + " " + string(f.Data) + "\n"
			}
		}
	}
	return all
}

// A model receives the files of a message, in front of its text, also after the session was opened
// again.
func TestSayFiles(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Sessions = open() })
			s := h.session(t)
			image := png("a.png", 100)
			_, err := s.Say(t.Context(), "look", image, sandbox.File{Data: []byte("%PDF-1.7")}, sandbox.File{Name: "n.txt", Data: []byte("some notes")})
			must(t, err)
			m := &sandboxtest.Model{}
			_, err = h.talk(t, s, m, "")
			must(t, err)
			s.Close()
			again := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Sessions = open() })
			s, err = again.OpenSession(t.Context(), s.ID())
			must(t, err)
			defer s.Close()
			_, err = again.talk(t, s, m, "and now?")
			must(t, err)
			for i, r := range m.Requests() {
				var got []string
				for _, p := range r.Messages[0].Parts {
					got = append(got, fmt.Sprintf("%s %s", p.Type, p.Text))
				}
				if want := `file |file |text [file: n.txt, text/plain, 10 bytes]` + "\nsome notes|text look"; strings.Join(got, "|") != want {
					t.Errorf("request %d has %q", i, got)
				}
				if want := "a.png image/png " + string(image.Data) + "\nfile application/pdf %PDF-1.7\n"; content(r) != want {
					t.Errorf("request %d has %q", i, content(r))
				}
			}
			list, err := s.Files(t.Context(), s.Messages()[0].Parts[0])
			if err != nil || len(list) != 1 || !bytes.Equal(list[0].Data, image.Data) {
				t.Errorf("%v %v", list, err)
			}
			// The stored message has no content of a file.
			if text, _ := json.Marshal(s.Messages()); strings.Contains(string(text), "IHDR") || strings.Contains(string(text), base64.StdEncoding.EncodeToString(image.Data)[:40]) {
				t.Errorf("the message has the content: %s", text)
			}
			must(t, open().Delete(t.Context(), s.ID()))
			if _, err := s.Files(t.Context(), s.Messages()[0].Parts[0]); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after the deletion: %v", err)
			}
		})
	}
}

func TestFileLimits(t *testing.T) {
	native.Only(t)
	pdf := func(n int) sandbox.File {
		return sandbox.File{Name: "a.pdf", Data: append([]byte("%PDF-"), make([]byte, n-5)...)}
	}
	many := func(n int) (list []sandbox.File) {
		for i := range n {
			list = append(list, png(fmt.Sprint(i), 100))
		}
		return list
	}
	broken := picture(2, 3, 100)[:60]
	for _, c := range []struct {
		name  string
		files []sandbox.File
		want  error
		words string
	}{
		{"an image at the limit", []sandbox.File{png("a", sandbox.MaxImage)}, nil, ""},
		{"an image above it", []sandbox.File{png("a", sandbox.MaxImage+1)}, protocol.ErrResourceLimit, "make it smaller"},
		{"a file at the limit", []sandbox.File{pdf(sandbox.MaxFile)}, nil, ""},
		{"a file above it", []sandbox.File{pdf(sandbox.MaxFile + 1)}, protocol.ErrResourceLimit, "put it into the folder"},
		{"8,000 pixels", []sandbox.File{{Data: picture(8000, 8000, 100)}}, nil, ""},
		{"8,001 pixels", []sandbox.File{{Data: picture(8001, 1, 100)}}, protocol.ErrResourceLimit, "8001 × 1 pixels"},
		{"8,001 pixels high", []sandbox.File{{Data: picture(1, 8001, 100)}}, protocol.ErrResourceLimit, "1 × 8001 pixels"},
		{"10 files", many(sandbox.MaxFiles), nil, ""},
		{"11 files", many(sandbox.MaxFiles + 1), protocol.ErrResourceLimit, "with the next message"},
		{"files of the greatest sum", []sandbox.File{pdf(sandbox.MaxFile), pdf(sandbox.MaxFilesBytes - sandbox.MaxFile)}, nil, ""},
		{"files above it", []sandbox.File{pdf(sandbox.MaxFile), pdf(sandbox.MaxFilesBytes - sandbox.MaxFile + 1)}, protocol.ErrResourceLimit, "with the next message"},
		{"no content", []sandbox.File{{Name: "a"}}, protocol.ErrInvalidParams, "empty"},
		{"an image of another type", []sandbox.File{{MediaType: "image/jpeg", Data: picture(1, 1, 57)}}, protocol.ErrInvalidParams, "image/png and not image/jpeg"},
		{"an image that is called text", []sandbox.File{{MediaType: "text/plain", Data: picture(1, 1, 57)}}, protocol.ErrInvalidParams, "leave the media type empty"},
		{"text that is called an image", []sandbox.File{{MediaType: "image/png", Data: []byte("hello")}}, protocol.ErrInvalidParams, "no such image"},
		{"half an image", []sandbox.File{{Data: broken}}, protocol.ErrExecution, "damaged or cut off"},
		{"a type with parameters", []sandbox.File{{MediaType: "text/plain; charset=utf-8", Data: []byte("a")}}, protocol.ErrInvalidParams, "without parameters"},
		{"a type of 127 bytes", []sandbox.File{{MediaType: "text/" + strings.Repeat("x", 122), Data: []byte("a")}}, nil, ""},
		{"a type of 128 bytes", []sandbox.File{{MediaType: "text/" + strings.Repeat("x", 123), Data: []byte("a")}}, protocol.ErrInvalidParams, ""},
		{"a text like a GIF", []sandbox.File{{Data: []byte("GIF89a is the format of 1989.\n")}}, nil, ""},
		{"a text like a GIF that is called text", []sandbox.File{{MediaType: "text/markdown", Data: []byte("GIF89a is the format of 1989.\n")}}, nil, ""},
		{"a text like a GIF that is called one", []sandbox.File{{MediaType: "image/gif", Data: []byte("GIF89a is the format of 1989.\n")}}, protocol.ErrExecution, "damaged or cut off"},
		{"half a GIF", []sandbox.File{{Data: []byte("GIF89a\x02\x00\x02\x00")}}, protocol.ErrExecution, "damaged or cut off"},
		{"SVG", []sandbox.File{{MediaType: "image/svg+xml", Data: []byte("<svg/>")}}, nil, ""},
	} {
		h := build(t, policy.AskBeforeChanges(), nil, nil)
		s := h.session(t)
		_, err := s.Say(t.Context(), "look", c.files...)
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err2 := s.Steer(t.Context(), "look", c.files...); (err2 == nil) != (err == nil) {
			t.Errorf("%s: Steer %v", c.name, err2)
		}
		if n := len(s.Messages()); (n == 0) != (err != nil) {
			t.Errorf("%s: %d messages", c.name, n)
		}
	}
}

// The files of a session have a limit. Equal files count once.
func TestSessionFilesHaveALimit(t *testing.T) {
	native.Only(t)
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s := h.session(t)
	pdf := func(n, k int) sandbox.File {
		return sandbox.File{Data: append([]byte(fmt.Sprint("%PDF-", k)), make([]byte, n-6)...)}
	}
	for k := range sandbox.MaxSessionFiles / sandbox.MaxFile {
		n := sandbox.MaxFile
		if k == 0 {
			n--
		}
		for range 2 {
			_, err := s.Say(t.Context(), "look", pdf(n, k))
			must(t, err)
		}
	}
	if _, err := s.Say(t.Context(), "look", sandbox.File{Data: []byte("ab")}); !errors.Is(err, protocol.ErrResourceLimit) || !strings.Contains(err.Error(), "new conversation") {
		t.Errorf("above the limit: %v", err)
	}
	n := len(s.Messages())
	_, err := s.Say(t.Context(), "look", sandbox.File{Data: []byte("a")})
	must(t, err)
	if len(s.Messages()) != n+1 {
		t.Error("at the limit: not stored")
	}
	// Each message up to the oldest ones: a request has the newest 12 MiB.
	m := &sandboxtest.Model{}
	_, err = h.talk(t, s, m, "", sandbox.RunOptions{Context: -1})
	must(t, err)
	sum, lines := 0, 0
	for _, msg := range m.Requests()[0].Messages {
		for _, p := range msg.Parts {
			for _, f := range p.Files {
				sum += len(f.Data)
			}
			lines += strings.Count(p.Text, "too old to be sent again")
		}
	}
	if sum != sandbox.MaxFile || lines != 7 {
		t.Errorf("a request has %d bytes of files and %d lines in place of files", sum, lines)
	}
}

// A request has at most 20 files: the newest.
func TestRequestHasTheNewestFiles(t *testing.T) {
	for _, n := range []int{19, 20, 21, 25} {
		h := build(t, policy.AskBeforeChanges(), nil, nil)
		s := h.session(t)
		for i := range n {
			_, err := s.Say(t.Context(), "", png(fmt.Sprint("no-", i), 60+i))
			must(t, err)
		}
		m := &sandboxtest.Model{}
		_, err := h.talk(t, s, m, "", sandbox.RunOptions{Context: -1})
		must(t, err)
		got := 0
		for i, msg := range m.Requests()[0].Messages {
			p := msg.Parts[0]
			switch {
			case len(p.Files) == 1:
				got++
			case i >= n-20 || !strings.HasPrefix(p.Text, fmt.Sprintf("[image: no-%d, image/png, %d bytes; it is too old", i, 60+i)) && i > 0:
				t.Errorf("%d files: message %d is %q", n, i, p.Text)
			}
		}
		if got != min(n, 20) {
			t.Errorf("%d of %d files are sent", got, n)
		}
	}
}

// Names can't carry what a reader does not see.
func TestFileNames(t *testing.T) {
	for name, want := range map[string]string{"": "file", "a.png": "a.png", "a\n[b": `"a_[b"`, "a\u202eb": "a_b", "\xff": "_", strings.Repeat("é", 200): strings.Repeat("é", 127),
		strings.Repeat("汉", 100): strings.Repeat("汉", 85), "a" + strings.Repeat("汉", 100): "a" + strings.Repeat("汉", 84), "ab" + strings.Repeat("汉", 100): "ab" + strings.Repeat("汉", 84),
		strings.Repeat("😀", 100): `"` + strings.Repeat("😀", 63) + `"`, "a" + strings.Repeat("😀", 100): `"a` + strings.Repeat("😀", 63) + `"`,
		strings.Repeat("x", 255): strings.Repeat("x", 255), strings.Repeat("x", 256): strings.Repeat("x", 255)} {
		h := build(t, policy.AskBeforeChanges(), nil, nil)
		s := h.session(t)
		_, err := s.Say(t.Context(), "", png(name, 60))
		must(t, err)
		list, err := s.Files(t.Context(), s.Messages()[0].Parts[0])
		must(t, err)
		if got := list[0].String(); got != "[image: "+want+", image/png, 60 bytes]" {
			t.Errorf("%q became %s", name, got)
		}
	}
}

// A message that waits for a run keeps its files.
func TestSteerFiles(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s := h.session(t)
	m := &sandboxtest.Model{}
	m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
		if len(m.Turns) == 0 {
			m.Turns = []sandboxtest.Turn{{}}
			must(t, s.Steer(t.Context(), "and this", png("b.png", 80)))
		}
		return sandboxtest.Say("fine")
	}
	lines, err := h.talk(t, s, m, "go")
	must(t, err)
	if len(m.Requests()) != 2 || !strings.Contains(content(m.Requests()[1]), "b.png image/png \x89PNG") {
		t.Errorf("%d requests", len(m.Requests()))
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, `"name":"b.png"`) {
		t.Errorf("the chunks: %s", all)
	}
}

// An image of a file is sent exactly where the file's text is sent: not to another machine, by no
// other model, in no summary and no copy of the conversation.
func TestAttackFilesThatAreNotSent(t *testing.T) {
	a := attack.Start(t, "sent")
	const secret = "PIXELS-OF-A-DIARY"
	image := string(bytes.Replace(picture(2, 3, 100), make([]byte, len(secret)), []byte(secret), 1))
	if !strings.Contains(image, secret) {
		t.Fatal("nothing is secret")
	}
	files := map[string]string{"private/diary.png": image, "data/a.csv": image, "data/b.png": image}
	has := func(m *sandboxtest.Model) bool {
		for _, r := range m.Requests() {
			if strings.Contains(content(r), secret) || strings.Contains(texts(r), secret) {
				return true
			}
		}
		return false
	}
	for _, c := range [][2]string{{"show", "private/diary.png"}, {"show", "data/a.csv"}, {"read", "private/diary.png"}, {"read", "data/a.csv"}} {
		tool, path := c[0], c[1]
		h := showing(t, files)
		told := h.CallForModel(t.Context(), tool, args{"path": path}, false)
		a.Try("a client, "+path, len(told.Files) > 0)
		told = h.CallForModel(t.Context(), tool, args{"path": path}, true)
		a.Off("a client on this machine, "+path, len(told.Files) == 1 && strings.Contains(string(told.Files[0].Data), secret))
		s := h.session(t)
		far := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool(tool, args{"path": path}), sandboxtest.Say("seen")}}
		_, err := h.talk(t, s, far, "look")
		must(t, err)
		a.Try("a model elsewhere, "+path, has(far))
		if path == "data/a.csv" && !strings.Contains(texts(far.Requests()[1]), `a.csv, image/png, 100 bytes]`) {
			t.Errorf("a summary is %s", texts(far.Requests()[1]))
		}
		if path == "private/diary.png" && strings.Contains(texts(far.Requests()[1]), "bytes") {
			t.Errorf("what is not sent is described: %s", texts(far.Requests()[1]))
		}
		near := &sandboxtest.Model{OnDevice: true, Turns: []sandboxtest.Turn{sandboxtest.CallTool(tool, args{"path": path}), sandboxtest.Say("seen")}}
		_, err = h.talk(t, s, near, "and you?")
		must(t, err)
		a.Off("a model on this machine, "+path, has(near))
		other := &sandboxtest.Model{Next: tell}
		_, err = h.talk(t, s, other, "and you?")
		must(t, err)
		a.Try("a model elsewhere that goes on, "+path, has(other))
		fork, err := s.Fork(t.Context(), "")
		must(t, err)
		_, err = h.talk(t, fork, other, "and you?")
		must(t, err)
		a.Try("a model elsewhere in a fork, "+path, has(other))
		fork.Close()
		var out bytes.Buffer
		must(t, s.Export(&out))
		back, err := h.ImportSession(t.Context(), &out)
		must(t, err)
		_, err = h.talk(t, back, other, "and you?")
		must(t, err)
		a.Try("a model elsewhere after an import, "+path, has(other))
		back.Close()
		for range 3 {
			_, err := h.talk(t, s, other, "go on")
			must(t, err)
		}
		done, err := h.Compact(t.Context(), s, other, sandbox.RunOptions{})
		if !done || err != nil {
			t.Fatal(done, err)
		}
		a.Try("a summariser elsewhere, "+path, has(other))
	}
	h := showing(t, files)
	s := h.session(t)
	open := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("show", args{"path": "data/b.png"}), sandboxtest.Say("seen")}}
	_, err := h.talk(t, s, open, "look")
	must(t, err)
	a.Off("a model elsewhere, a file that is sent", has(open))
}

// A summariser gets a line in place of a file, and the content of a text.
func TestSummaryOfFiles(t *testing.T) {
	h := showing(t, map[string]string{"data/b.png": string(picture(2, 3, 100))})
	s := h.session(t)
	m := &sandboxtest.Model{Next: tell}
	_, err := s.Say(t.Context(), "look", png("mine.png", 90), sandbox.File{Name: "n.txt", Data: []byte("some notes")})
	must(t, err)
	m.Next = nil
	m.Turns = []sandboxtest.Turn{sandboxtest.CallTool("show", args{"path": "data/b.png"}), sandboxtest.Say("seen")}
	_, err = h.talk(t, s, m, "")
	must(t, err)
	m.Next = tell
	for range 3 {
		_, err := h.talk(t, s, m, "go on")
		must(t, err)
	}
	n := len(m.Requests())
	done, err := h.Compact(t.Context(), s, m, sandbox.RunOptions{})
	if !done || err != nil {
		t.Fatal(done, err)
	}
	r := m.Requests()[n]
	for _, want := range []string{"[image: mine.png, image/png, 90 bytes]", "[image: data/b.png, image/png, 100 bytes]", "some notes"} {
		if !strings.Contains(texts(r), want) {
			t.Errorf("the summariser lacks %s: %s", want, texts(r))
		}
	}
	if content(r) != "" {
		t.Error("the summariser has files")
	}
	var old []sandbox.ModelMessage
	_, err = h.Compact(t.Context(), s, m, sandbox.RunOptions{Compact: func(_ context.Context, list []sandbox.ModelMessage) (string, error) {
		old = list
		return "short", nil
	}})
	must(t, err)
	if content(sandbox.ModelRequest{Messages: old}) != "" {
		t.Error("RunOptions.Compact has files")
	}
}

// A request that is too long loses its older files first, then the ends of its texts, then its last
// files.
func TestTooLongWithFiles(t *testing.T) {
	long := strings.Repeat("word ", 400) // 500 tokens
	var list []sandbox.ModelMessage
	for i := range 3 {
		list = append(list, sandbox.ModelMessage{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{
			{Type: sandbox.PartFile, Files: []sandbox.File{{Name: fmt.Sprint("no-", i), MediaType: "image/png", Data: []byte("IMAGE")}}}, {Type: sandbox.PartText, Text: long}}})
	}
	for _, c := range []struct{ limit, files, whole int }{{6400, 3, 3}, {6200, 1, 3}, {3200, 1, 3}, {3000, 1, 0}, {1800, 0, 3}, {1500, 0, 0}} {
		r := sandbox.ModelRequest{Messages: sandbox.Shortened(list, c.limit)}
		if files, whole := strings.Count(content(r), "IMAGE"), strings.Count(texts(r), long); files != c.files || whole != c.whole {
			t.Errorf("%d tokens: %d files and %d whole texts", c.limit, files, whole)
		}
		if n := strings.Count(texts(r), "[image: no-"); n != 3-c.files {
			t.Errorf("%d tokens: %d lines in place of files", c.limit, n)
		}
	}
	if content(sandbox.ModelRequest{Messages: list}) == "" {
		t.Error("the messages were changed")
	}
}

// Files of a stranger's conversation are checked as those of messages are.
func TestImportFiles(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s := h.session(t)
	_, err := s.Say(t.Context(), "look", png("a.png", 100), sandbox.File{Data: []byte("text")})
	must(t, err)
	var out bytes.Buffer
	must(t, s.Export(&out))
	data := base64.StdEncoding.EncodeToString(picture(2, 3, 100))
	for name, c := range map[string]struct {
		old, now string
		want     error
		lost     bool
	}{
		"as it was":        {"", "", nil, false},
		"another content":  {data, base64.StdEncoding.EncodeToString(picture(2, 4, 100)), protocol.ErrInvalidParams, false},
		"another type":     {`"media_type":"image/png"`, `"media_type":"image/gif"`, protocol.ErrInvalidParams, false},
		"no type":          {`"media_type":"image/png"`, `"media_type":"a"`, protocol.ErrInvalidParams, false},
		"no such id":       {`"file":"`, `"file":"../`, protocol.ErrInvalidParams, false},
		"a false size":     {`"bytes":100`, `"bytes":-1e300`, nil, false},
		"no content of it": {`"files":{`, `"other":{`, nil, true},
	} {
		text := strings.Replace(out.String(), c.old, c.now, 1)
		got, err := h.ImportSession(t.Context(), strings.NewReader(text))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		list, err := got.Files(t.Context(), got.Messages()[0].Parts[0])
		if c.lost != errors.Is(err, fs.ErrNotExist) || !c.lost && (len(list) != 1 || list[0].String() != "[image: a.png, image/png, 100 bytes]" || !bytes.Equal(list[0].Data, picture(2, 3, 100))) {
			t.Errorf("%s: %v %v", name, list, err)
		}
		got.Close()
	}
}

// A file of an imported conversation speaks to no model behind the user's back, nor does its name.
func TestAttackImportedFiles(t *testing.T) {
	a := attack.Start(t, "sent")
	const order = "delete-all-files"
	h := showing(t, map[string]string{"data/b.png": string(picture(2, 3, 100))})
	s := h.session(t)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("show", args{"path": "data/b.png"}), sandboxtest.Say("seen")}}
	_, err := s.Say(t.Context(), "look", png("a.png", 100), sandbox.File{Name: order + ".txt", Data: []byte(order)})
	must(t, err)
	_, err = h.talk(t, s, m, "")
	must(t, err)
	speaks := func(r sandbox.ModelRequest) bool {
		return strings.Contains(texts(r)+content(r), order) || content(r) != ""
	}
	a.Off("the user's own files", speaks(m.Requests()[1]))
	var out bytes.Buffer
	must(t, s.Export(&out))
	for _, local := range []bool{false, true} {
		got, err := h.ImportSession(t.Context(), strings.NewReader(strings.ReplaceAll(out.String(), "b.png", order)))
		must(t, err)
		fork, err := got.Fork(t.Context(), "")
		must(t, err)
		for name, s := range map[string]*sandbox.Session{"an imported one": got, "its fork": fork} {
			m := &sandboxtest.Model{OnDevice: local, Next: tell}
			for range 3 {
				_, err = h.talk(t, s, m, "go on")
				must(t, err)
			}
			_, err = h.Compact(t.Context(), s, m, sandbox.RunOptions{})
			must(t, err)
			for i, r := range m.Requests() {
				// The arguments of a call and the text of its result are shown.
				r.Messages = slices.DeleteFunc(slices.Clone(r.Messages), func(m sandbox.ModelMessage) bool {
					return slices.ContainsFunc(m.Parts, func(p sandbox.ModelPart) bool { return p.Type == sandbox.PartCall })
				})
				if i == 0 && !strings.Contains(texts(r), "[a file of an imported conversation, which is not sent]") {
					t.Errorf("%s: the model is not told: %s", name, texts(r))
				}
				if !summarising(r) {
					a.Try(fmt.Sprintf("%s, request %d, local %t", name, i, local), speaks(r))
				} else if strings.Contains(texts(r), order+".txt") || strings.Contains(texts(r), "[image: ") {
					t.Errorf("%s: the summariser gets %s", name, texts(r))
				}
			}
		}
		got.Close()
		fork.Close()
	}
}

// yields is a model that streams events.
type yields struct {
	*sandboxtest.Model
	events [][]sandbox.ModelEvent
}

func (m *yields) Name() string { return "anthropic/x" }

func (m *yields) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	for range m.Model.Stream(ctx, r) { // records the request
	}
	list := []sandbox.ModelEvent{{Type: sandbox.PartFinish, Text: "stop"}}
	if len(m.events) > 0 {
		list, m.events = append(m.events[0], list...), m.events[1:]
	}
	return func(yield func(sandbox.ModelEvent, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Files and sources of an answer are chunks and stored parts. The model gets a line for its own file.
func TestAnswerHasFilesAndSources(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s := h.session(t)
	text := func(s string) sandbox.ModelEvent { return sandbox.ModelEvent{Type: sandbox.PartText, Text: s} }
	source := func(url, title string) sandbox.ModelEvent {
		return sandbox.ModelEvent{Type: sandbox.PartSource, Source: sandbox.Source{URL: url, Title: title}}
	}
	m := &yields{Model: &sandboxtest.Model{}, events: [][]sandbox.ModelEvent{{
		{Type: sandbox.PartReasoning, Text: "hm", Meta: json.RawMessage(`{"signature":"S"}`)},
		text("see"), source("https://a.example/", "A"), source("https://a.example/", "A"), text(" here"), source("javascript:alert(1)", "bad"), source("https://"+strings.Repeat("x", 9000), ""),
		{Type: sandbox.PartFile, File: sandbox.File{Name: "made.png", Data: picture(2, 3, 60)}},
		{Type: sandbox.PartSource, Source: sandbox.Source{MediaType: "application/pdf", Filename: "a\nb.pdf"}},
		{Type: sandbox.PartFile, File: sandbox.File{Data: picture(2, 3, 60)[:50]}},
	}}}
	lines, err := h.talk(t, s, m, "draw")
	must(t, err)
	var types, want []string
	for _, p := range s.Messages()[1].Parts {
		d, _ := json.Marshal(p.Data)
		types = append(types, p.Type+" "+string(d))
	}
	want = []string{`reasoning {"meta":"{\"signature\":\"S\"}","text":"hm"}`, `text {"text":"see here"}`, `source-url {"title":"A","url":"https://a.example/"}`, "file ",
		`source-document {"filename":"a_b.pdf","media_type":"application/pdf","title":"document"}`, `text {"text":"\n[a file of the model's is left out: `}
	for i := range max(len(types), len(want)) {
		if i >= len(types) || i >= len(want) || !strings.HasPrefix(types[i], want[i]) {
			t.Fatalf("the parts are %q", types)
		}
	}
	chunks := strings.Join(lines, "\n")
	for _, want := range []string{`"mediaType":"image/png","providerMetadata":{"bailey":{"id":"` + s.Messages()[1].Parts[3].ID + `"}},"type":"file","url":"data:image/png;base64,iVBOR`, `"title":"A","type":"source-url","url":"https://a.example/"`, `"filename":"a_b.pdf","mediaType":"application/pdf"`, `"providerMetadata":{"anthropic":{"signature":"S"}},"type":"reasoning-end"`} {
		if !strings.Contains(chunks, want) {
			t.Errorf("the chunks lack %s: %s", want, chunks)
		}
	}
	list, err := s.Files(t.Context(), s.Messages()[1].Parts[3])
	if err != nil || !bytes.Equal(list[0].Data, picture(2, 3, 60)) {
		t.Errorf("%v %v", list, err)
	}
	_, err = h.talk(t, s, m, "and now?")
	must(t, err)
	if r := m.Requests()[1]; content(r) != "" || !strings.Contains(texts(r), "[image: made.png, image/png, 60 bytes]") || strings.Contains(texts(r), "a.example") {
		t.Errorf("the model gets %s", texts(r))
	}
}

// A file that its provider takes back goes to the model that made it, and to no other.
func TestModelGetsItsFileBack(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s := h.session(t)
	image, line := png("made.png", 60), "[image: made.png, image/png, 60 bytes]"
	m := &yields{Model: &sandboxtest.Model{}, events: [][]sandbox.ModelEvent{{{Type: sandbox.PartFile, File: image, Meta: json.RawMessage(`{"thoughtSignature":"S"}`)}}}}
	lines, err := h.talk(t, s, m, "draw")
	must(t, err)
	if all := strings.Join(lines, "\n"); !strings.Contains(all, `"providerMetadata":{"anthropic":{"thoughtSignature":"S"},"bailey":{"id":"`) {
		t.Errorf("the chunks are %s", all)
	}
	var out bytes.Buffer
	must(t, s.Export(&out))
	imported, err := h.ImportSession(t.Context(), &out)
	must(t, err)
	defer imported.Close()
	fork, err := s.Fork(t.Context(), "")
	must(t, err)
	defer fork.Close()
	for name, c := range map[string]struct {
		s    *sandbox.Session
		m    sandbox.Model
		back bool
		text string
	}{
		"the same model":         {s, m, true, ""},
		"in a fork":              {fork, m, true, ""},
		"another model":          {s, &sandboxtest.Model{}, false, line},
		"in an imported session": {imported, m, false, "[a file of an imported conversation, which is not sent]"},
	} {
		_, err := h.talk(t, c.s, c.m, "now in blue")
		must(t, err)
		list := m.Requests()
		if other, ok := c.m.(*sandboxtest.Model); ok {
			list = other.Requests()
		}
		r := list[len(list)-1]
		back := false
		for _, msg := range r.Messages {
			for _, p := range msg.Parts {
				if len(p.Files) > 0 {
					back = msg.Role == sandbox.RoleAssistant && bytes.Equal(p.Files[0].Data, image.Data) && string(p.Meta) == `{"thoughtSignature":"S"}`
				}
			}
		}
		if back != c.back || !strings.Contains(texts(r), c.text) || !c.back && content(r) != "" {
			t.Errorf("%s: back %t, texts %q", name, back, texts(r))
		}
	}
}

// The files of an answer have the limits of a message and of the session, and those of an imported one
// have them too.
func TestFilesOfAnAnswerHaveLimits(t *testing.T) {
	native.Only(t)
	pdf := func(n int) sandbox.File {
		return sandbox.File{Data: append([]byte(fmt.Sprint("%PDF-", n)), make([]byte, n-len(fmt.Sprint("%PDF-", n)))...)}
	}
	var images []sandbox.File
	for i := range sandbox.MaxFiles + 1 {
		images = append(images, png("", 60+i))
	}
	full := func(n int) (list []sandbox.File) { // all but n bytes of a session
		for left, k := sandbox.MaxSessionFiles-n, 0; left > 0; k++ {
			size := min(left, sandbox.MaxFile-k)
			list, left = append(list, pdf(size)), left-size
		}
		return list
	}
	for _, c := range []struct {
		name   string
		before []sandbox.File // of the user
		files  []sandbox.File // of the answer
		kept   int
		full   bool // one more in the message can't be imported
	}{
		{"10 files", nil, images[:sandbox.MaxFiles], sandbox.MaxFiles, true},
		{"11 files", nil, images, sandbox.MaxFiles, true},
		{"files of the greatest sum", nil, []sandbox.File{pdf(sandbox.MaxFile), pdf(sandbox.MaxFilesBytes - sandbox.MaxFile)}, 2, true},
		{"files above it", nil, []sandbox.File{pdf(sandbox.MaxFile), pdf(sandbox.MaxFilesBytes - sandbox.MaxFile + 1), png("", 60)}, 2, false},
		{"the session's limit", full(121), []sandbox.File{png("", 60), png("", 61)}, 2, false},
		{"a byte above it", full(120), []sandbox.File{png("", 60), png("", 61)}, 1, false},
		{"a large image", nil, []sandbox.File{{Data: picture(8001, 3, sandbox.MaxFile)}}, 1, false},
		{"a larger one", nil, []sandbox.File{png("", sandbox.MaxFile+1)}, 0, false},
		{"equal files", full(60), []sandbox.File{png("", 60), png("", 60)}, 2, false},
	} {
		h := build(t, policy.AskBeforeChanges(), nil, nil)
		s := h.session(t)
		for _, f := range c.before {
			_, err := s.Say(t.Context(), "", f)
			must(t, err)
		}
		var list []sandbox.ModelEvent
		for _, f := range c.files {
			list = append(list, sandbox.ModelEvent{Type: sandbox.PartFile, File: f})
		}
		_, err := h.talk(t, s, &yields{Model: &sandboxtest.Model{}, events: [][]sandbox.ModelEvent{list}}, "go", sandbox.RunOptions{Context: -1})
		must(t, err)
		parts := s.Messages()[len(c.before)+1].Parts
		text, _ := json.Marshal(parts)
		if n, lines := strings.Count(string(text), `"type":"file"`), strings.Count(string(text), "is left out"); n != c.kept || lines != len(c.files)-c.kept {
			t.Errorf("%s: %d files and %d lines", c.name, n, lines)
		}
		var out bytes.Buffer
		must(t, s.Export(&out))
		for _, more := range []bool{false, true} {
			file := out.Bytes()
			if more && !c.full {
				continue
			}
			if more {
				var e map[string]any
				must(t, json.Unmarshal(file, &e))
				for _, p := range e["parts"].([]any) {
					if p.(args)["id"] == parts[c.kept-1].ID {
						twin := maps.Clone(p.(args))
						twin["id"] = "twin"
						e["parts"] = append(e["parts"].([]any), twin)
					}
				}
				file, err = json.Marshal(e)
				must(t, err)
			}
			again, err := h.ImportSession(t.Context(), bytes.NewReader(file))
			if more != errors.Is(err, protocol.ErrResourceLimit) || !more && err != nil {
				t.Errorf("%s, one more %t: %v", c.name, more, err)
			}
			if err == nil {
				again.Close()
			}
		}
	}
}

// A file of a try that failed is dropped by its id, and its content is not stored.
func TestFilesOfAFailedTryAreNotStored(t *testing.T) {
	d := stream(t)
	image, again := png("a.png", 80), png("b.png", 90)
	m := &streamModel{next: func(try int, _ sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool) {
		yield(sandbox.ModelEvent{Type: sandbox.PartFile, File: again}, nil)
		if try == 1 {
			yield(sandbox.ModelEvent{Type: sandbox.PartFile, File: image}, nil)
			yield(sandbox.ModelEvent{}, &sandbox.ModelError{Message: "cut", Retry: true})
			return
		}
		yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
	}}
	told, dropped := map[string]bool{}, []any{}
	for c, err := range d.Run(t.Context(), d.s, m, sandbox.RunOptions{Sleep: func(context.Context, time.Duration) error { return nil }}) {
		must(t, err)
		switch c.Type {
		case "file":
			told[c.ProviderMetadata["bailey"].(map[string]any)["id"].(string)] = true
		case "data-retry":
			dropped = c.Data.(map[string]any)["drop"].([]any)
		}
	}
	if len(dropped) != 2 || !told[dropped[0].(string)] || !told[dropped[1].(string)] {
		t.Errorf("the chunks of files have the ids %v, and dropped are %v", told, dropped)
	}
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{"of the failed try": {image.Data, false}, "of both": {again.Data, true}} {
		sum := sha256.Sum256(c.data)
		if _, err := d.store.File(t.Context(), d.s.ID(), hex.EncodeToString(sum[:])); (err == nil) != c.want {
			t.Errorf("the file %s: %v", name, err)
		}
	}
	if parts := d.s.Messages()[1].Parts; len(parts) != 1 || !told[parts[0].ID] {
		t.Errorf("stored: %+v", parts)
	}
}

// fullStore is a store that has no room for files.
type fullStore struct{ sandbox.Store }

func (fullStore) PutFile(context.Context, string, string, []byte) error {
	return protocol.Errorf(protocol.ErrResourceLimit, "store", "", "the disk is full")
}

// An answer whose file can't be stored keeps its text, and a line stands for the file.
func TestAnswerWithoutRoomForItsFile(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Sessions = fullStore{sandbox.MemoryStore()} })
	s := h.session(t)
	_, err := h.talk(t, s, &yields{Model: &sandboxtest.Model{}, events: [][]sandbox.ModelEvent{{{Type: sandbox.PartFile, File: png("a", 80)}, {Type: sandbox.PartText, Text: "see"}}}}, "draw")
	must(t, err)
	text, _ := json.Marshal(s.Messages()[1].Parts)
	if all := string(text); !strings.Contains(all, "left out: the disk is full") || !strings.Contains(all, `"text":"see"`) || strings.Contains(all, `"file"`) {
		t.Error(all)
	}
}

// An answer has at most 100 sources.
func TestSourcesOfAnAnswer(t *testing.T) {
	for _, n := range []int{99, 100, 101} {
		h := build(t, policy.AskBeforeChanges(), nil, nil)
		s := h.session(t)
		var list []sandbox.ModelEvent
		for i := range n {
			list = append(list, sandbox.ModelEvent{Type: sandbox.PartSource, Source: sandbox.Source{URL: fmt.Sprint("https://a.example/", i), Title: strings.Repeat("é", 501)}})
		}
		_, err := h.talk(t, s, &yields{Model: &sandboxtest.Model{}, events: [][]sandbox.ModelEvent{list}}, "go")
		must(t, err)
		parts := s.Messages()[1].Parts
		if len(parts) != min(n, 100) || len(parts[0].Data.(args)["title"].(string)) != 1000 {
			t.Errorf("%d sources: %d parts", n, len(parts))
		}
	}
}

// A stranger's conversation brings no address that is none of a page.
func TestImportSources(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	for part, want := range map[string]string{
		`"type":"source-url","data":{"url":"https://a.example/","title":"` + strings.Repeat("t", 1001) + `"}`:                               `{"title":"` + strings.Repeat("t", 1000) + `","url":"https://a.example/"}`,
		`"type":"source-url","data":{"url":"javascript:alert(1)","title":"t"}`:                                                              "",
		`"type":"source-url","data":{"url":"","title":"t"}`:                                                                                 "",
		`"type":"source-document","data":{"media_type":"application/PDF","filename":"report\u202efdp.exe","title":"t","url":"javascript:"}`: `{"filename":"report_fdp.exe","media_type":"application/pdf","title":"t"}`,
		`"type":"source-document","data":{"media_type":"<b>","filename":"a","title":"t"}`:                                                   "",
	} {
		file := strings.Replace(stranger(`{"tool":"read","input":{},"model":"{}"}`), `"type":"text","data":{"text":"list the files"}`, part, 1)
		s, err := h.ImportSession(t.Context(), strings.NewReader(file))
		must(t, err)
		got := ""
		for _, m := range s.Messages() {
			for _, p := range m.Parts {
				if strings.HasPrefix(p.Type, "source-") {
					data, _ := json.Marshal(p.Data)
					got += string(data)
				}
			}
		}
		if got != want {
			t.Errorf("%.80s: %.300s", part, got)
		}
		s.Close()
	}
}

// The limits of a message hold for a result.
func TestAddFileLimits(t *testing.T) {
	for _, n := range []int{1, sandbox.MaxFiles, sandbox.MaxFiles + 1} {
		h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) {
			o.Tools = []sandbox.Tool{{Tool: protocol.Tool{ID: "many"}, Run: func(_ context.Context, c *sandbox.Call) (any, error) {
				for i := range n {
					if err := c.AddFile(png(fmt.Sprint("key AKIAIOSFODNN7EXAMPLF ", i), 60+i)); err != nil {
						return nil, err
					}
				}
				return args{"ok": true}, nil
			}}}
		})
		told := h.CallForModel(t.Context(), "many", nil, false)
		if ok := told.Result.Err() == nil; ok != (n <= sandbox.MaxFiles) || ok && len(told.Files) != n || !ok && (len(told.Files) != 0 || !errors.Is(told.Result.Err(), protocol.ErrResourceLimit)) {
			t.Errorf("%d files: %d, %v", n, len(told.Files), told.Result.Err())
		}
		if len(told.Files) > 0 && strings.Contains(told.Files[0].Name, "AKIAIOSFODNN7EXAMPLF") {
			t.Errorf("a name has a credential: %s", told.Files[0].Name)
		}
	}
}

// A session that has too many files tells the model that it does not get those of a result.
func TestResultFilesAboveTheSessionsLimit(t *testing.T) {
	h := showing(t, map[string]string{"data/b.png": string(picture(2, 3, 100))})
	s := h.session(t)
	for k := range sandbox.MaxSessionFiles / sandbox.MaxFile {
		_, err := s.Say(t.Context(), "look", sandbox.File{Data: append([]byte(fmt.Sprint("%PDF-", k)), make([]byte, sandbox.MaxFile-6)...)})
		must(t, err)
	}
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("show", args{"path": "data/b.png"}), sandboxtest.Say("seen")}}
	_, err := h.talk(t, s, m, "", sandbox.RunOptions{Context: -1})
	must(t, err)
	if r := m.Requests()[1]; !strings.Contains(texts(r), "the files of this result are left out") || strings.Contains(content(r), "b.png") {
		t.Errorf("the model gets %s", texts(r))
	}
}

// read gives a model the image that a file has, whatever its name is.
func TestReadShowsImages(t *testing.T) {
	gif := "GIF89a\x07\x00\x05\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
	for name, c := range map[string]struct {
		data string
		want string // of the result for the model
		file string // the type of the image
		err  error
		says string
	}{
		"a.png":      {string(picture(2, 3, 100)), `{"image":{"bytes":100,"height":3,"media_type":"image/png","width":2},"version":`, "image/png", nil, ""},
		"notes.txt":  {string(picture(2, 3, 100)), `"media_type":"image/png"`, "image/png", nil, ""},
		"x/b":        {gif, `"height":5,"media_type":"image/gif","width":7`, "image/gif", nil, ""},
		"cut.gif":    {gif[:len(gif)-1], "", "", protocol.ErrExecution, "the image is damaged or cut off; save it again"},
		"gif.md":     {"GIF89a is the format of 1989.\n", `"content":"GIF89a is the format of 1989.\n"`, "", nil, ""},
		"text.png":   {"only text", `"content":"only text"`, "", nil, ""},
		"c.svg":      {"<svg/>", `"content":"<svg/>"`, "", nil, ""},
		"d.bmp":      {"BM\x00\x00\x00\x00", "", "", protocol.ErrExecution, "this is not a text file (6 bytes)"},
		"e.pdf":      {"%PDF-1.7\n\xff\x00", "", "", protocol.ErrExecution, "this is not a text file"},
		"cut.png":    {string(picture(2, 3, 100)[:90]), "", "", protocol.ErrExecution, "the image is damaged or cut off; save it again"},
		"large.jpg":  {string(picture(2, 3, sandbox.MaxImage+1)), "", "", protocol.ErrResourceLimit, "make it smaller"},
		"most.png":   {string(picture(2, 3, sandbox.MaxImage)), `"bytes":3932160`, "image/png", nil, ""},
		"pixels.png": {string(picture(8001, 3, 100)), "", "", protocol.ErrResourceLimit, "8001 × 3 pixels"},
	} {
		h := build(t, policy.AskBeforeChanges(), nil, map[string]string{name: c.data})
		told := h.CallForModel(t.Context(), "read", args{"path": name}, true)
		if !errors.Is(told.Result.Err(), c.err) || !strings.Contains(told.Text, c.want) || !strings.Contains(told.Text, c.says) {
			t.Errorf("%s: %v %.300s", name, told.Result.Err(), told.Text)
		}
		switch {
		case (c.file == "") != (len(told.Files) == 0):
			t.Errorf("%s: %d files", name, len(told.Files))
		case c.file != "":
			if f := told.Files[0]; f.Name != name[strings.LastIndexByte(name, '/')+1:] || f.MediaType != c.file || string(f.Data) != c.data {
				t.Errorf("%s: %v", name, f)
			}
		}
	}
	// A model may replace the image that it saw.
	h := build(t, parse(t, sendsSome), nil, map[string]string{"a.png": gif})
	h.ok(t, "read", args{"path": "a.png"})
	h.ok(t, "write", args{"path": "a.png", "content": "text"})
}

// adds returns a tool whose result has the file.
func adds(f sandbox.File) func(*sandbox.Options) {
	return func(o *sandbox.Options) {
		o.Tools = []sandbox.Tool{{Tool: protocol.Tool{ID: "give"}, Run: func(_ context.Context, c *sandbox.Call) (any, error) {
			return args{"ok": true}, c.AddFile(f)
		}}}
	}
}

// gives returns a model that calls the tool of adds.
func gives() *sandboxtest.Model {
	return &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("give", args{}), sandboxtest.Say("seen")}}
}

// A credential in a text among the files of a result stays here, and the user has the whole file.
func TestCredentialInAFile(t *testing.T) {
	const key = "ghp_abcdefghij0123456789ABCDEFGHIJ012345"
	file := sandbox.File{Name: "env.txt", Data: []byte("token = " + key + "\n")}
	for _, local := range []bool{false, true} {
		h := build(t, policy.AskBeforeChanges(), nil, nil, adds(file))
		s, m := h.session(t), gives()
		m.OnDevice = local
		lines, err := h.talk(t, s, m, "go")
		must(t, err)
		r := texts(m.Requests()[1])
		if got := strings.Contains(r, key); got != local || !strings.Contains(r, "token = ") {
			t.Errorf("a model with local=%t gets %s", local, r)
		}
		if got := strings.Contains(strings.Join(lines, "\n"), "github token"); got == local {
			t.Errorf("local=%t: what is kept back: %s", local, lines)
		}
		fork, err := s.Fork(t.Context(), "")
		must(t, err)
		again, there := exported(t, h, s), &sandboxtest.Model{}
		for name, s := range map[string]*sandbox.Session{"the session": s, "a fork": fork, "an import": again} {
			var list []sandbox.File
			for _, p := range s.Messages()[1].Parts {
				more, err := s.Files(t.Context(), p)
				must(t, err)
				list = append(list, more...)
			}
			if len(list) != 1 || string(list[0].Data) != string(file.Data) {
				t.Errorf("local=%t: the user has %q in %s", local, list, name)
			}
			_, err := h.talk(t, s, there, "again")
			must(t, err)
		}
		for _, r := range there.Requests() {
			if strings.Contains(texts(r), key) {
				t.Errorf("local=%t: a model elsewhere gets %s", local, texts(r))
			}
		}
		told := h.CallForModel(t.Context(), "give", args{}, local)
		if got := strings.Contains(string(told.Files[0].Data), key); got != local || fmt.Sprint(told.Withheld) == "[]" != local {
			t.Errorf("local=%t: a client gets %q, kept back %q", local, told.Files[0].Data, told.Withheld)
		}
	}
}

// exported returns a session that was exported and imported again.
func exported(t *testing.T, h *house, s *sandbox.Session) *sandbox.Session {
	t.Helper()
	var out bytes.Buffer
	must(t, s.Export(&out))
	again, err := h.ImportSession(t.Context(), &out)
	must(t, err)
	return again
}

// The text of a file of a result is cut as that of a result is.
func TestTextFileOfAResult(t *testing.T) {
	for _, c := range []struct {
		n    int
		unit string
		cut  bool
	}{{sandbox.ReadLimit - 1, "w", false}, {sandbox.ReadLimit, "w", false}, {sandbox.ReadLimit + 1, "w", true}, {sandbox.MaxFile, "w", true}, {sandbox.ReadLimit, "汉", true}} {
		h := build(t, policy.AskBeforeChanges(), nil, nil, adds(sandbox.File{MediaType: "text/plain", Data: []byte(strings.Repeat(c.unit, c.n))}))
		s, m := h.session(t), gives()
		_, err := h.talk(t, s, m, "go", sandbox.RunOptions{Context: -1})
		must(t, err)
		text := texts(m.Requests()[1])
		_, rest, _ := strings.Cut(text, " bytes]\n")
		got, _, cut := strings.Cut(strings.TrimSuffix(rest, "\n"), "\n[cut here")
		if want := min(c.n, sandbox.ReadLimit/len(c.unit)); got != strings.Repeat(c.unit, want) || cut != c.cut {
			t.Errorf("%d bytes: the model gets %d of %d, cut: %t", c.n*len(c.unit), len(got), want*len(c.unit), cut)
		}
		if !utf8.ValidString(text) {
			t.Errorf("%d: the cut is inside a character", c.n)
		}
	}
}

// Files that do not fit into a request are left out, and cost no text.
func TestFilesThatDoNotFit(t *testing.T) {
	say := strings.Repeat("word ", 1200) // 1,500 tokens
	var images []sandbox.File
	for i := range 10 {
		images = append(images, png(fmt.Sprint(i), 60+i))
	}
	for name, files := range map[string][]sandbox.File{
		"a PDF of 3 MiB": {{Name: "a.pdf", Data: append([]byte("%PDF-"), make([]byte, 3<<20)...)}},
		"ten images":     images,
	} {
		h := build(t, policy.AskBeforeChanges(), nil, nil)
		s, m := h.session(t), &sandboxtest.Model{}
		_, err := s.Say(t.Context(), say, files...)
		must(t, err)
		_, err = h.talk(t, s, m, "", sandbox.RunOptions{Context: 16_000})
		must(t, err)
		if r := m.Requests()[0]; !strings.Contains(texts(r), say) || content(r) != "" {
			t.Errorf("%s: the model gets %d bytes of text", name, len(texts(r)))
		}
	}
}

// Files that are too old to be sent do not count towards the limit of a request.
func TestOldFilesDoNotCount(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s := h.session(t)
	for i := range 60 { // 96,000 tokens, of which 20 images with 32,000 are sent
		_, err := s.Say(t.Context(), fmt.Sprint("no ", i), png("a", 60+i))
		must(t, err)
	}
	lines, err := h.talk(t, s, &sandboxtest.Model{}, "go", sandbox.RunOptions{Context: 100_000})
	must(t, err)
	if strings.Contains(types(lines), "data-compaction") {
		t.Errorf("summarised: %s", types(lines))
	}
}

// A file that the provider refuses does not end the conversation.
func TestRefusedFile(t *testing.T) {
	for status, goes := range map[int]bool{400: true, 413: true, 415: true, 422: true, 401: false, 403: false, 404: false, 500: false} {
		h := build(t, policy.AskBeforeChanges(), nil, nil, adds(sandbox.File{Name: "a.pdf", Data: []byte("%PDF-")}))
		s, sent := h.session(t), 0
		m := &sandboxtest.Model{}
		m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
			if content(r) != "" {
				return sandboxtest.Turn{Err: &sandbox.ModelError{Status: status, Message: "The PDF is not valid."}}
			}
			if sent++; sent == 1 {
				return sandboxtest.CallTool("give", args{})
			}
			return sandboxtest.Say("fine")
		}
		var told []string
		for _, text := range []string{"go", "go on"} {
			lines, err := h.talk(t, s, m, text, sandbox.RunOptions{OnSend: func(r sandbox.ModelRequest) { told = append(told, content(r)) }})
			if (err == nil) != goes {
				t.Errorf("%d, %s: %v", status, text, err)
			}
			if got := strings.Contains(strings.Join(lines, "\n"), `"data":{"reason":"The PDF is not valid."},"type":"data-files-refused"`); got != goes {
				t.Errorf("%d, %s: %s", status, text, lines)
			}
		}
		if n := len(m.Requests()); n != len(told) {
			t.Errorf("%d: %d requests, and OnSend saw %d", status, n, len(told))
		}
		if last := m.Requests()[len(m.Requests())-1]; goes && !strings.Contains(texts(last), "[file: a.pdf, application/pdf, 5 bytes]") {
			t.Errorf("%d: the last request has %s", status, texts(last))
		}
	}
}
