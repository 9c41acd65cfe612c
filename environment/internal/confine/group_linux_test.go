package confine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The place of a process is found in the texts of real systems.
func TestFindGroups(t *testing.T) {
	root := t.TempDir()
	make := func(paths ...string) {
		for _, p := range paths {
			if err := os.MkdirAll(filepath.Join(root, p), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(path, text string) {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(path string) string {
		data, _ := os.ReadFile(filepath.Join(root, path))
		return string(data)
	}
	// Version 1, in which memory is below the mount's root, as in a container.
	make("one/memory/a", "one/pids", "one/cpu,cpuacct")
	one := "31 23 0:27 /docker/x " + root + "/one/memory rw - cgroup cgroup rw,memory\n32 23 0:28 / " + root + "/one/pids rw - cgroup cgroup rw,pids\n33 23 0:29 / " + root + "/one/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	p, err := find(one, "4:memory:/docker/x/a\n3:pids:/\n2:cpu,cpuacct:/\n", 7)
	if err != nil || p.two || p.dirs["memory"] != root+"/one/memory/a" || p.dirs["cpu"] != root+"/one/cpu,cpuacct" || p.dirs["pids"] != root+"/one/pids" {
		t.Errorf("%+v %v", p, err)
	}
	// Version 2: a scope of systemd's user manager, whose parent has the controllers.
	two := "30 23 0:26 / " + root + "/two rw - cgroup2 cgroup2 rw\n"
	make("two/user/app", "two/alone", "two/full", "two/none")
	for _, d := range []string{"two", "two/user", "two/user/app", "two/alone", "two/full", "two/none"} {
		write(d+"/cgroup.procs", "")
		write(d+"/cgroup.subtree_control", "")
		write(d+"/cgroup.controllers", "cpu memory pids")
	}
	write("two/user/cgroup.subtree_control", "cpu memory pids")
	if p, err = find(two, "0::/user/app\n", 7); err != nil || !p.two || p.dirs["memory"] != root+"/two/user" || p.dirs["cpu"] != root+"/two/user" {
		t.Errorf("%+v %v", p, err)
	}
	// A process that is alone in its group moves below it. It does not if there are others.
	make("two/alone/bailey-self")
	write("two/alone/bailey-self/cgroup.procs", "")
	write("two/alone/cgroup.procs", "7\n")
	if p, err = find(two, "0::/alone\n", 7); err != nil || p.dirs["memory"] != root+"/two/alone" || read("two/alone/bailey-self/cgroup.procs") != "7" || read("two/alone/cgroup.subtree_control") != "+memory +pids +cpu" {
		t.Errorf("%+v %v", p, err)
	}
	write("two/full/cgroup.procs", "7\n8\n")
	if p, err = find(two, "0::/full\n", 7); err == nil || !strings.Contains(err.Error(), "systemd-run") {
		t.Errorf("%+v %v", p, err)
	}
	// The group of a job, whose parent has the controllers: beside it the limits of the job do not hold.
	for name, c := range map[string]struct{ procs, file, limit, want string }{
		"alone":                  {"7\n", "memory.max", "1000", "two/user/job"},
		"alone without a limit":  {"7\n", "memory.max", "max", "two/user/job"},
		"others, memory":         {"7\n8\n", "memory.max", "1000", ""},
		"others, processes":      {"7\n8\n", "pids.max", "32", ""},
		"others, processors":     {"7\n8\n", "cpu.max", "5000 100000", ""},
		"others without a limit": {"7\n8\n", "cpu.max", "max 100000", "two/user"},
	} {
		make("two/user/job/bailey-self")
		for _, file := range []string{"cgroup.subtree_control", "memory.max", "pids.max", "cpu.max", "bailey-self/cgroup.procs"} {
			write("two/user/job/"+file, "")
		}
		write("two/user/job/cgroup.controllers", "cpu memory pids")
		write("two/user/job/cgroup.procs", c.procs)
		write("two/user/job/"+c.file, c.limit)
		p, err := find(two, "0::/user/job\n", 7)
		if c.want == "" && err == nil || c.want != "" && (err != nil || p.dirs["memory"] != root+"/"+c.want) {
			t.Errorf("a job, %s: %+v %v", name, p, err)
		}
	}
	write("two/none/cgroup.controllers", "hugetlb")
	write("two/none/cgroup.procs", "7\n")
	if p, err = find(two, "0::/none\n", 7); err == nil {
		t.Errorf("%+v %v", p, err)
	}
	if p, err = find("", "", 7); err == nil {
		t.Errorf("%+v %v", p, err)
	}
}

// The limits of version 2 are written as its documentation says.
func TestLimitsOfVersion2(t *testing.T) {
	root := t.TempDir()
	p := &place{two: true, dirs: map[string]string{"memory": root, "pids": root, "cpu": root}}
	// The kernel makes the files of a group. Here there are none, so the first limit fails and nothing stays.
	if _, err := p.group("x", map[string]int64{"memory": 1}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if list, err := os.ReadDir(root); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
}

// A group ends all of its processes, also those of a group below it, and goes.
func TestGroupEnds(t *testing.T) {
	places := map[string]*place{}
	if p, err := where(); err == nil {
		places["its own"] = p
	} else {
		t.Run("its own", func(t *testing.T) { t.Skipf("NOT TESTED: %v", err) })
	}
	if unified := "/sys/fs/cgroup/unified"; os.Geteuid() == 0 {
		if _, err := os.Stat(filepath.Join(unified, "cgroup.procs")); err == nil {
			// A tree of version 2 beside that of version 1 has none of the controllers, but processes in groups.
			places["version 2"] = &place{two: true, dirs: map[string]string{"memory": unified}}
		}
	}
	for name, p := range places {
		g, err := p.group("test", nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cmd := exec.Command("/bin/cat")
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			err = g.Add(cmd.Process.Pid)
		}
		below := filepath.Join(g.dirs[0], "below")
		if err == nil {
			err = os.Mkdir(below, 0o755)
		}
		if err == nil {
			err = set(below, "cgroup.procs", "0") // the writer itself, which then leaves
		}
		if err == nil {
			err = set(p.dirs["memory"], "cgroup.procs", "0")
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if err := g.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-ended; err == nil {
			t.Errorf("%s: the process ended by itself", name)
		}
		in.Close()
		if _, err := os.Stat(g.dirs[0]); !os.IsNotExist(err) {
			t.Errorf("%s: the group is still there: %v", name, err)
		}
	}
}

// The groups of a name end, and those of a longer name stay.
func TestEndGroups(t *testing.T) {
	if err := Groups(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	member := func(name string) (*Group, func() error) {
		g, err := NewGroup(name, 64<<20, 32, 1000)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/cat")
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			err = g.Add(cmd.Process.Pid)
		}
		if err != nil {
			t.Fatal(err)
		}
		return g, func() error {
			in.Close()
			return cmd.Wait()
		}
	}
	one, oneEnds := member("end-0123")
	two, twoEnds := member("end-0123")
	other, otherEnds := member("end-0123-45")
	if err := EndGroups("end-0123"); err != nil {
		t.Error(err)
	}
	if oneEnds() == nil || twoEnds() == nil {
		t.Error("a process of the groups ended by itself")
	}
	for _, dir := range append(one.dirs, two.dirs...) {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	if err := otherEnds(); err != nil {
		t.Errorf("a process of another group: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(one.Close(), EndGroups("end-0123")); err != nil {
		t.Errorf("none is left to be ended: %v", err)
	}
}
