package confine

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A place is a folder of control groups in which this process may make groups. Version 1 has a tree for
// each controller, and version 2 has one for all.
type place struct {
	dirs map[string]string // by the controller: memory, pids and cpu
	two  bool
}

// controllers are those of a group. Version 2 may come without cpu.
var controllers = []string{"memory", "pids", "cpu"}

// base is the place of this process, which [Self] narrows.
var base = struct {
	sync.Mutex
	p    *place
	err  error
	done bool
}{}

// where returns the place of this process.
func where() (*place, error) {
	base.Lock()
	defer base.Unlock()
	if !base.done {
		base.done = true
		mounts, err := os.ReadFile("/proc/self/mountinfo")
		var own []byte
		if err == nil {
			own, err = os.ReadFile("/proc/self/cgroup")
		}
		if err == nil {
			base.p, err = find(string(mounts), string(own), os.Getpid())
		}
		base.err = err
	}
	return base.p, base.err
}

// Groups returns nil if all of a program's processes have a limit of memory, processes and time of processors
// together. Otherwise each process has its own limits, and the error has the reason.
func Groups() error {
	p, err := where()
	if err != nil {
		return fmt.Errorf("a program's processes have limits each, and not together: %w", err)
	}
	g, err := p.group("probe", map[string]int64{})
	if err != nil {
		return fmt.Errorf("a program's processes have limits each, and not together: %w", err)
	}
	return g.close()
}

// find returns the place of a process, from the texts of its mountinfo and cgroup.
func find(mounts, own string, pid int) (*place, error) {
	paths := map[string]string{} // of this process, by the controller; "" is version 2
	for line := range strings.Lines(own) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
			for c := range strings.SplitSeq(f[1], ",") {
				paths[c] = f[2]
			}
		}
	}
	one, two := &place{dirs: map[string]string{}}, ""
	for line := range strings.Lines(mounts) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(r) < 3 {
			continue
		}
		in := func(c string) string { // the folder of this process
			rel, err := filepath.Rel(l[3], paths[c])
			if err != nil || !filepath.IsLocal(rel) {
				rel = "."
			}
			return filepath.Join(l[4], rel)
		}
		switch r[0] {
		case "cgroup2":
			two = in("")
		case "cgroup":
			for c := range strings.SplitSeq(r[2], ",") {
				if _, ok := paths[c]; ok && slices.Contains(controllers, c) {
					one.dirs[c] = in(c)
				}
			}
		}
	}
	if len(one.dirs) == len(controllers) {
		for _, dir := range one.dirs {
			if err := unix.Access(dir, unix.W_OK); err != nil {
				return nil, fmt.Errorf("the control groups in %s are not this user's", dir)
			}
		}
		return one, nil
	}
	if two == "" {
		return nil, errors.New("no control groups with memory, pids and cpu are mounted")
	}
	return second(two, pid)
}

// second returns the place in a tree of version 2, below or beside the group of this process. A group with
// processes has no groups with controllers below it, so a process that is alone in its group moves down. Beside
// a group that has limits is no place: a job's programs would be outside the job.
func second(own string, pid int) (*place, error) {
	has := func(dir, file string) bool {
		data, err := os.ReadFile(filepath.Join(dir, file))
		list := strings.Fields(string(data))
		return err == nil && slices.Contains(list, "memory") && slices.Contains(list, "pids")
	}
	mine := func(dir string) bool {
		return unix.Access(dir, unix.W_OK) == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
	}
	out := func(dir string) (*place, error) {
		p := &place{two: true, dirs: map[string]string{}}
		data, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		for _, c := range strings.Fields(string(data)) {
			if slices.Contains(controllers, strings.TrimPrefix(c, "+")) {
				p.dirs[strings.TrimPrefix(c, "+")] = dir
			}
		}
		return p, err
	}
	if mine(own) && has(own, "cgroup.subtree_control") {
		return out(own)
	}
	procs, err := os.ReadFile(filepath.Join(own, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	alone := has(own, "cgroup.controllers") && strings.TrimSpace(string(procs)) == strconv.Itoa(pid)
	if up := filepath.Dir(own); !(mine(own) && alone) && !limited(own) && mine(up) && has(up, "cgroup.subtree_control") {
		return out(up)
	}
	const hint = "start it with systemd-run --user --scope -p Delegate=yes"
	if !mine(own) {
		return nil, fmt.Errorf("the control group %s was not delegated to this user: %s", own, hint)
	}
	if !alone {
		return nil, fmt.Errorf("the control group %s has no controllers of memory and pids, or has other processes: %s", own, hint)
	}
	leaf := filepath.Join(own, "bailey-self")
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := set(leaf, "cgroup.procs", strconv.Itoa(pid)); err != nil {
		return nil, err
	}
	want := "+memory +pids"
	if data, err := os.ReadFile(filepath.Join(own, "cgroup.controllers")); err == nil && slices.Contains(strings.Fields(string(data)), "cpu") {
		want += " +cpu"
	}
	if err := set(own, "cgroup.subtree_control", want); err != nil {
		return nil, err
	}
	return out(own)
}

// limited reports whether a group of version 2 has a limit. The group at the root has no such files.
func limited(dir string) bool {
	for _, file := range []string{"memory.max", "memory.high", "memory.swap.max", "pids.max", "cpu.max"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if f := strings.Fields(string(data)); err != nil && !errors.Is(err, fs.ErrNotExist) || len(f) > 0 && f[0] != "max" {
			return true
		}
	}
	return false
}

// set writes to a file of a group.
func set(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// A Group limits all processes in it together.
type Group struct {
	dirs []string // without repetitions
	two  bool
	gone bool
	met  []string // the answer of Hit since then
}

// NewGroup makes a group with limits: bytes of memory, processes with their threads, and thousandths of a
// processor. The name tells people whose it is.
func NewGroup(name string, memory, processes, cpu int64) (*Group, error) {
	p, err := where()
	if err != nil {
		return nil, err
	}
	return p.group(name, map[string]int64{"memory": memory, "pids": processes, "cpu": cpu})
}

func (p *place) group(name string, most map[string]int64) (*Group, error) {
	b := make([]byte, 6)
	_, _ = rand.Read(b) // never fails
	g := &Group{two: p.two}
	name = "bailey-" + name + "-" + hex.EncodeToString(b)
	for _, c := range controllers {
		if p.dirs[c] == "" {
			continue
		}
		dir := filepath.Join(p.dirs[c], name)
		if !slices.Contains(g.dirs, dir) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				return nil, errors.Join(err, g.close())
			}
			g.dirs = append(g.dirs, dir)
		}
		if most[c] == 0 {
			continue
		}
		n := strconv.FormatInt(most[c], 10)
		var err error
		switch {
		case c == "pids":
			err = set(dir, "pids.max", n)
		case c == "memory" && p.two:
			if err = set(dir, "memory.max", n); err == nil {
				// Swap is memory too. A kernel without swap has no such file.
				if err = set(dir, "memory.swap.max", "0"); errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
			}
			if err == nil {
				err = set(dir, "memory.oom.group", "1")
			}
		case c == "memory":
			if err = set(dir, "memory.limit_in_bytes", n); err == nil {
				if err = set(dir, "memory.memsw.limit_in_bytes", n); errors.Is(err, fs.ErrNotExist) {
					err = nil
				}
			}
		case p.two:
			err = set(dir, "cpu.max", strconv.FormatInt(most[c]*100, 10)+" 100000")
		default:
			if err = set(dir, "cpu.cfs_period_us", "100000"); err == nil {
				err = set(dir, "cpu.cfs_quota_us", strconv.FormatInt(most[c]*100, 10))
			}
		}
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
	}
	return g, nil
}

// Add moves a process into the group. What it starts afterwards is in it too.
func (g *Group) Add(pid int) error {
	for _, dir := range g.dirs {
		if err := set(dir, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("confine: the control group: %w", err)
		}
	}
	return nil
}

// Hit returns the limits that the group has met: memory, pids and cpu.
func (g *Group) Hit() (out []string) {
	if g.gone {
		return g.met
	}
	for c, at := range map[string][2]string{"memory": {"memory.events", "oom_kill"}, "pids": {"pids.events", "max"}, "cpu": {"cpu.stat", "nr_throttled"}} {
		if c == "memory" && !g.two {
			at[0] = "memory.oom_control"
		}
		for _, dir := range g.dirs {
			data, _ := os.ReadFile(filepath.Join(dir, at[0]))
			for line := range strings.Lines(string(data)) {
				if f := strings.Fields(line); len(f) == 2 && f[0] == at[1] && f[1] != "0" && !slices.Contains(out, c) {
					out = append(out, c)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// Close ends all processes of the group and of those below it, and removes it.
func (g *Group) Close() error { return g.close() }

func (g *Group) close() error {
	if g == nil {
		return nil
	}
	g.met, g.gone = g.Hit(), true
	var errs []error
	end := time.Now().Add(10 * time.Second)
	for _, dir := range g.dirs {
		for {
			err := removed(dir)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			if !errors.Is(err, unix.EBUSY) || time.Now().After(end) {
				errs = append(errs, fmt.Errorf("confine: the control group: %w", err))
				break
			}
			time.Sleep(time.Millisecond) // a killed process ends when the kernel has its memory back
		}
	}
	return errors.Join(errs...)
}

// removed kills all processes below dir and tries to remove its groups.
func removed(dir string) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Reverse(dirs) // those below first
	for _, d := range dirs {
		procs, err := os.ReadFile(filepath.Join(d, "cgroup.procs"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for p := range bytes.FieldsSeq(procs) {
			if pid, err := strconv.Atoi(string(p)); err == nil && pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if err := unix.Rmdir(d); err != nil {
			return err
		}
	}
	return nil
}

// EndGroups ends all processes in groups that [NewGroup] made with a name, in this process or in another one, and
// removes the groups. It looks where this process makes its own, and returns nil if it can't make any.
func EndGroups(name string) error {
	p, err := where()
	if err != nil {
		return nil
	}
	g := &Group{two: p.two}
	for _, dir := range p.dirs {
		list, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("confine: the control groups: %w", err)
		}
		for _, e := range list {
			if at := filepath.Join(dir, e.Name()); InGroup(e.Name(), name) && !slices.Contains(g.dirs, at) {
				g.dirs = append(g.dirs, at)
			}
		}
	}
	return g.close()
}

// InGroup reports whether the folder of a control group is that of a group that [NewGroup] made with a name.
func InGroup(folder, name string) bool {
	rest, ok := strings.CutPrefix(folder, "bailey-"+name+"-")
	_, err := hex.DecodeString(rest)
	return ok && err == nil && len(rest) == 12
}

// sweep removes the groups of narrow whose processes have ended.
func (p *place) sweep() {
	for _, dir := range p.dirs {
		old, _ := filepath.Glob(filepath.Join(dir, "bailey-box-*-*"))
		for _, o := range old {
			pid, err := strconv.Atoi(strings.Split(filepath.Base(o), "-")[2])
			if err == nil && unix.Kill(pid, 0) == unix.ESRCH {
				_ = removed(o)
			}
		}
	}
}

// narrow makes a group for the programs of a process that is about to enter its sandbox, and returns its
// folders, which the process must be able to change there. It has no limits of its own.
func narrow() []string {
	p, err := where()
	if err != nil {
		return nil
	}
	p.sweep()
	g, err := p.group("box-"+strconv.Itoa(os.Getpid()), map[string]int64{})
	base.Lock()
	defer base.Unlock()
	if err != nil {
		base.p, base.err = nil, err
		return nil
	}
	below := &place{two: p.two, dirs: map[string]string{}}
	for c, dir := range p.dirs {
		below.dirs[c] = filepath.Join(dir, filepath.Base(g.dirs[0]))
	}
	if p.two {
		for c := range p.dirs {
			if err := set(g.dirs[0], "cgroup.subtree_control", "+"+c); err != nil {
				base.p, base.err = nil, err
				return nil
			}
		}
	}
	base.p = below
	return g.dirs
}

// Disk limits what a folder can hold, by a file system in memory: bytes, and files with folders. The returned
// function removes it with all files. The error has the reason why there is no such limit here.
func Disk(dir string, size, files int64) (func() error, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("a program may fill the disk with files of the largest size: only root can limit a folder")
	}
	if err := unix.Mount("bailey", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("size=%d,nr_inodes=%d,mode=0755", size, files)); err != nil {
		return nil, fmt.Errorf("a program may fill the disk with files of the largest size: a file system for a folder can't be mounted: %w", err)
	}
	return func() error { return unix.Unmount(dir, unix.MNT_DETACH) }, nil
}
