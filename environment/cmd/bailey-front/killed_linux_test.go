package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/front"
	"github.com/bailey-go/bailey/internal/until"
)

// word makes this program bailey-front.
const word = "bailey-front"

var programDir string

// program builds bailey-box once.
var program = sync.OnceValues(func() (string, error) { return boxtest.Program(programDir) })

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == word {
		os.Args = os.Args[1:]
		main()
		return
	}
	var err error
	if programDir, err = os.MkdirTemp("/tmp", "front-cmd-box-"); err == nil {
		err = os.Chmod(programDir, 0o711)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(programDir)
	os.Exit(code)
}

// workDir returns a folder that every user can enter, and bailey-box.
func workDir(t *testing.T) (dir, box string) {
	t.Helper()
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	dir, err := os.MkdirTemp("/tmp", "front-cmd-")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		err = os.Chmod(dir, 0o711)
	}
	if err == nil {
		box, err = program()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, box
}

// started is a bailey-front in a process of its own.
type started struct {
	cmd *exec.Cmd
	log *boxtest.Log
	url string
}

func start(t *testing.T, args ...string) *started {
	t.Helper()
	s := &started{cmd: exec.Command(os.Args[0], append([]string{word, "-listen", "127.0.0.1:0"}, args...)...), log: &boxtest.Log{}}
	s.cmd.Env = append(os.Environ(), "BAILEY_KEY="+boxtest.Key)
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	until.True(t, "it serves", func() bool {
		for line := range strings.Lines(s.log.String()) {
			var said struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "serving" {
				s.url = said.Address
			}
		}
		return s.url != ""
	})
	return s
}

// boxes returns the command lines and variables of the bailey-boxes of a folder.
func boxes(t *testing.T, dir string) (out []string) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		args, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if strings.Contains(string(args), "-dir\x00"+dir+"/") {
			env, _ := os.ReadFile(filepath.Join(p, "environ"))
			out = append(out, string(args)+string(env))
		}
	}
	return out
}

// The front end of a session is killed in the middle of an answer, behind haproxy. Another one goes on: no message is
// lost, nothing is done again by itself, and the next start removes what was left, with nothing of the other one.
func TestKilled(t *testing.T) {
	dir, box := workDir(t)
	model := boxtest.NewModel(t)
	secret, line, err := front.NewCredential("acme")
	work := filepath.Join(dir, "work")
	if err = errors.Join(err, os.Mkdir(work, 0o711), os.WriteFile(filepath.Join(dir, "tenants"), []byte(line), 0o600), os.WriteFile(filepath.Join(dir, "policy.json"),
		[]byte(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`), 0o644)); err != nil {
		t.Fatal(err)
	}
	args := []string{"-dir", work, "-tenants", filepath.Join(dir, "tenants"), "-store", filepath.Join(dir, "store"), "-warm", "1", "-model", "test@" + model.URL + "/v1", "--", box, "-policy", filepath.Join(dir, "policy.json"), "-cache", "none"}
	one, two := start(t, args...), start(t, args...)
	at := boxtest.Haproxy(t, "../../../docs/front.md", one.url, two.url)
	send := func(method, path, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Content-Type", "application/json")
		return http.DefaultClient.Do(r)
	}
	// get sends a request until it is served, as haproxy finds out later that a server is gone.
	get := func(method, path, body string) (text string) {
		t.Helper()
		until.True(t, path+" is served", func() bool {
			resp, err := send(method, path, body)
			if err != nil {
				return false
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			text = string(b)
			return err == nil && resp.StatusCode == 200
		})
		return text
	}
	say := func(text string) string {
		t.Helper()
		body, _ := json.Marshal(map[string]string{"text": text})
		stream := get("POST", "/v1/sessions/a/messages", string(body))
		if !strings.HasSuffix(stream, "data: [DONE]\n\n") || strings.Contains(stream, `"type":"error"`) {
			t.Errorf("%s: %s", text, stream)
		}
		return stream
	}
	say("write x.txt one")
	resp, err := send("POST", "/v1/sessions/a/messages", `{"text": "half"}`)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-model.Came
	b := bufio.NewReader(resp.Body)
	for line := ""; !strings.Contains(line, "begun"); {
		if line, err = b.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(one.log.String(), "run begins") {
		one, two = two, one
	}
	// The key of the model is in no job.
	list := boxes(t, work)
	for _, b := range list {
		if strings.Contains(b, boxtest.Key) || !strings.Contains(b, "BAILEY_KEY=bailey-job-") {
			t.Errorf("a job has the key, or no token: %q", b)
		}
	}
	if len(list) < 2 {
		t.Errorf("%d jobs", len(list))
	}
	folders, err := filepath.Glob(filepath.Join(work, "jobs-*"))
	if err != nil || len(folders) != 2 {
		t.Fatalf("%q %v", folders, err)
	}
	if err := one.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = one.cmd.Wait()
	if rest, _ := io.ReadAll(b); strings.Contains(string(rest), "[DONE]") {
		t.Errorf("the stream has an end: %s", rest)
	}
	// Its jobs end with it, and its folder is left.
	left := ""
	until.True(t, "the jobs end", func() bool {
		left = ""
		for _, f := range folders {
			if len(boxes(t, f)) == 0 {
				left = f
			}
		}
		return left != ""
	})
	if jobs, _ := filepath.Glob(filepath.Join(left, "job-*")); len(jobs) == 0 {
		t.Error("no job is left: the test has nothing to sweep")
	}
	shown := get("GET", "/v1/sessions/a", "")
	for _, want := range []string{`"text":"write x.txt one","state":"done"`, `"text":"half","state":"lost"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the session lacks %s: %s", want, shown)
		}
	}
	if text := get("GET", "/v1/sessions/a/files/x.txt", ""); text != "one" {
		t.Errorf("%q", text)
	}
	if text := say("recall"); !strings.Contains(text, `write x.txt one`) || strings.Contains(text, "half") {
		t.Errorf("%s", text)
	}
	if n, m := model.Asked("half"), model.Asked("write x.txt one"); n != 1 || m != 1 {
		t.Errorf("the model was asked %d and %d times", n, m)
	}
	model.Goes <- struct{}{}
	say("half") // the user decided
	if n := model.Asked("half"); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	next := start(t, args...)
	if !strings.Contains(next.log.String(), "jobs of a front end that was killed were ended and removed") {
		t.Errorf("%s", next.log.String())
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if _, gone := os.Stat(left); !errors.Is(gone, os.ErrNotExist) || err != nil || strings.Contains(string(mounts), left+"/") {
		t.Errorf("%s is left: %v", left, err)
	}
	if text := say("recall"); !strings.Contains(text, "half") {
		t.Errorf("%s", text)
	}
	if strings.Contains(two.log.String(), "run lost") {
		t.Errorf("%s", two.log.String())
	}
	for _, s := range []*started{two, next} {
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, s.log.String())
		}
	}
	if all, _ := filepath.Glob(filepath.Join(work, "jobs-*")); len(all) > 0 {
		t.Errorf("%q are left", all)
	}
	for _, s := range []*started{one, two, next} {
		if strings.Contains(s.log.String(), boxtest.Key) || strings.Contains(s.log.String(), secret) {
			t.Error("a secret is in a log")
		}
	}
}
