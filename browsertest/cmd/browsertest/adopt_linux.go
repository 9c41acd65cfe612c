package main

import (
	"syscall"
	"time"
)

const prSetChildSubreaper = 36 // prctl(2)

// adopt makes this process the parent of the browser's processes whose own parents end. It returns
// a function that waits for all of them, for at most 2 s. A container without an init process would
// keep them as zombies.
func adopt() (wait func()) {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return func() {}
	}
	return func() {
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD {
				return
			}
			if pid <= 0 {
				time.Sleep(2 * time.Millisecond)
			}
		}
	}
}
