package npmtest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
)

// vault is a server that says back the credentials that it gets, in many forms, and lists them at vault/seen.
type vault struct {
	mu   sync.Mutex
	seen []string // the host and all headers of a request that may have a credential
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Headers", "authorization, x-api-key, x-note, accept")
	v.mu.Lock()
	defer v.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/seen") {
		_ = json.NewEncoder(w).Encode(append([]string{}, v.seen...))
		return
	}
	if r.Method == http.MethodOptions {
		return
	}
	got := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
	v.seen = append(v.seen, fmt.Sprint(r.Host, " ", r.URL, " ", got, " ", r.Header.Get("X-Note")))
	if to := r.URL.Query().Get("to"); to != "" {
		http.Redirect(w, r, to, http.StatusFound)
		return
	}
	value := strings.TrimPrefix(got, "Bearer ")
	switch r.URL.Query().Get("as") {
	case "base64":
		value = base64.StdEncoding.EncodeToString([]byte(value))
	case "hex":
		value = hex.EncodeToString([]byte(value))
	case "reversed":
		b := []byte(value)
		slices.Reverse(b)
		value = string(b)
	case "escaped":
		text, _ := json.Marshal(map[string]string{"you sent": value})
		value = string(text)
	case "percent":
		value = strings.ReplaceAll(fmt.Sprintf("% x", value), " ", "%")
		value = "%" + value
	case "status":
		w.WriteHeader(http.StatusForbidden)
	case "html":
		h.Set("Content-Type", "text/html")
		value = "<p>" + value[:8] + "<b></b>" + value[8:] + "</p>"
	}
	fmt.Fprint(w, "you sent ", value)
}

// secretKit has helpers for the tests of secrets. there and elsewhere are two names of the test's server.
const secretKit = `const value = 'v4lue-Of-The-Secret-0123456789', there = location.host, elsewhere = there.replace('127.0.0.1', 'localhost'), seen = async () => (await (await fetch('vault/seen')).json()).join('\n');
	const at = (host, query) => location.protocol + '//' + host + location.pathname + 'vault/echo' + (query ?? '');
	const header = {authorization: 'Bearer secret.github.placeholder'};
	const grants = (...hosts) => ({capabilities: {'net.fetch': hosts, 'secrets.has': true, 'secrets.use': ['github'], 'stream.send': true}, rules: [{permission: 'secrets.has', action: 'allow'}]});
	const open = (options) => box({standard: false, secrets: {github: {value, hosts: [there]}}, policy: grants(there, elsewhere), ask: () => 'once', ...options});
	/** Reports whether a text has the value in a form that anybody can undo. */
	const has = (text) => { const bytes = new TextEncoder().encode(value), hex = [...bytes].map((b) => b.toString(16).padStart(2, '0')); return [value, btoa(value).replace(/=+$/, ''), hex.join(''), '%' + hex.join('%'), [...value].reverse().join('')].some((form) => text.includes(form)); };
	/** Returns all texts of a database. */
	const stored = async (name) => { const db = await new Promise((r, e) => { const q = indexedDB.open(name); q.onsuccess = () => r(q.result); q.onerror = () => e(q.error); }); let out = '';
		const flat = (x) => x instanceof ArrayBuffer ? new TextDecoder().decode(x) : ArrayBuffer.isView(x) ? new TextDecoder().decode(x) : x instanceof CryptoKey ? 'a key' : x && typeof x === 'object' ? Object.entries(x).flat().map(flat).join('\n') : String(x);
		for (const s of db.objectStoreNames) out += flat(await new Promise((r, e) => { const q = db.transaction(s).objectStore(s).getAll(); q.onsuccess = () => r(q.result); q.onerror = () => e(q.error); })); db.close(); return out; }; `

// A box has secrets, which a request gets and the model does not.
func TestSecrets(t *testing.T) {
	p, console := kitAt(t, bareAgent(t), hosting{})
	list := []row{
		{"a request with a secret", `const asked = []; const b = await open({ask: (q) => { asked.push(q.title); return 'once'; }}); const s = await b.session(); const c = await all(s, {calls: [{tool: 'secrets', args: {}}]}, {calls: [{tool: 'web_request', args: {url: at(there), headers: header}}]}, {echo: true});
			return [(await seen()).includes(value), text(c).includes('you sent secret.github.placeholder'), text(c).includes('"placeholder":"secret.github.placeholder"'), has(JSON.stringify(c)), asked.length, asked[0].includes('send the secret github to ' + there)]`, `[true,true,true,false,1,true]`},
		{"set, list and remove", `const b = await open({secrets: {}}); await b.setSecret('github', {value, hosts: [there, '*.example.org']}); const list = await b.secrets(); const used = await b.call('web_request', {url: at(there, '?n=2'), headers: header}); await b.removeSecret('github');
			return [list.github.hosts.length, list.github.placeholder, JSON.stringify(used).includes('secret.github.placeholder'), Object.keys(await b.secrets()), (await failed(b.call('web_request', {url: at(there), headers: header}))).split(':')[0]]`, `[2,"secret.github.placeholder",true,[],"INVALID_PARAMS"]`},
		{"stored secrets", `const name = 'secrets ' + Math.random(); const one = await open({secretStore: name}); await one.close(); const two = await open({secrets: undefined, secretStore: name}); const list = await two.secrets(); const filled = await two.fillSecrets('Bearer secret.github.placeholder', there);
			return [list.github.hosts[0] === there, filled === 'Bearer ' + value, has(await stored(name))]`, `[true,true,false]`},
		{"a tool of the page fills and hides", `let b; b = await open({tools: {post: {effects: [{capability: 'net.fetch', subject: there}], run: async () => b.hideSecrets(await (await fetch(at(there), {headers: {authorization: await b.fillSecrets(header.authorization, there)}})).text(), there)}}}); return b.call('post')`, `"you sent secret.github.placeholder"`},
		{"a host that a secret is not for", `const b = await open({}); return [(await failed(b.fillSecrets(header.authorization, elsewhere))).split(':')[0], (await failed(b.call('web_request', {url: at(elsewhere), headers: header}))).split(':')[0], await b.hideSecrets(value, elsewhere) === value]`, `["SECURITY_VIOLATION","SECURITY_VIOLATION",true]`},
		{"a box without secrets", `const b = await box({}); return [await failed(b.secrets()), (await failed(b.setSecret('a', {value, hosts: []}))).includes('the option secrets'), (await b.tools()).some((t) => t.name === 'web_request' && t.available)]`, `["Error: the box has no secrets: give it the option secrets or secretStore",true,false]`},
		{"the tools of a box with secrets", `const b = await open({}); return (await b.tools()).filter((t) => t.available).map((t) => t.name)`, `["secrets","web_request"]`},
	}
	for name, c := range map[string][2]string{
		"no object":               {`'github'`, `must be an object`},
		"a text as a secret":      {`{github: value}`, `value and hosts`},
		"no value":                {`{github: {hosts: [there]}}`, `value is missing`},
		"no hosts":                {`{github: {value}}`, `hosts`},
		"a host that is none":     {`{github: {value, hosts: ['a b']}}`, `a b`},
		"a short value":           {`{github: {value: 'short', hosts: [there]}}`, `8 to 4096`},
		"a value of two lines":    {`{github: {value: value + '\nx', hosts: [there]}}`, `one line`},
		"an option that is none":  {`{github: {value, host: there}}`, `host: there is no such option`},
		"a value as a name":       {`{[value]: {value, hosts: [there]}}`, `a name is a small letter`},
		"a value as a wrong name": {`{[value]: 1}`, `value and hosts`},
		"a trap":                  {`{github: {get value() { throw new Error('trap'); }}}`, `trap`},
	} {
		list = append(list, row{"an error at once: " + name, `const said = await failed((async () => open({secrets: ` + c[0] + `}))()); return said.includes('box(options): secrets') && said.includes(` + quote(c[1]) + `) && !has(said) ? true : said`, `true`})
	}
	for i := range list {
		list[i].script = secretKit + list[i].script
	}
	rows(t, p, list)
	if t.Failed() {
		t.Logf("console: %q", console())
	}
}

// A model, a server or a page's tool tries to read the value of a secret, or to have it sent elsewhere: by a tool's answer, an error, a
// chunk, a question, a stored session, another header, another host.
func TestAttackSecretsOfAPage(t *testing.T) {
	table := attack.Start(t, "secrets")
	p, _ := kitAt(t, bareAgent(t), hosting{})
	// said reports whether the value can be read in anything that a conversation with calls leaves.
	const said = secretKit + `const said = async (calls, options) => { const name = 'sessions ' + Math.random(), notes = []; const b = await open({store: name, ask: (q) => { notes.push(q); return 'once'; }, onProgress: (x) => notes.push(x), ...options?.(() => b)}); const s = await b.session(), c = [];
		for await (const x of s.send(turns({calls}, {echo: true}))) c.push(x); const got = JSON.stringify([c, notes, await s.messages(), await b.sessions(), await b.tools(), await b.secrets()]) + await s.export(); await b.close(); const kept = await stored(name); if (!kept.includes('you sent')) throw new Error('the database has no answer: ' + kept.length); return has(got + kept); }; `
	for i, as := range []string{"plain", "base64", "hex", "reversed", "escaped", "percent", "status", "html"} {
		if testing.Short() && i%4 != 0 {
			continue // make npm and make attack try all
		}
		at := `at(there, '?as=` + as + `')`
		table.Try("an answer, "+as, won(t, p, said+`return said([{tool: 'web_request', args: {url: `+at+`, headers: header}}])`))
		// A tool of the page that fills the header by itself shows the answer as it came. With hideSecrets it does not.
		tool := func(shown string) string {
			return said + `return said([{tool: 'get', args: {}}], (b) => ({tools: {get: {effects: [{capability: 'net.fetch', subject: there}], run: async () => { const text = await (await fetch(` + at + `, {headers: {authorization: await b().fillSecrets(header.authorization, there)}})).text(); return ` + shown + `; }}}}))`
		}
		table.Try("an answer to a tool of the page, "+as, won(t, p, tool(`b().hideSecrets(text, there)`)))
		table.Off("an answer to a tool of the page, "+as, won(t, p, tool(`text`)))
	}
	for name, c := range map[string]struct{ script, off string }{
		"another host": {`const b = await open({}); await failed(b.call('web_request', {url: at(elsewhere, '?n=' + mark), headers: header}))`,
			`const b = await open({secrets: {github: {value, hosts: [there, elsewhere]}}}); await failed(b.call('web_request', {url: at(elsewhere, '?n=' + mark), headers: header}))`},
		"a host that the policy does not grant": {`const b = await open({policy: grants('other.example')}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: header}))`,
			`const b = await open({}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: header}))`},
		"a name that the policy does not grant": {`const b = await open({policy: {capabilities: {'net.fetch': [there], 'secrets.use': ['other'], 'stream.send': true}}}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: header}))`,
			`const b = await open({}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: header}))`},
		"a user who declines": {`const b = await open({ask: () => 'reject'}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: header}))`,
			`const b = await open({}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: header}))`},
		"no user": {`const b = await open({ask: undefined}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: header}))`, ``},
		"a header that servers show": {`const b = await open({}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: {'x-note': header.authorization}}))`,
			`const b = await open({}); await failed(b.call('web_request', {url: at(there, '?n=' + mark), headers: {'x-api-key': header.authorization}}))`},
		"an address": {`const b = await open({}); await failed(b.call('web_request', {url: at(there, '?n=' + mark + '&k=secret.github.placeholder')}))`, ``},
		"a redirect": {`const b = await open({}); await failed(b.call('web_request', {url: at(there, '?to=' + encodeURIComponent(at(elsewhere, '?n=' + mark))), headers: header}))`, ``},
		"web_fetch":  {`const b = await open({web: true}); await failed(b.call('web_fetch', {url: at(there, '?n=' + mark + '&k=secret.github.placeholder')}))`, ``},
	} {
		// The server has the value in a request with the mark.
		reached := func(script string) bool {
			return won(t, p, secretKit+`const mark = String(Math.random()).slice(2); `+script+`; return (await seen()).split('\n').some((line) => line.includes('n=' + mark) && has(line))`)
		}
		table.Try(name, reached(c.script))
		if c.off != "" {
			table.Off(name, reached(c.off))
		}
	}
	for name, script := range map[string]string{
		"the list for the page":                   `const b = await open({}); return has(JSON.stringify([await b.secrets(), await b.call('secrets')]))`,
		"the program's object":                    `const b = await open({}); return has(JSON.stringify(b) + Object.values(b).map(String).join())`,
		"an error of setSecret":                   `const b = await open({}); let got = ''; for (const [name, secret] of [['Bad', {value, hosts: [there]}], ['a', {value: value + '\u00e9', hosts: [there]}], ['a', {value, hosts: [value + ' ']}].slice(0, 0), ['a', {value, hosts: []}], [value, {value, hosts: [there]}]].filter((x) => x.length)) got += await failed(b.setSecret(...secret ? [name, secret] : [name])); return has(got)`,
		"an error of a request":                   `const b = await open({policy: grants('127.0.0.1:1'), secrets: {github: {value, hosts: ['127.0.0.1:1']}}}); return has(await failed(b.call('web_request', {url: 'http://127.0.0.1:1/', headers: header})))`,
		"a guess that is hidden for another host": `const b = await open({}); return (await b.hideSecrets('is it ' + value, elsewhere)) !== 'is it ' + value`,
		"the code of a model":                     `const b = await open({code: true, policy: {capabilities: {...grants(there).capabilities, 'code.run': true}, rules: [{permission: '*', action: 'allow'}]}}); const r = await b.call('code_run', {code: 'return [await callTool("secrets", {}), await callTool("web_request", {url: ' + JSON.stringify(at(there)) + ', headers: ' + JSON.stringify(header) + '})]'}); await b.close(); if (!JSON.stringify(r).includes('placeholder')) throw new Error(JSON.stringify(r)); return has(JSON.stringify(r))`,
		"explain":                                 `const b = await open({}); return has(JSON.stringify(await b.explain('web_request', {url: at(there), headers: header})))`,
		"a plan's box":                            `const b = await open({folder: await bailey.folder.memory()}); const plan = await b.plan(); return has(await failed(plan.box.call('web_request', {url: at(there), headers: header})) + JSON.stringify(await plan.box.secrets()))`,
	} {
		table.Try(name, won(t, p, secretKit+script))
	}
}
