package browser

import (
	"os/exec"
	"sync"
	"time"
)

// child is a process that this one has started, with its descendants.
type child struct {
	cmd  *exec.Cmd
	done chan struct{}
	once sync.Once
}

// startChild starts a command, on Linux in a process group of its own.
func startChild(c *exec.Cmd) (*child, error) {
	prepareChild(c)
	if err := c.Start(); err != nil {
		return nil, err
	}
	ch := &child{cmd: c, done: make(chan struct{})}
	go func() {
		c.Wait()
		close(ch.done)
	}()
	return ch, nil
}

// stop kills the process, and on Linux all its descendants. It waits up to 5 s for the end.
func (c *child) stop() {
	c.once.Do(func() {
		killTree(c.cmd.Process.Pid)
		select {
		case <-c.done:
		case <-time.After(5 * time.Second):
		}
	})
}
