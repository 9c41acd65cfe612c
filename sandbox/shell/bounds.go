package shell

import (
	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

// The limits of the commands.
const (
	maxFile = 64 << 20 // bytes of one file, read or written
	maxHeld = 96 << 20 // bytes that all commands of a script hold at once
)

// ended is the panic value of a command whose script has ended.
type ended struct{}

// contained runs a command. If it panics with [tool.TooMuch] or ended, contained returns an exit
// code.
func (t *task) contained(run func() error) (err error) {
	defer func() {
		t.s.w.release(t.held)
		switch v := recover().(type) {
		case nil:
		case tool.TooMuch:
			t.errorf("%s", string(v))
			err = interp.ExitStatus(1)
		case ended:
			err = interp.ExitStatus(130)
		default:
			panic(v) // contained by the interpreter
		}
	}()
	return run()
}

// spend counts n bytes of work, and yields to the page after each 16 KiB. It panics with
// ended if the script has ended.
func (t *task) spend(n int) {
	if t.work += n; t.work < 16<<10 {
		return
	}
	t.work = 0
	if t.s.w.breathe() != nil || t.ctx.Err() != nil {
		panic(ended{})
	}
}

// hold counts n bytes as held until the command ends. It panics with [tool.TooMuch] over
// maxHeld.
func (t *task) hold(n int) {
	if !t.s.w.hold(n) {
		panic(tool.TooMuch("the commands of the script hold more than 96 MiB at once"))
	}
	t.held += n
}

// breathe yields to the page if the time slice is used up. It returns an error if the
// script has ended.
func (w *watched) breathe() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad != nil {
		return w.bad
	}
	w.breaths++
	return w.budget.Spend(w.Context)
}

func (w *watched) hold(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n < 0 || w.held+n > maxHeld {
		return false
	}
	w.held += n
	w.most = max(w.most, w.held)
	return true
}

func (w *watched) release(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held -= n
}
