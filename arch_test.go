//go:build !js

package bailey_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/testpage"
)

const module = "github.com/bailey-go/bailey"

// rooms says what each room of the house may import of the others: a row a
// room, the longest prefix wins, and a room that has no row is an error, so that
// a new one has to be thought about. A folder may always import what is below it.
var rooms = map[string][]string{
	"":                          {},
	"protocol":                  {"internal/strictjson", "internal/ids", "internal/stopclock"},
	"internal/ids":              {},
	"internal/printed":          {},
	"internal/rate":             {"protocol"},
	"internal/progress":         {},
	"internal/stopclock":        {},
	"internal/legible":          {},
	"internal/nets":             {},
	"internal/relay":            {"internal/nets", "internal/rate"},
	"internal/wire/enclave":     {"protocol", "internal/strictjson", "internal/ids"},
	"internal/strictjson":       {},
	"internal/frontmatter":      {},
	"internal/wire/members":     {"protocol"},
	"internal/wire/btcp":        {"protocol", "internal/wire/members"},
	"internal/wire/pml":         {"protocol", "internal/wire/members"},
	"fsaccess":                  {"protocol", "internal/idb", "internal/jsx", "internal/reach", "internal/textdiff", "internal/zipform"},
	"internal/reach":            {},
	"internal/textdiff":         {"internal/jsx"},
	"internal/userland":         {"internal/textdiff"},
	"internal/jsx":              {"internal/strictjson"},
	"internal/dom":              {"internal/jsx"},
	"internal/chat":             {"protocol", "sandbox"},
	"internal/consent":          {"protocol", "sandbox", "internal/dom", "internal/jsx"},
	"internal/jsx/blocklint":    {},
	"internal/houselint":        {},
	"internal/site":             {"headers"},
	"internal/jsx/trust":        {},
	"internal/agentlines":       {"fsaccess", "internal/needs", "sandbox"},
	"internal/storetest":        {"protocol", "sandbox"},
	"internal/gitlines":         {},
	"internal/needs":            {},
	"internal/wasisuite":        {"fsaccess"},
	"internal/attack":           {},
	"internal/leaklab":          {},
	"internal/native":           {},
	"internal/until":            {},
	"internal/idb":              {"internal/jsx"},
	"internal/zipform":          {},
	"internal/testpage":         {"internal/jsx"},
	"internal/wire/document":    {"internal/strictjson", "internal/jsx"},
	"internal/wire/wasm":        {"internal/jsx"},
	"internal/frame":            {"protocol", "internal/strictjson", "internal/jsx", "internal/wire"},
	"internal/hosted":           {"protocol", "internal/frame", "internal/wire"},
	"iframe":                    {"protocol", "internal/ids", "internal/jsx", "internal/legible", "internal/frame", "internal/hosted", "internal/stopclock", "internal/wire"},
	"iframe/markdown":           {"internal/jsx/trust", "iframe/internal/raster", "iframe/internal/localpath"},
	"iframe/internal/localpath": {},
	"iframe/guests":             {"iframe", "internal/asset", "internal/jsx"},
	"internal/asset":            {"internal/jsx"},
	"internal/typescript":       {"protocol"},
	"iframe/internal/raster":    {},
	"worker":                    {"protocol", "internal/jsx", "internal/frame", "internal/wire", "internal/zipform"},
	"sandbox":                   {"protocol", "internal/strictjson", "internal/frontmatter", "internal/ids", "internal/rate", "internal/progress", "internal/stopclock", "internal/legible", "internal/nets", "fsaccess", "iframe", "worker", "internal/idb", "internal/jsx", "internal/reach", "internal/textdiff", "internal/userland", "internal/wire/btcp", "internal/wire/pml", "internal/chat", "internal/asset", "internal/typescript", "headers"},
	"sandbox/panel":             {"protocol", "iframe", "sandbox", "headers", "internal/dom", "internal/jsx"},
	"sandbox/ui":                {"protocol", "iframe", "sandbox", "internal/consent", "internal/dom", "internal/jsx"},
	"wasm_exec":                 {"protocol", "iframe", "internal/frame", "internal/hosted", "internal/relay", "headers", "sandbox"},
	"headers":                   {"internal/jsx", "protocol"},
	"wasm_exec/templates":       {"protocol", "fsaccess", "iframe", "sandbox"},
	"wasm_exec/prebuilt":        {"protocol", "fsaccess", "iframe", "internal/asset", "internal/jsx", "internal/typescript"},
	"wasm_exec/prebuilt/agent":  {"protocol", "fsaccess", "iframe", "internal/frontmatter", "internal/jsx", "sandbox", "wasm_exec/prebuilt", "worker"},
	"examples":                  {"protocol", "fsaccess", "iframe", "worker", "sandbox", "headers"},
	// Outside of its questions, the page shows diffs and counts in the sheet's words too.
	"examples/files": {"protocol", "fsaccess", "iframe", "worker", "sandbox", "headers", "examples/internal", "internal/consent"},
}

// hostOnly are the packages no page ever holds.
var hostOnly = []string{"wasm_exec", "internal/chat", "internal/relay", "internal/jsx/blocklint", "internal/houselint", "internal/site"}

type pkg struct {
	ImportPath                         string
	Name                               string
	Deps, Imports                      []string
	TestImports, XTestImports, GoFiles []string
}

func list(t *testing.T, goos, goarch string, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Name,Deps,Imports,TestImports,XTestImports,GoFiles"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var pkgs []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < 5 {
		t.Fatalf("go list %s/%s found %d packages only", goos, goarch, len(pkgs))
	}
	return pkgs
}

// room is the row of rooms that rel, a path below the module, stands in.
func room(rel string) (string, bool) {
	for {
		if _, ok := rooms[rel]; ok {
			return rel, true
		}
		i := strings.LastIndexByte(rel, '/')
		if i < 0 {
			return "", rel == ""
		}
		rel = rel[:i]
	}
}

func inside(rel, folder string) bool {
	return rel == folder || strings.HasPrefix(rel, folder+"/")
}

func relative(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

// targets are the two worlds the house is built for.
var targets = [][2]string{{"js", "wasm"}, {"linux", "amd64"}}

func TestRoomsImportOneWay(t *testing.T) {
	for _, target := range targets {
		for _, p := range list(t, target[0], target[1], "./...") {
			rel, ok := relative(p.ImportPath)
			if !ok {
				continue
			}
			from, ok := room(rel)
			if !ok {
				t.Errorf("%s has no row in rooms: say what it may import", rel)
				continue
			}
			for _, imp := range p.Imports {
				to, ok := relative(imp)
				if !ok || inside(to, from) && from != "" {
					continue
				}
				if !slices.ContainsFunc(rooms[from], func(r string) bool { return inside(to, r) }) {
					t.Errorf("%s/%s: %s imports %s: rooms[%q] does not say that it may", target[0], target[1], rel, to, from)
				}
			}
		}
	}
}

// The command makes pages of walls, and is compiled on a user's machine before the first page. A renderer of
// Markdown and its sanitiser would take a seventh more of a processor's time.
func TestCommandLinksNoMarkdown(t *testing.T) {
	for _, p := range list(t, "linux", "amd64", "./...") {
		if rel, _ := relative(p.ImportPath); rel != "wasm_exec" {
			continue
		}
		for _, heavy := range []string{module + "/iframe", module + "/sandbox", "github.com/yuin/goldmark", "github.com/microcosm-cc/bluemonday"} {
			if slices.Contains(p.Deps, heavy) {
				t.Errorf("wasm_exec reaches %s", heavy)
			}
		}
		return
	}
	t.Error("wasm_exec was not found")
}

// net/http costs a page 1.3 MB of brotli and nothing here needs it.
func TestNothingInAPageReachesNetHTTP(t *testing.T) {
	for _, p := range list(t, "js", "wasm", "./...") {
		rel, _ := relative(p.ImportPath)
		if slices.Contains(hostOnly, rel) {
			continue
		}
		for _, heavy := range []string{"net/http", "net", "crypto/tls", "testing"} {
			if slices.Contains(p.Deps, heavy) && !(heavy == "testing" && inside(rel, "internal")) {
				t.Errorf("%s, built for js/wasm, reaches %s", rel, heavy)
			}
		}
	}
}

func TestOnlyJSXKnowsSyscallJS(t *testing.T) {
	for _, p := range list(t, "js", "wasm", "./...") {
		rel, _ := relative(p.ImportPath)
		if rel == "internal/jsx" || inside(rel, "examples") || inside(rel, "wasm_exec/templates") { // the code that users write
			continue
		}
		// iframe.ElementOf takes a js.Value, and its documentation says so.
		elementOf := rel == "iframe"
		for _, imports := range [][]string{p.Imports, p.TestImports, p.XTestImports} {
			for _, raw := range []string{"syscall/js", "github.com/hack-pad/safejs"} {
				if slices.Contains(imports, raw) && !(elementOf && raw == "syscall/js") {
					t.Errorf("%s imports %s: that is internal/jsx's to know", rel, raw)
				}
			}
		}
	}
}

// A library does its work when it is asked to: no init, nothing built at start.
func TestNoInitFunctions(t *testing.T) {
	out, err := exec.Command("git", "grep", "-nE", `^func init\(\)`, "--", "*.go", ":!*_test.go", ":!browsertest").CombinedOutput()
	if err == nil {
		t.Errorf("init functions:\n%s", out)
	}
}

// sleepers are the tests that may call time.Sleep, and why. Every other test waits for a condition:
// package until.
var sleepers = map[string]string{
	"environment/internal/proxy/proxy_test.go": "the clock is that of testing/synctest",
	"fsaccess/watch_rest_test.go":              "the clock is that of testing/synctest",
	"protocol/asking_test.go":                  "the clock is that of testing/synctest",
	"sandbox/draft_test.go":                    "the clock is that of testing/synctest",
}

func TestNoTestSleeps(t *testing.T) {
	out, err := exec.Command("git", "grep", "-n", "-F", "time.Sleep(", "--", "*_test.go", ":!arch_test.go").Output()
	if err != nil {
		t.Fatalf("git grep: %v", err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(line, ":")
		if found[name] = true; sleepers[name] == "" {
			t.Errorf("%s: wait for a condition with package until", strings.TrimSpace(line))
		}
	}
	for name := range sleepers {
		if !found[name] {
			t.Errorf("sleepers names %s, which does not sleep", name)
		}
	}
}

// The layers of an enclave have switches for tests. No file that a user builds names one, and package iframe's option for them is not exported.
func TestOnlyTestsSwitchLayersOff(t *testing.T) {
	out, err := exec.Command("git", "grep", "-lE", `frame\.Layer[A-Z]|LayerGlobals|\boff: *\[\]frame\.Layer`, "--", "*.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Fields(string(out))
	if len(files) < 3 {
		t.Fatalf("%q: the tests with switches were not found", files)
	}
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") && f != "internal/frame/enclave.go" {
			t.Errorf("%s names a layer's switch: only tests may", f)
		}
	}
}

// Tests ask for a known fault of an engine and never for the engine: so testpage.KnownFaults,
// where each has its source, is the whole list of what tests put up with.
func TestEngineFaultsAreOneList(t *testing.T) {
	out, err := exec.Command("git", "grep", "--untracked", "-nE", `testpage\.Engine\(\) *[!=]= *"[a-z]`, "--", "*_test.go", ":!browsertest/internal/runner/testdata").CombinedOutput()
	if err == nil {
		t.Errorf("name the fault in internal/testpage/faults.go and ask testpage.Has:\n%s", out)
	}
	seen := map[testpage.Fault]bool{}
	for _, k := range testpage.KnownFaults() {
		if seen[k.Fault] || k.What == "" || !strings.Contains(k.Source, "://") && !strings.Contains(k.Source, "measured") {
			t.Errorf("%q is there twice, says nothing or has no source: %+v", k.Fault, k)
		}
		seen[k.Fault] = true
		for engine := range strings.FieldsSeq(k.Engines) {
			if engine != "firefox" && engine != "webkit" || !k.Fault.In(engine) || k.Fault.In("chromium") {
				t.Errorf("%q: %q", k.Fault, engine)
			}
		}
	}
	used, _ := exec.Command("git", "grep", "--untracked", "-hoE", `testpage\.(No|Frames|One|Keys)[A-Za-z]+`, "--", "*_test.go").Output()
	names := strings.Fields(string(used))
	slices.Sort(names)
	t.Logf("%d faults, %d names in use", len(seen), len(slices.Compact(names)))
}
