package npmtest

import (
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// element tests <bailey-document> in the page of a project that shows one. clean fails the test if the page has
// raised a violation or an error.
func element(t *testing.T, p browser.Page, clean func()) {
	defer clean()
	ctx := testContext(t)
	for _, c := range []struct{ name, script, want string }{
		{"growing text is written", `e.text = '# a'; e.text = '# a *b*'; await shown('<em>b</em>'); return e.text`, `"# a *b*"`},
		{"other text replaces it", `e.text = 'new'; await shown('new'); return (await html()).includes('<h1')`, `false`},
		{"text after the end", `await e.section('1').close(); e.text += ' and more'; await shown('new and more'); return true`, `true`},
		{"no text", `e.text = null; await e.flush(); return [e.text, await html()]`, `["",""]`},
		{"nodes are refused", `try { e.append(document.createElement('p')); } catch (x) { return x instanceof TypeError && x.message.includes('not nodes'); }`, `true`},
		{"several sections, and one is removed", `const s = e.section('2'); await s.setKind('user'); await s.write('two'); while (!(await s.html()).includes('two')) await tick(); await s.remove(); return e.section('2').html()`, `""`},
		{"a kind that is none", `return e.section('2').setKind('Not One').then(() => 'set', (x) => x.message.includes('lower-case'))`, `true`},
		{"a theme that is none", `const told = event('error'); e.theme = {variables: {'--bailey-nothing': '1'}}; const x = await told; e.theme = {}; return x.message.includes('there is no variable')`, `true`},
		{"the height grows", `const told = event('height'); e.append('a\\n\\n'.repeat(30)); return await told > 0 && e.height > 0`, `true`},
		{"moved", `const box = document.body.appendChild(document.createElement('div')); e.text = 'moved'; box.append(e); await shown('moved'); await e.flush(); return true`, `true`},
		{"out and in again", `e.text = '*kept*'; e.remove(); await tick(); const frames = e.querySelectorAll('iframe').length; e.append(' and *more*'); document.body.append(e); await shown('more</em>'); await e.flush();
			return [frames, (await html()).match(/<em>/g).length, e.querySelectorAll('iframe').length]`, `[0,2,1]`},
		{"set before the class is there", `const f = document.implementation.createHTMLDocument('').createElement('bailey-document'); f.text = '*early* ![x](y.png)'; f.scheme = 'dark';
			const asked = new Promise((r) => { f.loadImage = async ({path}) => { r(path); throw new Error('none'); }; });
			document.body.append(f); await f.flush(); const h = await f.section('1').html(), path = await asked; f.remove(); return [h.includes('<em>early'), f.getAttribute('scheme'), path]`, `[true,"dark","y.png"]`},
		{"a reflected attribute", `e.follow = true; e.maxHeight = 200; e.label = ''; return [e.hasAttribute('follow'), e.getAttribute('max-height'), e.hasAttribute('label')]`, `[true,"200",false]`},
		{"a block unless the page says otherwise", `return getComputedStyle(e).display`, `"block"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := p.Eval(ctx, `(async () => {
				const e = document.querySelector('bailey-document');
				const html = () => e.section('1').html();
				const tick = () => new Promise((r) => requestAnimationFrame(() => r()));
				const shown = async (part) => { while (!(await html()).includes(part)) await tick(); };
				const event = (name) => new Promise((r) => e.addEventListener(name, (x) => r(x.detail), {once: true}));
				`+c.script+`
			})()`)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

// integrity tests that a program with other bytes is not started.
func integrity(t *testing.T, p browser.Page, _ func()) {
	got, err := p.Eval(testContext(t), `(async () => {
		const base = new URL('bailey/', document.querySelector('script').src);
		const {load} = await import(new URL('api.mjs', base));
		const sums = await (await fetch(new URL('integrity.json', base))).json();
		const program = await load({panel: false, integrity: sums['bailey.wasm']});
		const other = await load({panel: false, integrity: sums['api.mjs']}).then(() => 'started', (x) => x.fix.includes('integrity'));
		return [(await program.markdown('*a*')).trim(), other];
	})()`)
	if want := `["<p><em>a</em></p>",true]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
