package shell_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

const open = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "*", "action": "allow"}]}`

var files = map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "banana\napple\ncherry\napple\n", "n.csv": "x,3\ny,1\nz,22\n", "d/e.txt": "deep\n", "d/f.md": "# title\n", "empty": "", ".hidden": "h\n"}

func build(t testing.TB, text string, ask sandbox.Asker) (*sandbox.Box, *fsaccess.Folder) {
	t.Helper()
	b, mem, _ := buildWith(t, text, ask, shell.Bash(shell.Options{}))
	return b, mem
}

// buildWith is build with another bash, or with other tools in place of all. The journal is the folder as the user has it.
func buildWith(t testing.TB, text string, ask sandbox.Asker, tools ...sandbox.Tool) (*sandbox.Box, *fsaccess.Folder, *fsaccess.Journal) {
	t.Helper()
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.MkdirAll("d", 0o755))
	for name, content := range files {
		must(t, mem.WriteFile(name, []byte(content), 0o644))
	}
	p, err := policy.Parse(text, policy.Options{})
	must(t, err)
	if len(tools) == 1 {
		tools = append(sandbox.Standard(), tools...)
	}
	journal := fsaccess.NewJournal(mem, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	b, err := sandbox.New(sandbox.Options{FS: journal, Policy: p, Ask: ask,
		Tools: tools, Watch: &sandbox.WatchOptions{Rate: 100_000, Repeats: 100_000}})
	must(t, err)
	return b, mem, journal
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run returns a script's output and exit code.
func run(t testing.TB, b *sandbox.Box, script string) (string, int, error) {
	t.Helper()
	res := b.Call(context.Background(), "bash", map[string]any{"command": script})
	m, _ := res.Data.(map[string]any)
	out, _ := m["output"].(string)
	code, _ := m["exit_code"].(float64)
	return out, int(code), res.Err()
}

func TestShellRefuses(t *testing.T) {
	native.Only(t)
	b, mem := build(t, open, sandboxtest.Always(policy.AnswerReject))
	for script, want := range map[string]string{
		"coproc cat":               "coproc",
		"echo ~root":               "home folders",
		"echo {1..100000}":         "10,000 words",
		"echo {1..99}{1..99}{a,b}": "10,000 words",
		"echo $(":                  "can't be read",
		strings.Repeat("(", 5000) + "true" + strings.Repeat(")", 5000): "nested",
		"f() { f; }; f": "too deeply",
		"x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done":             "variables",
		"x=aaaaaaaaaaaaaaaa;" + strings.Repeat("x=$x$x;", 40):         "variables",
		"x=aaaaaaaaaaaaaaaa;" + strings.Repeat("declare x=$x$x;", 40): "variables",
	} {
		out, code, err := run(t, b, script)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %.80q %d %v; want %s", script, out, code, err, want)
		}
	}
	for _, script := range []string{"rm a.txt", "rm -rf /", "rm -rf d", "mv a.txt b.txt", "echo x > a.txt", "find / -delete", "cp a.txt b.txt", "sed -i s/o/x/ a.txt", "cat a.txt | tee b.txt", "echo x > .bashrc", "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit", "rmdir d", "exec 3> a.txt"} {
		_, _, _ = run(t, b, script)
		for name, want := range files {
			if got, err := mem.ReadFile(name); err != nil || string(got) != want {
				t.Fatalf("%q: %s is %q, %v", script, name, got, err)
			}
		}
		if _, err := mem.Stat(".git/hooks/pre-commit"); err == nil {
			t.Fatalf("%q made a hook", script)
		}
	}
}

func TestShellSeesNoHost(t *testing.T) {
	t.Setenv("BAILEY_SECRET", "of the host")
	b, _ := build(t, open, nil)
	for _, script := range []string{"cat /etc/passwd", "cat ../../../etc/passwd", "ls /etc", "echo $BAILEY_SECRET", "env", "cd /etc && pwd", "type /bin/ls", "/bin/ls", "test -e /etc/passwd && echo there", ". /etc/profile", "source /etc/passwd",
		"cat < /proc/self/environ", "echo /etc/*", "curl http://127.0.0.1", "exec /bin/sh", "echo x > /dev/tcp/127.0.0.1/1", "printenv", "pwd -P", "hash /bin/ls", "[[ -r /etc/passwd ]] && echo there", "read -r x < /etc/hostname; echo $x", "mapfile x < /etc/passwd; echo ${x[0]}"} {
		out, _, _ := run(t, b, script)
		for _, leak := range []string{"root:", "of the host", "there", "/bin/sh", "/etc/passwd\n", "PATH=/usr/local/sbin"} {
			if strings.Contains(out, leak) && !strings.Contains(out, "not found") && !strings.Contains(out, "No such file") {
				t.Errorf("%q: %.200q", script, out)
			}
		}
	}
}

func TestShellGoesThroughTheGate(t *testing.T) {
	pol := `{"filesystem": {"denyRead": ["d"], "allowWrite": ["out"]}, "capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["bash", "cat", "ls", "echo", "tee", "mkdir"]},
		"rules": [{"permission": "*", "action": "allow"}, {"permission": "fs.read", "pattern": "b.txt", "action": "deny"}]}`
	b, mem := build(t, pol, nil)
	for script, want := range map[string]string{
		"cat d/e.txt":                "Permission denied",
		"cat b.txt":                  "Permission denied",
		"cat *.txt":                  "one\ntwo\nthree\n",
		"echo x > a.txt; cat a.txt":  "one\ntwo\nthree\n",
		"x=cat; $x a.txt":            "one\ntwo\nthree\n",
		"x=grep; $x one a.txt":       "not granted",
		"echo hi > out/x; cat out/x": "hi\n",
		"cat < b.txt":                "Permission denied",
		"ls d":                       "",
	} {
		out, _, err := run(t, b, script)
		if err != nil {
			out += err.Error()
		}
		if want == "not granted" {
			want = "outside what is granted"
		}
		if !strings.Contains(out, want) || strings.Contains(out, "deep") || strings.Contains(out, "banana") {
			t.Errorf("%q: %q; want %q", script, out, want)
		}
	}
	if _, _, err := run(t, b, "grep x a.txt"); err == nil {
		t.Error("a command that is not granted runs")
	}
	if got, _ := mem.ReadFile("a.txt"); string(got) != files["a.txt"] {
		t.Errorf("a.txt is %q", got)
	}
}

func TestShellEndsInTime(t *testing.T) {
	b, _ := build(t, open, nil)
	for _, script := range []string{"while true; do :; done", "while [[ 1 ]]; do ((i++)); done", "yes | while read x; do while :; do :; done; done", "until false; do true; done", "for ((;;)); do :; done"} {
		res := b.Call(context.Background(), "bash", map[string]any{"command": script, "timeout": 300})
		if res.Code != protocol.ErrTimeout && res.Code != protocol.ErrResourceLimit {
			t.Errorf("%q: %+v", script, res)
		}
	}
}

// The name of Casys PML for a shell means this tool, with its policy.
func TestOtherSystemsNameForBash(t *testing.T) {
	b, _ := build(t, open, nil)
	res := b.Call(context.Background(), "mcp.shell.run_command", map[string]any{"command": "head -n 1 a.txt"})
	if m, _ := res.Data.(map[string]any); m["output"] != "one\n" {
		t.Errorf("%+v", res)
	}
	denied, mem := build(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "*", "action": "allow"}, {"permission": "bash", "action": "deny"}]}`, nil)
	if res := denied.Call(context.Background(), "mcp.shell.run_command", map[string]any{"command": "echo x > a.txt"}); res.Code != protocol.ErrCapabilityDenied {
		t.Errorf("%+v", res)
	}
	if data, err := mem.ReadFile("a.txt"); err != nil || string(data) != files["a.txt"] {
		t.Errorf("%q %v", data, err)
	}
}

// The expressions of grep and sed have a limit of size after expansion.
func TestExpressionsOfBashAreBounded(t *testing.T) {
	b, _ := build(t, open, nil)
	for pattern, want := range map[string]bool{"b{999}b{990}": true, "b{999}b{999}b{9}": false, "(b{100}){9}": true} {
		for _, script := range []string{"grep -cE '" + pattern + "' a.txt", "sed -nE '/" + pattern + "/p' a.txt"} {
			out, code, err := run(t, b, script)
			if refused := strings.Contains(out, "too large") && code != 0; err != nil || refused == want {
				t.Errorf("%s: %q %d %v", script, out, code, err)
			}
		}
	}
}

// Options that a smaller shell accepts and does not read. Each answer is bash's.
func TestShellReadsItsOptions(t *testing.T) {
	for _, c := range [][2]string{
		{`grep -A1 b f`, "b\nc\n"},
		{`grep -e a -e b f`, "a\nb\n"},
		{`grep 'a\|b' f`, "a\nb\n"},
		{`sed -e '1d' -e 's/b/X/' f`, "X\nc\n"},
		{`sed 's/f(x)/g(y)/' g`, "g(y)\n"},
		{`sed 's/\(.*\)=\(.*\)/\2=\1/' h`, "v=k\n"},
		{`printf 'b 2 1\na 1 2\nc 1 1\n' | sort -k2,2 -k3,3r`, "a 1 2\nc 1 1\nb 2 1\n"},
		{`printf 'x 1 b\ny 1 a\n' | sort -k2,2`, "x 1 b\ny 1 a\n"},
		{`cat -A f | head -1`, "a$\n"},
		{`printf 'a\n\nb\n' | nl -ba | wc -l; printf 'a\n\n' | nl -ba | tail -1`, "3\n     2\t\n"},
		{`printf 'a  b\n' > p; printf 'a b\n' > q; diff -b p q && echo same`, "same\n"},
		{`basename -s .txt x/file.txt`, "file\n"},
		{`find . -name f -print0 | tr '\0' '\n'`, "./f\n"},
	} {
		b, dir := build(t, open, sandboxtest.Always(policy.AnswerOnce))
		for name, text := range map[string]string{"f": "a\nb\nc\n", "g": "f(x)\n", "h": "k=v\n"} {
			must(t, dir.WriteFile(name, []byte(text), 0o644))
		}
		if out, code, err := run(t, b, c[0]); err != nil || out != c[1] {
			t.Errorf("%s: %q (exit %d, %v), bash: %q", c[0], out, code, err, c[1])
		}
	}
}

// A move that fails says so, and the file stays.
func TestMoveThatFails(t *testing.T) {
	b, dir := build(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "*", "action": "allow"}], "filesystem": {"allowWrite": ["."], "denyWrite": ["d"]}}`, sandboxtest.Always(policy.AnswerOnce))
	out, _, err := run(t, b, "mv a.txt d/a.txt 2>&1; echo $?")
	if err != nil || !strings.HasPrefix(out, "mv: cannot move 'a.txt' to 'd/a.txt'") || !strings.HasSuffix(out, "\n1\n") {
		t.Errorf("%q, %v", out, err)
	}
	if text, err := dir.ReadFile("a.txt"); err != nil || string(text) != files["a.txt"] {
		t.Errorf("the file has %q, %v", text, err)
	}
}
