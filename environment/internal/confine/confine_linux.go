package confine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// word is the name by which a program knows that it is to be the helper.
const word = "bailey-confined"

// port is that of the listener, in a network where no other is in use. A process in a sandbox of [Self] can
// make one for a port that it was given before.
const port = 3128

// leastABI is the Landlock that is needed: 6 keeps signals and abstract sockets inside (Linux 6.12).
const leastABI = 6

// nobody is the user of programs that root starts. Its processes are counted, and root's are not.
const nobody = 65534

// ids returns the user and the group of programs.
func ids() (uid, gid int) {
	if uid, gid = os.Getuid(), os.Getgid(); uid == 0 {
		return nobody, nobody
	}
	return uid, gid
}

// Own gives a folder with everything in it to the user of programs, which is another one if root starts
// them. It follows no link.
func Own(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
}

// order is what the helper is told, by its file 3.
type order struct {
	Spec Spec
	Path string
	Args []string
	Wrap bool // bubblewrap has made the namespaces
	Wait bool // until the helper is in its control group
}

// Cmd is a command in the sandbox. Start also begins to serve its listener, and Wait removes its group.
type Cmd struct {
	*exec.Cmd
	begin func() error
	group *Group
	drop  func()
}

// Start starts the program. The path of the program is absolute. If the sandbox can't be made, all has
// ended when it returns.
func (c *Cmd) Start() error {
	if err := c.Cmd.Start(); err != nil {
		c.drop()
		return errors.Join(err, c.group.close())
	}
	if err := c.begin(); err != nil {
		_ = c.Cancel()
		_ = c.Cmd.Wait()
		return errors.Join(err, c.group.close())
	}
	return nil
}

// Wait waits until the program has ended, and ends all that it started.
func (c *Cmd) Wait() error {
	err := c.Cmd.Wait()
	if e := c.group.close(); err == nil {
		err = e
	}
	return err
}

// Hit returns the limits that all processes together have met: memory, pids and cpu.
func (c *Cmd) Hit() []string {
	if c.group == nil {
		return nil
	}
	return c.group.Hit()
}

// Supported returns an error that names what the kernel lacks, or nil.
func Supported() error {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < leastABI {
		return fmt.Errorf("%w: the kernel has Landlock ABI %d, and %d is needed (Linux 6.12, with landlock among the lsm= of its command line)", ErrUnsupported, max(abi, 0), leastABI)
	}
	if !seccomp.Supported() {
		return fmt.Errorf("%w: the kernel has no seccomp filters", ErrUnsupported)
	}
	return nil
}

// system are the files of the system that programs need. Others of /etc are not among them.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/mime.types"}

// devices are the devices that a program may use.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// Command returns a command that runs a program in the sandbox. The path of the program is absolute. Its
// standard input and output are those of the command. The end of ctx ends all of its processes.
func Command(ctx context.Context, s *Spec, path string, args ...string) (_ *Cmd, err error) {
	spec := *s
	if err := spec.check(); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("confine: the program %q needs an absolute path", path)
	}
	if err := Supported(); err != nil {
		return nil, err
	}
	wrap := spec.bubblewrap()
	if spec.off(Namespaces) {
		wrap = ""
	}
	var g *Group
	if p, none := where(); none == nil && !spec.off(Together) {
		// The helper and its threads are in the group too.
		if g, err = p.group("run", map[string]int64{"memory": spec.Memory, "pids": spec.Processes + helpers, "cpu": spec.CPU}); err != nil {
			return nil, fmt.Errorf("confine: the control group: %w", err)
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, g.close())
			}
		}()
	}
	text, err := json.Marshal(order{Spec: spec, Path: path, Args: args, Wrap: wrap != "", Wait: g != nil})
	if err != nil {
		return nil, err
	}
	// The helper reads its order from a file without a name, and sends its listener over a pair.
	fd, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	in := os.NewFile(uintptr(fd), "order")
	if _, err = in.Write(text); err == nil {
		_, err = in.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if err := unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil { // the helper's number, as this process sees it
		return nil, errors.Join(err, in.Close(), unix.Close(pair[0]), unix.Close(pair[1]))
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	// The other user may be unable to reach the folder of this program, but not to run the program itself.
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{word}
	if wrap != "" {
		cmd = exec.CommandContext(ctx, wrap, wrapped(&spec)...)
	}
	cmd.Env = []string{} // the helper needs none, and the program gets its own
	if spec.off(Environment) {
		cmd.Env = os.Environ()
	}
	cmd.ExtraFiles = []*os.File{in, theirs}
	var self *os.File
	if wrap != "" {
		if self, err = os.Open("/proc/self/exe"); err != nil {
			return nil, errors.Join(err, in.Close(), ours.Close(), theirs.Close())
		}
		cmd.ExtraFiles = append(cmd.ExtraFiles, self)
	}
	cmd.WaitDelay = time.Second
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	uid, gid := ids()
	switch {
	case wrap == "" && !spec.off(Namespaces):
		attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}
	case os.Getuid() == 0:
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	cmd.SysProcAttr = attr
	// All processes end: those of a namespace with its first one, and the others with their group.
	cmd.Cancel = func() error {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return cmd.Process.Kill()
	}
	drop := func() { _, _, _ = in.Close(), theirs.Close(), self.Close() }
	begin := func() error {
		drop()
		defer ours.Close()
		if g != nil {
			if err := join(ours, g); err != nil {
				return err
			}
		}
		return receive(ours, &spec)
	}
	return &Cmd{cmd, begin, g, func() { drop(); ours.Close() }}, nil
}

// helpers is the number of threads of the helper, at most, which count as processes of its group.
const helpers = 32

// join waits for the helper's first message, which the kernel signs with the helper's number, and moves it
// into the group. The helper then goes on.
func join(ours *os.File, g *Group) error {
	buf, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	n, m, _, _, err := unix.Recvmsg(int(ours.Fd()), buf, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if string(buf[:n]) != "here" {
		return unmade(string(buf[:n]))
	}
	list, err := unix.ParseSocketControlMessage(oob[:m])
	if err != nil || len(list) != 1 {
		return fmt.Errorf("confine: the helper did not say who it is: %v", err)
	}
	who, err := unix.ParseUnixCredentials(&list[0])
	if err != nil || who.Pid <= 1 {
		return fmt.Errorf("confine: the helper did not say who it is: %v %v", who, err)
	}
	if err := g.Add(int(who.Pid)); err != nil {
		return err
	}
	_, err = ours.WriteString("go")
	return err
}

// unmade returns the error of a helper that did not become ready.
func unmade(said string) error {
	if said == "" {
		said = "the helper ended early: the kernel refused the namespaces, or main does not call confine.Main"
	}
	return fmt.Errorf("confine: the sandbox could not be made: %s", said)
}

// receive waits until the helper is ready, and takes its listener.
func receive(ours *os.File, s *Spec) error {
	buf, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4)+unix.CmsgSpace(unix.SizeofUcred))
	n, m, _, _, err := unix.Recvmsg(int(ours.Fd()), buf, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if said := string(buf[:n]); said != "ready" {
		return unmade(said)
	}
	if s.Listener == nil {
		return nil
	}
	list, err := unix.ParseSocketControlMessage(oob[:m])
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	list = slices.DeleteFunc(list, func(m unix.SocketControlMessage) bool { return m.Header.Type != unix.SCM_RIGHTS })
	if len(list) == 0 { // a sandbox without its own network has none
		return nil
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil || len(fds) != 1 {
		return fmt.Errorf("confine: the helper sent no listener: %v", err)
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	s.Listener(l)
	return nil
}

// wrapped returns the arguments of bubblewrap. Its folder tree has only what the program may see.
func wrapped(s *Spec) []string {
	args := []string{"--unshare-user-try", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--hostname", "box", "--tmpfs", "/", "--proc", "/proc", "--dev", "/dev"}
	for _, p := range append(slices.Clone(system), s.Read...) {
		if to, err := os.Readlink(p); err == nil && !filepath.IsAbs(to) {
			args = append(args, "--symlink", to, p)
		} else {
			args = append(args, "--ro-bind-try", p, p)
		}
	}
	return append(args, "--bind", s.Dir, s.Dir, "--perms", "0555", "--ro-bind-data", "5", "/.bailey", "--chdir", s.Dir, "/.bailey")
}

// Main is the helper's main function. In any other program it returns at once.
func Main() {
	if len(os.Args) == 0 || filepath.Base(os.Args[0]) != word && os.Args[0] != "/.bailey" {
		return
	}
	os.Exit(helper())
}

func helper() int {
	runtime.LockOSThread()
	pair := os.NewFile(4, "pair")
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	fail := func(err error) int {
		_, _ = pair.WriteString(err.Error())
		return 125
	}
	data, err := io.ReadAll(os.NewFile(3, "order"))
	if err != nil {
		return fail(err)
	}
	var o order
	if err := json.Unmarshal(data, &o); err != nil {
		return fail(err)
	}
	s := &o.Spec
	if o.Wait {
		answer := make([]byte, 2)
		if _, err := pair.WriteString("here"); err != nil {
			return 125
		}
		if _, err := io.ReadFull(pair, answer); err != nil {
			return 125
		}
	}
	var l *net.TCPListener
	if !s.off(Namespaces) {
		if !o.Wrap {
			if err := settle(s.Nested); err != nil {
				return fail(err)
			}
		}
		// This network has nothing but its loopback. The caller serves the listener from outside.
		lc := net.ListenConfig{}
		lc.SetMultipathTCP(false)
		any, err := lc.Listen(context.Background(), "tcp4", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			return fail(fmt.Errorf("the loopback: %w", err))
		}
		l = any.(*net.TCPListener)
		proxy := "http://" + l.Addr().String()
		for _, name := range []string{"http_proxy", "https_proxy", "all_proxy"} {
			s.Env = append(s.Env, name+"="+proxy, strings.ToUpper(name)+"="+proxy)
		}
	}
	if err := confine(s); err != nil {
		return fail(err)
	}
	var rights []byte
	if l != nil {
		f, err := l.File()
		if err != nil {
			return fail(err)
		}
		rights = unix.UnixRights(int(f.Fd()))
		defer f.Close()
	}
	if err := unix.Sendmsg(4, []byte("ready"), rights, nil, 0); err != nil {
		return 125
	}
	_ = pair.Close()
	if l != nil {
		_ = l.Close()
	}
	env := s.Env
	if s.off(Environment) {
		env = append(os.Environ(), env...)
	}
	return start(o.Path, o.Args, env, filepath.Join(s.Dir, s.Sub))
}

// start runs the program and returns its exit code, as a shell does. The helper is the first process of
// its namespace, so it takes in processes that lost their parent.
func start(path string, args, env []string, dir string) int {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP)
	p, err := os.StartProcess(path, append([]string{filepath.Base(path)}, args...), &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, os.ErrNotExist) {
			return 127
		}
		return 126
	}
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 125
		case pid == p.Pid && ws.Signaled():
			return 128 + int(ws.Signal())
		case pid == p.Pid && ws.Exited():
			return ws.ExitStatus()
		}
	}
}

// settle prepares the helper's own namespaces: the loopback is up, and /proc has these processes only.
func settle(nested bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("the loopback of the network namespace: %w", err)
	}
	if nested {
		return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("the mounts of the namespace: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("the /proc of the namespace: %w", err)
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

// confine applies all layers to the helper itself. Its children have them too.
func confine(s *Spec) error {
	if !s.off(Limits) {
		for _, l := range []struct {
			name string
			what int
			most uint64
		}{
			{"of core files", unix.RLIMIT_CORE, 0},
			{"of time", unix.RLIMIT_CPU, uint64(s.Time / time.Second)},
			{"of a file", unix.RLIMIT_FSIZE, uint64(s.File)},
			{"of open files", unix.RLIMIT_NOFILE, uint64(s.Files)},
			{"of processes", unix.RLIMIT_NPROC, uint64(s.Processes)},
		} {
			if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
				return fmt.Errorf("the limit %s: %w", l.name, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if !s.off(Landlock) {
		if err := restrict(s); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if !s.off(Seccomp) {
		if err := filter(s.off(Namespaces)); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	if !s.off(Limits) { // last, as Go reserves many addresses
		most := uint64(s.Memory)
		if err := unix.Prlimit(0, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
			return fmt.Errorf("the limit of memory: %w", err)
		}
	}
	return nil
}

// restrict applies Landlock to this thread, of which the program becomes a child: no file but these, and
// no signal and no abstract socket outside. Package landlock would apply it to all threads, for which a
// program with cgo needs a /proc, and below [Self] there is none.
func restrict(s *Spec) error {
	const all = 1<<16 - 1 // all rights of files of Landlock 6
	const look = ll.AccessFSExecute | ll.AccessFSReadFile
	attr := ll.RulesetAttr{HandledAccessFS: all, Scoped: ll.ScopeAbstractUnixSocket | ll.ScopeSignal}
	if s.off(Namespaces) {
		// A namespace has only a loopback, on which programs may serve one another. Elsewhere there is no TCP.
		attr.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	set, err := ll.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return err
	}
	defer unix.Close(set)
	add := func(access uint64, paths ...string) error {
		for _, p := range paths {
			fd, err := unix.Open(p, unix.O_PATH|unix.O_CLOEXEC, 0)
			if errors.Is(err, unix.ENOENT) {
				continue
			}
			if err == nil {
				err = errors.Join(ll.LandlockAddPathBeneathRule(set, &ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: access}, 0), unix.Close(fd))
			}
			if err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
		return nil
	}
	seen := append(slices.Clone(system), s.Read...)
	err = errors.Join(
		add(look|ll.AccessFSReadDir, dirs(seen)...),
		add(look, files(seen)...),
		add(ll.AccessFSReadFile|ll.AccessFSWriteFile, devices...),
		add(all&^ll.AccessFSIoctlDev, s.Dir))
	if !s.Nested && !s.off(Namespaces) {
		// This is the /proc of the namespace, which has these processes only.
		err = errors.Join(err, add(ll.AccessFSReadFile|ll.AccessFSReadDir, "/proc"))
	}
	if err != nil {
		return err
	}
	return ll.LandlockRestrictSelf(set, 0)
}

func dirs(list []string) (out []string) {
	for _, p := range list {
		if fi, err := os.Stat(p); err == nil && fi.IsDir() {
			out = append(out, p)
		}
	}
	return out
}

func files(list []string) (out []string) {
	for _, p := range list {
		if fi, err := os.Stat(p); err == nil && !fi.IsDir() {
			out = append(out, p)
		}
	}
	return out
}

// denied are the calls that no program of a folder needs, and that reach other processes, the kernel or
// new namespaces.
const denied = `ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp process_madvise
	bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register
	keyctl add_key request_key open_by_handle_at name_to_handle_at fanotify_init
	mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns
	init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff acct quotactl
	settimeofday clock_settime clock_adjtime adjtimex syslog sethostname setdomainname personality vhangup
	lookup_dcookie nfsservctl iopl ioperm modify_ldt`

// filter loads the filter of calls. With no network namespace there is no network at all.
func filter(noNetwork bool) error {
	eperm := seccomp.ActionErrno | seccomp.Action(unix.EPERM)
	one := func(arg uint32, op seccomp.Operation, v uint64) seccomp.ArgumentConditions {
		return seccomp.ArgumentConditions{{Argument: arg, Operation: op, Value: v}}
	}
	var refused []seccomp.NameWithConditions
	add := func(name string, c seccomp.ArgumentConditions) {
		refused = append(refused, seccomp.NameWithConditions{Name: name, Conditions: c})
	}
	// Sockets: TCP over IP alone. A pair of sockets reaches nobody else.
	families := seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.NotEqual, Value: unix.AF_INET}, {Argument: 0, Operation: seccomp.NotEqual, Value: unix.AF_INET6}}
	if noNetwork {
		families = seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.GreaterOrEqual, Value: 0}}
	}
	add("socket", families)
	add("socket", one(1, seccomp.GreaterThan, 1<<32-1)) // the kernel takes the low half
	for _, kind := range []uint64{unix.SOCK_RAW, unix.SOCK_RDM, unix.SOCK_SEQPACKET, unix.SOCK_PACKET} {
		for _, flags := range []uint64{0, unix.SOCK_CLOEXEC, unix.SOCK_NONBLOCK, unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK} {
			add("socket", one(1, seccomp.Equal, kind|flags))
		}
	}
	// New namespaces, and text typed into the terminal of another process.
	for _, flag := range []uint64{unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWPID, unix.CLONE_NEWNET, unix.CLONE_NEWIPC, unix.CLONE_NEWUTS, unix.CLONE_NEWCGROUP} {
		add("clone", one(0, seccomp.BitsSet, flag))
	}
	add("ioctl", low(1, unix.TIOCSTI))
	add("ioctl", low(1, unix.TIOCLINUX))
	names, err := known(strings.Fields(denied))
	if err != nil {
		return err
	}
	return load([]seccomp.SyscallGroup{
		{Names: names, Action: eperm},
		// clone3 has its flags in memory, where a filter can't see them. libc falls back to clone.
		{Names: []string{"clone3"}, Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)},
		{NamesWithCondtions: refused, Action: eperm},
	})
}

// low are the conditions that the low half of an argument is v. That half is all that the kernel takes of an int, and a
// libc may extend its sign.
func low(arg uint32, v uint64) seccomp.ArgumentConditions {
	out := seccomp.ArgumentConditions{{Argument: arg, Operation: seccomp.BitsNotSet, Value: ^v & (1<<32 - 1)}}
	for bit := uint64(1); bit < 1<<32; bit <<= 1 {
		if v&bit != 0 {
			out = append(out, seccomp.Condition{Argument: arg, Operation: seccomp.BitsSet, Value: bit})
		}
	}
	return out
}

// load loads a filter of calls for all threads. Calls of another architecture have other numbers, such as those of
// 32-bit programs by "int 0x80" on amd64. The module lets them pass, so they are refused in front of its filter.
func load(groups []seccomp.SyscallGroup) error {
	native, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	p := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: groups}
	rest, err := p.Assemble()
	if err != nil {
		return fmt.Errorf("confine: the filter of calls: %w", err)
	}
	const offArch = 4 // of struct seccomp_data
	raw, err := bpf.Assemble(append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(native.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionErrno) | uint32(unix.EPERM)},
	}, rest...))
	if err != nil {
		return fmt.Errorf("confine: the filter of calls: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confine: no_new_privs: %w", err)
	}
	list := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		list[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); e != 0 {
		return fmt.Errorf("confine: seccomp: %w", e)
	}
	return nil
}

// known returns the calls that the machine's architecture has.
func known(names []string) (out []string, err error) {
	for _, n := range names {
		p := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{{Names: []string{n}, Action: seccomp.ActionErrno}}}
		if _, err := p.Assemble(); err == nil {
			out = append(out, n)
		}
	}
	if len(out) < 30 {
		return nil, errors.New("the calls of this architecture are not known: " + strconv.Itoa(len(out)))
	}
	return out, nil
}

// writeFile is the right to write to an existing file (LANDLOCK_ACCESS_FS_WRITE_FILE).
const writeFile = 1 << 1

// Self puts the calling process into a sandbox for the rest of its life, and with it all that it
// starts: it reads the files of the system and read, reads and changes write, and connects to the
// given ports. It can still make the namespaces of [Command] with Spec.Nested.
func Self(read, write []string, ports ...uint16) error {
	if err := Supported(); err != nil {
		return err
	}
	self, err := os.Executable() // the helper
	if err != nil {
		return err
	}
	read = append(slices.Clone(system), append(read, self, "/proc", "/sys/kernel/mm", "/etc/resolv.conf", "/etc/hosts", "/etc/pki")...)
	groups := narrow()
	rules := []landlock.Rule{landlock.RODirs(dirs(read)...).IgnoreIfMissing(), landlock.ROFiles(files(read)...).IgnoreIfMissing(), landlock.RWFiles(devices...).IgnoreIfMissing(),
		landlock.RWDirs(write...).WithRefer(), landlock.RWDirs(groups...), landlock.BindTCP(port), landlock.ConnectTCP(port), landlock.PathAccess(writeFile, "/proc")} // the maps of the users of a new namespace
	for _, p := range ports {
		rules = append(rules, landlock.ConnectTCP(p))
	}
	if err := landlock.V6.Restrict(rules...); err != nil {
		return fmt.Errorf("confine: landlock: %w", err)
	}
	names, err := known(strings.Fields(deniedSelf))
	if err != nil {
		return err
	}
	eperm := seccomp.ActionErrno | seccomp.Action(unix.EPERM)
	var refused []seccomp.NameWithConditions
	add := func(c ...seccomp.Condition) {
		refused = append(refused, seccomp.NameWithConditions{Name: "socket", Conditions: c})
	}
	// Landlock's rules are for TCP alone, and MPTCP, SCTP and SMC reach the same ports. Go's resolver needs UDP and netlink.
	var family []seccomp.Condition
	for _, f := range []uint64{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK} {
		family = append(family, seccomp.Condition{Argument: 0, Operation: seccomp.NotEqual, Value: f})
	}
	add(family...)
	add(seccomp.Condition{Argument: 1, Operation: seccomp.GreaterThan, Value: 1<<32 - 1})
	add(seccomp.Condition{Argument: 2, Operation: seccomp.GreaterThan, Value: 1<<32 - 1})
	for _, ip := range []uint64{unix.AF_INET, unix.AF_INET6} {
		of := seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: ip}
		add(of, seccomp.Condition{Argument: 2, Operation: seccomp.NotEqual, Value: 0}, seccomp.Condition{Argument: 2, Operation: seccomp.NotEqual, Value: unix.IPPROTO_TCP},
			seccomp.Condition{Argument: 2, Operation: seccomp.NotEqual, Value: unix.IPPROTO_UDP})
		// Without a protocol the kernel chooses one by the type.
		for _, kind := range []uint64{unix.SOCK_RAW, unix.SOCK_RDM, unix.SOCK_SEQPACKET, unix.SOCK_DCCP, unix.SOCK_PACKET} {
			for _, flags := range []uint64{0, unix.SOCK_CLOEXEC, unix.SOCK_NONBLOCK, unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK} {
				add(of, seccomp.Condition{Argument: 1, Operation: seccomp.Equal, Value: kind | flags})
			}
		}
	}
	return load([]seccomp.SyscallGroup{{Names: names, Action: eperm}, {NamesWithCondtions: refused, Action: eperm}})
}

// deniedSelf is denied without what the helper of a program needs.
var deniedSelf = strings.Join(slices.DeleteFunc(strings.Fields(denied), func(n string) bool { return n == "mount" || n == "setns" || n == "unshare" }), " ")
