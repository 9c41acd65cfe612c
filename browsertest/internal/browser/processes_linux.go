package browser

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Process is a process of a browser.
type Process struct {
	PID  int
	Kind string
	// Bytes is the process's proportional share of the memory (Pss). The browser's files are shared
	// with other browsers on the machine, so Bytes grows by half when the last of them ends.
	Bytes int64
	// Own is Bytes without files: the memory that the process itself has allocated.
	Own int64
}

// Processes returns the process pid and all its descendants, or an error if it is gone.
func Processes(pid int) ([]Process, error) {
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		// The name, in parentheses, may contain any character. The parent comes after it.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 2 || f[0] == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		children[parent] = append(children[parent], id)
	}
	var list []Process
	var walk func(int)
	walk = func(id int) {
		if p, ok := process(id); ok {
			if id == pid {
				p.Kind = "browser"
			}
			list = append(list, p)
		}
		for _, c := range children[id] {
			walk(c)
		}
	}
	walk(pid)
	if len(list) == 0 {
		return nil, fmt.Errorf("browser: process %d is gone", pid)
	}
	return list, nil
}

func process(pid int) (Process, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	cmd, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(cmd) == 0 {
		return Process{}, false
	}
	args := strings.FieldsFunc(string(cmd), func(r rune) bool { return r == 0 || r == ' ' })
	p := Process{PID: pid, Kind: filepath.Base(args[0])}
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--type="); ok {
			p.Kind = v
		}
		if a == "-contentproc" && i+1 < len(args) {
			p.Kind = args[len(args)-1]
		}
	}
	p.Kind = strings.TrimSuffix(p.Kind, "-process")
	data, err := os.ReadFile(filepath.Join(dir, "smaps_rollup"))
	if err != nil {
		return p, true
	}
	for line := range strings.Lines(string(data)) {
		name, v, _ := strings.Cut(line, ":")
		kb := int64(0)
		if f := strings.Fields(v); len(f) > 0 {
			kb, _ = strconv.ParseInt(f[0], 10, 64)
		}
		switch name {
		case "Pss":
			p.Bytes = kb << 10
		case "Pss_Anon", "Pss_Shmem":
			p.Own += kb << 10
		}
	}
	return p, true
}
