// Package confine runs programs of the machine below a sandbox of the operating system. The program
// sees a folder, the system's programs and libraries, and nothing else of the machine: no other files,
// no network but a listener that the caller serves, no other processes, and none of the caller's
// environment or open files.
//
// On Linux a copy of the calling program applies the sandbox to itself and then starts the program:
// a control group where this process may make one (see [Groups]), namespaces, by bubblewrap where it is
// installed, then limits, Landlock and seccomp. Of these but the group, one that the kernel lacks is an
// error, and never skipped. A main function calls [Main] first:
//
//	func main() {
//		confine.Main()
//		...
//	}
//
// The package trusts the kernel, bubblewrap and the programs' names. It trusts no program.
package confine

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Layer is a layer of the sandbox. A test switches it off, to show that an attack needs it.
type Layer string

// The layers, in the order in which they are applied.
const (
	Together    Layer = "group"      // limits of memory, processes and processors for all processes together
	Namespaces  Layer = "namespaces" // of users, processes, mounts, IPC, host names and networks
	Limits      Layer = "limits"     // of memory, files, processes and time
	Landlock    Layer = "landlock"
	Seccomp     Layer = "seccomp"
	Environment Layer = "environment" // the program has only the given variables
)

// Spec describes the sandbox of a program.
type Spec struct {
	// Dir is the folder that the program may read and change, and its working directory. It is an
	// absolute path without links. Sub is the working directory below it.
	Dir, Sub string
	// Env are all of the program's variables.
	Env []string
	// Read are further files and folders that the program may read and execute.
	Read []string
	// Listener, if set, receives the only listener of the program's network, which the caller serves
	// until the program has ended. The variables HTTP_PROXY, HTTPS_PROXY and their like name it.
	Listener func(net.Listener) `json:"-"`
	// Time, Memory, File, Processes and Files limit each process: seconds of a processor, bytes of
	// addresses, bytes of a file, processes at once, and open files. Zero is a default.
	Time      time.Duration // 60 s
	Memory    int64         // 2 GiB
	File      int64         // 256 MiB
	Processes int64         // 64
	Files     int64         // 256
	// CPU is the share of the processors of all processes together, in thousandths of one. Memory and
	// Processes, with room for the helper, are limits of all processes too, if [Groups] returns nil.
	CPU int64 // 1000

	// Nested declares that the calling process is in a sandbox of [Self]. Landlock then forbids all
	// mounts, so the program sees no /proc, and bubblewrap is not used.
	Nested bool

	// Off switches layers off. Only tests set it.
	Off []Layer
	// Bubblewrap is the path of bwrap, "" for the one of the system, and "none" for the package's own
	// namespaces.
	Bubblewrap string
}

func (s *Spec) off(l Layer) bool { return slices.Contains(s.Off, l) }

func (s *Spec) check() error {
	if !filepath.IsAbs(s.Dir) || filepath.Clean(s.Dir) != s.Dir {
		return fmt.Errorf("confine: Spec.Dir is %q: it must be a clean absolute path", s.Dir)
	}
	if real, err := filepath.EvalSymlinks(s.Dir); err != nil || real != s.Dir {
		return fmt.Errorf("confine: Spec.Dir is %q: it must exist, and no part of it may be a link (%v)", s.Dir, err)
	}
	if !filepath.IsLocal(s.Sub) && s.Sub != "" {
		return fmt.Errorf("confine: Spec.Sub is %q: it must be below Dir", s.Sub)
	}
	for _, l := range []struct {
		name               string
		value              *int64
		usual, least, most int64
	}{
		{"Time", (*int64)(&s.Time), int64(time.Minute), int64(time.Second), int64(time.Hour)},
		{"Memory", &s.Memory, 2 << 30, 16 << 20, 1 << 40},
		{"File", &s.File, 256 << 20, 1, 1 << 40},
		{"Processes", &s.Processes, 64, 1, 10_000},
		{"Files", &s.Files, 256, 16, 10_000},
		{"CPU", &s.CPU, 1000, 10, 1_000_000},
	} {
		if *l.value == 0 {
			*l.value = l.usual
		}
		if *l.value < l.least || *l.value > l.most {
			return fmt.Errorf("confine: Spec.%s is %d; want %d to %d, or 0 for %d", l.name, *l.value, l.least, l.most, l.usual)
		}
	}
	for _, v := range s.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" || strings.ContainsRune(v, 0) {
			return fmt.Errorf("confine: Spec.Env: %q is no variable", v)
		}
	}
	return nil
}

// ErrUnsupported is the error where there is no sandbox for programs.
var ErrUnsupported = errors.New("confine: programs of the machine can't run here, because there is no sandbox for them")

// bubblewrap returns the path of bwrap, or "".
func (s *Spec) bubblewrap() string {
	if s.Nested {
		return ""
	}
	switch s.Bubblewrap {
	case "":
		path, _ := exec.LookPath("bwrap")
		return path
	case "none":
		return ""
	}
	return s.Bubblewrap
}
