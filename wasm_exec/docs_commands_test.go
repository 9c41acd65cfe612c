package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shellBlocks returns the commands of a document: its blocks marked sh, and lines that are indented and begin with a command.
func shellBlocks(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^    (go tool wasm_exec .*)$`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1]+"\n")
	}
	return out
}

// Each command of wasm_exec in the documents exists and has the flags that are written there.
func TestDocsFlags(t *testing.T) {
	docs, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string][]string{"README.md": shellBlocks(t, "README.md")}
	for _, d := range docs {
		blocks["docs/"+filepath.Base(d)] = shellBlocks(t, "docs/"+filepath.Base(d))
	}
	over, cancel := context.WithCancel(t.Context())
	cancel() // dev and serve end at once
	t.Chdir(t.TempDir())
	found := 0
	for name, list := range blocks {
		for line := range strings.Lines(strings.Join(list, "")) {
			args, ok := strings.CutPrefix(strings.TrimSpace(line), "go tool wasm_exec ")
			if !ok {
				continue
			}
			found++
			args, _, _ = strings.Cut(args, "#")
			args, _, _ = strings.Cut(args, ">")
			if err := run(over, strings.Fields(args), io.Discard, io.Discard); errors.Is(err, errUsage) {
				t.Errorf("%s: %s is no command", name, strings.TrimSpace(line))
			}
		}
	}
	if found < 12 {
		t.Errorf("only %d commands were found", found)
	}
	if err := run(over, strings.Fields("build . -quick"), io.Discard, io.Discard); !errors.Is(err, errUsage) {
		t.Errorf("the check takes a flag that there is not: %v", err)
	}
}

// The commands of the documents are run as they are written, in an empty folder beside a clone. Only dev and
// serve, which go on until they are stopped, are left out.
func TestDocsCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a page for release: make soak")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(root, filepath.Join(dir, "bailey")); err != nil {
		t.Fatal(err)
	}
	app := filepath.Join(dir, "app")
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	endless := regexp.MustCompile(`(?m)^go tool wasm_exec (dev|serve) .*\n`)
	for _, name := range []string{"docs/start.md", "docs/deploy.md", "docs/testing.md"} {
		blocks := shellBlocks(t, name)
		if len(blocks) == 0 {
			t.Errorf("%s has no commands", name)
		}
		if name == "docs/start.md" { // in its text
			blocks = append(blocks, inText(t, name, "GOOS=js GOARCH=wasm go vet ./..."))
		}
		for _, block := range blocks {
			if name == "docs/testing.md" { // the page of start.md has no tests, so it gets two
				test := "package main\n\nimport (\n\t\"syscall/js\"\n\t\"testing\"\n)\n\nfunc TestPage(t *testing.T) {\n\tif js.Global().Get(\"document\").IsUndefined() {\n\t\tt.Error(\"no page\")\n\t}\n}\n"
				if err := os.WriteFile(filepath.Join(app, "page_test.go"), []byte(test), 0o644); err != nil {
					t.Fatal(err)
				}
				ownProgram(t, app)
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-euxc", endless.ReplaceAllString(block, ""))
			cmd.Dir = app
			cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
		}
	}
	for _, made := range []string{"dist/index.html", "dist/main.wasm", ".bin/browsertest"} {
		if matches, _ := filepath.Glob(filepath.Join(app, strings.Replace(made, "main.wasm", "main.*.wasm", 1))); len(matches) == 0 {
			t.Errorf("the commands have not made %s", made)
		}
	}
}

// inText returns a command that stands in the text of a document.
func inText(t *testing.T, name, command string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "`"+command+"`") {
		t.Errorf("%s does not say %s", name, command)
	}
	return command + "\n"
}

// goBlock returns the first block of Go in a document that has a text.
func goBlock(t *testing.T, name, with string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[1], with) {
			return m[1]
		}
	}
	t.Fatalf("%s has no code with %q", name, with)
	return ""
}

// ownProgram writes a WASI program of the user's own into app, built as docs/programs.md says, and a test that runs it by the code of that
// document.
func ownProgram(t *testing.T, app string) {
	t.Helper()
	code := goBlock(t, "docs/programs.md", "pool.Command")
	for name, text := range map[string]string{
		"sum/main.go": "package main\n\nimport (\n\t\"crypto/sha256\"\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc main() {\n\tdata, err := os.ReadFile(os.Args[1])\n\tfmt.Printf(\"%x %v\", sha256.Sum256(data), err)\n}\n",
		"program_test.go": "package main\n\nimport (\n\t_ \"embed\"\n\t\"strings\"\n\t\"testing\"\n\t\"time\"\n\n\t\"github.com/bailey-go/bailey/fsaccess\"\n\t\"github.com/bailey-go/bailey/worker\"\n)\n\n//go:embed sum.wasm\nvar wasm []byte\n\n" +
			"func TestProgram(t *testing.T) {\n\tctx := t.Context()\n\tfolder := fsaccess.NewMemory(fsaccess.MemoryOptions{})\n\tif err := folder.WriteFile(\"report.pdf\", []byte(\"abc\"), 0o644); err != nil {\n\t\tt.Fatal(err)\n\t}\n" +
			strings.ReplaceAll(code, "module, err :=", "if err != nil {\nt.Fatal(err)\n}\nmodule, err :=") + "\tif err != nil || !strings.HasPrefix(string(out), \"ba7816bf\") {\n\t\tt.Errorf(\"%s, %v\", out, err)\n\t}\n}\n",
	} {
		name = filepath.Join(app, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", "sum.wasm", "./sum")
	cmd.Dir = app
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// The provider of docs/provider.md answers in a box.
func TestDocsProvider(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a program: make soak")
	}
	app := filepath.Join(t.TempDir(), "app")
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	userModule(t, app)
	source := "package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"iter\"\n\n\t\"github.com/bailey-go/bailey/sandbox\"\n)\n\n" + goBlock(t, "docs/provider.md", "Stream(") +
		"\nfunc main() {\n\tctx := context.Background()\n\tbox, err := sandbox.New(sandbox.Options{})\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\ts, err := box.NewSession(ctx, sandbox.SessionOptions{})\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\t_, _ = s.Say(ctx, \"hi\")\n" +
		"\tfor c, err := range box.Run(ctx, s, echo{}, sandbox.RunOptions{}) {\n\t\tif err != nil {\n\t\t\tpanic(err)\n\t\t}\n\t\tfmt.Print(c.Delta)\n\t}\n}\n"
	if err := os.WriteFile(filepath.Join(app, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", ".")
	cmd.Dir = app
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	if text, err := cmd.CombinedOutput(); err != nil || string(text) != "hello" {
		t.Errorf("%q, %v", text, err)
	}
}

// README.md has the program of the template hello, without its comments and its build tag.
func TestDocsHello(t *testing.T) {
	program, err := templates.ReadFile("templates/hello/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(program), "\npackage main")
	comment := regexp.MustCompile(`(?m) *//[^"\n]*$`)
	if got := goBlock(t, "README.md", "NewDocument"); comment.ReplaceAllString(got, "") != comment.ReplaceAllString("package main"+text, "") {
		t.Errorf("README.md has\n%s\nthe template has\n%s", got, text)
	}
}

// docs/agent-in-100-lines.md has the program of the template agent, to the letter.
func TestDocsAgent(t *testing.T) {
	doc, err := os.ReadFile("../docs/agent-in-100-lines.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := templates.ReadFile("templates/agent/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), "```go\n"+string(program)+"```\n") {
		t.Error("the program in the document is not that of wasm_exec/templates/agent/main.go")
	}
}
