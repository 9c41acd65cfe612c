package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// modcache returns the folder of the modules that are downloaded already.
func modcache(ctx context.Context) (string, error) {
	out, err := command(ctx, ".", nil, "go", "env", "GOMODCACHE")
	return strings.TrimSpace(out), err
}

// checkTags makes a repository with the tags, and has the go command take each module from it. Its hash is that of the proxy's zip.
func (r *release) checkTags(ctx context.Context, mods []*mod) (err error) {
	temp, err := os.MkdirTemp("", "release-tags-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	repo := filepath.Join(r.out, "source")
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Join(repo, ".git"))) }()
	for _, args := range [][]string{
		{"git", "init", "-q", "-b", "main"},
		{"git", "add", "-A", "-f"},
		{"git", "-c", "user.name=release", "-c", "user.email=release@localhost", "commit", "-q", "-m", "release"},
		{"git", "config", "user.name", "release"},
		{"git", "config", "user.email", "release@localhost"},
		{"sh", filepath.Join(r.out, "tags.sh")},
	} {
		if _, err := command(ctx, repo, nil, args[0], args[1:]...); err != nil {
			return err
		}
	}
	home, _, _ := strings.Cut(strings.TrimPrefix(mods[0].path, "github.com/"), "/")
	env := []string{"GOPROXY=direct", "GOPRIVATE=github.com/" + home + "/*", "GOFLAGS=-modcacherw", "GOWORK=off", "GOMODCACHE=" + filepath.Join(temp, "cache"),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://" + repo + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + mods[0].path}
	for _, m := range mods {
		out, err := command(ctx, temp, env, "go", "mod", "download", "-json", m.path+"@"+m.version)
		if err != nil {
			return err
		}
		var got struct{ Sum, GoModSum string }
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			return err
		}
		if got.Sum != m.sum || got.GoModSum != m.modSum {
			return fmt.Errorf("%s: from the tag %s the hashes are %s and %s, and in the proxy %s and %s", m.path, m.tag(), got.Sum, got.GoModSum, m.sum, m.modSum)
		}
	}
	fmt.Printf("%d modules have the same hashes by their tags\n", len(mods))
	return nil
}

// consumer is a program that uses a module of the release, in a module of its own.
type consumer struct {
	module string // below the root, "" for the root
	main   func(root string) (string, error)
	target string   // GOOS and GOARCH, "" for the host
	build  []string // packages to build, too
}

// text is the source of a consumer.
func text(s string) func(string) (string, error) {
	return func(string) (string, error) { return s, nil }
}

// fromREADME is the first program of README.md.
func fromREADME(root string) (string, error) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindSubmatch(readme)
	if m == nil {
		return "", errors.New("README.md has no program")
	}
	return string(m[1]), nil
}

const pathOf = "github.com/bailey-go/bailey"

var consumers = []consumer{
	{"", fromREADME, "js wasm", nil},
	{"", text("package main\n\nfunc main() {}\n"), "", []string{pathOf + "/wasm_exec"}},
	{"browsertest", text("package main\n\nfunc main() {}\n"), "", []string{pathOf + "/browsertest/cmd/browsertest"}},
	{"mcp", text(`package main

import (
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func main() {
	box, err := sandbox.New(sandbox.Options{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{}), Policy: policy.AskBeforeChanges()})
	if err == nil {
		_, err = mcp.NewServer(box, mcp.Options{Tools: []string{"read"}})
	}
	fmt.Println(err)
}
`), "", nil},
	{"sandbox/command/native", text(`package main

import (
	"context"
	"fmt"
	"os"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command/native"
)

func main() {
	r, err := native.New(native.Options{Commands: map[string]string{"sort": "core.wasm"}, Fetch: func(_ context.Context, name string) ([]byte, error) { return os.ReadFile(name) }})
	if err == nil {
		_ = sandbox.ToolRun(r)
	}
	fmt.Println(err)
}
`), "", nil},
	{"environment", text(`package main

import "github.com/bailey-go/bailey/environment/computer"

func main() { computer.Main() }
`), "", []string{pathOf + "/environment/cmd/bailey-box", pathOf + "/environment/cmd/bailey-front", pathOf + "/environment/cmd/bailey-job"}},
	{"environment/kubernetes", text("package main\n\nfunc main() {}\n"), "", []string{pathOf + "/environment/kubernetes/cmd/bailey-front-kubernetes"}},
	{"fsaccess/conformance", text(`package main

import (
	"fmt"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/fsaccess/conformance"
)

func main() {
	f := conformance.Adapter{FS: fsaccess.NewMemory(fsaccess.MemoryOptions{})}
	fmt.Println(f.Rename("a", "b") != nil)
}
`), "", nil},
	{"worker/tools", text("package main\n\nfunc main() {}\n"), "wasip1 wasm", []string{pathOf + "/worker/tools/cmd/data"}},
}

// consume builds each consumer, with the proxy of the release for the modules of Bailey, and what is downloaded already for all others.
func (r *release) consume(ctx context.Context, list []consumer) error {
	cache, err := modcache(ctx)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "release-use-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	proxies := "file://" + filepath.Join(r.out, "proxy") + ",file://" + filepath.Join(cache, "cache/download")
	if rest, err := command(ctx, ".", nil, "go", "env", "GOPROXY"); err == nil {
		proxies += "," + strings.TrimSpace(rest)
	}
	for i, c := range list {
		dir := filepath.Join(temp, fmt.Sprint(i))
		path := strings.TrimSuffix(pathOf+"/"+c.module, "/")
		source, err := c.main(filepath.Join(r.out, "source"))
		if err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
			return err
		}
		env := []string{"GOPROXY=" + proxies, "GONOSUMDB=" + pathOf + "," + pathOf + "/*", "GOFLAGS=-modcacherw -trimpath -p=2", "GOWORK=off", "GOMODCACHE=" + filepath.Join(temp, "cache"), "GOTOOLCHAIN=local"}
		if os, arch, ok := strings.Cut(c.target, " "); ok {
			env = append(env, "GOOS="+os, "GOARCH="+arch)
		}
		for _, args := range [][]string{
			{"mod", "init", "example.org/app"},
			append([]string{"get"}, versions(append([]string{path}, c.build...), r.version)...),
			append([]string{"build", "-mod=mod", "-o", filepath.Join(dir, "out") + string(filepath.Separator), "."}, c.build...),
		} {
			if _, err := command(ctx, dir, env, "go", args...); err != nil {
				return fmt.Errorf("a program that uses %s: %w", path, err)
			}
		}
		fmt.Println("a program that uses", path, strings.TrimSpace(c.target), "builds")
	}
	return nil
}

func versions(paths []string, version string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p + "@" + version
	}
	return out
}
