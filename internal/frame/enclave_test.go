package frame

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func TestWorkerTextsCanStandInDataBlocks(t *testing.T) {
	for name, text := range map[string]string{"broker": EnclavePrograms().broker, "runtime": EnclavePrograms().runner} {
		for _, bad := range []string{"</script", "<!--", "<script", "\r", "\x00"} {
			if strings.Contains(strings.ToLower(text), bad) {
				t.Errorf("the %s holds %q: the parser would end or change it", name, bad)
			}
		}
		// A single character beyond Latin-1 doubles the memory of a script in each worker.
		for i, c := range text {
			if c > 0x7e {
				t.Errorf("the %s holds %q at %d: write it as an escape", name, c, i)
			}
		}
	}
}

func TestDomainPageCarriesTheInnerPage(t *testing.T) {
	for _, name := range []string{"bailey", `x" onload="y`, "</script>"} {
		p := DomainPage{Programs: EnclavePrograms(), PolicyName: name}
		outer := p.Srcdoc().String()
		if got := script(t, outer); got != domainScript.Text() {
			t.Error("the outer script is not what its hash says")
		}
		if got := attribute(t, outer, "meta", "content"); got != p.policy() {
			t.Errorf("policy %q", got)
		}
		if got := attribute(t, outer, "iframe", "sandbox"); got != Sandbox {
			t.Errorf("sandbox %q", got)
		}
		inner := attribute(t, outer, "iframe", "srcdoc")
		if inner != p.inner() {
			t.Error("the inner page does not come back whole")
		}
		if !strings.Contains(inner, ">"+enclaveScript.Text()+"</script>") || strings.Contains(outer, "baileyBroker") {
			t.Error("the inner page has its own script, and no program of a worker's")
		}
	}
}

// A page from a server matches one host's options only. The digest covers the programs that the
// host sends to it.
func TestDigest(t *testing.T) {
	seen := map[string]DomainPage{}
	for _, p := range []DomainPage{
		{}, {PolicyName: "x"}, {Level: protocol.Secure}, {Warm: true}, {Programs: WasmPrograms()}, {DOM: true}, {DOM: true, Extra: "img-src 'none'"}, {DOM: true, Connect: "https://a.example"},
	} {
		if p.Programs == nil {
			p.Programs = EnclavePrograms()
		}
		d := p.Digest()
		if other, ok := seen[d]; ok || d != p.Digest() {
			t.Errorf("%+v has the digest of %+v", p, other)
		}
		seen[d] = p
	}
}

func TestDomainPolicy(t *testing.T) {
	for _, level := range []protocol.Level{protocol.Strict, protocol.Permissive} {
		p, eval := DomainPage{Programs: EnclavePrograms(), Level: level}.policy(), level == protocol.Permissive
		if strings.Contains(p, "unsafe-inline") || strings.Contains(p, "'unsafe-eval'") != eval || !strings.HasPrefix(p, "default-src 'none'; ") ||
			strings.Contains(strings.SplitN(p, ";", 3)[1], "blob:") {
			t.Errorf("%s", p)
		}
	}
}

func TestProgram(t *testing.T) {
	p := Program{Code: "return '\u2028</script>'", Nonce: "nX", Names: []string{"b", "a"}}
	if got, want := p.Text(), "nX\x1fa,b\x1f(function(callTool,mcp,parallel,console,sleep,signal,args,a,b){nX:{return async function(){"+p.Code+"\n};break nX}})"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !slices.Equal(p.Names, []string{"b", "a"}) {
		t.Error("the caller's names were sorted")
	}
}

func TestDomainConfig(t *testing.T) {
	p := DomainPage{Programs: EnclavePrograms(), PolicyName: `x"`, Off: []Layer{LayerMemory}, Warm: true}
	for _, want := range []string{`"throws":true,"define":false,"eval":false,"clock":100,`, `"off":["memory"]`, `"policy":["x\""]`} {
		if !strings.Contains(p.config(), want) {
			t.Errorf("no %s in %s", want, p.config())
		}
	}
	if c := (DomainPage{Programs: EnclavePrograms(), Level: protocol.Permissive}).config(); !strings.Contains(c, `"throws":false,"define":true,"eval":true,"clock":1,`) {
		t.Error(c)
	}
	if !strings.Contains(p.policy(), " blob:; worker-src blob:;") {
		t.Error(p.policy())
	}
}

func TestParseNote(t *testing.T) {
	for _, c := range []struct {
		in, word, rest string
		ok             bool
	}{
		{Note("pong", 3), "pong", "3", true}, {"inner\x1f7", "inner", "7", true}, {"lost\x1fa\x1fb", "lost", "a\x1fb", true},
		{"", "", "", false}, {"inner", "", "", false}, {"add\x1f1", "", "", false}, {"lost\x1f" + strings.Repeat("x", 4*MaxNote), "", "", false},
	} {
		word, rest, ok := ParseNote(c.in)
		if ok != c.ok || ok && (word != c.word || rest != c.rest) {
			t.Errorf("%.20q: %q %q %v", c.in, word, rest, ok)
		}
	}
}

func TestCleanStack(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Error: x\n    at f (blob:null/1-2:3:5)\n    at blob:null/1-2:4:1\n    at start (blob:null/1-2:900:1)", "Error: x\n    at f (code:2:5)\n    at code:3:1"},
		{"f@blob:null/1-2:3:5\n@blob:null/1-2:99:1", "f@code:2:5"},
		{"no address", "no address"}, {"", ""}, {"at blob:", ""}, {"at blob:null/x:y:z", ""}, {"at (blob:null/x:2:2) blob:", "at (code:1:2) blob:"},
		{"at blob:null/x:1:2", ""}, {"at blob:null/x:11:2", "at code:10:2"}, {"at blob:null/x:12:2", ""},
	} {
		if got := CleanStack(c.in, 10); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzCleanStack(f *testing.F) {
	f.Add("at f (blob:null/1:3:5)", 10)
	f.Fuzz(func(t *testing.T, s string, lines int) {
		if got := CleanStack(s, lines); len(got) > len(s)+strings.Count(s, "\n") {
			t.Fatalf("%q grew to %q", s, got)
		}
	})
}

func TestCompact(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"a\n  b\n\tc":             "a\nb\nc\n",
		"// x\n  // y\na // kept": "a // kept\n",
		"/** x\n * y\n */\na":     "a\n",
		"/* x */ a":               "a\n",
		"  /** a */ /* b */ c":    "c\n",
		"/* x\n y */ a /* z":      "a /* z\n",
		"f(/** @type {any} */ a, /** @type {T[]} */ (b))": "f(a, (b))\n",
		"x = '/* no comment */'":                          "x = '/* no comment */'\n",
		"/* never closed\na":                              "",
		"const s = 'a /** @type'":                         "const s = 'a /** @type'\n",
	} {
		if got := compact(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Compact must not be given what it would cut: a template literal, or a string that looks like a comment.
func TestProgramsMayBeCompacted(t *testing.T) {
	texts := map[string]string{
		"enclave": EnclavePrograms().broker + EnclavePrograms().runner, "wasm": WasmPrograms().broker + WasmPrograms().runner,
	}
	for _, s := range Scripts() {
		texts[s.Name()] = s.Text()
	}
	for name, text := range texts {
		if strings.Contains(text, "`") {
			t.Errorf("%s: a template literal", name)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if line != strings.TrimSpace(line) || strings.Contains(line, "/** @") || strings.HasPrefix(line, "*") {
				t.Errorf("%s: left over: %s", name, line)
			}
		}
	}
}
