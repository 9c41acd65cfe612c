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
	"github.com/bailey-go/bailey/protocol"
)

// heard handles a message of the broker about the run. rest is the part after the generation. An
// error ends the run and removes the frame. heard is called on the loop.
func (j *job) heard(s *frame.Slot, op byte, u *jsx.Unpacker, rest []byte) error {
	switch op {
	case frame.WasmStarted:
		s.Started = true
		j.tree, j.stdin = nil, nil
		j.began = time.Now()
		j.arm(j.limits.Time, protocol.ErrTimeout, timeWords)
	case frame.WasmOutput:
		return j.output(rest)
	case frame.WasmInput:
		select {
		case j.want <- struct{}{}:
		default:
		}
	case frame.WasmExit:
		return j.exit(s, u)
	case frame.WasmFailed, frame.WasmStopped:
		code, why := protocol.Code(u.String()), u.String()
		j.figures(u)
		if u.Close() != nil || !code.Valid() {
			return violation("an end that is none")
		}
		if code == protocol.ErrTimeout && j.cause == nil {
			why = fmt.Sprintf(timeWords, j.limits.Time)
		}
		if op == frame.WasmStopped {
			j.im.Stop(s, code, why)
			return nil
		}
		j.im.Ended(s)
		j.settle(code, why, nil)
	case frame.WasmAsk:
		id, kind, mount, path := u.U32(), u.U8(), int(u.U8()), u.String()
		if u.Close() != nil || kind != frame.WasmAskFunc && (mount >= len(j.files.mounts) || !j.files.mounts[mount].lazy || path != "" && !validName(path)) {
			return violation("a question that is none")
		}
		go j.answer(s, id, kind, mount, path)
	case frame.WasmResult:
		var list []string
		if j.c.call == nil || json.Unmarshal([]byte(u.String()), &list) != nil || u.Close() != nil {
			return violation("a result that is none")
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

const timeWords = "the time limit of %v was reached"

// output queues the program's output for the goroutine that delivers it.
func (j *job) output(b []byte) error {
	u := jsx.Unpack(b)
	for u.Left() > 0 {
		o := output{fd: u.U8(), b: u.Bytes()}
		if u.Err() != nil || o.fd != 1 && o.fd != 2 {
			return violation("output that is none")
		}
		if j.stats.Output += int64(len(o.b)); j.stats.Output > j.limits.Output {
			return protocol.Errorf(protocol.ErrOutputTooLarge, "run", "", "more than %d bytes of output", j.limits.Output)
		}
		_ = j.out.Push(o)
	}
	return nil
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
			j.im.Do(func() { j.tell(map[string]any{"op": "ack", "n": n}) })
		}
	}
	return failed
}

// tell posts to the run's broker, if the run still has one.
func (j *job) tell(m map[string]any, transfer ...jsx.Value) {
	if s := j.slot; s != nil && s.Job == j {
		m["gen"] = s.Gen
		_ = s.Data.Post(m, transfer...)
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
			j.send("in", 0, buf[:n])
		}
		if err != nil {
			if n > 0 {
				select {
				case <-j.want:
				case <-j.ctx.Done():
					return
				}
			}
			j.send("in", 0, nil)
			return
		}
	}
}

// send posts bytes to the run's broker. The buffer is transferred, not copied.
func (j *job) send(op string, id uint32, b []byte) {
	v, err := jsx.FromBytes(b)
	if err != nil {
		j.im.Do(func() { j.abort(err) })
		return
	}
	buffer, err := jsx.Get(v, "buffer")
	if err != nil {
		return
	}
	j.im.Do(func() { j.tell(map[string]any{"op": op, "id": int(id), "data": v}, buffer) })
}

// exit handles the end of a program that exited by itself.
func (j *job) exit(s *frame.Slot, u *jsx.Unpacker) error {
	code := u.U32()
	j.figures(u)
	list, err := j.files.changes(u)
	if err != nil {
		return err
	}
	j.exited, j.code, j.changes = true, int(code), list
	j.im.Ended(s)
	j.close()
	return nil
}

// figures reads the measurements that only the worker has.
func (j *job) figures(u *jsx.Unpacker) {
	j.stats.Read, j.stats.Written, j.stats.Memory, j.stats.Files, j.stats.Input = u.Int(), u.Int(), u.Int(), int(u.U32()), u.Int()
}

// answer answers a request of the program. It runs on a goroutine of its own.
func (j *job) answer(s *frame.Slot, id uint32, kind uint8, mount int, path string) {
	var b []byte
	var err error
	switch kind {
	case frame.WasmAskDir:
		b, err = j.files.list(j.files.mounts[mount], path)
	case frame.WasmAskFile:
		b, err = j.files.read(j.files.mounts[mount], path)
	case frame.WasmAskFunc:
		var text string
		text, err = j.hostCall(path)
		b = []byte(text)
	default:
		err = violation("a question of kind %d", kind)
	}
	if code := protocol.CodeOf(err); err != nil && (kind == frame.WasmAskFunc || code == protocol.ErrSecurityViolation) {
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
		j.im.Do(func() { j.tell(map[string]any{"op": "answer", "id": int(id), "errno": errno(err)}) })
		return
	}
	j.send("answer", id, b)
}

func (j *job) hostCall(text string) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = protocol.Errorf(protocol.ErrExecution, "call", "", "a host function panicked: %v", p)
		}
	}()
	if j.c.call == nil {
		return "", violation("a call of the host")
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
