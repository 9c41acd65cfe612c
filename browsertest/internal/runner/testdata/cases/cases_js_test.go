package cases

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall/js"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/poll"
	"github.com/bailey-go/bailey/internal/testpage"
)

var word = flag.String("word", "", "for TestArguments")

func eval(code string) js.Value { return js.Global().Call("eval", code) }

func TestPass(t *testing.T)  { t.Log("passed") }
func TestFail(t *testing.T)  { t.Fatal("failed on purpose") }
func TestPanic(t *testing.T) { panic("panicked on purpose") }
func TestExit(t *testing.T)  { os.Exit(3) }
func TestSkip(t *testing.T)  { t.Skip("skipped on purpose") }

// TestDeadlock waits for a message that never comes, while the page stays alive.
func TestDeadlock(t *testing.T) { <-make(chan int) }

// TestBusy never yields to the page.
func TestBusy(t *testing.T) {
	fmt.Println("before the loop")
	for {
	}
}

func TestStackOverflow(t *testing.T) {
	var f func(int) int
	f = func(n int) int { return f(n+1) + 1 }
	t.Log(f(0))
}

func TestManyLines(t *testing.T) {
	for i := range 20000 {
		if i%2 == 0 {
			fmt.Println("line", i)
		} else {
			fmt.Fprintln(os.Stderr, "line", i)
		}
	}
}

func TestSlowLines(t *testing.T) {
	fmt.Println("first")
	poll.Until(t, "somebody has read the first line", func() bool { _, err := os.Stat(os.Getenv("CASES_HEARD")); return err == nil })
	fmt.Println("second")
}

func TestLineThenDeadlock(t *testing.T) {
	fmt.Println("first")
	<-make(chan int)
}

// The runtime writes these itself, without the syscall package.
func TestPrintln(t *testing.T) { println("from the runtime") }

func TestFiles(t *testing.T) {
	if b, err := os.ReadFile("testdata/x.txt"); err != nil || string(b) != "hello\n" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := os.ReadFile("testdata/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if names, err := fs.Glob(os.DirFS("."), "testdata/*"); err != nil || strings.Join(names, ",") != "testdata/x.txt" {
		t.Error(names, err)
	}
	if fi, err := os.Stat("testdata"); err != nil || !fi.IsDir() {
		t.Error(fi, err)
	}
	for _, p := range []string{"made.txt", "testdata/x.txt", "/etc/browsertest", "../up"} {
		if err := os.WriteFile(p, []byte("x"), 0o644); err == nil || !strings.Contains(err.Error(), "Read-only") {
			t.Errorf("writing %s: %v", p, err)
		}
	}
	if err := os.Remove("testdata/x.txt"); err == nil {
		t.Error("removed a file of the package")
	}
	wd, err := os.Getwd()
	if err != nil || filepath.Base(wd) != "cases" {
		t.Error(wd, err)
	}
	t.Chdir("testdata")
	if _, err := os.ReadFile("x.txt"); err != nil {
		t.Error(err)
	}
}

func TestTempFiles(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "a", "b.txt")
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(p, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		fmt.Fprintf(f, "%03d\n", i)
	}
	// Another handle sees data that was written to a file that is still open.
	if b, err := os.ReadFile(p); err != nil || len(b) != 4000 {
		t.Error(len(b), err)
	}
	var buf [4]byte
	if _, err := f.ReadAt(buf[:], 400); err != nil || string(buf[:]) != "100\n" {
		t.Errorf("%q, %v", buf, err)
	}
	if _, err := f.WriteAt([]byte("xyz"), 0); err != nil {
		t.Error(err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		t.Error(err)
	}
	if _, err := f.Read(buf[:]); err != nil || string(buf[:]) != "xyz\n" {
		t.Errorf("%q, %v", buf, err)
	}
	if err := f.Truncate(8); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	a, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(a, "end")
	a.Close()
	if err := os.Rename(p, p+"2"); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(p + "2"); err != nil || string(b) != "xyz\n001\nend" {
		t.Errorf("%q, %v", b, err)
	}
	link := filepath.Join(dir, "etc")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(link, "browsertest"), nil, 0o644); err == nil {
		t.Error("wrote through a symbolic link that leads out of the temporary folder")
	}
	if _, err := os.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if err := os.Remove(dir); err == nil {
		t.Error("removed a folder that is not empty")
	}
}

func TestArguments(t *testing.T) {
	if *word != "a b" || os.Getenv("CASES_VARIABLE") != "ü=1" {
		t.Errorf("-word=%q, CASES_VARIABLE=%q", *word, os.Getenv("CASES_VARIABLE"))
	}
	if os.Getpid() <= 0 {
		t.Error(os.Getpid())
	}
}

func TestEnvironmentSize(t *testing.T) {
	fmt.Println("HOME", os.Getenv("HOME") != "", "CASES_LONG", len(os.Getenv("CASES_LONG")))
}

func TestNavigate(t *testing.T) {
	js.Global().Get("location").Set("href", "about:blank")
	<-make(chan int)
}

func TestReload(t *testing.T) {
	js.Global().Get("location").Call("reload")
	<-make(chan int)
}

func TestCrash(t *testing.T) {
	go testpage.CDP(t.Context(), "Page.crash", nil, nil)
	<-make(chan int)
}

func TestUncaught(t *testing.T) {
	heard := make(chan string, 2)
	for _, event := range []string{"error", "unhandledrejection"} {
		f := js.FuncOf(func(js.Value, []js.Value) any { heard <- event; return nil })
		defer f.Release()
		js.Global().Call("addEventListener", event, f, map[string]any{"once": true})
	}
	eval(`setTimeout(() => { throw new Error("nobody catches this") }); Promise.reject(new Error("nor this")); console.error("an error", {a: 1})`)
	<-heard
	<-heard
}

func TestNoTokenNoAccess(t *testing.T) {
	for _, path := range []string{"/_bt/", "/_bt/x/config?page=1", "/_bt/x/fs/open?page=1&path=/etc/passwd"} {
		x := js.Global().Get("XMLHttpRequest").New()
		x.Call("open", "POST", path, false)
		x.Call("send")
		if s := x.Get("status").Int(); s != 404 {
			t.Errorf("%s: %d", path, s)
		}
	}
}

func FuzzSeeds(f *testing.F) {
	f.Add("seed one")
	f.Add("seed two")
	f.Fuzz(func(t *testing.T, s string) { t.Log("fuzzed with", s) })
}

func BenchmarkSum(b *testing.B) {
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
	}
}
