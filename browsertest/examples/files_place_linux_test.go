package examples

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// boxPrograms builds bailey-box and bailey-front, into a folder that every user of the machine can enter.
func boxPrograms(t *testing.T) (box, front string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "place-bin-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o711))
	cmd := exec.Command("go", "build", "-o", dir+"/", "./cmd/bailey-box", "./cmd/bailey-front")
	cmd.Dir = filepath.Join(root, "environment")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "bailey-box"), filepath.Join(dir, "bailey-front")
}

// frontOf starts a bailey-front at an address, and returns a credential.
func frontOf(t *testing.T, program, at string, args ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "place-front-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o711))
	made := exec.Command(program, "credential", "acme")
	var shown strings.Builder
	made.Stderr = &shown
	line, err := made.Output()
	must(t, err)
	_, credential, _ := strings.Cut(strings.TrimSpace(shown.String()), ": ")
	tenants := filepath.Join(dir, "tenants")
	must(t, os.WriteFile(tenants, line, 0o600))
	cmd := exec.Command(program, append([]string{"-listen", at, "-tenants", tenants, "-store", filepath.Join(dir, "store"), "-dir", dir}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	log, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"serving"`) {
			go func() {
				defer close(ended)
				for lines.Scan() {
				}
			}()
			return credential
		}
	}
	close(ended)
	t.Fatal("bailey-front does not serve")
	return ""
}

// freeAddress returns an address of loopback that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// bailey starts a bailey-box, and returns its line and a function that ends it.
func bailey(t *testing.T, program string, args ...string) (line string, end func()) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	end = func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
		}
	}
	t.Cleanup(end)
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
		if strings.Contains(said.String(), "confine:") {
			t.Skip("NOT TESTED: " + said.String())
		}
		t.Fatalf("it does not serve: %v\n%s", err, said.String())
	}
	return strings.TrimSpace(line), end
}

// sample returns the files of the sample folder, as the browser has them.
func sampleFiles(t *testing.T, p driver) map[string]string {
	t.Helper()
	return eval[map[string]string](t, p, `(async () => { const out = {}; const walk = async (dir, at) => { for await (const [name, h] of dir.entries())
		if (h.kind === "file") out[at + name] = await (await h.getFile()).text(); else await walk(h, at + name + "/"); };
		await walk(await (await navigator.storage.getDirectory()).getDirectoryHandle("files-sample"), ""); return out; })()`)
}

const boxRules = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true},
	"rules": [{"permission": "*", "action": "allow"}, {"permission": "delete", "action": "ask"}]}`

// A chat works on this computer: the folder is copied to a real bailey-box, which asks by the page. Its changes are
// reviewed before they touch the folder, and undone as one step. A box that is gone, or was started again, loses nothing.
func TestFilesThisComputer(t *testing.T) {
	long(t)
	t.Parallel()
	ctx := testContext(t)
	program, frontProgram := boxPrograms(t)
	at, cloud := freeAddress(t), freeAddress(t)
	rules := filepath.Join(t.TempDir(), "policy.json")
	must(t, os.WriteFile(rules, []byte(boxRules), 0o644))
	s := newOwnServer(t)
	file := filepath.Join(s.dir, "files", "headers.json")
	data, err := os.ReadFile(file)
	must(t, err)
	var use map[string]any
	must(t, json.Unmarshal(data, &use))
	use["connect"] = []string{at, cloud}
	data, err = json.Marshal(use)
	must(t, err)
	must(t, os.WriteFile(file, data, 0o644))
	p := s.open(browser.Chromium)

	plan := sampleFiles(t, p)["README.md"]
	first, rest, _ := strings.Cut(plan, "\n")
	far := models.add("far",
		turn{calls: []call{{"read", map[string]any{"path": "README.md"}}}},
		turn{calls: []call{
			{"write", map[string]any{"path": "README.md", "content": "CHANGED THERE\n" + rest + "The last line.\n"}},
			{"write", map[string]any{"path": "made/new.txt", "content": "new\n"}},
			{"delete", map[string]any{"path": "trip/packing.txt"}},
		}},
		turn{text: "I changed the plan."},
		turn{text: "Nothing more."},
	)
	args := []string{"-origin", "http://" + s.addr, "-listen", at, "-policy", rules, "-model", "far@" + models.URL + "/v1", "-cache", "none"}
	line, end := bailey(t, program, args...)

	before := sampleFiles(t, p)
	asks := func(words string) { // one dialogue may follow another
		t.Helper()
		must(t, p.WaitFor(ctx, `document.getElementById("dialog").open && document.getElementById("dialog").innerText.includes(`+js(words)+`)`))
	}
	answer := func(text string) {
		t.Helper()
		must(t, p.Eval(ctx, `[...document.querySelectorAll("#dialog button")].find((b) => b.textContent === `+js(text)+`).click()`, nil))
	}
	paste := func(text string) {
		t.Helper()
		asks("bailey-box -origin http://" + s.addr)
		must(t, p.Eval(ctx, `void (document.getElementById("dialog-field").value = `+js(text)+`)`, nil))
		answer("Connect")
	}
	look := func(name string) {
		t.Helper()
		noViolations(t, p)
		chrome, ok := p.driver.(*e2e.Page)
		dir := os.Getenv("PLACE_SHOTS")
		if dir == "" || !ok {
			return
		}
		for _, width := range []int{1400, 768, 390} {
			for _, dark := range []bool{false, true} {
				must(t, chrome.Viewport(ctx, width, map[bool]int{true: 844, false: 900}[width == 390], 1))
				must(t, chrome.Dark(ctx, dark))
				_, err := chrome.Screenshot(ctx, e2e.Shot{File: filepath.Join(dir, fmt.Sprintf("%s-%d-%v.png", name, width, dark))})
				must(t, err)
			}
		}
		must(t, chrome.Viewport(ctx, 1400, 900, 1))
		must(t, chrome.Dark(ctx, false))
	}
	press(t, p, "#model-chip")
	if eval[bool](t, p, `["place-again", "cloud-again"].some((id) => document.getElementById(id).checkVisibility())`) {
		t.Error("the menu offers to connect anew, before anything was connected")
	}
	look("menu")
	must(t, p.Press(ctx, "Escape"))
	press(t, p, "#place-computer")
	paste("http://" + at)
	asks("not the line of bailey-box")
	look("connect")
	paste(line)
	asks("Reload to connect to http://" + at)
	must(t, p.Eval(ctx, `void (globalThis.old = true)`, nil))
	answer("Reload")
	must(t, p.WaitFor(ctx, `!globalThis.old`))
	filesReady(t, p)
	if strings.Contains(eval[string](t, p, `localStorage.getItem("bailey-files")`), "credential") || strings.Contains(eval[string](t, p, `JSON.stringify(localStorage)`), credentialOf(t, line)) {
		t.Error("the credential is in localStorage in plain form")
	}
	press(t, p, "#place-computer")
	saysStatus(t, p, "This chat works on this computer, by far.")
	must(t, p.WaitFor(ctx, `document.getElementById("place-name").textContent === "This computer: far" && !document.getElementById("plan").checkVisibility()`))

	say(t, p, "change the plan")
	if got := dialogue(t, p); !strings.Contains(got, "Copy this folder to bailey-box on this computer?") || !strings.Contains(got, fmt.Sprint(len(before), " files")) || !strings.Contains(got, "what .gitignore names") {
		t.Errorf("it says %q", got)
	}
	look("copy")
	choose(t, p, "Cancel")
	must(t, p.WaitFor(ctx, `document.getElementById("stop").hidden && document.getElementById("text").value === "change the plan"`))
	if n := len(far.requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	must(t, p.Press(ctx, "Enter"))
	dialogue(t, p)
	choose(t, p, "Copy")
	must(t, p.WaitFor(ctx, asking))
	if got := eval[string](t, p, `document.getElementById("ask").shadowRoot.textContent`); !strings.Contains(got, "Delete trip/packing.txt") {
		t.Errorf("it asks %q", got)
	}
	look("ask")
	must(t, p.WaitFor(ctx, asking))
	must(t, p.Click(ctx, "#ask >>> #once"))
	must(t, p.WaitFor(ctx, `!document.getElementById("arrived").hidden && document.getElementById("stop").hidden`))
	same := func(when string, want map[string]string) {
		t.Helper()
		got := sampleFiles(t, p)
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s: %s is %q, want %q", when, name, got[name], text)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				t.Errorf("%s: there is %s", when, name)
			}
		}
	}
	same("before the review", before)
	if got := eval[string](t, p, `[...document.querySelectorAll("#cards li")].map((c) => c.className).join()`); got != "done,done,done,done" {
		t.Errorf("the cards are %s", got)
	}
	if got := eval[string](t, p, `document.getElementById("arrived-text").textContent`); got != "3 changed files came from this computer. Your folder has none of it yet." {
		t.Errorf("it says %q", got)
	}
	look("arrived")
	say(t, p, "and more")
	must(t, p.WaitFor(ctx, `document.getElementById("trouble-text").textContent.includes("Review the changes first") && document.getElementById("text").value === "and more"`))
	must(t, p.Eval(ctx, `void (document.getElementById("text").value = "")`, nil))

	press(t, p, "#arrived-review")
	must(t, p.WaitFor(ctx, `document.querySelectorAll(".v-file").length === 3`))
	look("review")
	button := func(label string) string {
		return `[...document.querySelectorAll("#viewer button")].find((b) => (b.ariaLabel ?? b.textContent) === ` + js(label) + `)`
	}
	must(t, p.Eval(ctx, button("Leave out: made/new.txt")+`.click()`, nil))
	must(t, p.WaitFor(ctx, `document.querySelectorAll(".v-file").length === 2`))
	must(t, p.Eval(ctx, button("Leave out: README.md, line 1")+`.click()`, nil))
	must(t, p.WaitFor(ctx, `document.querySelectorAll(".v-hunk").length === 2`))
	same("while the review is open", before)
	must(t, p.Eval(ctx, button("Apply")+`.click()`, nil))
	saysStatus(t, p, "Applied 2 changes.")
	must(t, p.WaitFor(ctx, `document.getElementById("arrived").hidden`))
	want := map[string]string{}
	for name, text := range before {
		want[name] = text
	}
	delete(want, "trip/packing.txt")
	want["README.md"] = first + "\n" + rest + "The last line.\n"
	same("after it", want)
	press(t, p, "#tab-undo")
	press(t, p, "#undo")
	saysStatus(t, p, "Took back the last change.")
	same("after the undo", before)
	press(t, p, "#tab-shield")
	must(t, p.WaitFor(ctx, `document.getElementById("place-about").textContent.includes("bailey-box at `+at+`") && document.getElementById("place-walls").textContent.includes("Landlock: ") && document.getElementById("place-walls").textContent.includes("seccomp: ")`))
	look("shield")

	// The chat goes on in the same session of the box, with the folder as it is now, and the page has it after a reload.
	say(t, p, "what else?")
	must(t, p.WaitFor(ctx, `document.getElementById("heard").textContent.includes("Nothing more.") && document.getElementById("stop").hidden`))
	list := far.requests()
	if m := list[len(list)-1].Messages; len(m) < 7 || !strings.Contains(fmt.Sprint(m), "I changed the plan.") {
		t.Errorf("the model does not know the chat: %v", m)
	}
	must(t, p.Reload(ctx))
	filesReady(t, p)
	must(t, p.WaitFor(ctx, `document.getElementById("place-name").textContent === "This computer" && !document.getElementById("place-name").hidden && document.querySelectorAll("#cards li").length === 4`))

	noErrors(t, p) // from here on the browser reports requests without an answer

	end()
	say(t, p, "are you there?")
	must(t, p.WaitFor(ctx, `document.getElementById("trouble-text").textContent.includes("No answer from the box at `+at+`") && document.getElementById("text").value === "are you there?" && document.getElementById("stop").hidden`))
	look("gone")
	far.then(turn{text: "Here again."})
	line, _ = bailey(t, program, args...)
	press(t, p, "#send")
	must(t, p.WaitFor(ctx, `document.getElementById("trouble-text").textContent.includes("it was started again")`))
	press(t, p, "#place-again")
	paste(line)
	saysStatus(t, p, "Connected.")
	press(t, p, "#send")
	if got := dialogue(t, p); !strings.Contains(got, "The box has not seen this chat before") {
		t.Errorf("it says %q", got)
	}
	choose(t, p, "Copy")
	must(t, p.WaitFor(ctx, `document.getElementById("heard").textContent.includes("Here again.") && document.getElementById("stop").hidden`))
	same("at the end", before)

	// A cloud box: a job of a real bailey-front is made for the chat, and ends with it. Neither has a way into the folder.
	credential := frontOf(t, frontProgram, cloud, "-origin", "http://"+s.addr, "-model", "far@"+models.URL+"/v1", "--", program, "-policy", rules, "-cache", "none")
	sessions := func() string {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, "GET", "http://"+cloud+"/v1/sessions", nil)
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+credential)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		must(t, err)
		return strings.TrimSpace(string(text))
	}
	enter := func(text string) {
		t.Helper()
		asks("Address and credential")
		must(t, p.Eval(ctx, `void (document.getElementById("dialog-field").value = `+js(text)+`)`, nil))
		answer("Connect")
	}
	press(t, p, "#model-chip")
	look("menu-cloud")
	must(t, p.Press(ctx, "Escape"))
	press(t, p, "#place-cloud")
	enter("http://front.example " + credential)
	asks("The address must begin with https://")
	look("cloud-connect")
	enter("http://" + cloud + " " + credential)
	asks("Reload to connect to http://" + cloud)
	must(t, p.Eval(ctx, `void (globalThis.old = true)`, nil))
	answer("Reload")
	must(t, p.WaitFor(ctx, `!globalThis.old`))
	filesReady(t, p)
	if strings.Contains(eval[string](t, p, `JSON.stringify(localStorage)`), credential) {
		t.Error("the credential of the cloud box is in localStorage in plain form")
	}
	press(t, p, "#place-cloud")
	saysStatus(t, p, "This chat works in the cloud box, by far.")
	far.then(turn{calls: []call{{"read", map[string]any{"path": "README.md"}}}},
		turn{calls: []call{
			{"write", map[string]any{"path": "README.md", "content": "CHANGED IN THE CLOUD\n" + rest}},
			{"write", map[string]any{"path": "made/cloud.txt", "content": "cloud\n"}},
			{"delete", map[string]any{"path": "trip/packing.txt"}},
		}},
		turn{text: "Done there. ![picture](http://" + cloud + "/leak?folder=1) [open me](https://evil.example/?folder=1)"}) // a picture that is loaded is a violation, which look reports
	say(t, p, "work there")
	if got := dialogue(t, p); !strings.Contains(got, "Copy this folder to the cloud box?") || !strings.Contains(got, "the operator of "+cloud+" can read it") {
		t.Errorf("it says %q", got)
	}
	look("cloud-copy")
	if got := sessions(); got != `{"sessions":[]}` {
		t.Errorf("before the copy the front end has %s", got)
	}
	choose(t, p, "Copy")
	must(t, p.WaitFor(ctx, asking))
	must(t, p.Click(ctx, "#ask >>> #once"))
	must(t, p.WaitFor(ctx, `!document.getElementById("arrived").hidden && document.getElementById("stop").hidden`))
	same("before the review of the cloud's changes", before)
	if got := eval[string](t, p, `document.getElementById("arrived-text").textContent`); got != "3 changed files came from the cloud box. Your folder has none of it yet." {
		t.Errorf("it says %q", got)
	}
	press(t, p, "#tab-shield")
	must(t, p.WaitFor(ctx, `document.getElementById("place-about").textContent.includes("bailey-front at `+cloud+`") && document.getElementById("place-walls").textContent.includes("Job: ") && document.getElementById("place-walls").textContent.includes("Landlock and seccomp: ")`))
	look("cloud-shield")
	press(t, p, "#arrived-review")
	must(t, p.WaitFor(ctx, `document.querySelectorAll(".v-file").length === 3`))
	must(t, p.Eval(ctx, button("Apply")+`.click()`, nil))
	saysStatus(t, p, "Applied 3 changes.")
	delete(want, "trip/packing.txt")
	want["README.md"], want["made/cloud.txt"] = "CHANGED IN THE CLOUD\n"+rest, "cloud\n"
	same("after the cloud's changes", want)
	if got := sessions(); !strings.Contains(got, `"id"`) {
		t.Errorf("the front end has %s", got)
	}
	// The box ends with the chat.
	must(t, p.Eval(ctx, `document.getElementById("drop").click()`, nil))
	poll.Until(t, "the front end removes the chat", func() bool { return sessions() == `{"sessions":[]}` })
}

func credentialOf(t *testing.T, line string) string {
	t.Helper()
	var in struct{ Credential string }
	must(t, json.Unmarshal([]byte(line), &in))
	return in.Credential
}
