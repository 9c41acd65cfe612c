package daemon

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

type file struct {
	name, text string
	mode       fs.FileMode
}

func archive(t *testing.T, method uint16, list ...file) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range list {
		head := &zip.FileHeader{Name: f.name, Method: method}
		head.SetMode(f.mode | 0o644)
		w, err := z.CreateHeader(head)
		if err == nil && f.text != "" {
			_, err = io.WriteString(w, f.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type put struct {
	ID      string `json:"id"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	LeftOut []Left `json:"left_out"`
}

func (h *house) put(t *testing.T, query, body string) (int, put, string) {
	t.Helper()
	code, text := h.do(t, "PUT", "/files"+query, body, "Content-Type", "application/zip")
	var p put
	if code == 200 {
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
	}
	return code, p, text
}

// changes returns the contents of the changed files, and the list of what has changed.
func (h *house) changes(t *testing.T, id string) (map[string]string, Difference) {
	t.Helper()
	code, text := h.do(t, "GET", "/changes?since="+id, "")
	if code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files, diff := map[string]string{}, Difference{}
	for i, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := json.Unmarshal(data, &diff); err != nil || f.Name != "changes.json" {
				t.Fatal(f.Name, err)
			}
			continue
		}
		files[strings.TrimPrefix(f.Name, "files/")] = string(data)
	}
	return files, diff
}

// all returns the files of the folder.
func (h *house) all(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for e, err := range fsaccess.Walk(t.Context(), h.dir, ".", fsaccess.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.Dir && !e.Link {
			data, err := h.dir.ReadFile(e.Path)
			if err != nil {
				t.Fatal(err)
			}
			out[e.Path] = string(data)
		}
	}
	return out
}

// Files are copied in, a run changes them, and what has changed comes back.
func TestFiles(t *testing.T) {
	dir, err := fsaccess.OpenDir(t.TempDir(), fsaccess.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h := startIn(t, off{}, dir, sandboxtest.CallTool("write", map[string]any{"path": "sub/b.txt", "content": "made"}), sandboxtest.Say("done"))
	if err := dir.WriteFile("old", []byte("of before"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, p, text := h.put(t, "", archive(t, zip.Deflate, file{"sub/", "", fs.ModeDir}, file{"a.txt", "hello", 0}, file{"sub/deep/c.txt", "see", 0}, file{"gone.txt", "x", 0},
		file{".git/hooks/pre-commit", "#!/bin/sh", 0}, file{"run.sh", "#!/bin/sh", 0}, file{".gitignore", "built/\n", 0}))
	if code != 200 || p.ID == "" || p.Files != 5 || p.Bytes != int64(len("helloseex#!/bin/shbuilt/\n")) || len(p.LeftOut) != 1 || p.LeftOut[0].Path != ".git/hooks/pre-commit" || p.LeftOut[0].Reason == "" {
		t.Fatalf("%d %s", code, text)
	}
	if got := slices.Sorted(maps.Keys(h.all(t))); !slices.Equal(got, []string{".gitignore", "a.txt", "gone.txt", "run.sh", "sub/deep/c.txt"}) {
		t.Fatal(got)
	}
	if h.begun != 2 {
		t.Errorf("%d sessions were begun", h.begun)
	}
	if files, diff := h.changes(t, p.ID); len(files)+len(diff.Files)+len(diff.Removed) != 0 || diff.ID != p.ID {
		t.Errorf("%v %+v", files, diff)
	}
	done := make(chan string, 1)
	go func() {
		_, text := h.do(t, "POST", "/chat", `{"text": "write it"}`)
		done <- text
	}()
	until.True(t, "the question", func() bool { return len(h.asker.Questions()) == 1 })
	for _, busy := range [][2]string{{"PUT", "/files"}, {"GET", "/changes?since=" + p.ID}} {
		if code, text := h.do(t, busy[0], busy[1], "", "Content-Type", "application/zip"); code != http.StatusConflict {
			t.Errorf("%v while a run is active: %d %s", busy, code, text)
		}
	}
	if code, text := h.do(t, "POST", "/answer", `{"id": "`+h.asker.Questions()[0].ID+`", "answers": ["once"]}`); code != 200 {
		t.Fatal(text)
	}
	if text := <-done; !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Fatal(text)
	}
	for name, text := range map[string]string{"a.txt": "hello!", "built/x": "ignored"} {
		if err := dir.MkdirAll("built", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := dir.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := dir.Remove("gone.txt"); err != nil {
		t.Fatal(err)
	}
	files, diff := h.changes(t, p.ID)
	if !maps.Equal(files, map[string]string{"a.txt": "hello!", "sub/b.txt": "made"}) || len(diff.Files) != 2 || diff.Files[0].Was == "" || diff.Files[1].Was != "" ||
		len(diff.Removed) != 1 || diff.Removed[0].Path != "gone.txt" || diff.Removed[0].Was == "" {
		t.Errorf("%v %+v", files, diff)
	}
	// The same files again, without one: the session goes on, and nothing has changed since.
	code, q, text := h.put(t, "?keep="+p.ID, archive(t, zip.Store, file{"a.txt", "hello!", 0}, file{"sub", "now a file", 0}))
	if code != 200 || h.begun != 2 || q.ID == p.ID {
		t.Fatalf("%d %s, %d sessions", code, text, h.begun)
	}
	if got := h.all(t); !maps.Equal(got, map[string]string{"a.txt": "hello!", "sub": "now a file"}) {
		t.Error(got)
	}
	if code, text := h.do(t, "GET", "/changes?since="+p.ID, ""); code != http.StatusConflict {
		t.Errorf("%d %s", code, text)
	}
	if code, _, text := h.put(t, "?keep="+p.ID, archive(t, zip.Store)); code != http.StatusConflict {
		t.Errorf("%d %s", code, text)
	}
	_, about := h.do(t, "GET", "/about", "")
	for _, want := range []string{`"api":1`, `"name":"Landlock"`, `"id":"` + q.ID + `"`, `"copies":true`, `"model":`} {
		if !strings.Contains(about, want) {
			t.Errorf("no %s in %s", want, about)
		}
	}
}

func TestAttackFiles(t *testing.T) {
	count := attack.Start(t, "machine")
	big := make([]byte, MaxArchive+1)
	for i := range big {
		big[i] = byte(rand.Uint32())
	}
	var many []file
	for i := range MaxFiles + 1 {
		many = append(many, file{name: "f" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26), text: ""})
	}
	zeros := strings.Repeat("\x00", MaxUnpacked+1)
	broken := []byte(archive(t, zip.Store, file{"a.txt", "AAAA", 0}))
	broken[bytes.Index(broken, []byte("AAAA"))] = 'B'
	for _, a := range []struct {
		name    string
		off     off
		archive string
	}{
		{"a name above the folder", off{names: true}, archive(t, zip.Store, file{"../a.txt", "x", 0})},
		{"a name above the folder, later", off{names: true}, archive(t, zip.Store, file{"b/../../a.txt", "x", 0})},
		{"a name from the root", off{names: true}, archive(t, zip.Store, file{"/etc/a.txt", "x", 0})},
		{"a name of Windows above the folder", off{names: true}, archive(t, zip.Store, file{`..\a.txt`, "x", 0})},
		{"a name with a NUL", off{names: true}, archive(t, zip.Store, file{"a.txt\x00.png", "x", 0})},
		{"no name", off{names: true}, archive(t, zip.Store, file{".", "x", 0})},
		{"a folder above the folder", off{names: true}, archive(t, zip.Store, file{"../b/", "", fs.ModeDir})},
		{"a link", off{names: true}, archive(t, zip.Store, file{"link", "/etc", fs.ModeSymlink})},
		{"a link and a file behind it", off{names: true}, archive(t, zip.Store, file{"link", "/etc", fs.ModeSymlink}, file{"link/a.txt", "x", 0})},
		{"a device", off{names: true}, archive(t, zip.Store, file{"dev", "", fs.ModeDevice})},
		{"a pipe", off{names: true}, archive(t, zip.Store, file{"pipe", "", fs.ModeNamedPipe})},
		{"a name twice", off{names: true}, archive(t, zip.Store, file{"b.txt", "harmless", 0}, file{"b.txt", "other", 0})},
		{"a file that is a folder", off{names: true}, archive(t, zip.Store, file{"b", "x", 0}, file{"b/c", "x", 0})},
		{"a folder that is a file", off{names: true}, archive(t, zip.Store, file{"b/c", "x", 0}, file{"b", "x", 0})},
		{"more bytes than the archive has", off{limits: true}, archive(t, zip.Deflate, file{"zeros", zeros, 0})},
		{"more files than are allowed", off{limits: true}, archive(t, zip.Deflate, many...)},
		{"a large archive", off{limits: true}, archive(t, zip.Store, file{"big", string(big), 0})},
		{"a damaged file", off{names: true}, string(broken)},
		{"no archive", off{names: true}, "PK no"},
	} {
		h := start(t, off{})
		before := h.all(t)
		code, _, text := h.put(t, "", a.archive)
		after := h.all(t)
		count.Try(a.name, code == 200 || !maps.Equal(before, after))
		if code != http.StatusUnprocessableEntity && code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", a.name, code, text)
		}
		code, _, _ = start(t, a.off).put(t, "", a.archive)
		count.Off(a.name, code == 200)
	}
	h := start(t, off{})
	code, _ := h.do(t, "PUT", "/files", archive(t, zip.Store), "Content-Type", "text/plain", "Origin", page)
	count.Try("an archive that a form can send", code == 200)
	if got := h.all(t); got["a.txt"] != "hello" {
		t.Error(got)
	}
}
