package browser

import (
	"os/exec"
	"syscall"
)

// prepareChild makes the kernel kill the browser when this process ends. A Ctrl-C at the terminal
// reaches only this process, which then ends the browser in order.
func prepareChild(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL
}

// detach makes a Ctrl-C at the terminal not reach the process.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
