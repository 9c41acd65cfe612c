package browser

import (
	"os/exec"
	"syscall"
)

// prepareChild makes the kernel end the browser with this process, and keeps a
// Ctrl-C at the terminal for this process, which then ends the browser in order.
func prepareChild(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// detach keeps a process out of reach of a Ctrl-C at the terminal.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
