package btcprelay

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
)

// peer runs a program that imports the relay and the client of BTCP's authors, and returns its standard
// output. BAILEY_BTCP names a clone of their repository btcp-server, which is in no registry.
func peer(t *testing.T, program string, args ...string) *bufio.Scanner {
	t.Helper()
	source := os.Getenv("BAILEY_BTCP")
	if source == "" {
		t.Skip("BAILEY_BTCP names no clone of btcp-server")
	}
	dir := t.TempDir()
	tsc, err := filepath.Abs("../../../node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tsc, "--ignoreConfig", "--noCheck", "--target", "es2022", "--module", "nodenext", "--outDir", dir, filepath.Join(source, "src", "index.ts")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made := filepath.Join(dir, "program.js")
	program = `import {BTCPServer, BTCPClient} from "./index.js"` + "\n" + program
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600), os.WriteFile(made, []byte(program), 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "node", append([]string{made}, args...)...)
	cmd.Stderr = os.Stderr
	lines, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); cmd.Wait() })
	return bufio.NewScanner(lines)
}

func line(t *testing.T, s *bufio.Scanner) string {
	t.Helper()
	if !s.Scan() {
		t.Fatalf("the program ended: %v", s.Err())
	}
	return s.Text()
}

// The peer's page offers its tools at our relay.
func TestPageOfThePeer(t *testing.T) {
	r := start(t, Options{PathTokens: true})
	session := rand.Text()
	out := peer(t, `
const c = new BTCPClient({serverUrl: process.argv[2], sessionId: process.argv[3]})
const def = (name) => ({name, description: name + ".", inputSchema: {type: "object", properties: {text: {type: "string"}}}})
c.getExecutor().registerHandler("say", async (a) => "said " + a.text, def("say"))
c.getExecutor().registerHandler("fail", async () => { throw new Error("it broke") }, def("fail"))
c.getExecutor().registerHandler("file", async () => [{type: "resource", uri: "file:///a.txt", text: "of a file", mimeType: "text/plain"}], def("file"))
await c.connect()
await c.registerTools()
console.log("ready")
`, r.URL+"/token/"+pageToken, session)
	if got := line(t, out); got != "ready" {
		t.Fatal(got)
	}
	box, _ := r.agent(t, session, nil)
	calls(t, box)
}

// Our page and our agent meet at the peer's relay.
func TestRelayOfThePeer(t *testing.T) {
	out := peer(t, `
const s = new BTCPServer({port: 0, host: "127.0.0.1"})
await s.start()
console.log("http://127.0.0.1:" + s.server.address().port)
`)
	r := &relay{}
	r.Server = &httptest.Server{URL: line(t, out)}
	session := rand.Text()
	p := r.page(t, session)
	p.ready(t)
	box, _ := r.agent(t, session, nil)
	if got := content(call(t, box, "far_read", map[string]any{"path": "a.txt"})); !strings.Contains(got, "hello") {
		t.Errorf("read: %q", got)
	}
	if res := call(t, box, "far_write", map[string]any{"path": "b.txt", "content": "x"}); res.Err() == nil {
		t.Errorf("a refused write: %+v", res)
	}
	second := r.page(t, session)
	second.ready(t)
	if err := <-p.ended; err == nil || !strings.Contains(err.Error(), "Another browser client") {
		t.Errorf("the first page ended with %v", err)
	}
}

func calls(t *testing.T, box *sandbox.Box) {
	t.Helper()
	if got := content(call(t, box, "far_say", map[string]any{"text": "hello"})); !strings.Contains(got, "said hello") {
		t.Errorf("say: %q", got)
	}
	if res := call(t, box, "far_fail", map[string]any{}); res.Err() == nil || !strings.Contains(res.ErrorText, "it broke") {
		t.Errorf("fail: %+v", res)
	}
	res := call(t, box, "far_file", map[string]any{})
	if !strings.Contains(content(res), "of a file") && (len(res.Files) != 1 || string(res.Files[0].Data) != "of a file") {
		t.Errorf("file: %+v", res)
	}
}
