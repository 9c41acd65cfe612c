// Attack runs every attack test of the repository at its full length, natively and in a browser, and then the leak
// lab. It prints one table: the number of attacks that were tried, that succeeded with the defence off, and that
// succeeded. Its exit status is 1 if an attack succeeded, if a control proves nothing, if a suite tried nothing, or
// if a test failed, was skipped or did not run.
//
//	attack -engine chromium -suite 01,realm -write SECURITY.md
//
// It finds the tests by their names, and the suites by their calls of attack.Start.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/repo"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/leaklab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	engine := flag.String("engine", "", "the browser: chromium, which is the default, firefox or webkit")
	suites := flag.String("suite", "", "suites to run, with commas between; all, if empty")
	layouts := flag.String("layouts", "document,document-raw-allowlist,compute-strict", "layouts of the leak lab, of those that the browser has")
	short := flag.Bool("short", false, "run the tests with -short: a part of some tables")
	verbose := flag.Bool("v", false, "print all output of the tests")
	write := flag.String("write", "", "the paper whose table gets the rows of this run that have no fault, such as SECURITY.md")
	flag.Parse()
	r := &runner{engine: *engine, short: *short, verbose: *verbose, write: *write, out: os.Stdout}
	if err := r.all(ctx, *suites, *layouts); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

type runner struct {
	engine         string
	short, verbose bool
	write          string // the paper with the table, "" for none
	out            io.Writer
	root           string
	picked         []string // suites to run, all if empty
	table          table
}

func (r *runner) all(ctx context.Context, suites, layouts string) error {
	var err error
	if r.root, err = repo.Root(); err != nil {
		return err
	}
	if r.engine == "" {
		r.engine = "chromium"
	}
	if !slices.Contains(leaklab.Engines(), r.engine) {
		return fmt.Errorf("there is no browser %q; there are %s", r.engine, strings.Join(leaklab.Engines(), " "))
	}
	var names []string
	for _, s := range attack.Suites() {
		names = append(names, s.Name)
	}
	if r.write != "" && (r.short || r.engine != "chromium") {
		return errors.New("-write is for a run in Chromium at full length, because the paper shows such figures")
	}
	if r.picked, err = repo.Pick("suite", suites, names); err != nil {
		return err
	}
	labs, err := repo.Pick("layout", layouts, leaklab.MustHold(r.engine))
	if err != nil {
		return err
	}
	labs = slices.DeleteFunc(labs, func(l string) bool { return !leaklab.Has(r.engine, l) })
	begin, whole := time.Now(), true
	for _, module := range modules(r.root) {
		native, browser, err := r.find(ctx, module)
		if err != nil { // the table shows it, because these tests have not run
			r.table.fail(err.Error())
			whole = false
		}
		r.run(ctx, module, native, false)
		r.run(ctx, module, browser, true)
	}
	if r.wants([]string{"leaks"}) {
		r.leakLab(ctx, labs)
	}
	ok := r.table.print(r.out, r.picked)
	length := "at full length"
	if r.short {
		length = "with -short"
	}
	fmt.Fprintf(r.out, "%s, %s, %v\n", r.engine, length, time.Since(begin).Round(time.Second))
	if r.write != "" && !whole {
		fmt.Fprintf(r.out, "%s stays as it is, because any row may lack the tests of a module\n", r.write)
	} else if r.write != "" && ctx.Err() == nil {
		if err := r.writeTable(begin); err != nil {
			return err
		}
	}
	if !ok {
		return errors.New("see the lines with <-")
	}
	return ctx.Err()
}

// writeTable changes the table of the paper.
func (r *runner) writeTable(day time.Time) error {
	name := filepath.Join(r.root, r.write)
	paper, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := r.table.update(string(paper), r.picked, day.Format(time.DateOnly))
	if err != nil {
		return fmt.Errorf("%s: %w", r.write, err)
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// modules returns the repository's folders with a go.mod, the repository itself first.
func modules(root string) []string {
	dirs := []string{root}
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "build") {
			return filepath.SkipDir
		}
		if dir := filepath.Dir(path); d.Name() == "go.mod" && dir != root {
			dirs = append(dirs, dir)
		}
		return nil
	})
	return dirs
}

// find returns the attack tests of a module that run natively, and those that run only in a browser.
func (r *runner) find(ctx context.Context, module string) (native, browser []test, err error) {
	here, err := testFiles(ctx, module)
	if err != nil {
		return nil, nil, err
	}
	page, err := testFiles(ctx, module, "GOOS=js", "GOARCH=wasm")
	if err != nil {
		return nil, nil, err
	}
	for file, pkg := range page {
		if _, ok := here[file]; !ok {
			if browser, err = r.add(browser, pkg, file); err != nil {
				return nil, nil, err
			}
		}
	}
	for file, pkg := range here {
		if native, err = r.add(native, pkg, file); err != nil {
			return nil, nil, err
		}
	}
	return native, browser, nil
}

// add appends the tests of a file that are to be run.
func (r *runner) add(to []test, pkg, file string) ([]test, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found, err := testsOf(file, string(text))
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.pkg = pkg; r.wants(f.suites) {
			to = append(to, f)
		}
	}
	return to, nil
}

// testFiles returns the module's test files with the package of each.
func testFiles(ctx context.Context, module string, env ...string) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir, cmd.Env, cmd.Stderr = module, append(os.Environ(), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", module, err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir, ImportPath           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		for _, f := range append(p.TestGoFiles, p.XTestGoFiles...) {
			files[filepath.Join(p.Dir, f)] = p.ImportPath
		}
	}
}

// wants reports whether a test of these suites is to be run.
func (r *runner) wants(suites []string) bool {
	return len(r.picked) == 0 || slices.ContainsFunc(suites, func(s string) bool { return slices.Contains(r.picked, s) })
}

// run runs tests, and adds their counts to the table.
func (r *runner) run(ctx context.Context, module string, tests []test, browser bool) {
	if len(tests) == 0 {
		return
	}
	var names, packages []string
	for _, t := range tests {
		names, packages = append(names, t.name), append(packages, t.pkg)
	}
	slices.Sort(names)
	slices.Sort(packages)
	names, packages = slices.Compact(names), slices.Compact(packages)
	args := []string{"test", "-json", "-count=1", "-timeout=60m", "-run=^(" + strings.Join(names, "|") + ")$"}
	if r.short {
		args = append(args, "-short")
	}
	where := "natively"
	if browser {
		args = append(args, "-trimpath", "-exec="+filepath.Join(r.root, ".bin", "browsertest"))
		where = "in " + r.engine
	}
	cmd := repo.Command(ctx, "go", append(args, packages...)...)
	cmd.Dir, cmd.Env = module, os.Environ()
	if browser {
		cmd.Env = append(cmd.Env, "GOOS=js", "GOARCH=wasm", "BROWSERTEST_ENGINE="+r.engine)
	}
	rel, _ := filepath.Rel(r.root, module)
	where = fmt.Sprintf("%s, %s", rel, where)
	fmt.Fprintf(r.out, "%s: %d tests of %d packages\n", where, len(tests), len(packages))
	ended := map[string]ending{}
	out, err := cmd.StdoutPipe()
	if err == nil {
		cmd.Stderr = os.Stderr
		if err = cmd.Start(); err == nil {
			r.read(out, ended)
			err = cmd.Wait()
		}
	}
	r.table.settle(tests, ended)
	if err != nil {
		r.table.fail(where + ": go test: " + err.Error())
	}
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// ending is the result of a test.
type ending struct {
	action string // pass, fail or skip
	why    string // the last line of a skipped test
	parts  []string
	counts []attack.Count
}

// read reads the output of go test -json into ended, which has the tests by package and name.
func (r *runner) read(out io.Reader, ended map[string]ending) {
	said := map[string]*strings.Builder{}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if line == "" && err != nil {
			return
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
			fmt.Fprint(r.out, line)
			continue
		}
		name, part, sub := strings.Cut(e.Test, "/")
		key := e.Package + " " + name
		of, test := e.Package+" "+e.Test, ended[key]
		if said[of] == nil {
			said[of] = &strings.Builder{}
		}
		switch e.Action {
		case "output", "build-output":
			if c, ok := attack.Parse(e.Output); ok {
				test.counts = append(test.counts, c)
			}
			if r.verbose || e.Action == "build-output" {
				fmt.Fprint(r.out, e.Output)
			} else {
				said[of].WriteString(e.Output)
			}
		case "pass", "fail", "skip":
			if e.Action == "fail" {
				fmt.Fprint(r.out, said[of])
			}
			switch {
			case e.Test == "":
				if e.Action == "fail" {
					r.table.fail("package " + e.Package)
				}
				continue
			case !sub:
				test.action, test.why = e.Action, reason(said[of].String())
				fmt.Fprintf(r.out, "%8.1f s  %s  %s %s\n", e.Elapsed, e.Action, strings.TrimPrefix(e.Package, "github.com/bailey-go/bailey/"), name)
			case e.Action == "skip":
				test.parts = append(test.parts, part+" ("+reason(said[of].String())+")")
			}
			delete(said, of)
		}
		if name != "" {
			ended[key] = test
		}
	}
}

// reason returns the last line of a skipped test's output that the test itself has written.
func reason(said string) (why string) {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "===") {
			why = line
		}
	}
	return why
}

// leakLab runs the lab's layouts with their control, and adds its counts to the table.
func (r *runner) leakLab(ctx context.Context, layouts []string) {
	fmt.Fprintf(r.out, "the leak lab: %s in %s\n", strings.Join(layouts, " "), r.engine)
	cmd := repo.Command(ctx, filepath.Join(r.root, ".bin", "leaklab-run"))
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "ENGINE="+r.engine, "LAYOUT="+strings.Join(layouts, ","))
	out, err := cmd.CombinedOutput()
	for _, l := range layouts {
		found := false
		for line := range strings.Lines(string(out)) {
			if c, ok := attack.Parse(line); ok && c.Test == l {
				r.table.add(c)
				found = true
			}
		}
		if !found {
			r.table.wrong("leaks", "layout "+l+" did not run")
		}
	}
	if err != nil {
		r.table.wrong("leaks", "the leak lab: "+err.Error())
	}
	if r.verbose || err != nil {
		fmt.Fprintf(r.out, "%s", out)
	}
}
