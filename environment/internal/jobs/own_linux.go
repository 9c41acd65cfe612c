package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailey-go/bailey/environment/internal/confine"
)

// own is the folder of the jobs of one provider, below Options.Dir. Its file "lock" is locked by the kernel (flock) as
// long as the provider's process lives. So another start knows what a process left that was killed: no number of a
// process is stored that another one could have by then.
type own struct {
	dir    string
	group  string // the name of its control groups
	lock   *os.File
	found  int // jobs that were left
	failed error
}

// sweepOff are defences that a test switches off.
type sweepOff struct{ lock, links, owner, mounts, args bool }

var (
	ownForm = regexp.MustCompile(`^jobs-[0-9]+$`)
	jobForm = regexp.MustCompile(`^job-[0-9]+$`)
)

// claim removes what dead providers left in dir, and makes the folder of a new one.
func claim(dir string, off sweepOff) (_ *own, err error) {
	// Of two starts one waits, so none sees the folder of the other without its lock.
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("jobs: Options.Dir: %w", err)
	}
	defer d.Close()
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return nil, fmt.Errorf("jobs: Options.Dir: its lock: %w", err)
	}
	o := &own{}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("jobs: Options.Dir: %w", err)
	}
	var errs []error
	for _, e := range list {
		if ownForm.MatchString(e.Name()) {
			n, err := sweep(filepath.Join(dir, e.Name()), off)
			o.found += n
			errs = append(errs, err)
		}
	}
	o.failed = errors.Join(errs...)
	if o.dir, err = os.MkdirTemp(dir, "jobs-"); err != nil {
		return nil, fmt.Errorf("jobs: Options.Dir: %w", err)
	}
	o.group = groupFor(o.dir)
	if err = os.Chmod(o.dir, 0o711); err == nil {
		if o.lock, err = os.OpenFile(filepath.Join(o.dir, "lock"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
			err = unix.Flock(int(o.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("jobs: Options.Dir: %w", err), o.leave())
	}
	return o, nil
}

// leave removes the folder. One with jobs in it stays, for the next start.
func (o *own) leave() error {
	if o.lock == nil {
		return os.Remove(o.dir)
	}
	return errors.Join(os.Remove(o.lock.Name()), os.Remove(o.dir), o.lock.Close())
}

// groupFor returns the name of the control groups of a folder's jobs. It depends on the path, so a folder elsewhere has
// no part in them.
func groupFor(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "job-" + hex.EncodeToString(sum[:6])
}

// withUs has the kernel end a program when this process ends, in whatever way. Its own programs end with it, by
// bubblewrap or as the processes of its namespaces.
func withUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// sweep ends and removes the jobs of a folder whose provider is dead, and returns their number. A folder that is not of
// a provider of this user is left alone.
func sweep(at string, off sweepOff) (n int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("jobs: %s of a process that was killed could not be removed: %w", at, err)
		}
	}()
	follow := unix.O_NOFOLLOW
	if off.links {
		follow = 0
		if at, err = filepath.EvalSymlinks(at); err != nil {
			return 0, err
		}
	}
	ours := func(s *unix.Stat_t, kind uint32) bool {
		return s.Mode&unix.S_IFMT == kind && (off.owner || int(s.Uid) == os.Geteuid() && s.Mode&0o022 == 0)
	}
	var s unix.Stat_t
	fd, err := unix.Open(at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|follow, 0)
	if err == unix.ELOOP || err == unix.ENOTDIR {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, &s); err != nil || !ours(&s, unix.S_IFDIR) {
		return 0, err
	}
	lock, err := unix.Openat(fd, "lock", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC|follow, 0)
	switch err {
	case nil:
	case unix.ENOENT: // its start was cut here, or it was almost removed
		if err := os.Remove(at); err != nil && !errors.Is(err, unix.ENOTEMPTY) {
			return 0, err
		}
		return 0, nil
	case unix.ELOOP:
		return 0, nil
	default:
		return 0, err
	}
	defer unix.Close(lock)
	if err := unix.Fstat(lock, &s); err != nil || !ours(&s, unix.S_IFREG) || s.Nlink != 1 {
		return 0, err
	}
	if err := unix.Flock(lock, unix.LOCK_EX|unix.LOCK_NB); err == unix.EWOULDBLOCK && !off.lock {
		return 0, nil // it lives
	} else if err != nil && err != unix.EWOULDBLOCK {
		return 0, err
	}
	list, err := os.ReadDir(at)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		if jobForm.MatchString(e.Name()) {
			n++
		}
	}
	if err := errors.Join(endAll(at, off), confine.EndGroups(groupFor(at))); err != nil {
		return 0, err
	}
	mounts, err := mountsIn(at)
	if err != nil {
		return 0, err
	}
	slices.Reverse(mounts) // the last one is on top
	for _, m := range mounts {
		if m.ours {
			if err := unix.Unmount(m.at, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
				return 0, fmt.Errorf("%s: %w", m.at, err)
			}
		}
	}
	// The files of another file system are not ours to remove.
	if mounts, err = mountsIn(at); err != nil || len(mounts) > 0 && !off.mounts {
		if err == nil {
			err = fmt.Errorf("%s is mounted there: unmount it", mounts[0].at)
		}
		return 0, err
	}
	return n, os.RemoveAll(at)
}

// mount is a file system in the folder of a provider. It is ours if it limits the folder of a job.
type mount struct {
	at   string
	ours bool
}

func mountsIn(dir string) ([]mount, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return findMounts(string(text), dir), nil
}

// findMounts returns the mounts at or below dir, from the text of mountinfo.
func findMounts(text, dir string) (out []mount) {
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(r) < 2 {
			continue
		}
		at := plain.Replace(l[4])
		if rel, err := filepath.Rel(dir, at); err == nil && filepath.IsLocal(rel) {
			out = append(out, mount{at, r[0] == "tmpfs" && r[1] == "bailey" && jobForm.MatchString(rel)})
		}
	}
	return out
}

// endAll ends the processes of the jobs of a folder, and waits for their ends.
func endAll(at string, off sweepOff) error {
	for end := time.Now().Add(10 * time.Second); ; {
		list, err := os.ReadDir("/proc")
		if err != nil {
			return err
		}
		left := 0
		for _, e := range list {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			// The descriptor (pidfd) stays that of the process that is looked at, also if another one gets its number.
			p, err := os.FindProcess(pid)
			if err != nil {
				continue
			}
			if belongs(pid, at, off) {
				left++
				err = p.Kill()
			}
			_ = p.Release()
			if err != nil && !errors.Is(err, os.ErrProcessDone) {
				return err
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d processes of it do not end", left)
		}
		time.Sleep(time.Millisecond) // a killed process ends when the kernel has its memory back
	}
}

// belongs reports whether a process is of a job of a folder: it is in the job's control group, or it is the bailey-box
// that a provider of this user started.
func belongs(pid int, at string, off sweepOff) bool {
	read := func(file string) string {
		text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
		return string(text)
	}
	var state, uid string
	for line := range strings.Lines(read("status")) {
		switch f := strings.Fields(line); {
		case len(f) > 1 && f[0] == "State:":
			state = f[1]
		case len(f) > 1 && f[0] == "Uid:":
			uid = f[1]
		}
	}
	if state == "" || state == "Z" || state == "X" { // it has ended
		return false
	}
	for line := range strings.Lines(read("cgroup")) {
		for part := range strings.SplitSeq(strings.TrimSpace(line), "/") {
			if confine.InGroup(part, groupFor(at)) {
				return true
			}
		}
	}
	if uid != strconv.Itoa(os.Geteuid()) && !off.owner {
		return false
	}
	args := strings.Split(read("cmdline"), "\x00")
	if off.args {
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, at+"/") })
	}
	for i := 0; i+3 < len(args); i++ {
		base := filepath.Dir(args[i+1])
		if args[i] == "-dir" && filepath.Dir(base) == at && jobForm.MatchString(filepath.Base(base)) && args[i+1] == filepath.Join(base, "folder") &&
			args[i+2] == "-state" && args[i+3] == filepath.Join(base, "state") {
			return true
		}
	}
	return false
}
