package iframe

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

// TestAppsOfThePeer shows each page in the folder BAILEY_APPS in both modes, below the strictest page, and prints what came of
// it. A folder in it has dist/mcp-app.html, as the packages @modelcontextprotocol/server-… have it, and
// recorded.json: the arguments and the result of a call, and results of further calls by their tools' names.
// docs/interop.md has the outcome.
func TestAppsOfThePeer(t *testing.T) {
	folder := os.Getenv("BAILEY_APPS")
	if folder == "" {
		t.Skip("BAILEY_APPS names no folder with the pages of others")
	}
	skipInnermost(t)
	inBothModes(t, func(t *testing.T, mode func(AppOptions) AppOptions) {
		pages, err := filepath.Glob(filepath.Join(folder, "*", "dist", "mcp-app.html"))
		if err != nil || len(pages) == 0 {
			t.Fatal("no pages in ", folder, err)
		}
		for _, page := range pages {
			name := filepath.Base(filepath.Dir(filepath.Dir(page)))
			t.Run(name, func(t *testing.T) {
				html, err := os.ReadFile(page)
				if err != nil {
					t.Fatal(err)
				}
				var said struct {
					Input  map[string]any
					Result any
					Calls  map[string]any
				}
				text, err := os.ReadFile(filepath.Join(folder, name, "recorded.json"))
				if err == nil {
					err = json.Unmarshal(text, &said)
				}
				if err != nil {
					t.Fatal(err)
				}
				// It reports errors and what it shows, beside the app's own scripts.
				report := `<script>{ const say = (data) => parent.postMessage({jsonrpc: "2.0", method: "notifications/message", params: {level: "info", data}}, "*"), seen = new Set();
					const once = (s) => { if (!seen.has(s)) { seen.add(s); setTimeout(() => say(s), 0) } };
					addEventListener("error", (e) => once("error: " + e.message)); addEventListener("unhandledrejection", (e) => once("rejected: " + e.reason));
					document.addEventListener("securitypolicyviolation", (e) => once("blocked: " + e.effectiveDirective + " " + e.blockedURI.slice(0, 60) + " " + e.sample));
					let last = ""; setInterval(() => { const s = "shows " + document.body.innerText.length + " characters, " + document.querySelectorAll("*").length + " elements, " + document.querySelectorAll("canvas,svg").length + " drawings: " + document.body.innerText.replace(/\s+/g, " ").slice(0, 160); if (s === last) { say(s); say("settled") } last = s }, 1500) }</script>`
				calls := &appLogs{}
				a, logs := openApp(t, report+string(html), mode(AppOptions{Scheme: "light", off: appOff{state: true},
					Ask:       func(_ context.Context, kind, text string) bool { calls.add("", "asks: "+kind); return false },
					OnMessage: func(context.Context, string) error { return nil }, OnContext: func(string) { calls.add("", "context") },
					OnCall: func(_ context.Context, tool string, _ map[string]any) (any, error) {
						calls.add("", "calls "+tool)
						if res, ok := said.Calls[tool]; ok {
							return res, nil
						}
						return said.Result, nil
					}}))
				if err := a.Input(said.Input, true); err != nil {
					t.Fatal(err)
				}
				if err := a.Result(said.Result); err != nil {
					t.Fatal(err)
				}
				until.True(t, name+" has settled", func() bool { return logs.has("settled") || a.Err() != nil })
				a.host.mu.Lock()
				ready := a.host.stage == appReady
				a.host.mu.Unlock()
				fmt.Printf("== %s: ready %v, height %d, %v\n%s\n%s\n", name, ready, a.Height(), a.Err(), logs, calls)
				if !ready {
					t.Errorf("%s has not begun", name)
				}
			})
		}
	})
}
