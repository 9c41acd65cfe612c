package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// userModule makes a module of a user in a folder, with this clone in the place of the published module.
func userModule(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod := "module example.org/app\n\ngo 1.26\n\nrequire github.com/bailey-go/bailey v0.0.0\n\nreplace github.com/bailey-go/bailey => " + root + "\n\ntool github.com/bailey-go/bailey/wasm_exec\n"
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"go.mod": []byte(mod), "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A user begins with each template in a folder whose name has a space: it is a complete page that builds.
func TestInitTemplates(t *testing.T) {
	for _, template := range templateNames() {
		t.Run(template, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "my app")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			userModule(t, dir)
			var out bytes.Buffer
			if err := run(t.Context(), []string{"init", "-template", template, dir}, &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"main.go", "web/index.html", headersName, ".gitignore", ".vscode/settings.json"} {
				if !exists(dir, name) {
					t.Errorf("%s: no %s", template, name)
				}
			}
			if page := string(read(t, dir, "web/index.html")); !strings.Contains(page, "<title>my app</title>") || strings.Contains(page, "{{") {
				t.Errorf("%s: %s", template, page)
			}
			if code := string(read(t, dir, "main.go")); !strings.HasPrefix(code, "//go:build js && wasm\n") {
				t.Errorf("%s: main.go builds for this machine too", template)
			}
			if want := "  cd '" + dir + "'\n  go mod tidy\n  go tool wasm_exec dev .\n"; !strings.HasSuffix(out.String(), want) {
				t.Errorf("%s: the next steps are\n%swant\n%s", template, out.String(), want)
			}
			if testing.Short() && template != "agent" { // go vet checks all of them with the package
				return
			}
			t.Chdir(dir)
			tidy := exec.Command("go", "mod", "tidy", "-e")
			tidy.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
			if text, err := tidy.CombinedOutput(); err != nil {
				t.Logf("go mod tidy: %v\n%s", err, text)
			}
			dist := t.TempDir()
			mustBuild(t, ".", dist, "main")
			for _, name := range []string{"index.html", headersName, "bailey.js", manifestName} {
				if !exists(dist, name) {
					t.Errorf("%s: the page has no %s", template, name)
				}
			}
			if headers := string(read(t, dist, headersName)); strings.Contains(headers, "unsafe-inline") {
				t.Errorf("%s: %s", template, headers)
			}
		})
	}
}

func TestInitRefuses(t *testing.T) {
	err := run(t.Context(), []string{"init", "-template", "chatt", t.TempDir()}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "hello, chat, agent") {
		t.Errorf("a template that there is not: %v", err)
	}
	root := t.TempDir()
	userModule(t, root)
	dir := filepath.Join(root, "my app")
	if err := run(t.Context(), []string{"init", dir}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "no spaces") || exists(dir, "main.go") {
		t.Errorf("a package whose path has a space: %v", err)
	}
}

func TestNextSteps(t *testing.T) {
	tool := "require github.com/bailey-go/bailey v0.0.0\ntool github.com/bailey-go/bailey/wasm_exec\n"
	for _, c := range []struct{ dir, root, mod, want string }{
		{".", "/m", tool, "next:\n  go mod tidy\n  go tool wasm_exec dev .\n"},
		{"it's here", "/m", tool, "next:\n  cd 'it'\\''s here'\n  go mod tidy\n  go tool wasm_exec dev .\n"},
		{"app", "", "", "next:\n  cd app\n  go mod init example.org/app\n  go get github.com/bailey-go/bailey\n  go mod tidy\n  wasm_exec dev .\n"},
	} {
		if got := nextSteps(c.dir, c.root, c.mod); got != c.want {
			t.Errorf("%q:\n%swant\n%s", c.dir, got, c.want)
		}
	}
}

// A program that exists is kept, and no second main function comes beside it.
func TestInitBesideAProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.go"), []byte("package main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(context.Background(), []string{"init", "-template", "chat", dir}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if exists(dir, "main.go") || exists(dir, "model.go") || !exists(dir, "web/style.css") || !strings.Contains(out.String(), "a program already") {
		t.Error(out.String())
	}
}

func TestServeTellsOfAnUnbuiltFolder(t *testing.T) {
	source := t.TempDir()
	if err := run(t.Context(), []string{"init", source}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if hint := unbuilt(source); !strings.Contains(hint, "no manifest.json") || !strings.Contains(hint, "wasm_exec dev") {
		t.Errorf("%q", hint)
	}
	if err := os.WriteFile(filepath.Join(source, manifestName), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if hint := unbuilt(source) + unbuilt(t.TempDir()); hint != "" {
		t.Errorf("a folder that is built, or that has no source: %q", hint)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs bytes.Buffer
	plain := t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, "go.mod"), []byte("module m\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = run(ctx, []string{"serve", "-addr", "127.0.0.1:0", plain}, io.Discard, &errs)
	if !strings.Contains(errs.String(), "not built here") {
		t.Errorf("serve says %q", errs.String())
	}
}

func TestSlowBuildNamesTheFastOne(t *testing.T) {
	for _, c := range []struct {
		took time.Duration
		fast bool
		want bool
	}{{3*time.Second - 1, false, false}, {3 * time.Second, false, true}, {time.Minute, false, true}, {time.Minute, true, false}} {
		if got := slowHint(c.took, c.fast); strings.Contains(got, "-fast") != c.want {
			t.Errorf("%v, fast %t: %q", c.took, c.fast, got)
		}
	}
}
