package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// inputs are the files that a page is made of.
type inputs struct {
	Folders []string         `json:"folders"` // of packages. Each .go file in them counts
	Files   []string         `json:"files"`   // embedded files and files of modules
	Web     []string         `json:"web"`     // folders, with all folders below, and files of the page
	Stamps  map[string]stamp `json:"stamps"`  // the files as they were last seen
}

// stamp changes when a file does.
type stamp struct {
	Size int64     `json:"size"`
	Time time.Time `json:"time"`
	Web  bool      `json:"web,omitempty"` // the file is not part of the program
}

// inputs returns the inputs of a program. Packages of the standard library and of modules in
// the module cache do not change.
func (p *program) inputs(o buildOptions) *inputs {
	in := &inputs{}
	modules := map[string]bool{}
	for _, x := range p.packages {
		if x.Standard || x.Dir == "" {
			continue
		}
		if m := x.Module; m != nil {
			local := m.Main || m.Replace != nil && m.Replace.Version == ""
			if !local {
				continue
			}
			modules[m.GoMod] = true
		}
		in.Folders = append(in.Folders, x.Dir)
		for _, f := range x.EmbedFiles {
			in.Files = append(in.Files, filepath.Join(x.Dir, f))
		}
	}
	for mod := range modules {
		in.Files = append(in.Files, mod, strings.TrimSuffix(mod, ".mod")+".sum")
		for up := filepath.Dir(mod); ; up = filepath.Dir(up) {
			if work := filepath.Join(up, "go.work"); isFile(work) {
				in.Files = append(in.Files, work)
				break
			}
			if up == filepath.Dir(up) {
				break
			}
		}
	}
	in.web(p.dir, o)
	return in
}

// fewInputs returns the inputs of a package that the go command cannot list, go.mod among them: often a
// requirement is missing there.
func fewInputs(pkg string, o buildOptions) *inputs {
	in := &inputs{Folders: []string{pkg}}
	if abs, err := filepath.Abs(pkg); err == nil {
		if root, _ := moduleOf(abs); root != "" {
			in.Files = []string{filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")}
		}
	}
	in.web(pkg, o)
	in.Stamps = in.look()
	return in
}

func (in *inputs) web(dir string, o buildOptions) {
	in.Web = []string{filepath.Join(dir, "web"), filepath.Join(dir, headersName), filepath.Join(dir, policyName), filepath.Join(dir, offlineName)}
	if o.web != "" {
		in.Web = append(in.Web, o.web)
	}
}

// look returns the files as they are now.
func (in *inputs) look() map[string]stamp {
	all := map[string]stamp{}
	add := func(name string, st fs.FileInfo, web bool) {
		all[name] = stamp{st.Size(), st.ModTime(), web}
	}
	for _, name := range in.Web {
		filepath.WalkDir(name, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // removed in between, or it does not exist
			}
			if e.Type().IsRegular() {
				if st, err := e.Info(); err == nil {
					add(p, st, true)
				}
			}
			return nil
		})
	}
	for _, name := range in.Files { // after the web folders, since a file may be embedded too
		if st, err := os.Stat(name); err == nil {
			add(name, st, false)
		}
	}
	for _, dir := range in.Folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
				if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
					add(filepath.Join(dir, e.Name()), st, false)
				}
			}
		}
	}
	return all
}

// changed reports whether a file has changed since the last call, and whether it belongs to the
// program.
func (in *inputs) changed() (changed, program bool) {
	now := in.look()
	for name, s := range now {
		if was, ok := in.Stamps[name]; !ok || !was.equal(s) {
			changed, program = true, program || !s.Web
		}
	}
	for name, s := range in.Stamps {
		if _, ok := now[name]; !ok {
			changed, program = true, program || !s.Web
		}
	}
	in.Stamps = now
	return changed, program
}

func (s stamp) equal(t stamp) bool { return s.Size == t.Size && s.Time.Equal(t.Time) && s.Web == t.Web }

// since sets the stamps so that a file that changed after a build began counts as changed. before
// are the stamps when it began, or nil.
func (in *inputs) since(before map[string]stamp, began time.Time) {
	in.Stamps = in.look()
	for name, s := range in.Stamps {
		if was, ok := before[name]; ok {
			in.Stamps[name] = was
		} else if s.Time.After(began) {
			in.Stamps[name] = stamp{Web: s.Web}
		}
	}
}

// inputsName is a file in a page's folder, which a server does not send.
const inputsName = ".inputs.json"

// savedInputs is the content of that file.
type savedInputs struct {
	Key     string  `json:"key"`
	Version string  `json:"version"`
	Inputs  *inputs `json:"inputs"`
}

func (in *inputs) save(o buildOptions, version string) error {
	key, err := buildKey(o)
	if err != nil {
		return err
	}
	data, err := json.Marshal(savedInputs{key, version, in})
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(o.out, inputsName), data)
}

// restoreInputs returns the inputs of the build in o.out and its version, if that build is still
// current.
func restoreInputs(pkg string, o buildOptions) (*inputs, string, bool) {
	data, err := os.ReadFile(filepath.Join(o.out, inputsName))
	if err != nil {
		return nil, "", false
	}
	var s savedInputs
	if json.Unmarshal(data, &s) != nil || s.Inputs == nil {
		return nil, "", false
	}
	m, err := readManifest(o.out)
	if err != nil || m.Dev != s.Version || s.Version == "" {
		return nil, "", false
	}
	if key, err := buildKey(o); err != nil || key != s.Key {
		return nil, "", false
	}
	if changed, _ := s.Inputs.changed(); changed {
		return nil, "", false
	}
	return s.Inputs, s.Version, true
}

// buildKey returns a hash of everything that a build depends on beside its inputs: this command,
// the go command, its environment and the options.
func buildKey(o buildOptions) (string, error) {
	own, err := ownSum()
	if err != nil {
		return "", err
	}
	goCommand, err := exec.LookPath("go")
	if err != nil {
		return "", err
	}
	st, err := os.Stat(goCommand)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, own, goCommand, st.Size(), st.ModTime().UnixNano(), o.name, o.tags, o.ldflags, o.page, o.web)
	for _, name := range []string{"GOFLAGS", "GOTOOLCHAIN", "GOEXPERIMENT", "GOWASM", "GOROOT", "GOWORK", "GOENV"} {
		fmt.Fprintln(h, name, os.Getenv(name))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ownSum returns the hash of this command's file.
var ownSum = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

func isFile(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range maps.Keys(m) {
		keys = append(keys, k)
	}
	sortStrings(keys)
	return keys
}
