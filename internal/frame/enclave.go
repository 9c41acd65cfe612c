package frame

import (
	_ "embed" // for the workers' scripts
	"hash/fnv"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/jsx/trust"
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// The parts of an enclave, from the outside in:
//
//   - an outer frame that holds the policy and serves one trust domain (domain.js)
//   - inner frames in it that start and kill workers (enclave.js)
//   - in each inner frame a trusted worker that counts and validates messages (broker.js)
//   - below that, for each run, a worker from a blob: with the runtime (harden.js, runtime.js) and the untrusted code
//
// The runtime and the code are in one script, but share no scope. In a warm enclave, the worker
// is already waiting with the runtime, and imports the code.

var (
	//go:embed broker.js
	brokerText string
	//go:embed harden.js
	hardenText string
	//go:embed runtime.js
	runtimeText string
)

// DomainHello is the message that a domain's outer frame posts to the host, with a port.
const DomainHello = "bailey-domain"

// ParseDomainHello reports whether s is the hello of a domain's outer frame. digest is that of
// a page from a server, and "" for a srcdoc.
func ParseDomainHello(s string) (digest string, ok bool) {
	word, digest, _ := strings.Cut(s, field)
	return digest, word == DomainHello && len(digest) < 20
}

// Texts that a broker sends besides messages. Ready means that it listens. Idle means that a
// run has ended by itself and has left nothing behind.
const (
	Ready = "ready"
	Idle  = "idle"
)

// MaxNote is the maximum length of a note from a frame, in UTF-16 units.
const MaxNote = 2000

// field separates the fields of a note.
const field = "\x1f"

// Note returns a message to a frame: a word and an id.
func Note(word string, id int) string { return word + field + strconv.Itoa(id) }

// ParseNote parses a message from a frame: a word and its argument. ok is false for an unknown
// word or an argument that is too long.
func ParseNote(s string) (word, rest string, ok bool) {
	word, rest, ok = strings.Cut(s, field)
	switch word {
	case "inner", "pong", "lost":
		return word, rest, ok && len(s) <= 4*MaxNote
	}
	return "", "", false
}

// DomainPage describes the frames of a trust domain.
type DomainPage struct {
	PolicyName string // Trusted Types policy to make inside the frames
	Level      protocol.Level
	Off        []Layer
	Warm       bool   // a worker waits with the runtime, and the code comes as a separate script
	Sample     string // for Warm: a first message, to try the runtime with
	DOM        bool   // the code gets a document: it runs in a frame instead of a worker
	Programs   *Programs
	Extra      string // directives that narrow a DOM enclave's policy further
	Connect    string // sources of connect-src: a DOM enclave's code may fetch from them
}

// openPolicy is the policy of a frame without layer 1.
const openPolicy = "default-src * data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"

// sandbox returns the attributes sandbox and allow of the domain's frames.
func (p DomainPage) sandbox() (sandbox, allow string) {
	if slices.Contains(p.Off, LayerFrames) {
		return Sandbox + " allow-same-origin", ""
	}
	return Sandbox, Allow
}

func (p DomainPage) policy() string {
	if slices.Contains(p.Off, LayerPolicy) {
		return openPolicy
	}
	more := ""
	if p.Programs.wasm {
		more = " 'wasm-unsafe-eval'"
	} else if p.DOM || p.Warm {
		// The code comes as a blob:, because its hash cannot be listed in a page's own policy
		// in advance. A nonce would be inherited by import().
		more = " blob:"
	}
	if enclave.HardeningOf(p.Level).Eval && !p.Programs.wasm {
		more += " 'unsafe-eval'"
	}
	if p.DOM {
		sources := ""
		for _, d := range DOMSources() {
			sources += "; " + d[0] + " " + d[1]
		}
		if p.Connect != "" {
			sources += "; connect-src " + p.Connect
		}
		return "default-src 'none'; script-src " + domainScript.Hash() + " " + enclaveScript.Hash() + " " + domScript.Hash() + more +
			"; worker-src blob:" + sources + "; base-uri 'none'; form-action 'none'; frame-src 'none'"
	}
	return "default-src 'none'; script-src " + domainScript.Hash() + " " + enclaveScript.Hash() + more +
		"; worker-src blob:; base-uri 'none'; form-action 'none'; frame-src 'none'"
}

// DOMSources returns the directives of a DOM enclave's policy, except those for scripts and
// workers, as pairs of name and sources. A caller may narrow them.
func DOMSources() [4][2]string {
	return [...][2]string{{"style-src", "'unsafe-inline'"}, {"img-src", "data: blob:"}, {"font-src", "data:"}, {"media-src", "data: blob:"}}
}

// Programs are the texts of a broker and of the worker below it. The host sends them to the
// frames. A pool names its own, so that a page does not contain the scripts of other pools.
type Programs struct {
	broker, runner string
	wasm           bool
}

var (
	enclaveOnce     sync.Once
	enclavePrograms Programs
)

// EnclavePrograms returns the programs for JavaScript. Each is one function that contains the
// scripts of internal/wire/enclave followed by our own. The text of the runtime is the middle of an
// expression that the broker begins and ends. The runtime has no decoder, because it receives
// only messages that the broker has decoded. A decoder would be compiled again at each start of
// a run.
func EnclavePrograms() *Programs {
	enclaveOnce.Do(func() {
		enclavePrograms = Programs{
			broker: Hint + "(()=>{'use strict';" + compact(enclave.ScriptText(enclave.Scripts())+brokerText) + "baileyBroker(self)})()",
			// A function in parentheses is compiled at once instead of being parsed in advance. The broker
			// puts Hint before it, so that in Chromium the functions in it are too.
			runner: "(function(user,config){'use strict';" + compact(enclave.ScriptText(enclave.EncoderScripts())+hardenText+runtimeText) + "baileyRuntime(user,config)})",
		}
	})
	return &enclavePrograms
}

// Srcdoc returns the srcdoc of the outer frame. It already contains the first inner frame, with
// the id 1, so that both start together.
func (p DomainPage) Srcdoc() trust.HTML { return trust.AuthoredHTML(p.text("")) }

// Hosted returns the outer frame's page for a server, and the policy for its headers. The page
// is that of Srcdoc with its own digest added.
func (p DomainPage) Hosted() (page, policy string) { return p.text(p.Digest()), p.policy() }

// Digest returns a hash that distinguishes pages of other versions or options. It finds
// mistakes, and not forgeries: the server of the page is trusted.
func (p DomainPage) Digest() string {
	h := fnv.New64a()
	for _, s := range []string{p.text(""), p.Programs.broker, p.Programs.runner, p.config()} {
		_, _ = io.WriteString(h, s)
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func (p DomainPage) text(digest string) string {
	var b strings.Builder
	head(&b, p.policy(), "en", "Sandbox")
	if digest != "" {
		b.WriteString(`<meta name="bailey" content="` + digest + `">`)
	}
	b.WriteString(`<script>` + domainScript.Text() + `</script><iframe data-id="1"`)
	if p.DOM {
		b.WriteString(` data-shows="1"`)
	}
	sandbox, allow := p.sandbox()
	b.WriteString(` sandbox="` + sandbox + `" referrerpolicy="no-referrer" allow="` + allow +
		`" title="Sandbox" srcdoc="`)
	b.WriteString(html.EscapeString(p.inner()))
	b.WriteString(`"></iframe>`)
	return b.String()
}

// inner returns the page of an inner frame. It is small, because each frame parses it. The
// programs of its workers arrive in a message.
func (p DomainPage) inner() string {
	var b strings.Builder
	head(&b, "", "en", "Sandbox")
	if p.DOM {
		// In a template this is a model to copy, and not a frame yet.
		sandbox, allow := p.sandbox()
		b.WriteString(`<template id="realm"><iframe sandbox="` + sandbox + `" referrerpolicy="no-referrer" allow="` + allow + `" title="Sandbox" srcdoc="`)
		b.WriteString(html.EscapeString(p.realm()))
		b.WriteString(`"></iframe></template>`)
	}
	b.WriteString(`<script>` + enclaveScript.Text() + `</script>`)
	return b.String()
}

// config returns the configuration of the runtime's hardening as JSON.
func (p DomainPage) config() string {
	h := enclave.HardeningOf(p.Level)
	if p.Connect != "" {
		h.Removed = slices.DeleteFunc(slices.Clone(h.Removed), func(name string) bool { return name == "fetch" })
	}
	return `{"removed":` + list(h.Removed) + `,"throws":` + strconv.FormatBool(h.BlockedThrows) + `,"define":` + strconv.FormatBool(h.DefineProperty) +
		`,"eval":` + strconv.FormatBool(h.Eval) + `,"clock":` + strconv.FormatInt(max(1, int64(h.ClockResolution/time.Millisecond)), 10) +
		`,"dom":` + strconv.FormatBool(p.DOM) + `,"connect":` + strconv.FormatBool(p.Connect != "") + `,"off":` + list(p.Off) + `,"policy":` + list([]string{p.PolicyName}) + `,"sample":` + string(strictjson.AppendString(nil, p.Sample)) + `}`
}

// realm returns the page for a DOM enclave's code. Its policy is the outer frame's, without
// workers, narrowed by the caller's directives.
func (p DomainPage) realm() string {
	policy := "worker-src 'none'"
	if p.Extra != "" {
		policy += "; " + p.Extra
	}
	var b strings.Builder
	head(&b, policy, "en", "Sandbox")
	b.WriteString(`<script>` + domScript.Text() + `</script><body></body>`)
	return b.String()
}

// Layer is a part of an enclave that a test can switch off. Package iframe does not export the
// option for this.
type Layer string

// The layers around the realm, and those inside it.
const (
	LayerPolicy  Layer = "policy"  // 1: the frames' Content-Security-Policy
	LayerFrames  Layer = "frames"  // 2: an opaque origin and the list of disabled features
	LayerBroker  Layer = "broker"  // 3: counts and checks of the broker. The host checks again
	LayerBatches Layer = "batches" // 3: the size of each message from the broker to the host
	LayerProbe   Layer = "probe"   // 3: the time in which code works while a person is asked
	LayerRuntime Layer = "runtime" // 7: the connection out of the realm is in no scope of the code

	LayerGlobals    Layer = "globals"    // 4
	LayerPrototypes Layer = "prototypes" // 5
	LayerGuards     Layer = "guards"     // 6
	LayerTame       Layer = "tame"       // 6: clocks and methods with wider effects
	LayerMemory     Layer = "memory"     // 8
)

// Program is the part of a worker's script that belongs to one run.
type Program struct {
	Code  string
	Nonce string   // unguessable: letters and digits, a new one for each run
	Names []string // of the constants of the run. The caller has checked them
}

// Text returns the nonce, the names, and a function that contains the code. The broker makes a
// script of them.
//
// The code begins in line 2 of the script, after [Hint], so its line numbers are off by one. It is
// the body of a function of its own. Code could try to close that function and continue outside
// of it. The label prevents this: "break NONCE" follows the code. A break to a label that does
// not enclose it is a syntax error of the whole script, so nothing of it runs. The code cannot
// know the nonce.
func (p Program) Text() string {
	names := slices.Clone(p.Names)
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(p.Nonce + field + strings.Join(names, ",") + field + "(function(callTool,mcp,parallel,console,sleep,signal,args")
	for _, n := range names {
		b.WriteString("," + n)
	}
	b.WriteString("){" + p.Nonce + ":{return async function(){")
	b.WriteString(p.Code)
	b.WriteString("\n};break " + p.Nonce + "}})")
	return b.String()
}

// Start returns the message that begins a run: an encoded batch, which contains no control
// character, and the text of a program.
func Start(batch, program string) string { return batch + "\x1e" + program }

func list[T ~string](items []T) string {
	b := []byte{'['}
	for i, s := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = strictjson.AppendString(b, string(s))
	}
	return string(append(b, ']'))
}

// CleanStack returns the part of an error's stack that helps the author: the lines of the code,
// without the address of the blob and without the runtime's own frames. The code has lines lines.
func CleanStack(stack string, lines int) string {
	var out []string
	for line := range strings.SplitSeq(stack, "\n") {
		i := strings.Index(line, "blob:")
		if i < 0 {
			out = append(out, line)
			continue
		}
		rest := line[i:]
		end := strings.IndexAny(rest, ") \t")
		tail := ""
		if end >= 0 {
			rest, tail = rest[:end], rest[end:]
		}
		parts := strings.Split(rest, ":")
		if len(parts) < 3 {
			continue
		}
		n, err := strconv.Atoi(parts[len(parts)-2])
		if err != nil || n < 2 || n > lines+1 { // line 1 is Hint
			continue
		}
		out = append(out, line[:i]+"code:"+strconv.Itoa(n-1)+":"+parts[len(parts)-1]+tail)
	}
	return strings.Join(out, "\n")
}

// Script returns the script of one run, as a broker puts it together: a program, the hardening of the
// level, and the runtime. An engine without a broker runs it, with postMessage, timers and messages of
// a worker. The program is that of [Program.Text].
func (p DomainPage) Script(program string) string {
	_, rest, _ := strings.Cut(program, field) // the nonce
	names, code, _ := strings.Cut(rest, field)
	var of []string
	if names != "" {
		of = strings.Split(names, ",")
	}
	return Hint + "'use strict';(f=>c=>g=>g(f,c))(" + code + ")({..." + p.config() + ",names:" + list(of) + "})(" + EnclavePrograms().runner + ")"
}
