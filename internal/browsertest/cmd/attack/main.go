// Attack runs every attack test of the repository, natively and in a browser, then the leak lab, and prints one table: how
// many attacks were tried, how many succeeded with the defence off, and how many succeeded. It exits with 1 if one
// succeeded, if a control shows nothing, if a test failed, or if nothing was tried of a suite.
//
//	attack -engine chromium -suite 01,realm
//
// It finds the tests by their files' import of internal/attack and their names.
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

	"github.com/bailey-go/bailey/internal/attack"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	engine := flag.String("engine", "chromium", "the browser: chromium, firefox or webkit")
	suites := flag.String("suite", "", "suites to run, with commas between; all, if empty")
	layouts := flag.String("layouts", "document,document-raw-allowlist,compute-strict", "layouts of the leak lab; \"\" for none")
	verbose := flag.Bool("v", false, "print what every test says")
	flag.Parse()
	r := &runner{engine: *engine, layouts: *layouts, verbose: *verbose, out: os.Stdout}
	if err := r.all(ctx, *suites); err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

type runner struct {
	engine, layouts string
	verbose         bool
	out             io.Writer
	root            string
	picked          []string // suites; all, if empty
	table           table
}

func (r *runner) all(ctx context.Context, suites string) error {
	var err error
	if r.root, err = root(); err != nil {
		return err
	}
	if r.engine == "" {
		r.engine = "chromium"
	}
	if r.picked, err = pick(suites); err != nil {
		return err
	}
	begin := time.Now()
	for _, module := range modules(r.root) {
		native, browser, err := r.find(ctx, module)
		if err != nil {
			return err
		}
		r.run(ctx, module, native, false)
		r.run(ctx, module, browser, true)
	}
	if r.layouts != "" && r.wants([]string{"leaks"}) {
		r.leakLab(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ok := r.table.print(r.out, r.picked)
	fmt.Fprintf(r.out, "%s, %v\n", r.engine, time.Since(begin).Round(time.Second))
	if !ok {
		return errors.New("see the lines with <-")
	}
	return nil
}

// root is the repository's folder, found from a folder in it.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "internal", "attack")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("run it inside of the repository")
		}
		dir = up
	}
}

func pick(suites string) ([]string, error) {
	var picked []string
	for name := range strings.FieldsFuncSeq(suites, func(r rune) bool { return r == ',' || r == ' ' }) {
		all := attack.Suites()
		if !slices.ContainsFunc(all, func(s attack.Suite) bool { return s.Name == name }) {
			var names []string
			for _, s := range all {
				names = append(names, s.Name)
			}
			return nil, fmt.Errorf("there is no suite %q; there are %s", name, strings.Join(names, " "))
		}
		picked = append(picked, name)
	}
	return picked, nil
}

// modules are the repository's folders with a go.mod, the repository itself first.
func modules(root string) []string {
	dirs := []string{root}
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "build") {
			return filepath.SkipDir
		}
		if dir := filepath.Dir(path); d.Name() == "go.mod" && dir != root {
			dirs = append(dirs, dir)
		}
		return nil
	})
	return dirs
}

// set is the tests of some packages.
type set struct{ packages, tests []string }

// find returns the attack tests of a module that run natively, and those that only a browser runs.
func (r *runner) find(ctx context.Context, module string) (native, browser set, err error) {
	here, err := testFiles(ctx, module)
	if err != nil {
		return native, browser, err
	}
	page, err := testFiles(ctx, module, "GOOS=js", "GOARCH=wasm")
	if err != nil {
		return native, browser, err
	}
	add := func(s *set, pkg, file string) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, f := range testsOf(string(text)) {
			if !r.wants(f.suites) {
				continue
			}
			if !slices.Contains(s.tests, f.name) {
				s.tests = append(s.tests, f.name)
			}
			if !slices.Contains(s.packages, pkg) {
				s.packages = append(s.packages, pkg)
			}
		}
		return nil
	}
	for file, pkg := range here {
		if err := add(&native, pkg, file); err != nil {
			return native, browser, err
		}
	}
	for file, pkg := range page {
		if _, ok := here[file]; ok {
			continue
		}
		if err := add(&browser, pkg, file); err != nil {
			return native, browser, err
		}
	}
	for _, s := range []*set{&native, &browser} {
		slices.Sort(s.packages)
		slices.Sort(s.tests)
	}
	return native, browser, nil
}

// testFiles returns the module's test files and the package of each.
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

// wants reports whether a test of these suites is to be run. A test whose suites are not known may be of any.
func (r *runner) wants(suites []string) bool {
	return len(r.picked) == 0 || len(suites) == 0 || slices.ContainsFunc(suites, func(s string) bool { return slices.Contains(r.picked, s) })
}

// run runs tests and adds up what they report.
func (r *runner) run(ctx context.Context, module string, s set, browser bool) {
	if len(s.tests) == 0 || ctx.Err() != nil {
		return
	}
	args := append([]string{"test", "-json", "-count=1", "-short", "-timeout=20m", "-run=^(" + strings.Join(s.tests, "|") + ")$"}, s.packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = module, os.Environ()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	where := "natively"
	if browser {
		cmd.Args = slices.Insert(cmd.Args, 2, "-exec="+filepath.Join(r.root, ".bin", "browsertest"))
		cmd.Env = append(cmd.Env, "GOOS=js", "GOARCH=wasm", "BROWSERTEST_ENGINE="+r.engine)
		where = "in " + r.engine
	}
	rel, _ := filepath.Rel(r.root, module)
	fmt.Fprintf(r.out, "%s: %d tests of %d packages %s\n", rel, len(s.tests), len(s.packages), where)
	r.read(cmd)
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// read runs go test -json: counts go to the table, and what failed is printed.
func (r *runner) read(cmd *exec.Cmd) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.table.failed = append(r.table.failed, err.Error())
		return
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		r.table.failed = append(r.table.failed, err.Error())
		return
	}
	said := map[string]*strings.Builder{}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if line == "" && err != nil {
			break
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
			fmt.Fprint(r.out, line)
			continue
		}
		of := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			if c, ok := attack.Parse(e.Output); ok {
				r.table.add(c)
			}
			if r.verbose || e.Action == "build-output" {
				fmt.Fprint(r.out, e.Output)
			} else {
				if said[of] == nil {
					said[of] = &strings.Builder{}
				}
				said[of].WriteString(e.Output)
			}
		case "fail":
			r.table.failed = append(r.table.failed, strings.TrimSpace(of))
			if said[of] != nil {
				fmt.Fprint(r.out, said[of])
			}
		}
	}
	if err := cmd.Wait(); err != nil && len(r.table.failed) == 0 {
		r.table.failed = append(r.table.failed, strings.Join(cmd.Args[:2], " ")+": "+err.Error())
	}
}

// leakLab runs the lab's layouts, with their control, and adds up its lines.
func (r *runner) leakLab(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	fmt.Fprintf(r.out, "the leak lab: %s in %s\n", r.layouts, r.engine)
	cmd := exec.CommandContext(ctx, filepath.Join(r.root, ".bin", "leaklab-run"))
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "ENGINE="+r.engine, "LAYOUT="+r.layouts)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if c, ok := attack.Parse(line); ok {
			r.table.add(c)
		}
	}
	if err != nil {
		r.table.failed = append(r.table.failed, "the leak lab: "+err.Error())
		fmt.Fprintf(r.out, "%s", out)
	}
}
