package iframe

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/protocol"
)

// Each layer around the realm is sufficient alone: each attack uses functions that the realm
// would have removed. With that layer off as well the attack succeeds, or the row proves
// nothing.
func TestAttackLayersAroundTheRealm(t *testing.T) {
	count := attack.Start(t, "frames")
	realm := []frame.Layer{frame.LayerGlobals, frame.LayerTame, frame.LayerGuards}
	sink := testpage.Sink(t)
	at := sink.URL
	var calls atomic.Int64
	probe := func(context.Context, any) (any, error) { calls.Add(1); return "probe", nil }
	slow := func(ctx context.Context, _ any) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	enclaves := map[string]*Enclave{} // by the layers that are off
	for _, c := range []struct {
		layer      frame.Layer
		name, code string
		need       []frame.Layer
		not        string // engines that stop it without the layer
	}{
		{frame.LayerPolicy, "fetch", `await fetch("SINK/fetch", { mode: "no-cors" }); return "ESCAPED"`, realm, ""},
		{frame.LayerPolicy, "XMLHttpRequest", `const x = new XMLHttpRequest(); x.open("GET", "SINK/xhr"); await new Promise((y) => { x.onloadend = y; x.send() }); return 0`, realm, ""},
		{frame.LayerPolicy, "synchronous XMLHttpRequest", `const x = new XMLHttpRequest(); x.open("GET", "SINK/xhrs", false); try { x.send() } catch (e) {} return 0`, realm, ""},
		{frame.LayerPolicy, "importScripts", `try { importScripts("SINK/import.js") } catch (e) {} return 0`, realm, ""},
		{frame.LayerPolicy, "import()", `try { await import("SINK/module.js") } catch (e) {} return 0`, realm, ""},
		{frame.LayerPolicy, "EventSource", `const s = new EventSource("SINK/events"); await new Promise((y) => { s.onerror = s.onopen = y }); s.close(); return 0`, realm, ""},
		{frame.LayerPolicy, "WebSocket", `const s = new WebSocket("SINK/socket".replace("http", "ws")); await new Promise((y) => { s.onerror = s.onopen = y }); return 0`, realm, ""},
		{frame.LayerPolicy, "eval", `return (0, eval)("'ESC' + 'APED'")`, realm, ""},
		{frame.LayerPolicy, "Function", `return Function("return 'ESC' + 'APED'")()`, realm, ""},
		{frame.LayerPolicy, "the maker of async functions", `return await (async () => {}).constructor("return 'ESC' + 'APED'")()`, realm, ""},
		{frame.LayerPolicy, "a timer with text", `globalThis.hit = 0; setTimeout("hit = 1", 0); await new Promise((y) => setTimeout(y, 20)); return hit ? "ESCAPED" : 0`, realm, ""},
		{frame.LayerFrames, "the origin", `return self.origin !== "null" ? "ESCAPED" : 0`, realm, ""},
		{frame.LayerFrames, "IndexedDB", `return await new Promise((y) => { try { const r = indexedDB.open("attack"); r.onsuccess = () => (r.result.close(), y("ESCAPED")); r.onerror = () => y(0) } catch (e) { y(0) } })`, realm, ""},
		{frame.LayerFrames, "the origin's private files", `await navigator.storage.getDirectory(); return "ESCAPED"`, realm, ""},
		{frame.LayerFrames, "locks", `return await navigator.locks.request("attack", () => "ESCAPED")`, realm, ""},
		{frame.LayerFrames, "blobs of the page", `return URL.createObjectURL(new Blob(["x"])).includes("null") ? 0 : "ESCAPED"`, realm, ""},
		{frame.LayerBroker, "40 calls of one tool in a second", `const all = await Promise.allSettled(Array.from({ length: 40 }, () => callTool("probe"))); return all.filter((r) => r.status === "fulfilled").length > 5 ? "ESCAPED" : 0`, nil, ""},
		{frame.LayerBroker, "40 calls, one by one", `let n = 0; for (let i = 0; i < 40; i++) try { await callTool("probe"); n++ } catch (e) {} return n > 5 ? "ESCAPED" : 0`, nil, ""},
		{frame.LayerBroker, "40 calls by parallel", `let n = 0; await parallel(Array.from({ length: 40 }, () => async () => { try { await callTool("probe"); n++ } catch (e) {} })); return n > 5 ? "ESCAPED" : 0`, nil, ""},
		{frame.LayerBroker, "40 calls with sleeps between", `let n = 0; for (let i = 0; i < 40; i++) try { await callTool("probe", { i }); n++; await sleep(1) } catch (e) {} return n > 5 ? "ESCAPED" : 0`, nil, ""},
		{frame.LayerRuntime, "the way out", `return typeof bailey === "object" && typeof bailey.post === "function" ? "ESCAPED" : 0`, nil, ""},
		{frame.LayerRuntime, "another's call", `const p = callTool("slow"); const open = bailey.calls(); open[1].resolve("ESCAPED"); return await p`, nil, ""},
		{frame.LayerRuntime, "the limits", `bailey.limits().toolCalls = 1e9; return bailey.limits().toolCalls === 1e9 ? "ESCAPED" : 0`, nil, ""},
		{frame.LayerRuntime, "the limits by this", `return (function () { return this?.bailey ?? globalThis.bailey })().limits() ? "ESCAPED" : 0`, realm, ""},
	} {
		// As shipped; with the layer alone; without it.
		modes := []struct {
			name string
			off  []frame.Layer
		}{{"as shipped", nil}, {"alone", c.need}, {"off", append([]frame.Layer{c.layer}, c.need...)}}
		if len(c.need) == 0 {
			modes = modes[1:]
		}
		for _, mode := range modes {
			calls.Store(0)
			key := fmt.Sprint(mode.off)
			e := enclaves[key]
			if e == nil {
				e = testEnclave(t, EnclaveOptions{Level: protocol.Strict, off: mode.off, Limits: protocol.Limits{Time: time.Minute, Rate: 5, Repeats: 5, RepeatsIn: time.Minute, ToolCalls: 100},
					Tools: toolset(t, protocol.Tool{ID: "probe", Parameters: anything, Execute: probe}, protocol.Tool{ID: "slow", Parameters: anything, Execute: slow})})
				enclaves[key] = e
			}
			sink.Reset()
			limit := 3 * time.Second
			if mode.name == "off" && !strings.Contains(c.not, testpage.Engine()) {
				limit = time.Minute // it ends earlier, because it succeeds
			}
			res, err := e.Run(testContext(t), strings.ReplaceAll(c.code, "SINK", at), RunOptions{Limits: protocol.Limits{Time: limit}})
			heard := sink.Traffic()
			if c.layer == frame.LayerPolicy && mode.name == "off" && (res == nil || res.Value != "ESCAPED") {
				limit := time.Minute // what must be heard
				if strings.Contains(c.not, testpage.Engine()) {
					limit = 2 * time.Second
				}
				heard = sink.Wait(1, limit)
			}
			escaped := res != nil && res.Value == "ESCAPED" || heard.Total() > 0
			name := fmt.Sprintf("%s, %s %s: %v, %d things heard, %d calls", c.name, c.layer, mode.name, err, heard.Total(), calls.Load())
			if mode.name != "off" {
				count.Try(name, escaped)
			} else {
				count.Off(name, escaped)
				if !escaped && !strings.Contains(c.not, testpage.Engine()) {
					t.Errorf("%s: did not succeed with the layer off: the row shows nothing", name)
				}
			}
		}
	}
	if got := sink.Quiet(200 * time.Millisecond); got.Total() > 1 {
		t.Logf("%d things came late", got.Total())
	}
}
