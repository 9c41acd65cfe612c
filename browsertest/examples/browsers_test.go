package examples

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/headers"
)

// probes are expressions for a page with the default headers, by the rows of docs/browsers.md. One
// is true if the row's cell claims that the feature exists.
var probes = map[string]string{
	allowlist:       `fetch(elsewhere).then(() => false, () => true)`, // in a page with that header alone
	"Trusted Types": `typeof trustedTypes === "object"`,
	"`crossOriginIsolated` by the default headers":                            `crossOriginIsolated`,
	"a folder picked, remembered, dropped with leave to write":                `typeof showDirectoryPicker === "function"`,
	"the origin-private file system":                                          private,
	"changes told by the browser (`FileSystemObserver`)":                      `typeof FileSystemObserver === "function"`,
	"… files read when asked for (JSPI), pipes that stand still for a reader": `typeof WebAssembly.Suspending === "function" && typeof WebAssembly.promising === "function"`,
	"sessions in IndexedDB, locks between tabs":                               `navigator.locks.request("probe", () => new Promise((done) => { const q = indexedDB.open("probe"); q.onsuccess = () => done(true); q.onerror = () => done(false); }))`,
	"the Prompt API as a model":                                               `typeof LanguageModel === "function"`,
	"`examples/files`":                                                        private, // else in memory
	"… speech, installing":                                                    `typeof (globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition) === "function" && "BeforeInstallPromptEvent" in globalThis`,
	"… notices (the browser has `Notification`)":                              `typeof Notification === "function" && typeof Notification.requestPermission === "function"`,
	"… without a network (a service worker)":                                  `navigator.serviceWorker.register((globalThis.trustedTypes?.createPolicy("bailey", {createScriptURL: (s) => s}) ?? {createScriptURL: (s) => s}).createScriptURL("/worker.js"))`,
}

const (
	allowlist = "`Connection-Allowlist`"
	private   = `navigator.storage.getDirectory()`
)

// shownBy are the tests for the rows that one expression cannot show. They run in each engine that
// has the feature.
var shownBy = map[string]string{
	"`iframe.Document`, `Srcdoc`":                             "TestDocumentShowsWhatIsWritten",
	"`iframe.Enclave`, `EnclavePool`":                         "TestEnclaveRuns",
	"… `Warm`":                                                "TestAttacks",
	"… `URL`, a page of its own":                              "TestEnclaveFromURL",
	"… a process of its own, on another site":                 "TestEnclavesOfTwoSites",
	"`iframe.NewDOMEnclave`":                                  "TestDOMEnclaveNeedsConnectionAllowlist",
	"`iframe.NewApp`, the page of a tool":                     "TestApp",
	"`worker`: untrusted and trusted programs, limits, kills": "TestRunaways",
}

// there parses a cell. It returns whether the feature exists, and whether all such browsers have
// it.
func there(cell string) (is, always bool) {
	first, _, _ := strings.Cut(cell, " ")
	return strings.TrimRight(first, ",:") != "no" && cell != "in memory", first != "where"
}

// The table of docs/browsers.md is correct for each engine of this run.
func TestDocsBrowsers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/browsers.md"))
	must(t, err)
	first, _, _ := strings.Cut(string(text), "\n## ")
	table := regexp.MustCompile(`(?m)^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$`).FindAllStringSubmatch(first, -1)
	if len(table) != len(probes)+len(shownBy) {
		t.Errorf("docs/browsers.md has %d rows, and %d are looked at here", len(table), len(probes)+len(shownBy))
	}
	for _, row := range table {
		test := shownBy[row[1]]
		if probes[row[1]] == "" && (test == "" || exec.Command("git", "-C", root, "grep", "-q", "func "+test+"(").Run() != nil) {
			t.Errorf("nothing shows this row, its test is %q: %s", test, row[0])
		}
	}
	elsewhere := e2e.ServeHandler(http.NotFoundHandler(), map[string]string{"Access-Control-Allow-Origin": "*"})
	defer elsewhere.Close()
	site := e2e.ServeHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, h := range headers.Default().List() {
			if r.URL.Path == "/default" || r.URL.Path == "/list" && h.Name == "Connection-Allowlist" {
				w.Header().Set(h.Name, h.Value)
			}
		}
		if r.URL.Path != "/worker.js" {
			_, _ = io.WriteString(w, "<!doctype html><title>probe</title>")
		}
	}), nil)
	defer site.Close()
	column := map[browser.Engine]int{browser.Chromium: 2, browser.Firefox: 3, browser.WebKit: 4}
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			p := open(t, engine, site.URL+"/bare", e2e.Options{})
			must(t, p.WaitFor(testContext(t), `document.readyState === "complete"`)) // WebKitGTK fetches nothing before
			found := func(name string) bool {
				return eval[bool](t, p, `(async (elsewhere) => !!(await (`+probes[name]+`)))(`+js(elsewhere.URL)+`).catch(() => false)`)
			}
			if found(allowlist) {
				t.Fatal("another origin can't be reached even without a header")
			}
			for _, row := range table {
				if probes[row[1]] == "" {
					continue
				}
				path := map[bool]string{true: "/list", false: "/default"}[row[1] == allowlist]
				if eval[string](t, p, `location.pathname`) != path {
					must(t, p.Goto(testContext(t), site.URL+path))
				}
				got := found(row[1])
				if is, always := there(row[column[engine]]); got != is && always {
					t.Errorf("docs/browsers.md says %q for %s, and a page found %v: %s", row[column[engine]], engine, got, row[0])
				}
			}
		})
	}
}
