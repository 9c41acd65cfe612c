package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bailey-go/bailey/internal/attack"
)

// evil is the name of the copy of this test that attacks from within the sandbox.
const evil = "evil"

// attacker runs one attack of the table and reports whether it succeeded.
func attacker(args []string) error {
	if len(args) < 2 {
		return errors.New("no attack")
	}
	target := args[1]
	no := func(_ any, err error) error { return err }
	dial := func(network, address string) error {
		c, err := net.Dial(network, address)
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = io.WriteString(c, "stolen")
		return err
	}
	call := func(n uintptr, a ...uintptr) error {
		a = append(a, 0, 0, 0, 0, 0, 0)
		_, _, e := unix.Syscall6(n, a[0], a[1], a[2], a[3], a[4], a[5])
		if e != 0 {
			return e
		}
		return nil
	}
	switch args[0] {
	case "read":
		return no(os.ReadFile(target))
	case "list":
		return no(os.ReadDir(target))
	case "stat":
		return no(os.Stat(target))
	case "write":
		return os.WriteFile(target, []byte("500"), 0o644)
	case "link":
		if err := os.Symlink(target, "link"); err != nil {
			return err
		}
		defer os.Remove("link")
		return no(os.ReadFile("link"))
	case "hard link":
		defer os.Remove("hard")
		return errors.Join(os.Link(target, "hard"), no(os.ReadFile("hard")))
	case "move out":
		if err := os.WriteFile("mine", nil, 0o644); err != nil {
			return err
		}
		return os.Rename("mine", target)
	case "root of a process":
		return no(os.ReadFile("/proc/self/root" + target))
	case "environment of a process":
		b, err := os.ReadFile("/proc/" + target + "/environ")
		if err == nil && !bytes.Contains(b, []byte("VICTIM=")) {
			err = errors.New("another process")
		}
		return err
	case "memory of a process":
		f, err := os.Open("/proc/" + target + "/mem")
		if err == nil {
			f.Close()
			_, err = os.ReadFile("/proc/" + target + "/maps")
		}
		return err
	case "ptrace":
		pid, _ := strconv.Atoi(target)
		runtime.LockOSThread()
		return unix.PtraceSeize(pid)
	case "process_vm_readv":
		pid, _ := strconv.Atoi(target)
		b := make([]byte, 8)
		_, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: 4096, Len: 8}}, 0)
		if err == unix.EFAULT { // it may, and there is nothing at the address
			err = nil
		}
		return err
	case "signal":
		pid, _ := strconv.Atoi(target)
		return unix.Kill(pid, unix.SIGCONT)
	case "dial":
		return dial(args[2], target)
	case "datagram":
		return dial("udp", target)
	case "processes":
		n, _ := strconv.Atoi(target)
		for range n {
			cmd := exec.Command("/bin/cat")
			in, err := cmd.StdinPipe()
			if err != nil {
				return err
			}
			if err := cmd.Start(); err != nil {
				return err
			}
			defer cmd.Wait()
			defer in.Close()
		}
		return nil
	case "hold": // a child of "memory of many"
		b := bytes.Repeat([]byte{1}, 64<<20)
		fmt.Println("held")
		_, err := io.Copy(os.Stdout, os.Stdin)
		runtime.KeepAlive(b)
		return err
	case "memory of many":
		n, _ := strconv.Atoi(target)
		var ask []func() error
		for range n {
			cmd := exec.Command("./"+evil, "hold", ".")
			in, err := cmd.StdinPipe()
			if err != nil {
				return err
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				return err
			}
			defer cmd.Wait()
			defer in.Close()
			b := make([]byte, 5)
			if _, err := io.ReadFull(out, b); err != nil || string(b) != "held\n" {
				return fmt.Errorf("a child ended: %v", err)
			}
			ask = append(ask, func() error {
				_, err := io.WriteString(in, "alive")
				return errors.Join(err, no(io.ReadFull(out, b)))
			})
		}
		for _, alive := range ask { // all at once
			if err := alive(); err != nil {
				return err
			}
		}
		return nil
	case "memory of a file":
		n, _ := strconv.Atoi(target)
		fd, err := unix.MemfdCreate("bomb", 0)
		for b := bytes.Repeat([]byte{1}, 1<<20); n > 0 && err == nil; n-- {
			_, err = unix.Write(fd, b)
		}
		return err
	case "processor":
		var u unix.Rusage
		for u.Utime.Nano()+u.Stime.Nano() < 40e6 {
			if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
				return err
			}
		}
		return nil
	case "fill":
		n, _ := strconv.Atoi(target)
		for i := range n {
			if err := os.WriteFile("fill"+strconv.Itoa(i), make([]byte, 1<<20), 0o644); err != nil {
				return err
			}
		}
		return nil
	case "names":
		n, _ := strconv.Atoi(target)
		for i := range n {
			if err := os.WriteFile("name"+strconv.Itoa(i), nil, 0o644); err != nil {
				return err
			}
		}
		return nil
	case "disk":
		return os.WriteFile("large", make([]byte, 2<<20), 0o644)
	case "open files":
		for range 300 {
			f, err := os.Open("/dev/null")
			if err != nil {
				return err
			}
			defer f.Close()
		}
		return nil
	case "variable":
		if os.Getenv(target) == "" {
			return errors.New("not set")
		}
		return nil
	case "namespace":
		return call(unix.SYS_CLONE, unix.CLONE_NEWUTS|uintptr(unix.SIGCHLD)|unix.CLONE_NEWUSER)
	case "personality by another architecture":
		return no(old(136, 0xffffffff, 0, 0))
	case "key by another architecture":
		return no(old(288, 0, 0xfffffffd, 1)) // KEYCTL_GET_KEYRING_ID of the session, made if there is none
	case "TIOCSTI of 64 bits": // with the filter EPERM, without it ENOTTY
		if err := call(unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI, 0); err != unix.ENOTTY && err != unix.EBADF {
			return err
		}
		return nil
	case "unshare":
		return exec.Command("/usr/bin/unshare", "-U", "/bin/true").Run()
	case "key":
		kind, name := []byte("user\x00"), []byte("bailey\x00")
		ring := -3 // of the session
		return call(unix.SYS_ADD_KEY, uintptr(unsafe.Pointer(&kind[0])), uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&name[0])), 6, uintptr(ring))
	case "io_uring":
		params := make([]byte, 256)
		return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])))
	case "userfaultfd":
		return call(unix.SYS_USERFAULTFD, 1)
	case "personality":
		return call(unix.SYS_PERSONALITY, 0x0400000)
	case "netlink":
		return no(unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE))
	case "pidfd":
		pid, _ := strconv.Atoi(target)
		return no(unix.PidfdOpen(pid, 0))
	}
	return errors.New("no such attack")
}

func init() {
	if filepath.Base(os.Args[0]) != evil {
		return
	}
	if err := attacker(os.Args[1:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ESCAPED")
	os.Exit(0)
}

// arena is a folder with the attacker, and what it may want outside.
type arena struct {
	dir, program, secret string
	victim               *exec.Cmd
}

func newArena(t *testing.T) *arena {
	t.Helper()
	supported(t)
	a := &arena{dir: folder(t)}
	a.program = filepath.Join(a.dir, evil)
	self, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(a.program, self, 0o755)
	}
	out := folder(t)
	a.secret = filepath.Join(out, "secret")
	if err == nil {
		err = os.WriteFile(a.secret, []byte("secret"), 0o666)
	}
	err = errors.Join(err, Own(out), Own(a.dir))
	// The victim is a process of the same user.
	a.victim = exec.Command("/bin/cat")
	a.victim.Env = []string{"VICTIM=1"}
	if os.Getuid() == 0 {
		a.victim.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	in, err2 := a.victim.StdinPipe()
	if err = errors.Join(err, err2); err == nil {
		err = a.victim.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = a.victim.Wait()
	})
	return a
}

// try runs the attack and returns what it said, and whether it succeeded.
func (a *arena) try(t *testing.T, s Spec, args ...string) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	if s.Dir == "" {
		s.Dir = a.dir
	}
	s.Env = []string{"PATH=/usr/bin:/bin"}
	cmd, err := Command(t.Context(), &s, a.program, args...)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out.Bytes())
	}
	_ = cmd.Wait()
	held := args[0] == "processor" && slices.Contains(cmd.Hit(), "cpu")
	return strings.TrimSpace(out.String()), strings.Contains(out.String(), "ESCAPED") && !held
}

// row is an attack with the layers without which it succeeds. With fewer of them off it fails.
type row struct {
	args []string
	off  []Layer
	spec Spec
}

func (a *arena) rows(t *testing.T) []row {
	pid := strconv.Itoa(a.victim.Process.Pid)
	beside := filepath.Dir(a.secret)
	// Sockets of a process outside.
	socket := filepath.Join(beside, "socket")
	abstract := fmt.Sprintf("@bailey-%d", os.Getpid())
	for _, name := range []string{socket, abstract} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
	if err := Own(beside); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BAILEY_SECRET", "x")
	all := []Layer{Namespaces, Landlock, Seccomp}
	return []row{
		{args: []string{"read", a.secret}, off: []Layer{Landlock}},
		{args: []string{"read", "../" + filepath.Base(beside) + "/secret"}, off: []Layer{Landlock}},
		{args: []string{"read", "/etc/hosts"}, off: []Layer{Landlock}},
		{args: []string{"read", "/etc/fstab"}, off: []Layer{Landlock}},
		{args: []string{"write", a.secret}, off: []Layer{Landlock}},
		{args: []string{"write", filepath.Join(beside, "new")}, off: []Layer{Landlock}},
		{args: []string{"list", beside}, off: []Layer{Landlock}},
		{args: []string{"list", "/"}, off: []Layer{Landlock}},
		{args: []string{"list", "/home"}, off: []Layer{Landlock}},
		{args: []string{"link", a.secret}, off: []Layer{Landlock}},
		{args: []string{"hard link", a.secret}, off: []Layer{Landlock}},
		{args: []string{"move out", filepath.Join(beside, "moved")}, off: []Layer{Landlock}},
		{args: []string{"root of a process", a.secret}, off: []Layer{Landlock}},
		{args: []string{"write", "/proc/self/oom_score_adj"}, off: []Layer{Landlock}},
		{args: []string{"write", "/dev/shm/bailey-" + pid}, off: []Layer{Landlock}},
		{args: []string{"environment of a process", pid}, off: []Layer{Namespaces, Landlock}},
		{args: []string{"memory of a process", pid}, off: []Layer{Namespaces, Landlock}},
		{args: []string{"ptrace", pid}, off: all},
		{args: []string{"process_vm_readv", pid}, off: all},
		{args: []string{"signal", pid}, off: []Layer{Namespaces, Landlock}},
		{args: []string{"pidfd", pid}, off: []Layer{Namespaces}},
		{args: []string{"dial", socket, "unix"}, off: []Layer{Seccomp}},
		{args: []string{"dial", abstract, "unix"}, off: all},
		{args: []string{"processes", "100"}, off: []Layer{Together, Limits}, spec: Spec{Processes: 48}},
		{args: []string{"disk", "."}, off: []Layer{Limits}, spec: Spec{File: 1 << 20}},
		{args: []string{"open files", "."}, off: []Layer{Limits}},
		{args: []string{"variable", "BAILEY_SECRET"}, off: []Layer{Environment}},
		{args: []string{"unshare", "."}, off: []Layer{Seccomp}},
		{args: []string{"key", "."}, off: []Layer{Seccomp}},
		{args: []string{"io_uring", "."}, off: []Layer{Seccomp}},
		{args: []string{"userfaultfd", "."}, off: []Layer{Seccomp}},
		{args: []string{"personality", "."}, off: []Layer{Seccomp}},
		{args: []string{"netlink", "."}, off: []Layer{Seccomp}},
		{args: []string{"TIOCSTI of 64 bits", "."}, off: []Layer{Seccomp}},
	}
}

// others are attacks by calls of 32-bit programs.
func others() []row {
	return []row{
		{args: []string{"personality by another architecture", "."}, off: []Layer{Seccomp}},
		{args: []string{"key by another architecture", "."}, off: []Layer{Seccomp}},
	}
}

// together are attacks on what only a control group limits.
func together() []row {
	return []row{
		{args: []string{"memory of many", "6"}, off: []Layer{Together}, spec: Spec{Memory: 192 << 20}},
		{args: []string{"memory of a file", "256"}, off: []Layer{Together}, spec: Spec{Memory: 128 << 20}},
		// A fiftieth of a processor, which a program gets on a machine with much other work too: with a larger share the limit
		// may not be met.
		{args: []string{"processor", "."}, off: []Layer{Together}, spec: Spec{CPU: 20}},
	}
}

// Each attack fails in the sandbox, with bubblewrap and without, and succeeds with its layers off.
func TestAttackOutOfTheSandbox(t *testing.T) {
	count := attack.Start(t, "machine")
	a := newArena(t)
	rows := a.rows(t)
	if err := Groups(); err != nil {
		t.Run("limits of all processes together", func(t *testing.T) { t.Skipf("NOT TESTED: %v", err) })
		rows = slices.DeleteFunc(rows, func(r row) bool { return slices.Contains(r.off, Together) })
	} else {
		rows = append(rows, together()...)
	}
	if said, ok := a.try(t, Spec{Bubblewrap: "none", Off: []Layer{Seccomp}}, others()[0].args...); ok {
		rows = append(rows, others()...)
	} else {
		t.Run("calls of 32-bit programs", func(t *testing.T) { t.Skipf("NOT TESTED: this kernel has none: %s", said) })
	}
	for _, r := range rows {
		for name, bwrap := range kinds(t) {
			s := r.spec
			s.Bubblewrap = bwrap
			said, ok := a.try(t, s, r.args...)
			count.Try(name+": "+strings.Join(r.args, " ")+": "+said, ok)
		}
		s := r.spec
		s.Bubblewrap, s.Off = "none", r.off
		said, ok := a.try(t, s, r.args...)
		count.Off(strings.Join(r.args, " "), ok)
		if !ok {
			t.Errorf("%q with %v off: %s; want a success, or the row shows nothing", r.args, r.off, said)
		}
		// With one of several layers on, that one is enough.
		for i := range r.off {
			if len(r.off) < 2 {
				break
			}
			s.Off = append(append([]Layer(nil), r.off[:i]...), r.off[i+1:]...)
			said, ok := a.try(t, s, r.args...)
			count.Try(fmt.Sprintf("only %s on: %q: %s", r.off[i], r.args, said), ok)
		}
	}
	// Bubblewrap hides even names, and Landlock does not.
	if _, err := exec.LookPath("bwrap"); err == nil {
		said, ok := a.try(t, Spec{}, "stat", a.secret)
		count.Try("bwrap: stat: "+said, ok)
		_, ok = a.try(t, Spec{Bubblewrap: "none"}, "stat", a.secret)
		count.Off("stat", ok)
		// With Landlock off the files are still hidden.
		said, ok = a.try(t, Spec{Off: []Layer{Landlock}}, "read", a.secret)
		count.Try("bwrap without Landlock: read: "+said, ok)
	}
}

// A program fills the disk with many files that are each small enough.
func TestAttackFullDisk(t *testing.T) {
	count := attack.Start(t, "machine")
	a := newArena(t)
	for _, args := range [][]string{{"fill", "40"}, {"names", "300"}} {
		for name, bwrap := range kinds(t) {
			dir := folder(t)
			release, err := Disk(dir, 16<<20, 200)
			if err != nil {
				t.Skipf("NOT TESTED: %v", err)
			}
			if err := Own(dir); err != nil {
				t.Fatal(err)
			}
			said, ok := a.try(t, Spec{Dir: dir, Read: []string{a.dir}, Bubblewrap: bwrap}, args...)
			count.Try(name+": "+strings.Join(args, " ")+": "+said, ok)
			if !strings.Contains(said, "no space left") {
				t.Errorf("%s: %q: %s", name, args, said)
			}
			if err := release(); err != nil {
				t.Error(err)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
				t.Errorf("%v %v are left", list, err)
			}
		}
		said, ok := a.try(t, Spec{Dir: folder(t), Read: []string{a.dir}, Bubblewrap: "none"}, args...)
		count.Off(strings.Join(args, " "), ok)
		if !ok {
			t.Errorf("%q without a limit: %s", args, said)
		}
	}
}

// inside is the variable that tells the test that it runs in a network namespace of its own.
const inside = "CONFINE_TEST_INSIDE"

// Network attacks run in a network namespace that the test makes, against sinks that it places there.
func TestAttackNetwork(t *testing.T) {
	count := attack.Start(t, "machine")
	supported(t)
	if os.Getenv(inside) == "" {
		cmd := exec.Command("/proc/self/exe", "-test.run", "^TestAttackNetwork$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if os.Getuid() != 0 {
			t.Skip("NOT TESTED: the sinks of network attacks need root, for a network namespace with addresses")
		}
		out, err := cmd.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if c, ok := attack.Parse(line); ok {
				for i := range c.Tried {
					count.Try("inside", i < c.Succeeded)
				}
				for i := range c.Controls {
					count.Off("inside", i < c.Off)
				}
			}
		}
		if err != nil || !strings.Contains(string(out), "PASS: TestAttackNetwork") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	addresses(t)
	a := newArena(t)
	all := []Layer{Namespaces, Landlock, Seccomp}
	for _, r := range []struct {
		network, address string
		off              []Layer
	}{
		{"tcp", "169.254.169.254:80", all},
		{"tcp", "10.1.2.3:80", all},
		{"tcp", "127.0.0.1:7777", all},
		{"udp", "10.1.2.3:53", []Layer{Namespaces, Seccomp}},
		{"udp", "169.254.169.254:53", []Layer{Namespaces, Seccomp}},
	} {
		heard := sink(t, r.network, r.address)
		try := func(off []Layer, bwrap string) bool {
			a.try(t, Spec{Off: off, Bubblewrap: bwrap}, "dial", r.address, r.network)
			return heard()
		}
		for name, bwrap := range kinds(t) {
			count.Try(name+": "+r.network+" "+r.address, try(nil, bwrap))
		}
		ok := try(r.off, "none")
		count.Off(r.address, ok)
		if !ok {
			t.Errorf("%s %s with %v off did not reach its sink", r.network, r.address, r.off)
		}
		for i := range r.off {
			count.Try(fmt.Sprintf("only %s on: %s %s", r.off[i], r.network, r.address), try(append(append([]Layer(nil), r.off[:i]...), r.off[i+1:]...), "none"))
		}
	}
}

// addresses gives the loopback of this namespace addresses of a private network and of a cloud's metadata.
func addresses(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for name, ip := range map[string]string{"lo": "127.0.0.1", "lo:1": "169.254.169.254", "lo:2": "10.1.2.3"} {
		ifr, err := unix.NewIfreq(name)
		if err == nil {
			err = ifr.SetInet4Addr(net.ParseIP(ip).To4())
		}
		if err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCSIFADDR, ifr)
		}
		if err == nil {
			ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
			err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// sink listens at an address, and returns a function that reports whether it has heard anything since its last call. It
// sends itself a mark, so it does not wait for what may never come.
func sink(t *testing.T, network, address string) func() bool {
	t.Helper()
	got := make(chan string, 100)
	if network == "udp" {
		c, err := net.ListenPacket(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		go func() {
			for {
				b := make([]byte, 100)
				n, _, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				got <- string(b[:n])
			}
		}()
	} else {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				b, _ := io.ReadAll(c)
				c.Close()
				got <- string(b)
			}
		}()
	}
	return func() bool {
		c, err := net.Dial(network, address)
		if err == nil {
			_, err = io.WriteString(c, "mark")
			c.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		heard := false
		for s := range got {
			if s == "mark" {
				return heard
			}
			heard = true
		}
		return heard
	}
}
