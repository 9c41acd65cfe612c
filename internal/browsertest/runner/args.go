package runner

import (
	"path/filepath"
	"strings"
	"time"
)

// testFlag returns the value of the flag -test.NAME in args, which end at the
// first argument that is not a test flag.
func testFlag(args []string, name string) (string, bool) {
	want := "-test." + name
	for i, a := range args {
		if a == "--" || a == "-args" {
			break
		}
		a = strings.TrimPrefix(a, "-")
		if !strings.HasPrefix(a, "-") {
			a = "-" + a
		}
		if v, ok := strings.CutPrefix(a, want+"="); ok {
			return v, true
		}
		if a == want {
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				return args[i+1], true
			}
			return "true", true
		}
	}
	return "", false
}

// timeout is how long the binary itself lets its tests run; 0 is for ever.
func timeout(args []string) time.Duration {
	v, ok := testFlag(args, "timeout")
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0
	}
	return d
}

// outputFlags name the files and folders that the testing package writes.
var outputFlags = []string{
	"blockprofile", "coverprofile", "cpuprofile", "memprofile",
	"mutexprofile", "testlogfile", "trace", "gocoverdir", "outputdir",
	"fuzzcachedir", "artifactsdir",
}

// writable lists the absolute paths that the test flags and the environment
// permit the binary to write: a file alone, or a folder with all below it.
func writable(args, env []string, dir string) []string {
	abs := func(base, p string) string {
		if filepath.IsAbs(p) {
			return filepath.Clean(p)
		}
		return filepath.Join(base, p)
	}
	outDir := dir
	if v, ok := testFlag(args, "outputdir"); ok {
		outDir = abs(dir, v)
	}
	var list []string
	for _, name := range outputFlags {
		v, ok := testFlag(args, name)
		if !ok || v == "" || v == "true" {
			continue
		}
		list = append(list, abs(dir, v))
		if outDir != dir {
			list = append(list, abs(outDir, v))
		}
	}
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "GOCOVERDIR="); ok && v != "" {
			list = append(list, abs(dir, v))
		}
	}
	return list
}
