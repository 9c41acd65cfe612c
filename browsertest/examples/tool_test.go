package examples

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/internal/needs"
)

func openTool(t *testing.T, b *e2e.Browser) *e2e.Page {
	t.Helper()
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"tool/")
	must(t, err)
	must(t, p.WaitFor(ctx, `document.getElementById("status").textContent === "Ready"`))
	return p
}

// pressKey presses a button by Enter, because a click may miss it while the rows above it change.
func pressKey(t *testing.T, p *e2e.Page, selector string) {
	t.Helper()
	ctx := testContext(t)
	must(t, p.WaitFor(ctx, fmt.Sprintf("!document.querySelector(%q).matches(\":disabled\")", selector)))
	must(t, p.Eval(ctx, fmt.Sprintf("document.querySelector(%q).focus()", selector), nil))
	must(t, p.Press(ctx, "Enter"))
}

// pipe runs a line, and returns the output and the page's error text.
func pipe(t *testing.T, p *e2e.Page, line string) (output, problem string) {
	t.Helper()
	ctx := testContext(t)
	must(t, p.Eval(ctx, `document.getElementById("status").textContent = ""; document.getElementById("line").value = `+js(line), nil))
	pressKey(t, p, "#go")
	must(t, p.WaitFor(ctx, `/^(Done|Ended)/.test(document.getElementById("status").textContent) && !document.getElementById("ready").disabled`))
	return eval[string](t, p, `document.getElementById("result").hidden ? "" : document.getElementById("output").textContent`),
		eval[string](t, p, `document.getElementById("problem").hidden ? "" : document.getElementById("problem").textContent`)
}

func TestToolLooks(t *testing.T) {
	t.Parallel()
	run := func(line string) func(t *testing.T, p *e2e.Page) {
		return func(t *testing.T, p *e2e.Page) { pipe(t, p, line) }
	}
	looks(t, "tool", openTool, []look{
		{name: "light", width: 1280, height: 900, show: run("grep ERROR server.log | cut -d ' ' -f 4- | sort | uniq -c | sort -rn")},
		{name: "dark", dark: true, width: 1280, height: 900, show: run("cat nothing.txt | wc -l")},
		{name: "narrow", width: 390, height: 844, show: run("csv -o sold -r -n 3 -t markdown menu.csv")},
		{name: "runaway", width: 1280, height: 900, show: runaway},
	})
}

// runaway starts a command that does not end by itself before its limit of time.
func runaway(t *testing.T, p *e2e.Page) {
	ctx := testContext(t)
	must(t, p.Eval(ctx, `document.getElementById("line").value = "awk 'BEGIN { while (1) n++ }'"`, nil))
	pressKey(t, p, "#go")
	must(t, p.WaitFor(ctx, `document.querySelector("#stages tr.running") && !document.getElementById("stop").disabled && document.getElementById("status").textContent === "Running"`))
}

func TestToolKill(t *testing.T) {
	t.Parallel()
	p := openTool(t, launch(t, e2e.Options{}))
	runaway(t, p)
	pressKey(t, p, "#stop")
	must(t, p.WaitFor(testContext(t), `!!document.querySelector("#stages tr.killed") && /was killed/.test(document.getElementById("problem").textContent)`))
	if out, problem := pipe(t, p, "echo still here"); out != "still here\n" || problem != "" {
		t.Errorf("after a kill: %q %q", out, problem)
	}
}

// each shipped tool is run here once, under the production headers.
var shipped = map[string]struct{ line, want string }{
	"cat": {"cat notes.md", "# Thursday"}, "head": {"head -n 1 menu.csv", "dish,price,sold\n"}, "tail": {"tail -n 1 menu.csv", "pears,3.10,9\n"},
	"wc": {"wc -l server.log", "400 server.log\n"}, "tac": {"tac menu.csv", "pears,3.10,9\n"}, "nl": {"nl notes.md", "1\t# Thursday"}, "rev": {"echo abc | rev", "cba\n"},
	"echo": {"echo 'a b'", "a b\n"}, "seq": {"seq 3", "1\n2\n3\n"}, "tee": {"echo x | tee tee.txt", "x\n"}, "paste": {"seq 2 | paste -s -d ,", "1,2\n"},
	"sort": {"seq 3 | sort -r", "3\n2\n1\n"}, "uniq": {"cut -d ' ' -f 3 server.log | sort | uniq -c", " ERROR\n"}, "cut": {"cut -d , -f 1 menu.csv", "dish\n"},
	"tr": {"echo abc | tr a-z A-Z", "ABC\n"}, "grep": {"grep -c ERROR server.log", "\n"}, "egrep": {"egrep -o '^(s|p)[a-z]+' menu.csv", "soup\n"}, "fgrep": {"fgrep 4.50 menu.csv", "soup,4.50,31\n"},
	"sed": {"sed -n 's/soup/stew/p' menu.csv", "stew,4.50,31\n"}, "fzf": {"cut -d , -f 1 menu.csv | fzf brd", "bread\n"},
	"ls": {"ls", "chart.png\n"}, "find": {"find . -name '*.md'", "./notes.md\n"}, "xargs": {"echo menu.csv | xargs wc -l", "menu.csv\n"}, "tree": {"tree", "├── chart.png"},
	"du": {"du -b notes.md", "\tnotes.md\n"}, "stat": {"stat -c '%n %F' notes.md", "notes.md regular file\n"}, "file": {"file -i chart.png", "chart.png: image/png; charset=binary\n"},
	"truncate": {"truncate -s 3 new.txt", ""}, "touch": {"touch touched.txt", ""}, "pwd": {"pwd", "/\n"}, "basename": {"basename a/b.c .c", "b\n"}, "dirname": {"dirname a/b.c", "a\n"},
	"mkdir": {"mkdir -p made/here", ""}, "cp": {"cp notes.md copy.md", ""}, "mv": {"mv copy.md moved.md", ""}, "rm": {"rm moved.md", ""},
	"base64": {"echo hello | base64", "aGVsbG8K\n"}, "xxd": {"xxd -l 4 chart.png", "8950 4e47"}, "uuid": {"uuid", "-4"}, "jwt": {"jwt decode eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.", `"sub": "me"`},
	"md5sum": {"echo -n | md5sum", "d41d8cd98f00b204e9800998ecf8427e"}, "sha1sum": {"echo -n | sha1sum", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
	"sha224sum": {"echo -n | sha224sum", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"}, "sha256sum": {"sha256sum chart.png", "  chart.png\n"},
	"sha384sum": {"echo -n | sha384sum", "38b060a751ac96384cd9327eb1b1e36a21fdb71114be0743"}, "sha512sum": {"echo -n | sha512sum", "cf83e1357eefb8bdf1542850d66d8007"},
	"gzip": {"cat notes.md | gzip | gunzip", "# Thursday"}, "gunzip": {"echo a | gzip | gunzip", "a\n"}, "zcat": {"echo b | gzip | zcat", "b\n"},
	"tar": {"tar -c notes.md | tar -t", "notes.md\n"}, "zip": {"zip -q notes.zip notes.md", ""}, "unzip": {"unzip -l notes.zip", "notes.md\n"},
	"fold": {"echo abcdef | fold -w 3", "abc\ndef\n"}, "fmt": {"echo 'a b c d' | fmt -w 4", "a b\nc d\n"}, "expand": {"expand notes.md", "# Thursday"}, "unexpand": {"unexpand -a notes.md", "# Thursday"},
	"join": {"join -t , menu.csv menu.csv", "soup,4.50,31,4.50,31\n"}, "comm": {"seq 3 | comm -3 - notes.md", "# Thursday"}, "column": {"column -t -s , menu.csv", "dish   price  sold\n"}, "split": {"split -l 100 server.log part-", ""},
	"csplit": {"csplit -s menu.csv 2", ""}, "shuf": {"echo one | shuf", "one\n"}, "strings": {"strings -n 8 notes.md", "# Thursday"}, "realpath": {"realpath notes.md", "/notes.md\n"}, "rmdir": {"rmdir made/nowhere", "No such file"},
	"readlink": {"readlink -f notes.md", "/notes.md\n"}, "mktemp": {"mktemp -u", "tmp."}, "base32": {"echo abcdef | base32", "MFRGGZDFMYFA====\n"}, "od": {"echo abc | od -An -tx1", " 61 62 63 0a\n"},
	"hexdump": {"echo abc | hexdump -C", "61 62 63 0a"}, "hd": {"echo abc | hd", "61 62 63 0a"}, "cksum": {"echo abcdef | cksum", "3512391007 7\n"}, "cmp": {"cmp notes.md notes.md", ""}, "date": {"date -u -d @0 +%Y", "1970\n"},
	"sleep": {"sleep 0", ""}, "yes": {"yes | head -n 2", "y\ny\n"}, "env": {"env A=1", "A=1\n"}, "printenv": {"printenv NOTHING", "exit code 1"}, "nohup": {"nohup echo x", "x\n"}, "nice": {"nice echo x", "x\n"}, "stdbuf": {"stdbuf -o0 echo x", "x\n"},
	"uname": {"uname", "Linux\n"}, "whoami": {"whoami", "user\n"}, "logname": {"logname", "user\n"}, "hostname": {"hostname", "sandbox\n"}, "arch": {"arch", "wasm\n"}, "nproc": {"nproc", "1\n"}, "tty": {"tty", "not a tty\n"},
	"id": {"id", "uid=1000(user)"}, "df": {"df", "Filesystem"}, "sync": {"sync", ""}, "expr": {"expr 1 + 2", "3\n"}, "bc": {"echo 1+2 | bc", "3\n"}, "factor": {"factor 12", "12: 2 2 3\n"}, "true": {"true", ""}, "false": {"false", ""},
	"timeout": {"timeout 5 echo x", "can start no other"}, "chmod": {"chmod 755 notes.md", "unsupported operation"}, "ln": {"ln -s notes.md link", "this folder holds none"},
	"diff": {"diff -u menu.csv notes.md", "-dish,price,sold\n"}, "patch": {"printf-less | patch", ""},
	"jq": {"toml2json config.toml | jq .oven.heat", "220\n"}, "yq": {"toml2json config.toml | yq .oven.fan", "true\n"}, "awk": {"awk -F, '{s += $3} END {print s}' menu.csv", "134\n"},
	"toml2json": {"toml2json -c config.toml", `"heat":220`}, "csv": {"csv -s dish -w 'sold>30' menu.csv", "soup\nbread\n"}, "xmllint": {"echo '<a><b/></a>' | xmllint --format", "  <b/>\n"},
	"minify": {"echo 'a { color : #ff0000 }' | minify -t css", "a{color:red}"}, "shfmt": {"echo 'if true;then echo  x;fi' | shfmt", "if true; then echo x; fi\n"}, "markdown": {"markdown notes.md", "<em>Ana</em>"},
	"dd": {"dd if=menu.csv bs=5 count=1 status=none", "dish,"}, "install": {"install notes.md installed.md", ""}, "unlink": {"unlink nothing.txt", "nothing.txt"}, "numfmt": {"numfmt --to=iec 2048", "2.0K\n"}, "tsort": {"echo b c a b | tsort", "a\nb\nc\n"}, "groups": {"groups", "user\n"},
	"git":     {"git --version", "git version 2.39.5\n"},
	"sqlite3": {"sqlite3 -csv t.db 'create table t(a); insert into t values (6),(7); select sum(a) from t'", "13\n"},
}

// complains are the tools whose row ends with an error: a difference, a false, files that are not there, and effects that a folder here has not.
var complains = map[string]bool{"unlink": true, "diff": true, "patch": true, "false": true, "tty": true, "timeout": true, "chmod": true, "ln": true, "rmdir": true, "printenv": true, "comm": true}

func TestToolRunsEveryTool(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{NetLog: true})
	ctx := testContext(t)
	p := openTool(t, b)
	data, err := os.ReadFile(filepath.Join(root, "build/tools/tools.json"))
	must(t, err)
	var list struct {
		Binaries []struct{ Tools []struct{ Name string } }
	}
	must(t, json.Unmarshal(data, &list))
	n := 0
	for _, bin := range list.Binaries {
		for i, tool := range bin.Tools {
			n++
			c, ok := shipped[tool.Name]
			if !ok {
				t.Errorf("%s is shipped and not run here", tool.Name)
				continue
			}
			if testing.Short() && i%4 != 0 && tool.Name != "patch" {
				continue // the core's tests run all of them natively; make e2e runs them here
			}
			if tool.Name == "patch" { // the table has no way to write a difference
				pipe(t, p, "sed s/soup/stew/ menu.csv > new.csv")
				pipe(t, p, "diff -u menu.csv new.csv > d.patch")
				c.line, c.want = "patch -s menu.csv d.patch | cat menu.csv", ""
			}
			out, problem := pipe(t, p, c.line)
			if complains[tool.Name] {
				out, problem = out+problem, ""
			}
			if !strings.Contains(out, c.want) || problem != "" {
				t.Errorf("%s: %q says %q, complains %q; want %q", tool.Name, c.line, out, problem, c.want)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d tools only", n)
	}
	// The bytes of a picture, and not of a text that was made of them.
	png, err := os.ReadFile(filepath.Join(root, "examples/tool/sample/chart.png"))
	must(t, err)
	sum := sha256.Sum256(png)
	if out, _ := pipe(t, p, "sha256sum chart.png"); out != hex.EncodeToString(sum[:])+"  chart.png\n" {
		t.Errorf("sha256sum says %q", out)
	}
	if out, problem := pipe(t, p, "echo a | nonsense"); out != "" || !strings.Contains(problem, "no such tool") {
		t.Errorf("%q %q", out, problem)
	}
	must(t, p.Click(ctx, "#notices summary"))
	must(t, p.WaitFor(ctx, `document.getElementById("licences").textContent.includes("The One True AWK") && document.getElementById("licences").textContent.includes("SQLite")`))
	noErrors(t, p)
	nothingOutside(t, b, p)
}

// A file of the user's is dropped. An installed tool gets no file until the user grants it, is kept over a
// reload, and cannot take cat's name.
func TestToolFilesAndPackages(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openTool(t, b)
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, data, 0o644))
		return path
	}
	blob := []byte("\x89PNG\r\n\x1a\n\x00\xff\xfe bytes that are no text")
	must(t, p.SetFiles(ctx, "#pick", write("mine.png", blob)))
	must(t, p.WaitFor(ctx, `document.getElementById("files").innerText.includes("mine.png")`))
	if out, _ := pipe(t, p, "sha256sum mine.png"); out != fmt.Sprintf("%x  mine.png\n", sha256.Sum256(blob)) {
		t.Errorf("sha256sum says %q", out)
	}
	wasm, err := os.ReadFile(filepath.Join(root, "build/tools/sqlite3.wasm"))
	if err != nil {
		needs.Missing(t, "sqlite3 was not built: there is no clang for WASI, and nothing small to pack")
	}
	pack := func(name string) []byte {
		var z bytes.Buffer
		w := zip.NewWriter(&z)
		for file, data := range map[string]string{"tool.wasm": string(wasm), "manifest.json": `{"name":"` + name + `","version":"1.0.0","description":"a tool of somebody's","author":"somebody",
			"parameters":{"type":"object","properties":{"args":{"type":"array","items":{"type":"string"}}}},"execution":{"argStyle":"cli","fileAccess":"readwrite"}}`} {
			f, err := w.Create(file)
			must(t, err)
			_, err = f.Write([]byte(data))
			must(t, err)
		}
		must(t, w.Close())
		return z.Bytes()
	}
	must(t, p.SetFiles(ctx, "#zip", write("cat.zip", pack("cat"))))
	must(t, p.WaitFor(ctx, `document.getElementById("problem").textContent.includes("built in")`))
	must(t, p.SetFiles(ctx, "#zip", write("mydb.zip", pack("mydb"))))
	must(t, p.WaitFor(ctx, `document.getElementById("packages").innerText.includes("mydb")`))
	const line = "mydb made.db 'create table t(a); insert into t values (5); select a from t'"
	if _, problem := pipe(t, p, line); problem == "" {
		t.Error("a tool that was granted nothing made a file")
	}
	must(t, p.Click(ctx, "#allow-mydb"))
	says(t, p, "#status", "mydb may do with files: readwrite")
	if out, problem := pipe(t, p, line); out != "5\n" || problem != "" {
		t.Errorf("%q %q", out, problem)
	}
	must(t, p.Reload(ctx))
	must(t, p.WaitFor(ctx, `document.getElementById("status").textContent === "Ready" && document.querySelector("#allow-mydb")?.checked`))
	noViolations(t, p)
	noErrors(t, p)
}
