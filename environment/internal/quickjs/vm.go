package quickjs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// vm is one instance of the engine. The functions of the module take and return pointers to values in
// its memory. One goroutine uses it.
type vm struct {
	ctx context.Context // its end ends the engine, also within a call
	mod api.Module
}

// thrown is a value that code threw, as texts.
type thrown struct{ name, message, stack string }

func (t *thrown) Error() string { return t.name + ": " + t.message }

var errMemory = errors.New("the engine has no memory left")

func (v *vm) call(name string, args ...uint64) (uint64, error) {
	out, err := v.mod.ExportedFunction(name).Call(v.ctx, args...)
	if err != nil || len(out) == 0 {
		return 0, err
	}
	return out[0], nil
}

// write copies a text into the engine's memory. free releases it.
func (v *vm) write(s string) (at uint64, err error) {
	at, err = v.call("wasm_malloc", uint64(len(s)+1))
	if err != nil {
		return 0, err
	}
	if at == 0 {
		return 0, errMemory
	}
	if !v.mod.Memory().WriteString(uint32(at), s) || !v.mod.Memory().WriteByte(uint32(at)+uint32(len(s)), 0) {
		return 0, errMemory
	}
	return at, nil
}

func (v *vm) free(at uint64) { _, _ = v.call("wasm_free", at) }
func (v *vm) drop(at uint64) { _, _ = v.call("qjs_free_value", at) }

// text returns the text of a value, of at most most bytes. A longer one is an error.
func (v *vm) text(value uint64, most int) (string, error) {
	size, err := v.call("wasm_malloc", 4)
	if err != nil || size == 0 {
		return "", errors.Join(err, errMemory)
	}
	defer v.free(size)
	at, err := v.call("qjs_get_string_len", value, size)
	if err != nil || at == 0 {
		return "", errors.Join(err, errMemory)
	}
	defer func() { _, _ = v.call("qjs_free_cstring", at) }()
	n, ok := v.mod.Memory().ReadUint32Le(uint32(size))
	if !ok || int64(n) > int64(most) {
		return "", fmt.Errorf("a text of %d bytes; the limit is %d", n, most)
	}
	data, ok := v.mod.Memory().Read(uint32(at), n)
	if !ok {
		return "", errMemory
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// eval runs a script and returns its value, which drop releases. The error is a *thrown if the script
// threw, and otherwise that of the engine, after which it can't be used.
func (v *vm) eval(code, file string) (uint64, error) {
	c, err := v.write(code)
	if err != nil {
		return 0, err
	}
	defer v.free(c)
	f, err := v.write(file)
	if err != nil {
		return 0, err
	}
	defer v.free(f)
	value, err := v.call("qjs_eval", c, uint64(len(code)), f, 0)
	if err != nil {
		return 0, err
	}
	return value, v.check(value)
}

// check returns the exception if value stands for one.
func (v *vm) check(value uint64) error {
	if value == 0 {
		return errMemory
	}
	is, err := v.call("qjs_is_exception", value)
	if err != nil || is == 0 {
		return err
	}
	v.drop(value)
	return v.exception()
}

func (v *vm) exception() error {
	e, err := v.call("qjs_get_exception")
	if err != nil {
		return err
	}
	if e == 0 {
		return errMemory
	}
	defer v.drop(e)
	t := &thrown{name: "Error"}
	for _, p := range []struct {
		key string
		to  *string
	}{{"name", &t.name}, {"message", &t.message}, {"stack", &t.stack}} {
		at, err := v.write(p.key)
		if err != nil {
			return err
		}
		value, err := v.call("qjs_get_prop_string", e, at)
		v.free(at)
		if err != nil {
			return err
		}
		if v.check(value) != nil {
			continue
		}
		if s, err := v.text(value, 1<<16); err == nil && s != "undefined" {
			*p.to = s
		}
		v.drop(value)
	}
	if t.message == "" { // what was thrown is no error
		if s, err := v.text(e, 1<<16); err == nil {
			t.message = s
		}
	}
	return t
}

// function returns a function that calls the host with the given name.
func (v *vm) function(name string) (uint64, error) {
	at, err := v.write(name)
	if err != nil {
		return 0, err
	}
	defer v.free(at)
	f, err := v.call("qjs_new_host_function", at, uint64(len(name)), 0)
	if err != nil {
		return 0, err
	}
	return f, v.check(f)
}

// apply calls a function with values.
func (v *vm) apply(f uint64, args ...uint64) (uint64, error) {
	this, err := v.call("qjs_get_undefined")
	if err != nil {
		return 0, err
	}
	defer v.drop(this)
	list, err := v.call("wasm_malloc", uint64(4*len(args)+4))
	if err != nil || list == 0 {
		return 0, errors.Join(err, errMemory)
	}
	defer v.free(list)
	for i, a := range args {
		if !v.mod.Memory().WriteUint32Le(uint32(list)+uint32(4*i), uint32(a)) {
			return 0, errMemory
		}
	}
	value, err := v.call("qjs_call", f, this, uint64(len(args)), list)
	if err != nil {
		return 0, err
	}
	return value, v.check(value)
}

// string returns a new value of a text.
func (v *vm) string(s string) (uint64, error) {
	at, err := v.write(s)
	if err != nil {
		return 0, err
	}
	defer v.free(at)
	value, err := v.call("qjs_new_string", at, uint64(len(s)))
	if err != nil {
		return 0, err
	}
	return value, v.check(value)
}

// say calls a function with two texts.
func (v *vm) say(f uint64, kind, text string) error {
	k, err := v.string(kind)
	if err != nil {
		return err
	}
	defer v.drop(k)
	t, err := v.string(text)
	if err != nil {
		return err
	}
	defer v.drop(t)
	value, err := v.apply(f, k, t)
	if err == nil {
		v.drop(value)
	}
	return err
}

// jobs runs what waits for settled promises.
func (v *vm) jobs() error {
	for {
		more, err := v.call("qjs_is_job_pending")
		if err != nil || more == 0 {
			return err
		}
		n, err := v.call("qjs_execute_pending_job")
		if err != nil {
			return err
		}
		if int32(n) < 0 {
			if err := v.exception(); err != nil {
				return err
			}
		}
	}
}
