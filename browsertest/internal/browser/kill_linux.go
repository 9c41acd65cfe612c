package browser

import (
	"syscall"
	"time"
)

// killTree kills a process and its descendants, until none is left, because one may be starting
// another at that moment. It kills the process group too, which can outlive its leader.
func killTree(pid int) {
	known := map[int]bool{}
	for range 20 {
		list, _ := Processes(pid)
		for _, p := range list {
			known[p.PID] = true
		}
		syscall.Kill(-pid, syscall.SIGKILL)
		alive := false
		for id := range known {
			if syscall.Kill(id, syscall.SIGKILL) == nil && !zombie(id) {
				alive = true
			}
		}
		if !alive {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func zombie(pid int) bool {
	_, ok := process(pid) // a zombie has no command line
	return !ok
}
