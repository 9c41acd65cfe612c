package browser

import (
	"os/exec"
	"sync"
	"time"
)

// child is a process of ours, with all that it starts.
type child struct {
	cmd  *exec.Cmd
	done chan struct{}
	once sync.Once
}

// startChild starts a command in its own process group.
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

// stop ends the process and all its descendants.
func (c *child) stop() {
	c.once.Do(func() {
		killTree(c.cmd.Process.Pid)
		select {
		case <-c.done:
		case <-time.After(5 * time.Second):
		}
	})
}
