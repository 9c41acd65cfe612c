package npmtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// blocks returns the blocks of code of a document in a language.
func blocks(t *testing.T, name, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	must(t, err)
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("%s has no code in %s", name, language)
	}
	return out
}

// The page without Go of docs/page.md shows its text, and its code runs, with the folder of make dist around it.
func TestDocsPage(t *testing.T) {
	html := blocks(t, "docs/page.md", "html")[0]
	changed := strings.Replace(html, "</script>", "  globalThis.value = value;\n</script>", 1)
	if changed == html {
		t.Fatalf("docs/page.md has no script: %s", html)
	}
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(dist)))
	must(t, os.WriteFile(filepath.Join(dir, "index.html"), []byte("<!doctype html><link rel=\"icon\" href=\"data:,\">\n"+changed), 0o644))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	var said []string
	p, err := chrome.Open(testContext(t), server.URL, browser.Events{Console: func(kind, text string) { said = append(said, kind+": "+text) }})
	must(t, err)
	t.Cleanup(func() { p.Close() })
	poll.Until(t, "the page shows its text, and has the value", func() bool {
		v, err := p.Eval(testContext(t), `globalThis.value === 3 && document.querySelector('#answer iframe').getBoundingClientRect().height > 50`)
		return err == nil && string(v) == "true"
	}, func() string { return fmt.Sprint(said) })
}

// The code of docs/bundler.md for JavaScript has the types of the package. A page's own names have none.
func TestDocsTypes(t *testing.T) {
	dir := install(t, "types")
	unknown := `declare const stream: any, model: any, ask: any, auth: any, channel: any, policy: any, key: any, button: any, toPrinter: any, token: any, title: any, show: any, chunk: any, text: any, openBox: any, stopped: any;
`
	given := map[string]string{
		"answer":  "declare const answer: import('bailey/element').BaileyDocumentElement;\n",
		"bailey":  "declare const bailey: import('bailey/agent').BaileyAgent;\n",
		"folder":  "declare const folder: import('bailey/agent').Folder;\n",
		"box":     "declare const box: import('bailey/agent').Box;\n",
		"session": "declare const session: import('bailey/agent').Session;\n",
	}
	must(t, os.WriteFile(filepath.Join(dir, "assets.d.ts"), []byte("declare module '*.wasm' { const url: string; export default url; }\ndeclare module '*.txt' { const url: string; export default url; }\n"), 0o644)) // as a bundler's types have it
	n := 0
	for i, code := range blocks(t, "docs/bundler.md", "js") {
		if !strings.Contains(code, "bailey") && !strings.Contains(code, "box") || strings.Contains(code, "h('bailey-document'") {
			continue
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(code), "run:"); ok { // a member of an object
			code = "export const tool = {run:" + strings.TrimSuffix(rest, ",") + "};\n"
			code = strings.Replace(code, "({title}, {signal})", "({title}: any, {signal}: any)", 1)
		}
		code = strings.ReplaceAll(code, "async ({path}, call)", "async ({path}: any, call: any)")
		code = strings.ReplaceAll(code, "({path}) =>", "({path}: any) =>")
		code = strings.ReplaceAll(code, ") …\n", ") show();\n")
		code = strings.Replace(code, "import helper from './SKILL.md?raw';", "const helper = '';", 1)
		head := unknown
		for name, line := range given {
			if !regexp.MustCompile(`(const|let|\{) *` + name + `\b *[=}]`).MatchString(code) {
				head += line
			}
		}
		for _, name := range []string{"model", "text", "policy"} { // that the code declares itself
			if regexp.MustCompile(`const ` + name + ` =`).MatchString(code) {
				head = strings.Replace(head, ", "+name+": any", "", 1)
			}
		}
		if strings.Contains(code, "load()") && !strings.Contains(code, "import {load}") {
			head += "declare const load: typeof import('bailey/agent').load;\n"
		}
		n++
		name := fmt.Sprintf("docs%d.mts", i)
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(head+code+"\nexport {};\n"), 0o644))
		if _, err := command(testContext(t), dir, filepath.Join(root, "node_modules/.bin/tsc"), "--ignoreConfig", "--noEmit", "--strict", "--strictNullChecks", "false", "--target", "es2022", "--lib", "es2022,dom", "--module", "esnext", "--moduleResolution", "bundler", name, "assets.d.ts"); err != nil {
			t.Errorf("block %d of docs/bundler.md: %v\n%s", i, err, code)
		}
	}
	if n < 8 {
		t.Errorf("only %d blocks were looked at", n)
	}
}
