package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bailey-go/bailey/browsertest/internal/repo"
)

// insideEnv is the environment variable that is set for the program in the namespace.
const insideEnv = "LEAKLAB_INSIDE"

// setUp makes the network of the namespace. It has an interface that looks like a way out, so that
// browsers take themselves to be online, and a route by which every address is this machine.
const setUp = `set -e
ip link set lo up
ip link add lab0 type veth peer name lab1
ip addr add 10.213.0.1/24 dev lab0
ip link set lab0 up
ip link set lab1 up
ip route add local 0.0.0.0/0 dev lo table 100
ip rule add pref 32000 lookup 100
ip route add default via 10.213.0.2 dev lab0
mount --bind "$1" /etc/resolv.conf
shift
exec "$@"
`

// enterNamespace runs this program again in a network namespace, and reports whether it did. If it
// cannot make one, the error is the reason.
func enterNamespace(ctx context.Context) (bool, error) {
	if os.Getuid() != 0 {
		return false, errors.New("that takes root")
	}
	for _, tool := range []string{"unshare", "ip", "mount", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			return false, fmt.Errorf("%s is missing: Debian: apt-get install util-linux iproute2", tool)
		}
	}
	dir, err := os.MkdirTemp("", "leaklab-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	conf := filepath.Join(dir, "resolv.conf")
	if err := os.WriteFile(conf, []byte("nameserver 127.0.0.1\n"), 0o644); err != nil {
		return false, err
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	within := func(args ...string) *exec.Cmd {
		cmd := repo.Command(ctx, "unshare", append([]string{"--net", "--mount", "bash", "-c", setUp, "leaklab", conf}, args...)...)
		cmd.Env = append(os.Environ(), insideEnv+"=1")
		cmd.Stderr = os.Stderr
		return cmd
	}
	if out, err := within("true").Output(); err != nil {
		return false, fmt.Errorf("setting it up: %w %s", err, strings.TrimSpace(string(out)))
	}
	cmd := within(self)
	cmd.Stdout = os.Stdout
	return true, cmd.Run()
}
