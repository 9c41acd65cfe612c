package browser

import (
	"syscall"
	"time"
)

// killTree ends a process and its descendants, until none is found any more:
// one may be starting another just then. A whole group may outlive its leader.
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
