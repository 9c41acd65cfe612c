package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// slim is the Go module that is built without a part of it.
const slim = "github.com/tdewolff/minify/v2"

// slimModfile returns the name of a go.mod that builds tdewolff/minify without its adapters to HTTP
// servers. They would put net/http into a binary that can't open a socket. If minify.go has changed
// so that they can't be cut, slimModfile prints a message and the build uses all of it.
func slimModfile(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	out, err := command("go", "list", "-m", "-f", "{{.Dir}}", slim).Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w", err)
	}
	from, to := strings.TrimSpace(string(out)), filepath.Join(dir, "minify")
	if err := errors.Join(os.RemoveAll(to), copyModule(from, to)); err != nil {
		return "", err
	}
	file := filepath.Join(to, "minify.go")
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	if cut, ok := withoutHTTP(string(text)); ok {
		if err := os.WriteFile(file, []byte(cut), 0o644); err != nil {
			return "", err
		}
		mod = append(mod, []byte("\nreplace "+slim+" => "+to+"\n")...)
	} else {
		fmt.Println("minify.go is not what it was: net/http stays in the web binary")
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "go.mod")
	return name, errors.Join(os.WriteFile(name, mod, 0o644), os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644))
}

// copyModule copies a module's packages, without its commands and tests.
func copyModule(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		switch base := d.Name(); {
		case d.IsDir() && rel != "." && (base == "cmd" || base == "tests" || base == "bindings" || strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case strings.HasSuffix(base, "_test.go"), !strings.HasSuffix(base, ".go") && base != "go.mod" && base != "go.sum" && !licenceFile.MatchString(base):
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
}

// withoutHTTP returns src without the declarations that use net/http, their comments, and the
// imports that only they need. It reports whether it found any and net/http is no longer imported.
func withoutHTTP(src string) (string, bool) {
	var kept []string
	cut := 0
	for _, decl := range declarations(src) {
		code := decl
		for strings.HasPrefix(code, "//") { // a comment alone does not count
			_, code, _ = strings.Cut(code, "\n")
		}
		if !strings.HasPrefix(code, "import") && (strings.Contains(code, "http.") || strings.Contains(code, "responseWriter")) {
			cut++
			continue
		}
		kept = append(kept, decl)
	}
	text := strings.Join(kept, "\n\n") + "\n"
	text = strings.Replace(text, "\t\"net/http\"\n", "", 1)
	for _, unused := range []string{"path", "mime", "strings", "io"} {
		if !strings.Contains(strings.Replace(text, `"`+unused+`"`, "", 1), unused+".") {
			text = strings.Replace(text, "\t\""+unused+"\"\n", "", 1)
		}
	}
	return text, cut > 0 && !strings.Contains(text, "net/http\"")
}

// declarations splits a gofmt'ed file at the empty lines between its top-level declarations.
func declarations(src string) (list []string) {
	var now []string
	for line := range strings.SplitSeq(src, "\n") {
		if line == "" && len(now) > 0 {
			last, first := now[len(now)-1], ""
			for _, l := range now {
				if !strings.HasPrefix(l, "//") {
					first = l
					break
				}
			}
			opened := strings.HasSuffix(first, "{") || strings.HasSuffix(first, "(")
			if !opened || last == "}" || last == ")" {
				list, now = append(list, strings.Join(now, "\n")), nil
				continue
			}
		}
		if line != "" || len(now) > 0 {
			now = append(now, line)
		}
	}
	return append(list, strings.Join(now, "\n"))
}
