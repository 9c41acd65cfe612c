package examples

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// Stop after finished steps lists them in words, for the user and the model.
func TestFilesStopLists(t *testing.T) {
	long(t)
	t.Parallel()
	eachEngine(t, func(t *testing.T, f *filesPage) {
		f.then(turn{calls: []call{tc("read", "path", "hours.csv"), tc("write", "path", "made.txt", "content", "made\n")}},
			turn{calls: []call{tc("code_run", "code", "for (;;);")}})
		f.say("begin")
		f.asks()
		f.answer(once)
		f.wait("it runs", `document.querySelectorAll("#cards li.done").length === 2 && !!document.querySelector("#cards li:last-child.running")`)
		must(t, f.Click(t.Context(), "#stop"))
		f.rested()
		saysStatus(t, f.in, "Stopped.")
		shows(t, f.in, "write made.txt")
		text := conversation(t, f.in)
		holds(t, "the conversation", text, "Stopped.", "Done until then:", "read hours.csv")
		if strings.Contains(text, "{") {
			t.Errorf("it shows JSON: %q", text)
		}
		noViolations(t, f.in)
	})
}

// If a provider does not answer, a text after the last try names it with the possible reasons, and
// offers another try.
func TestFilesUnreachable(t *testing.T) {
	long(t)
	t.Parallel()
	addr := nobody(t)
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) { unreachable(t, engine, newOwnServer(t), addr) })
	}
}

// nobody returns an address without a listener. Its port is bound for the duration of the test.
func nobody(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	must(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	at, err := syscall.Getsockname(fd)
	must(t, err)
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}

func unreachable(t *testing.T, engine browser.Engine, s *ownServer, addr string) {
	file := filepath.Join(s.dir, "files", "headers.json")
	text, err := os.ReadFile(file)
	must(t, err)
	var use map[string]any
	must(t, json.Unmarshal(text, &use))
	use["connect"] = []string{addr}
	text, err = json.Marshal(use)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o644))
	p := s.open(engine)
	settings, _ := json.Marshal(map[string]string{"provider": "local", "model": "nobody", "url": "http://" + addr + "/v1", "origin": "http://" + addr})
	must(t, p.Eval(testContext(t), `localStorage.setItem("bailey-files", `+js(string(settings))+`)`, nil))
	must(t, p.Reload(testContext(t)))
	filesReady(t, p)
	say(t, p, "hello?")
	if err := p.WaitFor(testContext(t), `!document.getElementById("trouble").hidden && document.getElementById("stop").hidden`); err != nil {
		t.Fatalf("%v; the page says %q", err, eval[string](t, p, `document.getElementById("status").textContent`))
	}
	holds(t, "the sentence", eval[string](t, p, `document.getElementById("trouble-text").textContent`), "Can't reach http://"+addr, "does it allow requests from this site (CORS)")
	if !eval[bool](t, p, `document.getElementById("again").checkVisibility()`) {
		t.Error("no other try is offered")
	}
	noViolations(t, p)
}
