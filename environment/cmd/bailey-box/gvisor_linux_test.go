package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/internal/needs"
)

// runsc returns the path of gVisor's runsc, which make environments builds.
func runsc(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs("../../../.bin/runsc")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{here, "runsc"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if testing.Short() {
		t.Skip("make environments builds gVisor and runs this")
	}
	needs.Missing(t, "there is no runsc: make environments builds it")
	return ""
}

// address sends requests to an address of loopback, whose name they have: another one is refused there.
type address string

func (a address) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host, r.Host = string(a), string(a)
	return http.DefaultTransport.RoundTrip(r)
}

// A bailey-box runs in gVisor as in a pod of bailey-front-kubernetes: as a user without rights, on a root that can't be written,
// without a sandbox of its own (-outside). Its tools work, and a program of the machine, which needs one, does not start.
func TestGVisor(t *testing.T) {
	program := runsc(t)
	if os.Getuid() != 0 {
		t.Skip("NOT TESTED: runsc needs root here")
	}
	dir, err := os.MkdirTemp("/tmp", "box-gvisor-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	root := filepath.Join(dir, "root")
	for _, name := range []string{"bin", "etc", "work", "proc", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(root, "bin/bailey-box"), ".")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	// TestMain has another cache of compiled programs, which would be the compiler's too.
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "XDG_CACHE_HOME="+filepath.Join(home, ".cache"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(work, 0o777); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	engine, missing := os.ReadFile("../../../node_modules/quickjs-wasi/quickjs.wasm")
	args := []string{"/bin/bailey-box", "-outside", "-dir", "/work", "-policy", "/etc/policy.json", "-listen", "127.0.0.1:0", "-cache", "none"}
	for name, data := range map[string][]byte{"policy.json": []byte(strings.Replace(pol, `"perl"`, `"perl", "cat", "sort"`, 1)), "quickjs.wasm": engine} {
		if err := os.WriteFile(filepath.Join(root, "etc", name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if missing == nil {
		args = append(args, "-engine", "/etc/quickjs.wasm")
	}
	type object = map[string]any
	spec, err := json.Marshal(object{"ociVersion": "1.0.2",
		"process": object{"user": object{"uid": 65532, "gid": 65532}, "args": args, "env": []string{"PATH=/bin", "HOME=/work"}, "cwd": "/", "capabilities": object{}, "noNewPrivileges": true},
		"root":    object{"path": root, "readonly": true},
		"mounts": []object{{"destination": "/proc", "type": "proc", "source": "proc"}, {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"},
			{"destination": "/work", "type": "bind", "source": work, "options": []string{"rbind", "rw"}}},
		"linux": object{"namespaces": []object{{"type": "pid"}, {"type": "mount"}, {"type": "ipc"}, {"type": "uts"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), spec, 0o644); err != nil {
		t.Fatal(err)
	}
	// The network is the host's, as the test reaches the box on loopback. That of a pod is gVisor's own.
	global := []string{"--root", filepath.Join(dir, "state"), "--network=host", "--platform=systrap", "--ignore-cgroups"}
	cmd := exec.Command(program, append(global, "run", "--bundle", dir, "box")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	said := &boxtest.Log{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command(program, append(global, "kill", "box", "KILL")...).Run()
		_ = cmd.Wait()
		_ = exec.Command(program, append(global, "delete", "--force", "box")...).Run()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	var h hello
	if err != nil || json.Unmarshal([]byte(line), &h) != nil || h.Confined {
		t.Fatalf("%q %v\n%s", line, err, said.String())
	}
	at, _ := strings.CutPrefix(h.Address, "http://")
	client, err := boxtest.ConnectBy(t.Context(), address(at), h.Credential)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, step := range []struct {
		tool string
		args object
		want string
	}{
		{"write", object{"path": "a.txt", "content": "one\ntwo\n"}, `"bytes":8`},
		{"edit", object{"path": "a.txt", "old_string": "two", "new_string": "three"}, "a.txt"},
		{"grep", object{"pattern": "three"}, "three"},
		{"bash", object{"command": "cat a.txt | sort -r"}, `three\none`},
		{"code_run", object{"code": "return 6 * 7"}, "42"},
		{"read", object{"path": "../etc/policy.json"}, "error"},
		{"tool_run", object{"command": "perl", "args": []any{"-e", "print 1"}, "read": []any{"."}, "write": []any{}}, "unknown tool"},
	} {
		if step.tool == "code_run" && missing != nil {
			continue
		}
		res, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: step.tool, Arguments: step.args})
		if err != nil {
			if !strings.Contains(err.Error(), step.want) {
				t.Errorf("%s: %v, want %q", step.tool, err, step.want)
			}
			continue
		}
		text := res.Content[0].(*sdk.TextContent).Text
		if step.want == "error" && !res.IsError || step.want != "error" && (res.IsError || !strings.Contains(text, step.want)) {
			t.Errorf("%s: %q, want %q", step.tool, text, step.want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(work, "a.txt")); err != nil || string(data) != "one\nthree\n" {
		t.Errorf("the folder has %q %v", data, err)
	}
	// It is in gVisor: this machine's kernel has no process of the program.
	list, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil || len(list) == 0 {
		t.Fatalf("%v %v", list, err)
	}
	for _, name := range list {
		if exe, err := os.Readlink(name); err == nil && strings.HasSuffix(exe, "/bin/bailey-box") && strings.HasPrefix(exe, root) {
			t.Errorf("%s is %s", name, exe)
		}
	}
	state, err := exec.Command(program, append(global, "state", "box")...).Output()
	if err != nil || !strings.Contains(string(state), `"running"`) {
		t.Errorf("runsc says %s %v", state, err)
	}
}
