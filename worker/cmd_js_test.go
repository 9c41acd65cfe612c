package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

func TestHello(t *testing.T) {
	jsxtest.Check(t)
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		cmd := p.Command(testContext(t), m, "probe", "hello", "wörld", "")
		cmd.Env = []string{"A=1", "B="}
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if want := "0 probe\n1 hello\n2 wörld\n3 \nenv A=1\nenv B=\n"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
		if stderr.String() != "to stderr\n" {
			t.Errorf("stderr %q", stderr.String())
		}
		st := cmd.ProcessState.Stats()
		if !cmd.ProcessState.Success() || st.Output != int64(out.Len()+stderr.Len()) || st.Memory < 64<<10 || st.Duration < 0 {
			t.Errorf("%v %+v", cmd.ProcessState, st)
		}
		if p.Stats().Kills != 0 {
			t.Errorf("%+v", p.Stats())
		}
	})
}

func TestExitCode(t *testing.T) {
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		for _, code := range []int{1, 3, 255, 4_000_000} {
			err := p.Command(testContext(t), m, "probe", "exit", fmt.Sprint(code)).Run()
			var exit *ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != code || !exit.Exited() || exit.Error() != fmt.Sprintf("exit status %d", code) || !errors.Is(err, protocol.ErrExecution) {
				t.Errorf("%v", err)
			}
		}
		_, err := p.Command(testContext(t), m, "probe", "nonsense").Output()
		var exit *ExitError
		if !errors.As(err, &exit) || string(exit.Stderr) != "no such word: nonsense\n" {
			t.Errorf("%v %+v", err, exit)
		}
	})
}

func TestStdin(t *testing.T) {
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		big := strings.Repeat("a line of text\n", 300_000) // 4.5 MB, so that it is sent in pieces
		for name, in := range map[string]io.Reader{"none": nil, "short": strings.NewReader("short"), "long": io.MultiReader(strings.NewReader(big))} {
			cmd := p.Command(testContext(t), m, "probe", "upper")
			cmd.Stdin = in
			out, err := cmd.Output()
			want := map[string]string{"short": "SHORT", "long": strings.ToUpper(big)}[name]
			if err != nil || string(out) != want {
				t.Errorf("%s: %v, %d bytes, want %d", name, err, len(out), len(want))
			}
		}
	})
}

func TestStdinPipe(t *testing.T) {
	each(t, Options{}, func(t *testing.T, p *Pool) {
		cmd := p.Command(testContext(t), probe(t, p), "probe", "head", "2")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			fmt.Fprintln(in, "one")
			until.Turns(5) // so that the second one comes separately
			fmt.Fprintln(in, "two")
			in.Close()
		}()
		got, err := io.ReadAll(out)
		if err != nil || string(got) != "one\ntwo\n" {
			t.Errorf("%q, %v", got, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestFiles(t *testing.T) {
	for _, mode := range []FileMode{SnapshotFiles, LazyFiles} {
		if mode == LazyFiles && !live() {
			continue // TestLazyFilesAreRefused
		}
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			each(t, Options{}, func(t *testing.T, p *Pool) {
				m := probe(t, p)
				dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
				must(t, dir.MkdirAll("a/b", 0o755))
				must(t, dir.WriteFile("a/b/c.txt", []byte("content"), 0o644))
				must(t, dir.WriteFile("top.txt", []byte("top"), 0o644))
				run := func(arg ...string) (string, error) {
					cmd := p.Command(testContext(t), m, "probe", arg...)
					cmd.FS, cmd.Files = dir, mode
					out, err := cmd.CombinedOutput()
					return string(out), err
				}
				if out, err := run("cat", "a/b/c.txt", "/top.txt"); out != "contenttop" || err != nil {
					t.Errorf("%q %v", out, err)
				}
				if out, err := run("cat", "../etc/passwd"); err == nil {
					t.Errorf("out of the folder: %q", out)
				}
				if out, err := run("write", "a/new.txt", "new"); out != "" || err != nil {
					t.Errorf("%q %v", out, err)
				}
				if out, err := run("write", "top.txt", " more", "a"); out != "" || err != nil {
					t.Errorf("%q %v", out, err)
				}
				if out, err := run("rename", "a/b/c.txt", "moved.txt"); out != "" || err != nil {
					t.Errorf("%q %v", out, err)
				}
				if out, err := run("rm", "a/b"); out != "" || err != nil {
					t.Errorf("%q %v", out, err)
				}
				got := tree(t, dir)
				if want := "a/ a/new.txt=new moved.txt=content top.txt=top more"; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		})
	}
}

func TestKill(t *testing.T) {
	jsxtest.Check(t)
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		var (
			out   []byte
			err   error
			took  time.Duration
			kills int
		)
		growing(500*time.Millisecond, func(limit time.Duration) bool {
			cmd := p.Command(testContext(t), m, "probe", "spin")
			cmd.Limits.Time = limit
			start := time.Now()
			out, err = cmd.Output()
			took = time.Since(start)
			kills++
			return len(out) > 0
		})
		if !errors.Is(err, protocol.ErrTimeout) || string(out) != "before\n" {
			t.Errorf("%v %q", err, out)
		}
		t.Logf("answered after %v", took)
		if st := p.Stats(); st.Kills != kills || st.Lost != 0 {
			t.Errorf("%+v", st)
		}
	})
	// Without a short limit, which would end the program on a busy machine before it has said that it runs.
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		cmd := p.Command(testContext(t), m, "probe", "spin")
		begun(t, cmd)
		must(t, cmd.Process.Kill())
		if err := cmd.Wait(); !errors.Is(err, protocol.ErrAborted) || cmd.ProcessState.ExitCode() != -1 {
			t.Errorf("%v", err)
		}
		out, err := p.Command(testContext(t), m, "probe", "cat").Output()
		if err != nil {
			t.Errorf("after it: %q %v", out, err)
		}
		if st := p.Stats(); st.Kills != 1 || st.Lost != 0 {
			t.Errorf("%+v", st)
		}
	})
}
