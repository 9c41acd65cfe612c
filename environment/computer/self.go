package computer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bailey-go/bailey/environment/internal/compiled"
	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/quickjs"
	"github.com/bailey-go/bailey/environment/internal/sessions"
	"github.com/bailey-go/bailey/sandbox/command/native"
)

// SandboxSelf puts the calling process into a sandbox for the rest of its life, before it makes a
// computer with o: the process can then read the files of the system and those of o, change o.Dir, tmp
// the given folders and that of o.Sessions, and connect to the TCP ports 53, 80, 443, those of o.Ports and that of o.Sessions. The folder tmp, which other users must
// be able to enter, becomes that of temporary files. It returns o for a process in such a sandbox.
// Bubblewrap is then not used for programs, because Landlock forbids mounts below it.
//
// It first compiles the WASI programs and the engine into o.Cache, because the process can't write there
// afterwards: code that it left would run outside of the sandbox at the next start. This takes up to a minute,
// once for each version of the programs.
func (o Options) SandboxSelf(tmp string, folders ...string) (_ Options, err error) {
	write, ports := []string{tmp}, append([]uint16{53, 80, 443}, o.Ports...)
	if o.Sessions != "" { // opened here, as its passwords and certificates can't be read afterwards
		dir, more, err := sessions.Reach(o.Sessions)
		if err != nil {
			return o, fmt.Errorf("computer: Options.Sessions: %w", err)
		}
		folders, ports = append(folders, dir), append(ports, more...)
		if o.store, err = o.openStore(); err != nil {
			return o, err
		}
	}
	defer func() {
		if err != nil && o.store != nil {
			o.store.Close()
		}
	}()
	if err := os.Setenv("TMPDIR", tmp); err != nil {
		return o, err
	}
	for _, f := range append(folders, o.Dir) {
		if f != "" {
			write = append(write, f)
		}
	}
	var read []string
	for _, f := range append([]string{o.Tools, o.Engine}, o.Path...) {
		if f != "" {
			read = append(read, filepath.Clean(f))
		}
	}
	if dir, err := o.compileAll(); err == nil && dir != "" {
		o.Cache = dir
		read = append(read, dir)
	} else if err != nil { // New says why
		o.Cache = "none"
		o.why = err
	}
	if err := confine.Self(read, write, ports...); err != nil {
		return o, err
	}
	o.nested = true
	return o, nil
}

// compileAll compiles all modules into the folder of compiled programs, and returns its path without links.
func (o Options) compileAll() (string, error) {
	dir, err := o.cacheDir()
	if dir == "" || err != nil {
		return "", err
	}
	c, err := compiled.Open(dir)
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	defer c.Close(ctx)
	if dir, err = compiled.Real(dir); err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range []string{o.Engine, filepath.Join(o.Tools, "tools.json")} {
		if data, err := os.ReadFile(name); err == nil { // New reports a missing one
			fmt.Fprintf(h, "%d\n%s", len(data), data)
		}
	}
	set := hex.EncodeToString(h.Sum(nil))
	if compiled.Marked(dir, set) {
		return dir, nil
	}
	var errs []error
	if o.Tools != "" {
		tools, err := o.catalogue()
		if err == nil {
			var r *native.Runner
			if r, err = native.New(native.Options{Commands: tools.Commands, Fetch: tools.Fetch, Cache: c}); err == nil {
				err = errors.Join(r.Start(ctx), r.Close())
			}
		}
		errs = append(errs, err)
	}
	if o.Engine != "" {
		r, err := quickjs.New(quickjs.Options{Engine: o.engine, Cache: c})
		if err == nil {
			err = errors.Join(r.Start(ctx), r.Close())
		}
		errs = append(errs, err)
	}
	if errors.Join(errs...) == nil {
		return dir, compiled.Mark(dir, set)
	}
	return dir, nil // New reports what is wrong with the programs
}
