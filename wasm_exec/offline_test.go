package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// offlinePage copies the test page and gives it an offline.json.
func offlinePage(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join("testdata", "offline-"+strings.ReplaceAll(t.Name(), "/", "-"))
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.CopyFS(dir, os.DirFS("testdata/pages")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, offlineName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// told returns the data about the build in a service worker.
func told(t *testing.T, dir string) (b struct {
	Version string
	Files   map[string]string
	Keep    []string
}) {
	t.Helper()
	text := string(read(t, dir, workerName))
	_, text, _ = strings.Cut(text, "baileyBuild = ")
	text, _, _ = strings.Cut(text, ";\n")
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// The service worker lists the files of the page with their hashes, and no file that browsers
// must not get.
func TestOfflineListsThePage(t *testing.T) {
	src, dir := offlinePage(t, `{"keep": ["data/"]}`), t.TempDir()
	if err := os.MkdirAll(filepath.Join(src, "web/data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(src, "web/data/later.txt"), []byte("may change"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := mustBuild(t, src, dir, "main")
	b := told(t, dir)
	for name, hash := range b.Files {
		if got := integrity(read(t, dir, name)); got != hash {
			t.Errorf("%s: %s is listed, it is %s", name, hash, got)
		}
	}
	for _, want := range []string{"index.html", "app.css", "img/a.png", "bailey.js", manifestName, m.Files["main.wasm"].Path, m.Files["wasm_exec.js"].Path, m.Offline.Page} {
		if b.Files[want] == "" {
			t.Errorf("%s is not among %v", want, slices.Sorted(maps.Keys(b.Files)))
		}
	}
	for _, never := range []string{headersName, offlineName, workerName, "data/later.txt"} {
		if b.Files[never] != "" {
			t.Errorf("%s is listed", never)
		}
	}
	if b.Version != m.Offline.Version || len(b.Version) != 16 || !slices.Equal(b.Keep, []string{"data/"}) {
		t.Errorf("version %q, keep %v", b.Version, b.Keep)
	}
}

// Builds with the same files have the same version. Any changed file changes it.
func TestOfflineVersion(t *testing.T) {
	src, dir := offlinePage(t, `{}`), t.TempDir()
	one := mustBuild(t, src, dir, "main").Offline.Version
	if again := mustBuild(t, src, dir, "main").Offline.Version; again != one {
		t.Errorf("built again: %s, %s before", again, one)
	}
	if err := os.WriteFile(filepath.Join(src, "web/app.css"), []byte("p{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	two := mustBuild(t, src, dir, "main")
	if two.Offline.Version == one {
		t.Error("another style sheet, the same version")
	}
	// Another program in the same folder, without an offline.json of its own.
	three := mustBuild(t, "testdata/hello", dir, "second")
	if three.Offline == nil || three.Offline.Version == two.Offline.Version {
		t.Fatal("a second program is no part of the version")
	}
	files := told(t, dir).Files
	for _, want := range []string{"app.css", three.Files["main.wasm"].Path, three.Files["second.wasm"].Path} {
		if files[want] == "" {
			t.Errorf("%s is not listed", want)
		}
	}
}

func TestOfflineMistakes(t *testing.T) {
	for text, want := range map[string]string{
		`{"keep": ["/data"]}`:              "path below the page",
		`{"keep": ["../x"]}`:               "path below the page",
		`{"keep": ["."]}`:                  "path below the page",
		`{"keep": ["https://a.example/"]}`: "path below the page",
		`{"keep": ["a?b"]}`:                "path below the page",
		`{"kept": []}`:                     "unknown field",
		`{} {}`:                            "more than one value",
		`{"remove": true, "keep": ["a"]}`:  "leave keep out",
		``:                                 "EOF",
	} {
		if _, err := decodeOffline([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{`{}`, `{"keep": ["data/", "words.txt"]}`, `{"remove": true}`} {
		if _, err := decodeOffline([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// With remove there is a service worker that unregisters itself, and no page script registers
// another.
func TestOfflineRemove(t *testing.T) {
	src, dir := offlinePage(t, `{"remove": true}`), t.TempDir()
	if m := mustBuild(t, src, dir, "main"); m.Offline != nil {
		t.Error("the manifest still names it")
	}
	if text := string(read(t, dir, workerName)); !strings.Contains(text, "unregister()") || strings.Contains(text, "respondWith") {
		t.Error(text)
	}
}
