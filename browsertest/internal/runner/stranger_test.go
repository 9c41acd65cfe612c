package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An unrelated project can use the command as a tool.
func TestToolOfAnotherModule(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.Replace(string(mod), "module github.com/bailey-go/bailey/browsertest", "module stranger.example/app", 1)
	text = strings.Replace(text, "=> ..", "=> "+filepath.Dir(here), 1)
	text += `
require github.com/bailey-go/bailey/browsertest v0.0.0
replace github.com/bailey-go/bailey/browsertest => ` + here + `
tool github.com/bailey-go/bailey/browsertest/cmd/browsertest
`
	for name, data := range map[string]string{
		"go.mod": text, "go.sum": string(sum),
		"a_test.go": "package app\nimport (\"testing\"; \"syscall/js\")\nfunc TestX(t *testing.T) { t.Log(js.Global().Get(\"document\").Get(\"title\").String()) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command("sh", "-c", `GOOS=js GOARCH=wasm go test -v -exec "$(go tool -n browsertest)" .`)
	c.Dir = dir
	c.Env = append(os.Environ(), "BROWSERTEST_ENGINE="+string(engines[0]), "GOFLAGS=-mod=mod")
	r := finish(t, c)
	if r.code != 0 {
		t.Error(r.code)
	}
	r.has(t, "a_test.go:3: browsertest", "ok ")
}
