// Release prepares a version of Bailey, and changes nothing in the repository. `make release VERSION=v0.1.0` calls it after it has
// built the npm package and the starter tools. In the folder -o it writes
//
//	proxy/         each module as the Go proxy will have it: GOPROXY=file://… serves it
//	release.patch  the change to go.mod and go.sum of the nested modules: requirements in place of replace lines
//	tags.sh        the tags, in the order in which the modules need each other
//	assets/        the npm package, the starter tools, a software bill of materials, the notices, the build's provenance and SHA256SUMS
//
// Then it checks them: the modules have the same hashes when the go command takes them from git by the tags, and a program that uses each
// module builds against the proxy.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	r := release{modules: own}
	flag.StringVar(&r.version, "version", "", "the `version`, such as v0.1.0")
	flag.StringVar(&r.root, "root", ".", "the `folder` of the repository")
	flag.StringVar(&r.npm, "npm", "", "the `folder` of the npm package, as make dist writes it")
	flag.StringVar(&r.tools, "tools", "", "the `folder` of the starter tools, as make tools writes it")
	flag.StringVar(&r.out, "o", "", "the `folder` to write; it is emptied before")
	check := flag.Bool("check", true, "check the modules by git and by programs that use them")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := r.run(ctx, *check)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one run.
type release struct {
	version, root, npm, tools, out string
	modules                        []string // folders, own but in tests

	commit string    // that the release is made of
	time   time.Time // of the commit
	dirty  bool      // the working tree differs from the commit
}

func (r *release) run(ctx context.Context, check bool) (err error) {
	if flag.NArg() > 0 || r.out == "" || r.npm == "" || r.tools == "" {
		return fmt.Errorf("-npm, -tools and -o are needed, and no arguments")
	}
	for _, dir := range []*string{&r.root, &r.npm, &r.tools, &r.out} {
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	if err := r.empty(); err != nil {
		return err
	}
	if err := r.source(ctx); err != nil {
		return err
	}
	mods, err := stage(ctx, r.root, filepath.Join(r.out, "source"), r.version, r.modules)
	if err != nil {
		return err
	}
	if err := pack(mods, filepath.Join(r.out, "proxy"), r.time); err != nil {
		return err
	}
	if err := r.tags(mods); err != nil {
		return err
	}
	if err := r.patch(ctx); err != nil {
		return err
	}
	if err := r.assets(ctx, mods); err != nil {
		return err
	}
	if check {
		if err := r.checkTags(ctx, mods); err != nil {
			return err
		}
		if err := r.consume(ctx, consumers); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(r.out, "source")); err != nil {
		return err
	}
	fmt.Printf("%s is prepared in %s: %d modules. To publish it, read RELEASE.md there.\n", r.version, r.out, len(mods))
	if r.dirty {
		fmt.Println("The working tree has changes that no commit has: this is a rehearsal.")
	}
	return os.WriteFile(filepath.Join(r.out, "RELEASE.md"), []byte(r.steps(mods)), 0o644)
}

// made is a file that marks a folder as one that this program may empty.
const made = ".bailey-release"

// empty removes an earlier release. It refuses any other folder that is not empty.
func (r *release) empty() error {
	list, err := os.ReadDir(r.out)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if len(list) > 0 {
		if _, err := os.Stat(filepath.Join(r.out, made)); err != nil {
			return fmt.Errorf("%s is no folder of a release: empty it yourself, or name another with -o", r.out)
		}
		if err := os.RemoveAll(r.out); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(r.out, "assets"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, made), nil, 0o644)
}

// source sets the commit that the release is made of.
func (r *release) source(ctx context.Context) error {
	out, err := command(ctx, r.root, nil, "git", "log", "-1", "--format=%H %cI")
	if err != nil {
		return err
	}
	var at string
	r.commit, at, _ = strings.Cut(strings.TrimSpace(out), " ")
	if r.time, err = time.Parse(time.RFC3339, at); err != nil {
		return err
	}
	r.time = r.time.UTC()
	changes, err := command(ctx, r.root, nil, "git", "status", "--porcelain", "--untracked-files=no")
	r.dirty = changes != ""
	return err
}

// steps returns the text of RELEASE.md.
func (r *release) steps(mods []*mod) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Publish %s\n\nMade of commit %s. Nothing is published yet, and the repository is as it was.\n\n", r.version, r.commit)
	if r.dirty {
		b.WriteString("The working tree had changes that are in no commit. Commit them, and run `make release` again.\n\n")
	}
	fmt.Fprintf(&b, "1. `git apply %s && git commit -am 'release %s'`: the nested modules then require each other by version. Building them needs the published root module, so their replace lines come back with the next commit (`git revert HEAD`).\n", filepath.Join(r.out, "release.patch"), r.version)
	fmt.Fprintf(&b, "2. `sh %s`: the tags on that commit. `git push --tags`.\n", filepath.Join(r.out, "tags.sh"))
	fmt.Fprintf(&b, "3. Compare each hash: `go mod download -json MODULE@%s` has the Sum of the list below.\n", r.version)
	fmt.Fprintf(&b, "4. In a job with an OIDC token: `npm publish --provenance assets/bailey-%s.tgz`. package.json asks for it.\n", strings.TrimPrefix(r.version, "v"))
	b.WriteString("5. Add the files of assets to the release's page. `sha256sum -c SHA256SUMS` checks them.\n\n| module | Sum |\n|---|---|\n")
	for _, m := range mods {
		fmt.Fprintf(&b, "| %s | %s |\n", m.path, m.sum)
	}
	return b.String()
}

// command runs a program in dir, and returns its output. env is added to the environment.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, errs.String(), out)
	}
	return string(out), nil
}
