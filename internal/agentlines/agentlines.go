// Package agentlines compares the tool bash with the machine's bash on command lines that agents type.
// It is for tests: those of the shell, and those of the modules with further commands.
package agentlines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/needs"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// files is the folder of the command lines in testdata/agent.txt.
var files = map[string]string{
	"names.txt":         "alice\nbob\ncarol\ndave\nerin\nalice\nfrank\n",
	"nums.txt":          "10\n2\n33\n4\n100\n7\n",
	"dup.txt":           "b\na\nb\nb\nc\na\n",
	"words.txt":         "the quick brown fox  \njumps over the lazy dog\n\n\nin the end, the fox sleeps\n  indented line\n",
	"mixed.txt":         "Banana\napple\nAPPLE\nbanana\ncherry\n",
	"tricky.txt":        "a.b\nx*y\n-v flag\nf(x) = 1\n/usr/bin/env\naab xx\na+b .*\ncaf\u00e9\n",
	"patterns.txt":      "alice\nerin\n",
	"pairs.txt":         "b 1\na 2\nc 1\na 1\n",
	"colon.txt":         "x:3:c1\ny:1:b9\nz:22:a5\n",
	"sizes.txt":         "2K\n1G\n512\n3M\n1.5K\n",
	"versions.txt":      "v1.10.0\nv1.9.2\nv1.2.10\nv2.0.0\n",
	"months.txt":        "MAR\nJAN\nDEC\nFEB\n",
	"floats.txt":        "1.5e3\n-2.5\n0.1\n.5\n1e-2\n",
	"tabs.tsv":          "id\tname\tage\n1\talice\t30\n2\tbob\t25\n",
	"data.csv":          "name,role,score\nalice,dev,30\nbob,ops,25\ncarol,dev,41\n",
	"join1.txt":         "1 a\n2 b\n3 c\n",
	"join2.txt":         "1 x\n3 y\n4 z\n",
	"comm1.txt":         "a\nb\nc\n",
	"comm2.txt":         "b\nc\nd\n",
	"old.txt":           "one\ntwo\nthree\nfour\nfive\nsix\nseven\n",
	"new.txt":           "one\n2\nthree\nfour\nfive\nsix\nseven\neight\n",
	"spaced1.txt":       "a b\nc\n",
	"spaced2.txt":       "a  b \nc\n",
	"config.ini":        "# settings\n[main]\nname=demo\nport=8080\n\napiKey=abc\nurl=http://x/?a=b\n",
	"empty.txt":         "",
	"with space.txt":    "spaced\n",
	".env":              "SECRET=1\npassword=x\n",
	"script.sed":        "s/alice/ALICE/\n2d\n",
	"prog.awk":          "/a/ { n++ }\nEND { print n }\n",
	"app.log":           "2024-01-15 10:00:01 INFO start user=alice 12ms\n2024-01-15 10:00:02 WARN disk 91%\n2024-01-15 10:00:03 ERROR disk full user=bob\n2024-01-15 10:00:04 INFO retry user=alice 7ms\n2024-01-15 10:00:05 ERROR timeout after 3000ms\n2024-01-15 10:00:06 INFO beta done\n2024-01-16 09:00:00 INFO stop user=carol\n",
	"users.json":        `[{"name":"alice","age":30,"role":"dev","tags":["a","b"],"mail":"alice@x.org"},{"name":"bob","age":25,"role":"ops","tags":[],"mail":"bob@x.org"},{"name":"carol","age":41,"role":"dev","tags":["c"],"mail":"carol@x.org"}]` + "\n",
	"src/main.go":       "package main\n\nimport \"fmt\"\n\n// TODO: flags\nfunc main() {\n\tfmt.Println(\"hi\") // TODO\n}\n",
	"src/util.go":       "package main\n\nfunc add(a, b int) int {\n\treturn a + b\n}\n",
	"src/lib/helper.py": "import os\n\ndef help():\n    # TODO later\n    return os.name\n",
	"docs/guide.md":     "# Guide\n\nSee alice.\n",
	"docs/api.MD":       "# API\n",
	"scripts/run.sh":    "#!/bin/bash\necho \"run $1 $#\"\n",
	"scripts/lib.sh":    "greet() { echo \"hello $1\"; }\n",
	"sized/small":       "1234567890",
	"sized/mid":         strings.Repeat("m", 100),
	"sized/big":         strings.Repeat("b", 3000),
	"empty_dir/":        "",
}

// times are the ages of files, in hours, where an order of times matters. All others are one hour old.
var times = map[string]int{"sized/small": 2, "sized/mid": 4, "sized/big": 3, "names.txt": 2}

var now = time.Now().Truncate(time.Second)

func timeOf(name string) time.Time {
	return now.Add(-time.Duration(max(times[name], 1)) * time.Hour)
}

func modeOf(name string) fs.FileMode {
	if name == "scripts/run.sh" {
		return 0o755
	}
	return 0o644
}

// Scripts returns the scripts of testdata/agent.txt.
func Scripts(t testing.TB, dir string) (list []string) {
	data, err := os.ReadFile(filepath.Join(dir, "agent.txt"))
	must(t, err)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#") || line == "":
		case strings.HasPrefix(line, "\t"):
			list[len(list)-1] += "\n" + line[1:]
		default:
			list = append(list, line)
		}
	}
	return list
}

// plant makes the folder, with the times and modes of files. fsys is a folder of the machine or of memory.
func plant(t testing.TB, fsys *fsaccess.Folder) {
	for name, content := range files {
		if strings.HasSuffix(name, "/") {
			must(t, fsys.MkdirAll(strings.TrimSuffix(name, "/"), 0o755))
			continue
		}
		must(t, fsys.MkdirAll(path.Dir(name), 0o755))
		must(t, fsys.WriteFile(name, []byte(content), modeOf(name)))
		must(t, fsys.Chmod(name, modeOf(name)))
		must(t, fsys.Chtimes(name, timeOf(name), timeOf(name)))
	}
}

// A Ran is the result of a script: its output, its exit code, and all files after it.
type Ran struct {
	out   string
	code  int
	files map[string]string
}

// Diff returns the first difference from another result, or "".
func (r Ran) Diff(o Ran) string {
	switch {
	case r.out != o.out:
		return fmt.Sprintf("output %q, want %q", r.out, o.out)
	case r.code != o.code:
		return fmt.Sprintf("exit code %d, want %d", r.code, o.code)
	}
	for name, text := range o.files {
		if got, ok := r.files[name]; !ok {
			return fmt.Sprintf("%s is missing", name)
		} else if got != text {
			return fmt.Sprintf("%s is %q, want %q", name, got, text)
		}
	}
	for name := range r.files {
		if _, ok := o.files[name]; !ok {
			return fmt.Sprintf("%s should not be there", name)
		}
	}
	return ""
}

// tools are commands that a machine with bash need not have. Scripts that name one are left out without it.
var tools = []string{"jq", "bc", "xxd", "tree", "file", "zip", "unzip", "hexdump", "strings", "column", "patch", "fmt", "factor", "awk"}

func Needs(script string) string {
	for _, tool := range tools {
		if slices.Contains(words(script), tool) {
			if _, err := exec.LookPath(tool); err != nil {
				return tool
			}
		}
	}
	return ""
}

func words(script string) []string {
	return strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune(" ;|&()<>\n\t", r) })
}

// InBash runs a script in the machine's bash, in a folder of its own.
func InBash(t testing.TB, bash, script string) Ran {
	dir := t.TempDir()
	folder, err := fsaccess.OpenDir(dir, fsaccess.DirOptions{})
	must(t, err)
	plant(t, folder)
	must(t, folder.Close())
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, bash, "-c", script)
	cmd.Dir = dir
	temp := t.TempDir()
	cmd.Env = []string{"PATH=" + bashPath(), "LC_ALL=C.UTF-8", "HOME=" + dir, "TZ=UTC", "TMPDIR=" + temp}
	var out bytes.Buffer
	cmd.Stdout = &out
	code := 0
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	left := map[string]string{}
	must(t, filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(p)
			left[filepath.ToSlash(rel)] = "a link to " + to
			return err
		}
		data, _ := os.ReadFile(p)
		left[filepath.ToSlash(rel)] = comparable(rel, data)
		return nil
	}))
	text := strings.ReplaceAll(strings.ReplaceAll(out.String(), dir+"/", "/"), dir, "/")
	return Ran{strings.ToValidUTF8(text, "\uFFFD"), code, left}
}

// bashPath is the PATH of the machine's bash. BAILEY_USERLAND puts other tools in front, to measure them.
func bashPath() string {
	if front := os.Getenv("BAILEY_USERLAND"); front != "" {
		return front + ":" + os.Getenv("PATH")
	}
	return os.Getenv("PATH")
}

// stamp is the time of a file in a difference.
var stamp = regexp.MustCompile(`\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* [+-]\d{4}`)

// comparable returns the content of a file without times, and nothing of an archive, which has some in it.
func comparable(name string, data []byte) string {
	for _, ext := range []string{".tar", ".tgz", ".gz", ".zip"} {
		if strings.HasSuffix(name, ext) {
			return "an archive"
		}
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	if strings.HasSuffix(name, ".diff") {
		text = stamp.ReplaceAllString(text, "\ta time")
	}
	return text
}

// InBailey runs a script in the tool bash.
func InBailey(t testing.TB, tool sandbox.Tool, script string) (Ran, error) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	plant(t, mem)
	p, err := policy.Parse(open, policy.Options{})
	must(t, err)
	b, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: yes{}, Tools: append(sandbox.Standard(), tool), Watch: &sandbox.WatchOptions{Rate: 100_000, Repeats: 100_000}})
	must(t, err)
	res := b.Call(t.Context(), "bash", map[string]any{"command": "{ " + script + "\n} 2>/dev/null", "timeout": 20_000.0})
	m, _ := res.Data.(map[string]any)
	out, _ := m["output"].(string)
	code, _ := m["exit_code"].(float64)
	left := map[string]string{}
	must(t, fs.WalkDir(mem, ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(p, "tmp/") {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := mem.ReadLink(p)
			left[p] = "a link to " + to
			return err
		}
		data, err := mem.ReadFile(p)
		left[p] = comparable(p, data)
		return err
	}))
	return Ran{out, int(code), left}, res.Err()
}

// Diffs returns the difference of each script, or "".
func Diffs(t testing.TB, bash string, bailey sandbox.Tool, list []string) []string {
	diffs, _ := both(t, bash, bailey, list, nil)
	return diffs
}

// both returns the difference of each script, or "", and the answers of bash. Those in recorded are not asked for again.
func both(t testing.TB, bash string, bailey sandbox.Tool, list []string, recorded map[string]answer) ([]string, []Ran) {
	out, wants := make([]string, len(list)), make([]Ran, len(list))
	var all sync.WaitGroup
	turns := make(chan struct{}, 4)
	for i, script := range list {
		if Needs(script) != "" {
			continue
		}
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			if a, ok := recorded[script]; ok {
				wants[i] = a.ran()
			} else {
				wants[i] = InBash(t, bash, script)
			}
			got, err := InBailey(t, bailey, script)
			if out[i] = got.Diff(wants[i]); err != nil {
				out[i] = err.Error()
			}
		})
	}
	all.Wait()
	return out, wants
}

// Differs returns the command lines with a known difference, each with its reason. In the file a reason is a line that
// begins with #, and counts for all scripts below it.
func Differs(t testing.TB, dir string) map[string]string {
	data, err := os.ReadFile(filepath.Join(dir, "agent_differs.txt"))
	must(t, err)
	out, reason, last := map[string]string{}, "", ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
		case strings.HasPrefix(line, "#"):
			reason = strings.TrimSpace(line[1:])
		case strings.HasPrefix(line, "\t"):
			delete(out, last)
			last += "\n" + line[1:]
			out[last] = reason
		default:
			last = line
			out[last] = reason
		}
	}
	return out
}

// Depends begins the reason of a known difference that depends on the machine: the versions of its tools, its file system. It may be absent.
const Depends = "it depends on the machine: "

// Compare runs the command lines that name one of the commands, or all if there is none, beside the machine's bash. known are
// the lines with a known difference. One that is no longer there fails the test, too.
func Compare(t *testing.T, dir string, bailey sandbox.Tool, known map[string]string, commands ...string) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		needs.Missing(t, "there is no bash here to compare with")
	}
	list := Scripts(t, dir)
	if len(list) < 600 {
		t.Errorf("%d command lines only", len(list))
	}
	rest := maps.Clone(known)
	if len(commands) > 0 {
		other := func(script string) bool {
			return !slices.ContainsFunc(words(script), func(w string) bool { return slices.Contains(commands, w) })
		}
		list = slices.DeleteFunc(list, other)
		maps.DeleteFunc(rest, func(script, _ string) bool { return other(script) })
	}
	var old map[string]answer
	if testing.Short() && os.Getenv("RECORD") == "" {
		// The machine's bash answers a third of them, and the recorded answers stand for it otherwise.
		old = map[string]answer{}
		for i, a := range read(t, dir) {
			if i%3 != 0 && !strings.HasPrefix(known[a.Line], Depends) {
				old[a.Line] = a
			}
		}
	}
	diffs, wants := both(t, bash, bailey, list, old)
	if len(commands) == 0 {
		recorded(t, dir, list, wants, known)
	}
	agree, left := 0, map[string]int{}
	for i, script := range list {
		if tool := Needs(script); tool != "" {
			left[tool]++
			continue
		}
		diff := diffs[i]
		reason, differs := known[script]
		delete(rest, script)
		switch {
		case diff == "" && differs && !strings.HasPrefix(reason, Depends):
			t.Errorf("%s\nis as in bash now: it is no known difference any more (%s)", script, reason)
		case diff == "":
			agree++
		case !differs:
			t.Errorf("%s\n%s", script, diff)
		}
	}
	for script := range rest {
		if Needs(script) == "" {
			t.Errorf("a known difference is not in agent.txt: %s", script)
		}
	}
	total := len(list)
	for _, n := range left {
		total -= n
	}
	t.Logf("%d of %d command lines agree with bash (%.1f %%); left out because the machine lacks the command: %v", agree, total, 100*float64(agree)/float64(total), left)
}

// open is a policy that allows all of the folder and all commands.
const open = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "*", "action": "allow"}]}`

// yes answers each question once.
type yes struct{}

func (yes) Ask(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	out := make([]sandbox.Reply, len(p.Requests))
	for i := range out {
		out[i].Answer = policy.AnswerOnce
	}
	return out, nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
