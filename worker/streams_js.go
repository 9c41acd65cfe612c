package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	wire "github.com/bailey-go/bailey/internal/wire/wasm"
	"github.com/bailey-go/bailey/protocol"
)

// heard handles a message of the broker about the run. rest is the part after the generation. An
// error ends the run and removes the frame. heard is called on the loop.
func (j *job) heard(s *frame.Slot, op wire.Op, u *jsx.Unpacker, rest []byte) error {
	switch op {
	case wire.Started:
		s.Started = true
		j.tree, j.stdin = nil, nil
		j.Began = time.Now()
		// The user is asked about a program before its run and, by Changing, after it, and neither counts. While it runs,
		// only another command of a pipeline can ask. The program's limit counts that time, because neither the broker
		// nor the host knows whether a program waits for input: input is read ahead.
		_ = j.After(j.limits.Time+killGrace, protocol.ErrTimeout, frame.TimeText(j.limits.Time))
	case wire.Output:
		return j.output(rest)
	case wire.Wanted:
		select {
		case j.want <- struct{}{}:
		default:
		}
	case wire.Exited:
		return j.exit(s, u)
	case wire.Failed, wire.Stopped:
		word, why, figures, err := wire.ReadFailure(u)
		code := protocol.Code(word)
		j.measure(figures)
		if err != nil || !code.Valid() {
			return violation("a malformed end of the run")
		}
		if code == protocol.ErrTimeout && j.cause == nil {
			why = frame.TimeText(j.limits.Time)
		}
		if op == wire.Stopped {
			j.im.Stop(s, code, why)
			return nil
		}
		j.im.Ended(s)
		j.settle(code, why, nil)
	case wire.Asked:
		a, err := wire.ReadAsk(u)
		if err != nil || a.Kind != wire.AskFunc && (a.Mount >= len(j.files.mounts) || !j.files.mounts[a.Mount].lazy || a.Path != "" && !validName(a.Path)) {
			return violation("a malformed request")
		}
		go j.answer(s, a)
	case wire.Returned:
		var list []string
		text, err := wire.ReadText(u)
		if err != nil || j.c.call == nil || json.Unmarshal([]byte(text), &list) != nil {
			return violation("a malformed result")
		}
		select {
		case j.c.call.results <- list:
		default:
			return violation("more than one result")
		}
	default:
		return violation("a message of kind %d", op)
	}
	return nil
}

// output queues the program's output for the goroutine that delivers it.
func (j *job) output(b []byte) error {
	over := protocol.Errorf(protocol.ErrOutputTooLarge, "run", "", "more than %d bytes of output", j.limits.Output)
	err := wire.EachOutput(b, func(fd byte, piece []byte) error {
		if j.stats.Output += int64(len(piece)); j.stats.Output > j.limits.Output {
			return over
		}
		_ = j.out.Push(output{fd, piece})
		return nil
	})
	if err != nil && err != over {
		return violation("%v", err)
	}
	return err
}

// drain delivers the queued output until the queue is closed. It returns the first error of a
// Write.
func (j *job) drain() (failed error) {
	defer func() {
		if p := recover(); p != nil {
			failed = fmt.Errorf("worker: a Write panicked: %v", p)
			j.im.Do(func() { j.abort(failed) })
		}
	}()
	for o := range j.out.All(j.c.outputContext()) {
		w := j.c.Stdout
		if o.fd == 2 {
			w = j.c.Stderr
		}
		if w != nil && failed == nil {
			if _, err := w.Write(o.b); err != nil {
				failed = fmt.Errorf("worker: write output: %w", err)
				j.im.Do(func() { j.abort(failed) })
			}
		}
		if j.live {
			n := len(o.b)
			j.im.Do(func() { j.tell(func(gen int) wire.Order { return wire.Ack(gen, n) }) })
		}
	}
	return failed
}

// tell posts to the run's broker, if the run still has one.
func (j *job) tell(order func(gen int) wire.Order, transfer ...jsx.Value) {
	if s := j.Broker(); s != nil {
		_ = s.Data.Post(order(s.Gen), transfer...)
	}
}

// feed reads input each time the program waits for it.
func (j *job) feed() {
	if j.whole {
		return
	}
	buf := make([]byte, feedSize)
	for {
		select {
		case <-j.want:
		case <-j.ctx.Done():
			return
		}
		n, err := 0, error(nil)
		for n == 0 && err == nil {
			n, err = j.c.Stdin.Read(buf)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			cause := fmt.Errorf("worker: read standard input: %w", err)
			j.im.Do(func() { j.abort(cause) })
			return
		}
		if n > 0 {
			j.send(wire.Input, buf[:n])
		}
		if err != nil {
			if n > 0 {
				select {
				case <-j.want:
				case <-j.ctx.Done():
					return
				}
			}
			j.send(wire.Input, nil)
			return
		}
	}
}

// send posts bytes to the run's broker. The buffer is transferred, not copied.
func (j *job) send(order func(gen int, data any) wire.Order, b []byte) {
	v, err := jsx.FromBytes(b)
	if err != nil {
		j.im.Do(func() { j.abort(err) })
		return
	}
	buffer, err := jsx.Get(v, "buffer")
	if err != nil {
		return
	}
	j.im.Do(func() { j.tell(func(gen int) wire.Order { return order(gen, v) }, buffer) })
}

// exit handles the end of a program that exited by itself.
func (j *job) exit(s *frame.Slot, u *jsx.Unpacker) error {
	code := u.U32()
	j.measure(wire.ReadFigures(u))
	list, err := j.files.changes(u)
	if err != nil {
		return err
	}
	j.exited, j.code, j.changes = true, int(code), list
	j.im.Ended(s)
	j.close()
	return nil
}

// measure stores the measurements that only the worker has.
func (j *job) measure(f wire.Figures) {
	j.stats.Read, j.stats.Written, j.stats.Memory, j.stats.Files, j.stats.Input = f.Read, f.Written, f.Memory, f.Files, f.Input
}

// answer answers a request of the program. It runs on a goroutine of its own.
func (j *job) answer(s *frame.Slot, a wire.Ask) {
	var b []byte
	var err error
	switch a.Kind {
	case wire.AskDir:
		b, err = j.files.list(j.files.mounts[a.Mount], a.Path)
	case wire.AskFile:
		b, err = j.files.read(j.files.mounts[a.Mount], a.Path)
	case wire.AskFunc:
		var text string
		text, err = j.hostCall(a.Path)
		b = []byte(text)
	default:
		err = violation("a request of kind %d", a.Kind)
	}
	if code := protocol.CodeOf(err); err != nil && (a.Kind == wire.AskFunc || code == protocol.ErrSecurityViolation) {
		j.im.Do(func() { j.im.End(j, s, code, err.Error()) })
		return
	}
	if errors.Is(err, errTooMany) {
		j.im.Do(func() {
			j.im.End(j, s, protocol.ErrResourceLimit, fmt.Sprintf("the program opened more than Limits.Snapshot, %d bytes, of files", j.limits.Snapshot))
		})
		return
	}
	if err != nil {
		j.im.Do(func() { j.tell(func(gen int) wire.Order { return wire.Refuse(gen, a.ID, errno(err)) }) })
		return
	}
	j.send(func(gen int, data any) wire.Order { return wire.Answer(gen, a.ID, data) }, b)
}

func (j *job) hostCall(text string) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = protocol.Errorf(protocol.ErrExecution, "call", "", "a host function panicked: %v", p)
		}
	}()
	if j.c.call == nil {
		return "", violation("a call of a host function")
	}
	return j.c.callHost(j.ctx, text)
}

// errno returns the errno of WASI preview1 for an error of a file system.
func errno(err error) int {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 44
	case errors.Is(err, fs.ErrPermission):
		return 2
	case errors.Is(err, fs.ErrInvalid):
		return 28
	}
	return 29
}
