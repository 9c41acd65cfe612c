package jobs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/internal/attack"
)

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// A provider ends and removes what another one left when it was killed. One that lives keeps its jobs.
func TestSweep(t *testing.T) {
	o := options(t, 1)
	living, err := NewLocal(o)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := living.Create(t.Context(), "kept")
	if err == nil {
		err = placeOf(kept).root.WriteFile("x", nil, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	dead, err := NewLocal(o)
	if err != nil {
		t.Fatal(err)
	}
	j, err := dead.Create(t.Context(), "a")
	if err == nil {
		_, err = j.Say(t.Context(), "first")
	}
	if err == nil {
		err = placeOf(j).root.WriteFile("lost", nil, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Its process is this one, which lives. So the end of its lock and of its warm jobs stands for the end of it.
	dead.stop()
	dead.tasks.Wait()
	if err := dead.own.lock.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := NewLocal(o)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := next.Found(); n < 1 || err != nil {
		t.Errorf("%d jobs, %v", n, err)
	}
	<-j.Ended()
	mounts, err := mountsIn(dead.own.dir)
	if err != nil || len(mounts) > 0 || !missing(dead.own.dir) {
		t.Errorf("left: %v %v %v", mounts, err, !missing(dead.own.dir))
	}
	if err := kept.runs(); err != nil || missing(filepath.Join(kept.Dir, "x")) {
		t.Errorf("the job of a provider that lives: %v", err)
	}
	again, err := next.Create(t.Context(), "a")
	if err != nil || again.Last.Message != "first" || !missing(filepath.Join(again.Dir, "lost")) {
		t.Errorf("%+v, %v", again, err)
	}
	_ = dead.Close() // nothing of it is left to be closed
	if err := errors.Join(next.Close(), next.Close(), living.Close()); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Dir, "jobs-*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// folderOf makes the folder of a provider that is dead, with a job in it, and returns the folder and a file of the job.
func folderOf(t *testing.T, dir, name string) (at, file string) {
	t.Helper()
	at = filepath.Join(dir, name)
	file = filepath.Join(at, "job-1", "folder", "precious")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o711), os.WriteFile(filepath.Join(at, "lock"), nil, 0o600), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	return at, file
}

// process starts a program with arguments, and returns a function that ends it and reports whether it was killed.
func process(t *testing.T, uid uint32, args ...string) (cmd *exec.Cmd, killed func() bool) {
	t.Helper()
	cmd = exec.Command("/bin/sh", append([]string{"-c", "echo; read x", "sh"}, args...)...)
	if uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, 1)) // it has its arguments
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, func() bool {
		in.Close()
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode() == -1
	}
}

// A start looks at a folder that lies about whose it is, or that is not alone.
func TestAttackSweep(t *testing.T) {
	count := attack.Start(t, "front")
	root := os.Geteuid() == 0
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range []struct {
		name string
		off  sweepOff
		root bool
		// try returns whether a start, with the defences that are left, took what is not its own.
		try func(t *testing.T, dir string, start func()) bool
	}{
		{"the folder of a provider that lives", sweepOff{lock: true}, false, func(t *testing.T, dir string, start func()) bool {
			o, err := claim(dir, sweepOff{})
			must(err)
			_, file := folderOf(t, dir, "jobs-1")
			must(os.Rename(filepath.Join(dir, "jobs-1", "job-1"), filepath.Join(o.dir, "job-1")))
			file = strings.Replace(file, filepath.Join(dir, "jobs-1"), o.dir, 1)
			start()
			defer o.leave()
			return missing(file)
		}},
		{"a process of a provider that lives", sweepOff{lock: true}, false, func(t *testing.T, dir string, start func()) bool {
			o, err := claim(dir, sweepOff{})
			must(err)
			defer o.leave()
			_, killed := process(t, 0, "-dir", filepath.Join(o.dir, "job-1", "folder"), "-state", filepath.Join(o.dir, "job-1", "state"))
			start()
			return killed()
		}},
		{"a link to another folder", sweepOff{links: true}, false, func(t *testing.T, dir string, start func()) bool {
			at, file := folderOf(t, t.TempDir(), "victim")
			must(os.Symlink(at, filepath.Join(dir, "jobs-1")))
			start()
			return missing(file)
		}},
		{"a link in the place of the lock", sweepOff{links: true}, false, func(t *testing.T, dir string, start func()) bool {
			other, _ := folderOf(t, t.TempDir(), "other")
			at, file := folderOf(t, dir, "jobs-1")
			must(errors.Join(os.Remove(filepath.Join(at, "lock")), os.Symlink(filepath.Join(other, "lock"), filepath.Join(at, "lock"))))
			start()
			return missing(file)
		}},
		{"a folder that others can change", sweepOff{owner: true}, false, func(t *testing.T, dir string, start func()) bool {
			at, file := folderOf(t, dir, "jobs-1")
			must(os.Chmod(at, 0o777))
			start()
			return missing(file)
		}},
		{"a lock that others can change", sweepOff{owner: true}, false, func(t *testing.T, dir string, start func()) bool {
			at, file := folderOf(t, dir, "jobs-1")
			must(os.Chmod(filepath.Join(at, "lock"), 0o666))
			start()
			return missing(file)
		}},
		{"a folder of another user", sweepOff{owner: true}, true, func(t *testing.T, dir string, start func()) bool {
			at, file := folderOf(t, dir, "jobs-1")
			must(os.Chown(at, 65534, 65534))
			start()
			return missing(file)
		}},
		{"a process of another user", sweepOff{owner: true}, true, func(t *testing.T, dir string, start func()) bool {
			at, _ := folderOf(t, dir, "jobs-1")
			_, killed := process(t, 65534, "-dir", filepath.Join(at, "job-1", "folder"), "-state", filepath.Join(at, "job-1", "state"))
			start()
			return killed()
		}},
		{"a program that has a file of the job in its arguments", sweepOff{args: true}, false, func(t *testing.T, dir string, start func()) bool {
			at, _ := folderOf(t, dir, "jobs-1")
			_, killed := process(t, 0, "-dir", filepath.Join(at, "job-1", "folder"))
			start()
			return killed()
		}},
		{"another file system in the folder", sweepOff{mounts: true}, true, func(t *testing.T, dir string, start func()) bool {
			at, _ := folderOf(t, dir, "jobs-1")
			to, from := filepath.Join(at, "job-1", "folder", "mounted"), t.TempDir()
			must(errors.Join(os.Mkdir(to, 0o700), os.WriteFile(filepath.Join(from, "precious"), nil, 0o600), unix.Mount(from, to, "", unix.MS_BIND, "")))
			start()
			gone := missing(filepath.Join(from, "precious"))
			_ = unix.Unmount(to, unix.MNT_DETACH)
			return gone
		}},
	} {
		t.Run(a.name, func(t *testing.T) {
			if a.root && !root {
				t.Skip("NOT TESTED: only root can mount, and act as another user")
			}
			for _, off := range []sweepOff{{}, a.off} {
				dir := t.TempDir()
				got := a.try(t, dir, func() {
					o, err := claim(dir, off)
					must(err)
					must(o.leave())
				})
				if off == (sweepOff{}) {
					count.Try(a.name, got)
				} else if count.Off(a.name, got); !got {
					t.Error("it did not succeed without its defence")
				}
			}
		})
	}
	// What there is no switch for, as nothing looks there: numbers of processes in files, links in a job's folder, and the
	// groups of a folder of the same name elsewhere.
	dir := t.TempDir()
	at, file := folderOf(t, dir, "jobs-1")
	outside := filepath.Join(t.TempDir(), "precious")
	cmd, killed := process(t, 0, "living")
	number := []byte(strconv.Itoa(cmd.Process.Pid))
	must(errors.Join(os.WriteFile(filepath.Join(at, "lock"), number, 0o600), os.WriteFile(filepath.Join(at, "pid"), number, 0o600), os.WriteFile(filepath.Join(at, "job-1", "pid"), number, 0o600),
		os.WriteFile(outside, nil, 0o600), os.Symlink(filepath.Dir(outside), filepath.Join(filepath.Dir(file), "link")), os.Symlink(filepath.Dir(outside), filepath.Join(at, "job-2"))))
	var other *confine.Group
	elsewhere, _ := folderOf(t, t.TempDir(), "jobs-1")
	grouped, ended := process(t, 0, "grouped")
	if confine.Groups() == nil {
		var err error
		other, err = confine.NewGroup(groupFor(elsewhere), 1<<30, 100, 1000)
		must(err)
		must(other.Add(grouped.Process.Pid))
	}
	o, err := claim(dir, sweepOff{})
	must(err)
	if o.found != 2 || o.failed != nil || !missing(at) { // a link is counted, and removed
		t.Errorf("%d %v", o.found, o.failed)
	}
	must(o.leave())
	count.Try("the number of a process that is another's now", killed())
	count.Try("a link in a job's folder", missing(outside))
	if other != nil {
		// The folder of the group itself finds it.
		if !belongs(grouped.Process.Pid, elsewhere, sweepOff{}) || belongs(grouped.Process.Pid, at, sweepOff{}) {
			t.Error("a process of a group is not found by its folder, or by another one")
		}
		count.Try("the group of a folder of the same name", ended())
		must(other.Close())
		next, end := process(t, 0, "of the group")
		again, err := confine.NewGroup(groupFor(elsewhere), 1<<30, 100, 1000)
		must(errors.Join(err, again.Add(next.Process.Pid)))
		n, err := sweep(elsewhere, sweepOff{})
		if !end() || n != 1 || err != nil {
			t.Errorf("a process in a group of the folder was not ended: %d %v", n, err)
		}
		return
	}
	ended()
}

// A folder without a lock is one whose start was cut. It is removed if it is empty.
func TestSweepHalf(t *testing.T) {
	dir := t.TempDir()
	full, _ := folderOf(t, dir, "jobs-2")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "jobs-1"), 0o711), os.Remove(filepath.Join(full, "lock")), os.WriteFile(filepath.Join(dir, "jobs-3"), nil, 0o600), os.Mkdir(filepath.Join(dir, "jobs-x"), 0o711)); err != nil {
		t.Fatal(err)
	}
	o, err := claim(dir, sweepOff{})
	if err != nil || o.found != 0 || o.failed != nil {
		t.Fatalf("%+v %v", o, err)
	}
	for name, stays := range map[string]bool{"jobs-1": false, "jobs-2": true, "jobs-3": true, "jobs-x": true} {
		if missing(filepath.Join(dir, name)) == stays {
			t.Errorf("%s: stays %v", name, !stays)
		}
	}
	if err := o.leave(); err != nil {
		t.Error(err)
	}
}

// The kernel ends a job with the thread that started it.
func TestWithUs(t *testing.T) {
	ended := make(chan *exec.Cmd)
	var in io.WriteCloser
	var start func()
	start = func() {
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() { // the main thread does not end with a goroutine, so another one takes another thread
			defer runtime.UnlockOSThread()
			var other sync.WaitGroup
			other.Go(start)
			other.Wait()
			return
		}
		cmd := exec.Command("/bin/sh", "-c", "read x")
		withUs(cmd)
		var err error
		if in, err = cmd.StdinPipe(); err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Error(err)
		}
		ended <- cmd
		// The thread ends with the goroutine that is locked to it.
	}
	go start()
	cmd := <-ended
	defer in.Close()
	_ = cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Errorf("%v", cmd.ProcessState)
	}
}

func TestFindMounts(t *testing.T) {
	text := "1 0 0:1 / / rw - ext4 /dev/vda rw\n" +
		"2 1 0:2 / /d/jobs-1/job-7 rw,nosuid - tmpfs bailey rw\n" +
		"3 1 0:3 / /d/jobs-1/job-8 rw shared:1 - tmpfs tmpfs rw\n" +
		"4 1 0:4 / /d/jobs-1/job-7/x rw - tmpfs bailey rw\n" +
		"5 1 0:5 / /d/jobs-11/job-1 rw - tmpfs bailey rw\n" +
		"6 1 0:6 / /d/jobs-1/a\\040b rw - ext4 /dev/vdb rw\nbroken\n"
	want := "[{/d/jobs-1/job-7 true} {/d/jobs-1/job-8 false} {/d/jobs-1/job-7/x false} {/d/jobs-1/a b false}]"
	if got := fmt.Sprint(findMounts(text, "/d/jobs-1")); got != want {
		t.Errorf("%s", got)
	}
}
