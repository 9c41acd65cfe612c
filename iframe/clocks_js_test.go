package iframe

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

var (
	//go:embed testdata/walk.js
	walkJS string
	// The reviewed functions of all engines: a line for each object that has them.
	//go:embed testdata/builtins.txt
	builtinsText string
)

// moving returns the functions whose results may change while code runs: random numbers, and
// clocks, which TestAttackClocks reads one by one. A date alone changes too rarely to be
// noticed.
func moving() map[string]bool {
	names := map[string]bool{"Temporal.Now.plainDateISO": false, "crypto.getRandomValues": false, "Math.random": true, "crypto.randomUUID": true}
	for name := range strings.FieldsSeq("Date Date.now performance.now Temporal.Now.instant Temporal.Now.plainDateTimeISO Temporal.Now.plainTimeISO " +
		"Temporal.Now.zonedDateTimeISO Intl.DateTimeFormat.prototype.formatToParts") {
		names[name] = true
	}
	names["get Date.prototype.constructor"] = true // it returns Date
	names["get Intl.DateTimeFormat.prototype.format"] = true
	return names
}

func texts(v any) (list []string) {
	for _, s := range v.([]any) {
		list = append(list, s.(string))
	}
	return list
}

// Every function that code can reach at the widest level is on the list of reviewed functions,
// and only clocks and random numbers return changing results. A browser with a new function
// fails this test: review it, then add it to testdata/builtins.txt, or remove it in harden.js.
func TestBuiltinsAreReviewed(t *testing.T) {
	reviewed := map[string]bool{}
	for line := range strings.Lines(builtinsText) {
		holder, names, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Fatalf("%q", line)
		}
		for name := range strings.FieldsSeq(names) {
			if holder == "global" {
				reviewed[name] = true
			} else {
				reviewed[holder+"."+name] = true
			}
		}
	}
	e := testEnclave(t, EnclaveOptions{Level: protocol.Permissive})
	res, err := e.Run(testContext(t), walkJS, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := res.Value.(map[string]any)
	functions := texts(m["functions"])
	if len(functions) < 700 {
		t.Errorf("%d functions only: the walk misses some", len(functions))
	}
	unknown := slices.DeleteFunc(slices.Clone(functions), func(name string) bool { return reviewed[name] })
	slices.Sort(unknown)
	if len(unknown) > 0 {
		t.Errorf("%d functions that nobody has looked at:\n%s", len(unknown), strings.Join(unknown, "\n"))
	}
	may, changed := moving(), texts(m["changed"])
	for _, name := range changed {
		if _, ok := may[name]; !ok {
			t.Errorf("%s gave another answer after a second: is it a clock?", name)
		}
	}
	for name, must := range may {
		if must && slices.Contains(functions, name) && !slices.Contains(changed, name) {
			t.Errorf("%s gave the same answer after a second: the walk does not see clocks", name)
		}
	}
	t.Logf("%d functions in %s", len(functions), testpage.Engine())
}

// clock is an expression that reads a clock.
type clock struct{ name, read string }

const millis = `{ hour: "numeric", minute: "numeric", second: "numeric", fractionalSecondDigits: 3 }`

var clocks = []clock{
	{"Date.now", `Date.now()`},
	{"new Date", `+new Date()`},
	{"Date without new", `Date()`},
	{"ISO text", `new Date().toISOString()`},
	{"milliseconds", `new Date().getMilliseconds()`},
	{"JSON", `JSON.stringify(new Date())`},
	{"a subclass", `+new (class extends Date {})()`},
	{"construct", `+Reflect.construct(Date, [])`},
	{"construct for another", `Date.prototype.getTime.call(Reflect.construct(Date, [], Array))`},
	{"bound", `+new (Date.bind(null))()`},
	{"the constructor of a date", `new Date(0).constructor.now()`},
	{"the constructor of the prototype", `+new (Date.prototype.constructor)()`},
	{"a clone", `structuredClone(new Date()).getTime()`},
	{"toLocaleTimeString", `new Date().toLocaleTimeString("en", ` + millis + `)`},
	{"toLocaleString", `new Date().toLocaleString("en", ` + millis + `)`},
	{"format", `new Intl.DateTimeFormat("en", ` + millis + `).format()`},
	{"format of undefined", `new Intl.DateTimeFormat("en", ` + millis + `).format(undefined)`},
	{"format of a hole", `new Intl.DateTimeFormat("en", ` + millis + `).format([,][0])`},
	{"format without new", `Intl.DateTimeFormat("en", ` + millis + `).format()`},
	{"format as a callback", `[undefined].map(new Intl.DateTimeFormat("en", ` + millis + `).format)[0]`},
	{"format called", `new Intl.DateTimeFormat("en", ` + millis + `).format.call(1)`},
	{"format applied", `new Intl.DateTimeFormat("en", ` + millis + `).format.apply(null, [])`},
	{"format bound", `new Intl.DateTimeFormat("en", ` + millis + `).format.bind(null)()`},
	{"format by its getter", `Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format").get.call(new Intl.DateTimeFormat("en", ` + millis + `))()`},
	{"format by Reflect.get", `Reflect.get(Intl.DateTimeFormat.prototype, "format", new Intl.DateTimeFormat("en", ` + millis + `))()`},
	{"format of a subclass", `new (class extends Intl.DateTimeFormat {})("en", ` + millis + `).format()`},
	{"format of an old object", `Intl.DateTimeFormat.call(Object.create(Intl.DateTimeFormat.prototype), "en", ` + millis + `).format()`},
	{"a formatter's constructor", `new (new Intl.DateTimeFormat().constructor)("en", ` + millis + `).format()`},
	{"formatToParts", `JSON.stringify(new Intl.DateTimeFormat("en", ` + millis + `).formatToParts())`},
	{"formatToParts of undefined", `JSON.stringify(new Intl.DateTimeFormat("en", ` + millis + `).formatToParts(undefined))`},
	{"formatToParts called", `JSON.stringify(Intl.DateTimeFormat.prototype.formatToParts.call(new Intl.DateTimeFormat("en", ` + millis + `)))`},
	{"formatRange", `new Intl.DateTimeFormat("en", ` + millis + `).formatRange(new Date(), new Date())`},
	{"formatRange of nothing", `new Intl.DateTimeFormat("en", ` + millis + `).formatRange()`},
	{"formatRangeToParts", `JSON.stringify(new Intl.DateTimeFormat("en", ` + millis + `).formatRangeToParts(new Date(), new Date()))`},
	{"resolvedOptions", `JSON.stringify(new Intl.DateTimeFormat("en", ` + millis + `).resolvedOptions())`},
	{"performance.now", `performance.now()`},
	{"performance.timeOrigin", `performance.timeOrigin`},
	{"performance and its origin", `performance.timeOrigin + performance.now()`},
	{"performance.now detached", `(0, performance.now)()`},
	{"performance.toJSON", `JSON.stringify(performance.toJSON())`},
	{"performance.mark", `performance.mark("x").startTime`},
	{"performance.measure", `performance.measure("x").duration`},
	{"performance by its prototype", `Object.getPrototypeOf(performance).now.call(performance)`},
	{"Temporal, nanoseconds", `Temporal.Now.instant().epochNanoseconds`},
	{"Temporal, text", `Temporal.Now.instant().toString()`},
	{"Temporal, since", `Temporal.Now.instant().since(Temporal.Instant.fromEpochMilliseconds(0)).total("microseconds")`},
	{"Temporal, locale", `Temporal.Now.instant().toLocaleString("en", ` + millis + `)`},
	{"Temporal, detached", `(0, Temporal.Now.instant)().epochNanoseconds`},
	{"Temporal, zoned", `Temporal.Now.zonedDateTimeISO("UTC").epochNanoseconds`},
	{"Temporal, here", `Temporal.Now.zonedDateTimeISO().epochNanoseconds`},
	{"Temporal, date and time", `Temporal.Now.plainDateTimeISO().toString()`},
	{"Temporal, time", `Temporal.Now.plainTimeISO("UTC").toString()`},
	{"Temporal, nanosecond", `Temporal.Now.plainTimeISO().nanosecond`},
	{"Temporal, date", `Temporal.Now.plainDateISO().toString()`},
	{"Temporal, another calendar", `Temporal.Now.zonedDateTime("iso8601").epochNanoseconds`},
	{"timestamp of an event", `new Event("x").timeStamp`},
	{"timestamp of a message", `new MessageEvent("x").timeStamp`},
	{"a file", `new File([], "x").lastModified`},
	{"a frame", `new VideoFrame(new OffscreenCanvas(1, 1), { timestamp: 0 }).timestamp`},
	{"console", `console.timeStamp()`},
	{"the stack", `new Error("x").stack`},
}

// readers reads every clock repeatedly, until the level's own clock has advanced four times. A
// clock that changes while the level's clock does not is finer.
func readers(step int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "const STEP = %d, now = () => { const t = Date.now(); return t - t %% STEP };\nconst read = [", step)
	for _, c := range clocks {
		b.WriteString("() => " + c.read + ",\n")
	}
	b.WriteString(`];
	const at = [], said = [], fine = [], times = read.map(() => 0), steps = new Set();
	for (let round = 0; round < 30 || steps.size < 4; round++)
		for (let i = 0; i < read.length; i++) {
			if (times[i] < 0) continue;
			const before = now();
			let v;
			try { v = String(read[i]()) } catch (e) { times[i] = -1; continue }
			if (now() !== before) continue; // it moved in between
			steps.add(before);
			times[i]++;
			if (at[i] !== before) [at[i], said[i]] = [before, v];
			else if (said[i] !== v) fine[i] ??= said[i] + " and then " + v;
		}
	return JSON.stringify({ times, fine, odd: Date.now() % STEP })`)
	return b.String()
}

// No clock of a level is finer than the level's resolution: none changes while the level's own
// clock does not.
func TestAttackClocks(t *testing.T) {
	count := attack.Start(t, "B4")
	for _, level := range []protocol.Level{protocol.Strict, protocol.Secure, protocol.Standard, protocol.Permissive} {
		step := enclave.HardeningOf(level).ClockResolution.Milliseconds()
		for _, off := range [][]frame.Layer{nil, {frame.LayerTame}} {
			e := testEnclave(t, EnclaveOptions{Level: level, off: off})
			res, err := e.Run(testContext(t), readers(step), RunOptions{})
			if err != nil {
				t.Fatalf("%s: %v", level, err)
			}
			var got struct {
				Times []int
				Fine  []string
				Odd   int64
			}
			if err := json.Unmarshal([]byte(res.Value.(string)), &got); err != nil {
				t.Fatal(err)
			}
			got.Fine = append(got.Fine, make([]string, len(clocks)-len(got.Fine))...)
			read := 0
			for i, c := range clocks {
				if got.Times[i] > 0 {
					read++
				}
				if off == nil {
					count.Try(fmt.Sprintf("%s at %s: %s", c.name, level, got.Fine[i]), got.Fine[i] != "")
				} else {
					count.Off(c.name, got.Fine[i] != "")
				}
			}
			if off == nil && got.Odd != 0 {
				t.Errorf("%s: Date.now is %d past a whole step", level, got.Odd)
			}
			if read < 25 {
				t.Errorf("%s, off %v: only %d clocks could be read: %v", level, off, read, got.Times)
			}
			e.Close()
		}
	}
}
