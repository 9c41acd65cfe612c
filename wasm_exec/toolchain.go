package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// guestPaths are packages whose folder web is copied into the page, like that of the program.
const guestPaths = "github.com/bailey-go/bailey/iframe/guests github.com/bailey-go/bailey/internal/typescript"

// program is the Go package that becomes a page, with the toolchain that compiles it.
type program struct {
	dir       string // the package's folder
	pkg       string // the package argument of the go command
	workDir   string // the folder in which to run the go command
	goroot    string
	goversion string
	guests    []string // the folders of those of guestPaths that the program imports
	packages  []listed // the package and all that it imports

	wasm []byte // the compiled binary
	exec []byte // the wasm_exec.js of the toolchain
}

// listed is a package of the output of go list.
type listed struct {
	Dir, Name, ImportPath string
	Error                 *struct{ Err string }
	DepOnly, Standard     bool
	EmbedFiles            []string
	Module                *struct {
		Main    bool
		GoMod   string
		Replace *struct{ Version string }
	}
}

// findProgram returns the program of pkg, using the go command. If pkg is a folder, the command
// runs there, so that a package of a nested module works, and with the toolchain of that
// module's go.mod. The packages are listed once, because each go list takes a fifth of a second of the time
// between a save and the page.
func findProgram(ctx context.Context, pkg, tags string) (*program, error) {
	p := &program{pkg: pkg}
	if st, err := os.Stat(pkg); err == nil && st.IsDir() {
		p.workDir, p.pkg = pkg, "."
	}
	out, err := p.goCommand(ctx, "list", "-e", "-deps", "-tags", tags, "-json=Dir,Name,ImportPath,Error,DepOnly,Standard,EmbedFiles,Module", p.pkg)
	if err != nil {
		return nil, err
	}
	var own []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var x listed
		if err := dec.Decode(&x); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading what go list says of %s: %w", pkg, err)
		}
		p.packages = append(p.packages, x)
		if !x.DepOnly {
			own = append(own, x)
		}
		if slices.Contains(strings.Fields(guestPaths), x.ImportPath) && x.Dir != "" { // it may have files for the page, too
			p.guests = append(p.guests, x.Dir)
		}
	}
	switch {
	case len(own) == 0:
		return nil, fmt.Errorf("%s matches no package", pkg)
	case own[0].Name == "" && own[0].Error != nil:
		return nil, fmt.Errorf("%s is not a Go package that builds for the browser: %s", pkg, strings.TrimSpace(own[0].Error.Err))
	case own[0].Name != "main":
		return nil, fmt.Errorf("%s is package %s, not package main: name the folder that holds func main", pkg, own[0].Name)
	case len(own) > 1:
		return nil, fmt.Errorf("%s matches several packages: name one", pkg)
	}
	p.dir = own[0].Dir
	out, err = p.goCommand(ctx, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.ReplaceAll(string(out), "\r", ""), "\n")
	if len(lines) < 2 {
		return nil, fmt.Errorf("go env said %q", out)
	}
	p.goroot, p.goversion = lines[0], lines[1]
	return p, nil
}

// wasmExec returns the wasm_exec.js of the toolchain. That of another version does not fit the
// binary.
func (p *program) wasmExec() ([]byte, error) {
	var tried []string
	for _, sub := range []string{"lib", "misc"} { // misc was used until Go 1.23
		name := filepath.Join(p.goroot, sub, "wasm", "wasm_exec.js")
		data, err := os.ReadFile(name)
		if err == nil {
			return data, nil
		}
		tried = append(tried, name)
	}
	return nil, fmt.Errorf("%s has no wasm_exec.js (looked for %s): some packagings leave it out; install Go from go.dev/dl, or the package that holds it",
		p.goversion, strings.Join(tried, " and "))
}

// compile builds the binary without the version-control stamp. The same source then gives the
// same file name at every commit.
func (p *program) compile(ctx context.Context, o buildOptions, out string, stderr io.Writer) error {
	strip := "-s -w"
	if o.dev {
		strip = "-w" // a trap's stack shows the names of functions
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", strings.TrimSpace(strip + " " + o.ldflags), "-o", out}
	if o.note != nil {
		args = append(args, "-v")
		stderr = &compiled{out: stderr, note: o.note}
	}
	if o.tags != "" {
		args = append(args, "-tags", o.tags)
	}
	flags, err := coldFlags(o.cold)
	if err != nil {
		return err
	}
	cmd := p.command(ctx, append(append(args, flags...), p.pkg)...)
	cmd.Stdout, cmd.Stderr = stderr, stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.New("it does not compile for the browser (GOOS=js GOARCH=wasm); the compiler's words are above")
	}
	return nil
}

// coldFlags returns the flags of go build that compile packages without inlining. The last pattern that matches a
// package decides.
func coldFlags(cold string) (flags []string, err error) {
	for _, p := range strings.FieldsFunc(cold, func(r rune) bool { return r == ',' || r == ' ' }) {
		pattern, hot := strings.CutPrefix(p, "!")
		if pattern == "" || strings.ContainsAny(pattern, "=!") || strings.HasPrefix(pattern, "-") {
			return nil, fmt.Errorf("-cold %q: write patterns of packages, such as example.com/app/...,!example.com/app/draw", p)
		}
		flags = append(flags, "-gcflags="+pattern+"="+map[bool]string{true: "", false: "-l"}[hot])
	}
	return flags, nil
}

// compiled takes the output of go build -v. It calls note for each line with a package that was
// compiled, and writes the other lines to out.
type compiled struct {
	out  io.Writer
	note func(pkg string)
	rest []byte
}

func (c *compiled) Write(data []byte) (int, error) {
	c.rest = append(c.rest, data...)
	for {
		line, rest, ok := bytes.Cut(c.rest, []byte("\n"))
		if !ok {
			return len(data), nil
		}
		c.rest = rest
		if name := string(line); packageName.MatchString(name) {
			c.note(name)
			continue
		}
		if _, err := fmt.Fprintf(c.out, "%s\n", line); err != nil {
			return 0, err
		}
	}
}

var packageName = regexp.MustCompile(`^[A-Za-z0-9._~/-]+$`)

func (p *program) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.workDir
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if os.Getenv("GOGC") == "" { // with fewer collections of garbage the compiler takes an eighth less of a processor's time
		cmd.Env = append(cmd.Env, "GOGC=400")
	}
	return cmd
}

func (p *program) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := p.command(ctx, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, errors.New("the go command is not on PATH: install Go from go.dev/dl")
		}
		return nil, fmt.Errorf("go %s: %s", args[0], strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
