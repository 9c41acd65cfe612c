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
	"github.com/bailey-go/bailey/protocol"
)

// What an enclave is made of, from the outside in: an outer frame that holds the
// policy and serves one trust domain (domain.js); inner frames in it that spawn and
// kill (enclave.js); in each a trusted worker that counts and validates (broker.js);
// and below that, for each run, a worker from a blob: that holds the runtime
// (harden.js, runtime.js) and the untrusted code, in one script and no common scope; or,
// of a warm enclave, a worker that waits with the runtime and imports the code.

var (
	//go:embed broker.js
	brokerText string
	//go:embed harden.js
	hardenText string
	//go:embed runtime.js
	runtimeText string
)

// What a domain's outer frame posts to the host, with a port.
const DomainHello = "bailey-domain"

// ParseDomainHello reads what a domain's outer frame posts: the digest of a page that
// came from a server, and nothing from a srcdoc.
func ParseDomainHello(s string) (digest string, ok bool) {
	word, digest, _ := strings.Cut(s, field)
	return digest, word == DomainHello && len(digest) < 20
}

// What a broker says beside messages: that it listens; that a run ended by itself and
// nothing of it is left.
const (
	Ready = "ready"
	Idle  = "idle"
)

// MaxNote is the most UTF-16 units of a note from a frame.
const MaxNote = 2000

// Note makes a message to a frame: a word and an id.
func Note(word string, id int) string { return word + field + strconv.Itoa(id) }

// ParseNote reads a message from a frame: a word and what it says.
func ParseNote(s string) (word, rest string, ok bool) {
	word, rest, ok = strings.Cut(s, field)
	switch word {
	case "inner", "pong", "lost":
		return word, rest, ok && len(s) <= 4*MaxNote
	}
	return "", "", false
}

// DomainPage is what the frames of a trust domain are made of.
type DomainPage struct {
	PolicyName string // Trusted Types policy to make inside the frames
	Level      protocol.Level
	Off        []Layer
	Warm       bool   // a worker waits with the runtime; the code comes as a script of its own
	Sample     string // for Warm: a first message, to try the runtime on
	DOM        bool   // the code gets a document: it runs in a frame and not in a worker
	Wasm       bool   // the code is WebAssembly: see wasm.go
	Extra      string // directives that narrow a DOM enclave's policy further
	Connect    string // sources of connect-src: a DOM enclave's code may fetch from them
}

// openPolicy is what a frame without layer 1 has.
const openPolicy = "default-src * data: blob: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"

// sandbox and allow are the attributes of the domain's frames.
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
	if p.Wasm {
		more = " 'wasm-unsafe-eval'"
	} else if p.DOM || p.Warm {
		// The code comes as a blob:, for no hash could be listed ahead in a page's own
		// policy; a nonce would be inherited by import().
		more = " blob:"
	}
	if p.Level.Hardening().Eval && !p.Wasm {
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

// DOMSources are the directives of a DOM enclave's policy beside scripts and workers,
// which a caller may narrow: name and sources.
func DOMSources() [4][2]string {
	return [...][2]string{{"style-src", "'unsafe-inline'"}, {"img-src", "data: blob:"}, {"font-src", "data:"}, {"media-src", "data: blob:"}}
}

// brokerProgram and runtimeProgram are the texts of the workers, which the host hands
// to the frames.
func (p DomainPage) brokerProgram() string {
	if p.Wasm {
		return wasmBrokerProgram()
	}
	return brokerProgram()
}

func (p DomainPage) runtimeProgram() string {
	if p.Wasm {
		return wasmRunnerProgram()
	}
	return runtimeProgram()
}

// brokerProgram and runtimeProgram are the texts of the two workers: twins of package
// protocol and our own behind them, inside one function. The runtime's is the middle of an
// expression that the broker begins and closes; it has no reader, for it hears only what
// the broker has read, and each run's start would compile it again.
var brokerProgram = sync.OnceValue(func() string {
	return "(()=>{'use strict';" + protocol.ScriptText(protocol.Scripts()) + brokerText + "baileyBroker(self)})()"
})

var runtimeProgram = sync.OnceValue(func() string {
	// In brackets it is compiled at once, and not looked over first: 0.7 ms of a start.
	return "(function(user,config){'use strict';" + protocol.ScriptText(protocol.EncoderScripts()) + hardenText + runtimeText + "baileyRuntime(user,config)})"
})

// Srcdoc is the outer frame's srcdoc. Its first inner frame, with the id 1, is in
// it already, so that everything starts in one go.
func (p DomainPage) Srcdoc() trust.HTML { return trust.AuthoredHTML(p.text("")) }

// Hosted is the outer frame's page as a server sends it: the policy that its headers
// say, and the same page as the srcdoc's, which also tells its own digest.
func (p DomainPage) Hosted() (page, policy string) { return p.text(p.Digest()), p.policy() }

// Digest tells pages apart that were made by other versions or for other options. It
// finds mistakes, and no forgery: who serves the page is trusted.
func (p DomainPage) Digest() string {
	h := fnv.New64a()
	for _, s := range []string{p.text(""), p.brokerProgram(), p.runtimeProgram(), p.config()} {
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

// inner is small, for each frame parses it: the programs of its workers come as a message.
func (p DomainPage) inner() string {
	var b strings.Builder
	head(&b, "", "en", "Sandbox")
	if p.DOM {
		// In a template it is a model to copy, and no frame yet.
		sandbox, allow := p.sandbox()
		b.WriteString(`<template id="realm"><iframe sandbox="` + sandbox + `" referrerpolicy="no-referrer" allow="` + allow + `" title="Sandbox" srcdoc="`)
		b.WriteString(html.EscapeString(p.realm()))
		b.WriteString(`"></iframe></template>`)
	}
	b.WriteString(`<script>` + enclaveScript.Text() + `</script>`)
	return b.String()
}

// config is what the runtime takes away, as JSON.
func (p DomainPage) config() string {
	h := p.Level.Hardening()
	if p.Connect != "" {
		h.Removed = slices.DeleteFunc(slices.Clone(h.Removed), func(name string) bool { return name == "fetch" })
	}
	return `{"removed":` + list(h.Removed) + `,"throws":` + strconv.FormatBool(h.BlockedThrows) + `,"define":` + strconv.FormatBool(h.DefineProperty) +
		`,"eval":` + strconv.FormatBool(h.Eval) + `,"clock":` + strconv.FormatInt(max(1, int64(h.ClockResolution/time.Millisecond)), 10) +
		`,"dom":` + strconv.FormatBool(p.DOM) + `,"connect":` + strconv.FormatBool(p.Connect != "") + `,"off":` + list(p.Off) + `,"policy":` + list([]string{p.PolicyName}) + `,"sample":` + string(appendJSONString(nil, p.Sample)) + `}`
}

// realm is the page that a DOM enclave's code gets. Its policy is the outer frame's,
// without workers, and with what the caller narrows.
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

// Layer is a part of an enclave that a test can switch off. The option that does so is not exported by package iframe.
type Layer string

// The layers around the realm, and those inside.
const (
	LayerPolicy  Layer = "policy"  // 1: the frames' Content-Security-Policy
	LayerFrames  Layer = "frames"  // 2: an opaque origin and the list of features
	LayerBroker  Layer = "broker"  // 3: what the broker counts and checks; the host checks again
	LayerBatches Layer = "batches" // 3: the size of what the broker sends to the host at once
	LayerRuntime Layer = "runtime" // 7: the way out of the realm is in no scope of the code

	LayerGlobals    Layer = "globals"    // 4
	LayerPrototypes Layer = "prototypes" // 5
	LayerGuards     Layer = "guards"     // 6
	LayerTame       Layer = "tame"       // 6: clocks and methods that reach further
	LayerMemory     Layer = "memory"     // 8
)

// Program is what a run's worker gets beside the runtime.
type Program struct {
	Code  string
	Nonce string   // unguessable: letters and digits, a new one for each run
	Names []string // of the named constants; the caller has checked them
}

// Text is the nonce, the names and a function that holds the code, for the broker,
// which makes a script of it.
//
// The code stands in the script's first lines, so that they keep their numbers, as
// the body of a function of its own. Text could close that function and go on outside
// of it, if it were not for the label: behind the code stands "break NONCE", and a
// break to a label that is not around it is an error for the whole script, so that
// nothing of it runs. Code can't know the nonce.
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

// Start is the message that begins a run: an encoded batch, in which no control
// character stands, and the text of a program.
func Start(batch, program string) string { return batch + "\x1e" + program }

func list[T ~string](items []T) string {
	b := []byte{'['}
	for i, s := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSONString(b, string(s))
	}
	return string(append(b, ']'))
}

// CleanStack makes of an error's stack what its author can use: the lines of the
// code, without the address of the blob and without the runtime's own frames.
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
		if err != nil || n < 1 || n > lines {
			continue
		}
		out = append(out, line[:i]+"code:"+parts[len(parts)-2]+":"+parts[len(parts)-1]+tail)
	}
	return strings.Join(out, "\n")
}
