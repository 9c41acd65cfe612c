package pod

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/internal/until"
)

// A job runs in gVisor, with the real bailey-box. The network is that of the machine: a loopback, which the test reaches.
func TestGVisor(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: it is for make environments")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	runsc := filepath.Join(root, ".bin/runsc")
	if _, err := os.Stat(runsc); err != nil || os.Geteuid() != 0 {
		t.Skip("NOT TESTED: make environments builds .bin/runsc, and root runs it")
	}
	dir, err := os.MkdirTemp("/tmp", "gvisor-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"bailey-job", "bailey-box"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), "../../cmd/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	policy := filepath.Join(dir, "policy.json")
	if err := os.WriteFile(policy, []byte(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "code.run": true, "shell.run": ["wc", "perl"], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	k := NewKey()
	const address = "127.78.0.1:8443"
	// do makes a container of this machine's files, whose changes it keeps in memory.
	cmd := exec.Command(runsc, "--root", filepath.Join(dir, "state"), "--network", "host", "--ignore-cgroups", "do", "--",
		filepath.Join(dir, "bailey-job"), "-listen", address, "-front", k.Sum(), "-dir", "/tmp", "--",
		filepath.Join(dir, "bailey-box"), "-policy", policy, "-cache", "none", "-outside", "-tools", filepath.Join(root, "build/tools"), "-engine", filepath.Join(root, "node_modules/quickjs-wasi/quickjs.wasm"))
	var log boxtest.Log
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-ended
	})
	until.True(t, "it serves", func() bool {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%v\n%s", err, log.String())
		default:
		}
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	p := connect(t, k, address, false)
	c, err := boxtest.ConnectBy(t.Context(), &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Dial(ctx) }}, p.Credential())
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool string, args map[string]any) string {
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return err.Error()
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	if got := call("write", map[string]any{"path": "a.txt", "content": "one\ntwo\n"}); strings.Contains(got, "error") {
		t.Error(got)
	}
	if got := call("code_run", map[string]any{"code": "return 6 * 7"}); !strings.Contains(got, "42") {
		t.Error(got)
	}
	if got := call("tool_run", map[string]any{"command": "wc", "args": []any{"-l", "a.txt"}, "read": []any{"a.txt"}}); !strings.Contains(got, "2") {
		t.Error(got)
	}
	// A program of the machine has no sandbox there, so it does not start.
	if got := call("tool_run", map[string]any{"command": "perl", "args": []any{"-e", "print 40+2"}}); strings.Contains(got, "42") {
		t.Error(got)
	} else {
		t.Log(got)
	}
	s := store(t)
	if err := p.Halt(); err != nil {
		t.Error(err)
	}
	tree, _, err := p.Save(t.Context(), s, "acme-a")
	if err != nil {
		t.Fatal(err)
	}
	list, err := jobs.Files(t.Context(), s, "acme-a", tree)
	if err != nil || len(list) != 1 || list[0].Path != "a.txt" {
		t.Errorf("%+v %v", list, err)
	}
	if data, err := s.Get(t.Context(), "acme-a", list[0].Sum); err != nil || !bytes.Equal(data, []byte("one\ntwo\n")) {
		t.Errorf("%q %v", data, err)
	}
}
