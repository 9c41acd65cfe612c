package runner

import (
	"path/filepath"
	"strings"
	"time"
)

// testFlag returns the value of the flag -test.NAME in args, and reports whether it is there. It
// parses like package testing: the last one wins, and the flags end at the first other argument.
func testFlag(args []string, name string) (value string, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" || !strings.HasPrefix(a, "-") || a == "-" {
			break
		}
		flag, v, has := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !has && !boolFlags[flag] && i+1 < len(args) {
			i++
			v = args[i]
		}
		if flag == "test."+name {
			value, ok = v, true
			if !has && boolFlags[flag] {
				value = "true"
			}
		}
	}
	return value, ok
}

// boolFlags are the flags that need no value. A test's own boolean flags are unknown here, so the
// argument after one without "=" may be missed. go test itself always writes "=".
var boolFlags = map[string]bool{
	"test.v": true, "test.short": true, "test.failfast": true, "test.benchmem": true, "test.paniconexit0": true,
	"test.fullpath": true, "test.artifacts": true, "test.fuzzworker": true,
}

// timeout returns the limit of the binary's own time-out. 0 is no limit.
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

// outputFlags are the flags with paths of files and folders that package testing writes.
var outputFlags = []string{
	"blockprofile", "coverprofile", "cpuprofile", "memprofile",
	"mutexprofile", "testlogfile", "trace", "gocoverdir", "outputdir",
	"fuzzcachedir", "artifactsdir",
}

// writable returns the absolute paths that the binary may write according to the test flags and the
// environment. A path is a file, or a folder with everything below it.
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
