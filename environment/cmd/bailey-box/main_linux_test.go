package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"github.com/bailey-go/bailey/environment/computer"
	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/compiled"
	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/pgtest"
	"github.com/bailey-go/bailey/internal/attack"
)

// The test is also the daemon, and what attacks from within its process.
func TestMain(m *testing.M) {
	computer.Main()
	if dir := os.Getenv("BOX_REACH"); dir != "" {
		reach(dir)
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "-dir" {
		main()
		return
	}
	os.Exit(pgtest.Main(func() int { return boxtest.Cached(m) }))
}

const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["bash", "perl"], "stream.send": true, "code.run": true}, "rules": [{"permission": "*", "action": "allow"}]}`

func TestBox(t *testing.T) {
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	dir, out := t.TempDir(), t.TempDir()
	file := filepath.Join(out, "policy.json")
	for name, text := range map[string]string{filepath.Join(dir, "a.txt"): "hello", file: pol} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-dir", dir, "-policy", file}
	const engine = "../../../node_modules/quickjs-wasi/quickjs.wasm"
	_, missing := os.Stat(engine)
	if missing == nil {
		args = append(args, "-engine", engine)
	}
	h, end := launch(t, args...)
	defer end()
	if !h.Confined || strings.Contains(fmt.Sprint(h.Notes), compiled.ErrUnsafe.Error()) {
		t.Errorf("%+v", h)
	}
	path, _ := strings.CutPrefix(h.Address, "unix:")
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the socket's mode: %v %v", fi, err)
	}
	client, err := boxtest.Connect(t.Context(), path, h.Credential)
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool string, args map[string]any) string {
		res, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return err.Error()
		}
		return res.Content[0].(*sdk.TextContent).Text
	}
	if got := call("read", map[string]any{"path": "a.txt"}); !strings.Contains(got, "hello") {
		t.Errorf("read: %s", got)
	}
	if got := call("write", map[string]any{"path": "b.txt", "content": "made"}); strings.Contains(got, "error") {
		t.Errorf("write: %s", got)
	}
	if got := call("code_run", map[string]any{"code": "return 6 * 7"}); missing == nil && !strings.Contains(got, "42") {
		t.Errorf("code_run: %s", got)
	}
	if _, err := exec.LookPath("perl"); err == nil {
		if got := call("tool_run", map[string]any{"command": "perl", "args": []any{"-e", `open(F, "a.txt"); print uc <F>; print -e "` + file + `" ? 1 : 0`}, "read": []any{"."}, "write": []any{}}); !strings.Contains(got, "HELLO") {
			t.Errorf("tool_run: %s", got)
		}
	}
	_ = client.Close()
}

// reach tries what a daemon that was taken over would do, and prints the names of what succeeded.
func reach(dir string) {
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test has put this process into a group
	if os.Getenv("BOX_OPEN") == "" {
		tmp := filepath.Join(dir, "tmp")
		_ = os.Mkdir(tmp, 0o711)
		granted, err := ports("http://" + os.Getenv("BOX_MODEL"))
		if err == nil {
			_, err = (computer.Options{Dir: dir, Ports: granted}).SandboxSelf(tmp)
		}
		if err != nil {
			os.Stdout.WriteString("failed: " + err.Error())
			return
		}
	}
	secret := os.Getenv("BOX_SECRET")
	say := func(name string, err error) {
		if err == nil {
			os.Stdout.WriteString(name + "\n")
		}
	}
	_, err := os.ReadFile(secret)
	say("read", err)
	say("write", os.WriteFile(secret, []byte("x"), 0o644))
	_, err = os.ReadDir("/root")
	say("home", err)
	_, err = exec.Command("/usr/bin/env", "cat", secret).Output()
	say("program", err)
	say("link", func() error {
		if err := os.Symlink(secret, filepath.Join(dir, "l")); err != nil {
			return err
		}
		_, err := os.ReadFile(filepath.Join(dir, "l"))
		return err
	}())
	_ = os.Remove(filepath.Join(dir, "l"))
	l, err := net.Listen("tcp4", os.Getenv("BOX_PORT"))
	say("listen", err)
	if err == nil {
		l.Close()
	}
	dial := func(address string) error {
		c, err := net.Dial("tcp4", address)
		if err == nil {
			c.Close()
		}
		return err
	}
	say("model", dial(os.Getenv("BOX_MODEL")))  // this one may succeed
	say("connect", dial(os.Getenv("BOX_SINK"))) // to a port that is not the web's, and is another job's way to the model
	say("connect by MPTCP", func() error {      // Landlock has no rule for it
		at, err := net.ResolveTCPAddr("tcp4", os.Getenv("BOX_SINK"))
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_MPTCP)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Connect(fd, &unix.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())})
	}())
	say("raw socket", func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}())
	say("raw socket of 64 bits", func() error { // the kernel takes the low half
		fd, _, e := unix.Syscall(unix.SYS_SOCKET, unix.AF_INET, 1<<32|unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
		if e != 0 {
			return e
		}
		return unix.Close(int(fd))
	}())
	say("compiled programs", func() error {
		dir, err := compiled.Dir()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "code"), nil, 0o600)
	}())
	say("its own limits", func() error {
		own, err := os.ReadFile("/proc/self/cgroup")
		for line := range strings.Lines(string(own)) {
			if _, path, ok := strings.Cut(strings.TrimSpace(line), ":pids:"); ok && err == nil {
				return os.WriteFile(filepath.Join("/sys/fs/cgroup/pids", path, "pids.max"), []byte("max"), 0)
			}
		}
		return errors.Join(err, errors.New("no group"))
	}())
	say("folder", os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644)) // this one may succeed
}

func TestAttackDaemonItself(t *testing.T) {
	count := attack.Start(t, "machine")
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	dir, out := t.TempDir(), t.TempDir()
	secret := filepath.Join(out, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	sink, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	model, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	try := func(open string) string {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), "BOX_REACH="+dir, "BOX_SECRET="+secret, "BOX_PORT="+address, "BOX_OPEN="+open, "BOX_SINK="+sink.Addr().String(), "BOX_MODEL="+model.Addr().String())
		var out bytes.Buffer
		cmd.Stdout = &out
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if g, none := confine.NewGroup("test", 1<<30, 500, 1000); none == nil {
			if err := g.Add(cmd.Process.Pid); err != nil {
				t.Error(err)
			}
			defer func() {
				if err := g.Close(); err != nil {
					t.Error(err)
				}
			}()
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	on, off := try(""), try("1")
	if _, err := compiled.Open(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "bailey", "wasm")); err != nil {
		t.Errorf("the folder of compiled programs, which the attack is about: %v", err)
	}
	if !strings.Contains(on, "folder\n") || !strings.Contains(on, "model\n") || strings.Contains(on, "failed") {
		t.Errorf("in the sandbox its own folder is not writable, or its model not reached: %s", on)
	}
	for _, name := range []string{"read", "write", "program", "link", "listen", "connect", "compiled programs"} {
		count.Try(name, strings.Contains(on, name+"\n"))
		count.Off(name, strings.Contains(off, name+"\n"))
	}
	for name, lacks := range map[string]string{"connect by MPTCP": "this kernel has no MPTCP", "raw socket": "this user may make none", "raw socket of 64 bits": "this user may make none"} {
		if !strings.Contains(off, name+"\n") {
			t.Run(name, func(t *testing.T) { t.Skip("NOT TESTED: " + lacks) })
			continue
		}
		count.Try(name, strings.Contains(on, name+"\n"))
		count.Off(name, true)
	}
	if _, err := os.Stat("/sys/fs/cgroup/pids"); err == nil && confine.Groups() == nil {
		count.Try("its own limits", strings.Contains(on, "its own limits\n"))
		count.Off("its own limits", strings.Contains(off, "its own limits\n"))
		if !strings.Contains(off, "its own limits\n") {
			t.Errorf("without the sandbox its limits can't be changed: %s", off)
		}
	} else {
		t.Run("its own limits", func(t *testing.T) { t.Skip("NOT TESTED: there is no control group of version 1") })
	}
	count.Try("home", strings.Contains(on, "home\n"))
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "policy.json")
	if err := os.WriteFile(inside, []byte(pol), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"-dir", dir}, {"-dir", dir, "-policy", inside}, {"-dir", dir, "-policy", inside + ".none"}, {"-dir", dir, "-policy", inside, "more"}} {
		if err := run(t.Context(), args, os.Stderr); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
