package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/pgtest"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
)

const pol = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["bash", "perl"], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`

// program builds bailey-box once, into a folder that TestMain removes.
var program = sync.OnceValues(func() (string, error) { return boxtest.Program(programDir) })

var programDir string

func TestMain(m *testing.M) {
	var err error
	if programDir, err = os.MkdirTemp("/tmp", "jobs-box-"); err == nil {
		err = os.Chmod(programDir, 0o711)
	}
	if err != nil {
		panic(err)
	}
	code := pgtest.Main(m.Run)
	os.RemoveAll(programDir)
	os.Exit(code)
}

// options are those of a provider of real boxes.
func options(t testing.TB, warm int) Options {
	t.Helper()
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	dir, err := os.MkdirTemp("/tmp", "jobs-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "policy.json")
	box, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Folder(filepath.Join(dir, "store"))
	if err = errors.Join(err, os.WriteFile(file, []byte(pol), 0o644)); err != nil {
		t.Fatal(err)
	}
	return Options{Box: []string{box, "-policy", file, "-cache", "none"}, Dir: dir, Store: s, Warm: warm}
}

// provider returns a provider of real boxes.
func provider(t testing.TB, warm int, change func(*Options)) (*Local, Store) {
	t.Helper()
	o := options(t, warm)
	s := o.Store
	if change != nil {
		change(&o)
	}
	l, err := NewLocal(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(o.Dir, "jobs-*")); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	})
	return l, s
}

// placeOf returns the place of a job.
func placeOf(j *Job) *Process { return j.place.(*Process) }

// client returns a function that calls a tool of the job's box.
func client(ctx context.Context, j *Job) (func(tool string, args map[string]any) (string, error), error) {
	c, err := boxtest.Connect(ctx, strings.TrimPrefix(j.Address, "unix:"), j.Credential)
	if err != nil {
		return nil, err
	}
	return func(tool string, args map[string]any) (string, error) {
		res, err := c.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return "", err
		}
		text := res.Content[0].(*sdk.TextContent).Text
		if res.IsError {
			return "", errors.New(text)
		}
		return text, nil
	}, nil
}

// Jobs are killed at random, in 30 % of all steps. Each is created again from its last snapshot. At its end
// each has all of its messages, in order, and the files of all of them.
func TestKilledJobs(t *testing.T) {
	const messages = 4
	number := 200
	if testing.Short() {
		number = 6
	}
	l, s := provider(t, 4, nil)
	var mu sync.Mutex
	var starts []time.Duration
	kills := 0
	one := func(name string, random *rand.Rand) error {
		var j *Job
		var call func(string, map[string]any) (string, error)
		defer func() {
			if j != nil {
				_ = j.Close()
			}
		}()
		create := func() (err error) {
			if j != nil {
				if err := j.Close(); err != nil {
					return err
				}
			}
			began := time.Now()
			if j, err = l.Create(t.Context(), name); err != nil {
				return err
			}
			took := time.Since(began)
			mu.Lock()
			starts = append(starts, took)
			mu.Unlock()
			call, err = client(t.Context(), j)
			return err
		}
		if err := create(); err != nil {
			return err
		}
		for n := 1; n <= messages; n++ {
			kill := random.IntN(100) < 30
			text := fmt.Sprintf("message %d of %s", n, name)
			if _, err := j.Say(t.Context(), text); err != nil {
				return err
			}
			for {
				ended := make(chan error, 1)
				go func() {
					_, err := call("write", map[string]any{"path": fmt.Sprintf("%d.txt", n), "content": text})
					ended <- err
				}()
				if kill {
					_ = placeOf(j).cmd.Process.Kill() // at any point of the call
				}
				err := <-ended
				if !kill {
					if err != nil {
						return err
					}
					break
				}
				kill = false
				mu.Lock()
				kills++
				mu.Unlock()
				<-j.Ended()
				if err := create(); err != nil {
					return err
				}
				// The message was stored before the job heard of it, and the folder is that of before it.
				if j.Last.N != n || j.Last.Message != text {
					return fmt.Errorf("after message %d the last one is %+v", n, j.Last)
				}
				if _, err := os.Stat(filepath.Join(j.Dir, fmt.Sprintf("%d.txt", n))); !errors.Is(err, os.ErrNotExist) {
					return fmt.Errorf("the folder is not that of before message %d: %v", n, err)
				}
			}
		}
		list, err := s.Entries(t.Context(), name)
		if err != nil || len(list) != messages {
			return fmt.Errorf("%d messages, want %d: %v", len(list), messages, err)
		}
		for i, e := range list {
			data, err := os.ReadFile(filepath.Join(j.Dir, fmt.Sprintf("%d.txt", i+1)))
			if want := fmt.Sprintf("message %d of %s", i+1, name); err != nil || e.Message != want || string(data) != want {
				return fmt.Errorf("message %d: %q, file %q, %v", i+1, e.Message, data, err)
			}
		}
		return nil
	}
	names := make(chan int)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for i := range names {
				if err := one(fmt.Sprintf("job-%d", i), rand.New(rand.NewPCG(1, uint64(i)))); err != nil {
					t.Errorf("job %d: %v", i, err)
				}
			}
		})
	}
	for i := range number {
		names <- i
	}
	close(names)
	all.Wait()
	if kills == 0 {
		t.Error("no job was killed")
	}
	slices.Sort(starts)
	if len(starts) > 0 {
		t.Logf("%d jobs, %d kills, %d starts: p50 %s, p95 %s", number, kills, len(starts), starts[len(starts)/2], starts[len(starts)*95/100])
	}
}

// Of two jobs of a name, one stores the next message.
func TestTwoJobsOfAName(t *testing.T) {
	l, _ := provider(t, 2, nil)
	a, err := l.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Say(t.Context(), "first"); err != nil {
		t.Error(err)
	}
	if _, err := b.Say(t.Context(), "second"); !errors.Is(err, ErrConflict) {
		t.Errorf("%v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := a.Say(t.Context(), "third"); err == nil {
		t.Error("a job that has ended stored a message")
	}
}

// A paused job goes on with all of its work.
func TestPause(t *testing.T) {
	l, s := provider(t, 1, nil)
	j, err := l.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Say(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	call, err := client(t.Context(), j)
	if err == nil {
		_, err = call("write", map[string]any{"path": "a.txt", "content": "made"})
	}
	if err = errors.Join(err, j.Pause(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(j.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is still here: %v", err)
	}
	_, said := j.Say(t.Context(), "second")
	_, used := j.Use()
	if said == nil || used == nil || j.Pause(t.Context()) == nil {
		t.Error("a paused job can be used")
	}
	again, err := l.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(again.Dir, "a.txt")); err != nil || string(data) != "made" || !again.Last.Paused || again.Last.N != 2 {
		t.Errorf("%q, %v, last %+v", data, err, again.Last)
	}
	if _, err := again.Say(t.Context(), "second"); err != nil {
		t.Error(err)
	}
	list, err := s.Entries(t.Context(), "a")
	if err != nil || len(list) != 3 || list[2].Message != "second" || list[2].Paused || list[2].Tree != list[1].Tree {
		t.Errorf("%+v, %v", list, err)
	}
	// Another job of the name has stored a message. The pause may not hide it.
	other, err := l.Create(t.Context(), "a")
	if err == nil {
		_, err = other.Say(t.Context(), "third")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Pause(t.Context()); !errors.Is(err, ErrConflict) {
		t.Errorf("%v", err)
	}
	if err := again.runs(); err != nil {
		t.Errorf("a job whose work is not stored has ended: %v", err)
	}
}

// After a checkpoint another job of the name has all work, and the first one finds out that it is not current any more.
func TestCheckpoint(t *testing.T) {
	l, s := provider(t, 2, nil)
	a, err := l.Create(t.Context(), "a")
	if err == nil {
		_, err = a.Say(t.Context(), "first")
	}
	if err != nil {
		t.Fatal(err)
	}
	call, err := client(t.Context(), a)
	if err == nil {
		_, err = call("write", map[string]any{"path": "a.txt", "content": "made"})
	}
	if err = errors.Join(err, a.Checkpoint(t.Context()), a.Checkpoint(t.Context())); err != nil {
		t.Fatal(err)
	}
	list, err := s.Entries(t.Context(), "a")
	if err != nil || len(list) != 2 || !list[1].Paused || list[1].State == list[0].State {
		t.Errorf("%+v, %v", list, err) // the second checkpoint had nothing to store, and the call opened a session
	}
	if now, err := a.Current(t.Context()); err != nil || !now {
		t.Errorf("%v, %v", now, err)
	}
	b, err := l.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(b.Dir, "a.txt")); err != nil || string(data) != "made" || !b.Last.Paused {
		t.Errorf("%q, %v, %+v", data, err, b.Last)
	}
	if stored, err := Files(t.Context(), s, "a", list[1].State); err != nil || len(stored) == 0 {
		t.Errorf("the sessions: %v, %v", stored, err)
	}
	if _, err := b.Say(t.Context(), "second"); err != nil {
		t.Error(err)
	}
	if now, err := a.Current(t.Context()); err != nil || now {
		t.Errorf("%v, %v", now, err)
	}
	if err := placeOf(b).root.WriteFile("b.txt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := b.Checkpoint(t.Context()); err != nil {
		t.Error(err)
	}
	if err := placeOf(a).root.WriteFile("c.txt", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := a.Checkpoint(t.Context()); !errors.Is(err, ErrConflict) {
		t.Errorf("%v", err)
	}
}

// A bailey-box that was taken over puts a link to another program's socket in the place of its own.
func TestAttackSocket(t *testing.T) {
	count := attack.Start(t, "machine")
	l, _ := provider(t, 1, nil)
	j, err := l.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(j.Address, "unix:")
	other, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err == nil {
		err = errors.Join(os.Rename(path, path+"0"), os.Symlink(other.Addr().String(), path))
	}
	if err != nil {
		t.Fatal(err)
	}
	reached := make(chan bool, 1)
	go func() {
		for c, err := other.Accept(); err == nil; c, err = other.Accept() {
			reached <- true
			c.Close()
		}
	}()
	defer other.Close()
	try := func(dial func() (net.Conn, error)) bool {
		c, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("GET /questions HTTP/1.0\r\n\r\n")); err != nil {
			return true // the other one has closed it
		}
		answer, _ := io.ReadAll(c)
		return !strings.Contains(string(answer), "403") // bailey-box wants its name
	}
	count.Try("a link to another socket", try(func() (net.Conn, error) { return j.Dial(t.Context()) }))
	count.Off("a link to another socket", try(func() (net.Conn, error) { return net.Dial("unix", path) }))
	<-reached
}

// full is a store that takes no entry.
type full struct{ Store }

func (full) Append(context.Context, string, Entry) error { return syscall.ENOSPC }

// A store that is full costs no work.
func TestPauseWithoutRoom(t *testing.T) {
	l, _ := provider(t, 1, func(o *Options) { o.Store = full{o.Store} })
	j, err := l.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := placeOf(j).root.WriteFile("a.txt", []byte("work"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := j.Pause(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(filepath.Join(j.Dir, "a.txt")); err != nil || string(data) != "work" || j.runs() != nil {
		t.Errorf("%q, %v, %v", data, err, j.runs())
	}
}

// A job is paused when nobody uses it, and not before. One that can't be stored goes on.
func TestIdle(t *testing.T) {
	paused := make(chan error)
	l, _ := provider(t, 1, func(o *Options) {
		o.Idle, o.OnPause = time.Millisecond, func(_ *Job, err error) { paused <- err }
	})
	var j *Job
	var done func()
	until.True(t, "a job is used before it is idle", func() bool {
		var err error
		if j, err = l.Create(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if done, err = j.Use(); err != nil { // paused already
			<-paused
			return false
		}
		return true
	})
	more, err := j.Use()
	if err != nil {
		t.Fatal(err)
	}
	more()
	more() // counts once
	call, err := client(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if _, err := call("write", map[string]any{"path": fmt.Sprint(n), "content": "x"}); err != nil {
			t.Errorf("a job in use: %v", err)
		}
	}
	large, err := os.Create(filepath.Join(j.Dir, "large"))
	if err == nil {
		err = errors.Join(large.Truncate(maxBytes+1), large.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	done()
	if err := <-paused; err == nil {
		t.Error("a folder that is too large was stored")
	}
	if err := os.Remove(large.Name()); err != nil {
		t.Fatal(err)
	}
	for err := <-paused; err != nil; err = <-paused { // the look before may have seen the file
		t.Log(err)
	}
	<-j.Ended()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A tenant has as many jobs as it may. One that ends, in whatever way, makes room for another.
func TestAttackTenants(t *testing.T) {
	count := attack.Start(t, "machine")
	owner := func(name string) string { tenant, _, _ := strings.Cut(name, "-"); return tenant }
	take := func(l *Local, n int) (list []*Job, err error) {
		for i := range n {
			j, err := l.Create(t.Context(), fmt.Sprintf("a-%d", i))
			if err != nil {
				return list, err
			}
			list = append(list, j)
		}
		return list, nil
	}
	l, _ := provider(t, 1, func(o *Options) { o.Tenant, o.PerTenant = owner, 2 })
	list, err := take(l, 3)
	count.Try("a tenant takes one job too many", len(list) > 2)
	if len(list) != 2 || !errors.Is(err, ErrTenant) {
		t.Fatalf("%d jobs, %v", len(list), err)
	}
	if _, err := l.Create(t.Context(), "b-1"); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	if _, err := l.Create(t.Context(), "A name"); err == nil {
		t.Error("a name with a space")
	}
	next := func() bool {
		j, err := l.Create(t.Context(), "a-9")
		if err == nil {
			list = append(list, j)
		} else if !errors.Is(err, ErrTenant) {
			t.Fatal(err)
		}
		return err == nil
	}
	if err := list[0].Close(); err != nil || !next() {
		t.Errorf("after one was closed: %v", err)
	}
	if err := list[1].Pause(t.Context()); err != nil || !next() {
		t.Errorf("after one was paused: %v", err)
	}
	if next() {
		t.Error("a job too many")
	}
	_ = placeOf(list[2]).cmd.Process.Kill()
	<-list[2].Ended()
	until.True(t, "one that died makes room", next)
	open, _ := provider(t, 1, func(o *Options) { o.Tenant = owner })
	list, err = take(open, 3)
	count.Off("a tenant takes one job too many", len(list) == 3)
	if err != nil {
		t.Error(err)
	}
}

// A job takes the disk, the memory or the processes of the machine, or reads what is another's.
func TestAttackJob(t *testing.T) {
	count := attack.Start(t, "machine")
	perl := func(code string) map[string]any {
		return map[string]any{"command": "perl", "args": []any{"-e", code}, "read": []any{"."}, "write": []any{"."}}
	}
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("NOT TESTED: perl is not installed")
	}
	root := error(nil)
	if os.Geteuid() != 0 {
		root = errors.New("only root can limit a folder")
	}
	for _, a := range []struct {
		name string
		args map[string]any
		on   func(*Options) // the limit, below what the attack needs
		miss error          // why this machine has no such limit
	}{
		{"it fills the disk", perl(`open(F, ">large") or exit 1; print F "x" x (3 << 20) or exit 1; close F or exit 1; print "done"`), func(o *Options) { o.Disk = 2 << 20 }, root},
		{"it takes the memory", perl(`my $x = "x" x (400 << 20); print "done"`), func(o *Options) { o.Memory = 192 << 20 }, confine.Groups()},
		{"it takes the processes", perl(`my $n = 0; for (1 .. 40) { my $p = fork; exit 1 unless defined $p; if (!$p) { sleep 1000; exit } push @p, $p } kill 9, @p; print "done"`), func(o *Options) { o.Processes = 32 }, confine.Groups()},
	} {
		if a.miss != nil {
			t.Run(a.name, func(t *testing.T) { t.Skipf("NOT TESTED: %v", a.miss) })
			continue
		}
		try := func(change func(*Options)) (string, bool) {
			l, _ := provider(t, 1, change)
			j, err := l.Create(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			call, err := client(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			text, err := call("tool_run", a.args)
			return fmt.Sprint(text, err), err == nil && strings.Contains(text, "done")
		}
		said, ok := try(a.on)
		count.Try(a.name+": "+said, ok)
		said, ok = try(nil)
		count.Off(a.name, ok)
		if !ok {
			t.Errorf("%s: without its limit it did not succeed: %s", a.name, said)
		}
	}
	// Another job's folder, the store and the variables of the provider.
	t.Setenv("BAILEY_SECRET", "secret-of-the-provider")
	l, s := provider(t, 2, nil)
	other, err := l.Create(t.Context(), "other")
	if err == nil {
		err = placeOf(other).root.WriteFile("key", []byte("secret-of-another"), 0o644)
	}
	if err == nil {
		_, err = other.Say(t.Context(), "store it")
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := l.Create(t.Context(), "thief")
	if err != nil {
		t.Fatal(err)
	}
	call, err := client(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(other.Dir, "key"), filepath.Join(string(s.(folder)), "jobs", "other", "1.json"), filepath.Join(placeOf(other).base, "state"), fmt.Sprintf("/proc/%d/environ", placeOf(other).cmd.Process.Pid), fmt.Sprintf("/proc/%d/environ", os.Getpid()), "/proc/self/environ"} {
		text, err := call("tool_run", perl(`open(F, "`+path+`"); print <F>; print "[@{[%ENV]}]"`))
		count.Try(path+": "+text, strings.Contains(text, "secret-of") || strings.Contains(text, "store it"))
		if err != nil {
			t.Errorf("the attack did not run: %v", err)
		}
		text, _ = call("read", map[string]any{"path": path})
		count.Try(path+" by read: "+text, strings.Contains(text, "secret-of") || strings.Contains(text, "store it"))
	}
}

// A machine on which no job starts for a while says why, and starts jobs afterwards.
func TestStartsAgain(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	l, _ := provider(t, 1, func(o *Options) {
		o.Box = append([]string{"/bin/sh", "-c", `test -e ` + ready + ` || { echo full; exit 1; }; exec "$@"`, "sh"}, o.Box...)
	})
	if _, err := l.Create(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "full") {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(ready, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	until.True(t, "a job starts", func() bool {
		j, err := l.Create(t.Context(), "a")
		return err == nil && j.Credential != ""
	})
}

// The start of a job from a pool that is full.
func BenchmarkCreate(b *testing.B) {
	l, _ := provider(b, 8, nil)
	var took []time.Duration
	var memory []int // of its own, without the program's text that all jobs share
	for i := range b.N {
		until.True(b, "the pool is full", func() bool { return len(l.warm) == cap(l.warm) })
		began := time.Now()
		j, err := l.Create(b.Context(), fmt.Sprint("job-", i))
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", placeOf(j).cmd.Process.Pid))
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			var kB int
			if n, _ := fmt.Sscanf(line, "RssAnon: %d kB", &kB); n == 1 {
				memory = append(memory, kB)
			}
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
	slices.Sort(memory)
	b.ReportMetric(float64(memory[len(memory)/2])/1024, "p50-MiB")
	b.ReportMetric(float64(took[len(took)*95/100])/1e6, "p95-ms")
}

// A job changes its folder while it is read: a file grows, or becomes one that nobody writes to.
func TestContent(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "a"), []byte("abc"), 0o640), syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for room, fits := range map[int64]bool{2: false, 3: true, 4: true} {
		data, mode, err := content(root, "a", room)
		if (err == nil) != fits || fits && (string(data) != "abc" || mode != 0o640) {
			t.Errorf("3 bytes in a room of %d: %q %v %v", room, data, mode, err)
		}
	}
	if data, mode, err := content(root, "fifo", 10); err != nil || mode.IsRegular() || len(data) > 0 {
		t.Errorf("a pipe: %q %v %v", data, mode, err)
	}
}
