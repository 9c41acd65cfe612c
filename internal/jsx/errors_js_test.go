package jsx

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// thrown runs code and returns the error that it threw.
func thrown(t *testing.T, code string) *Error {
	t.Helper()
	_, err := Invoke(eval(t, `() => { `+code+` }`))
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%s: %v, want an *Error", code, err)
	}
	return e
}

func TestDOMExceptions(t *testing.T) {
	w := foreign(t)
	class, _ := Get(w, "DOMException")
	for _, tt := range errorNames {
		if strings.HasPrefix(tt.name, "NS_") {
			continue
		}
		here := must(NewGlobal("DOMException", "m", tt.name))
		there := must(New(class, "m", tt.name))
		for _, v := range []Value{here, there} {
			e := ErrorOf(v)
			if e.Name != tt.name || e.Message != "m" || e.Code() != tt.code || e.Stack != "" {
				t.Errorf("%s: %#v", tt.name, e)
			}
		}
		if !strings.HasSuffix(tt.name, "Error") {
			continue
		}
		if back := ErrorOf(ToError(ErrorOf(here))); back.Name != tt.name || back.Message != "m" {
			t.Errorf("ToError(%s) = %#v", tt.name, back)
		}
	}
}

func TestRealExceptions(t *testing.T) {
	for code, want := range map[string]error{
		`structuredClone(() => 1)`:            ErrDataClone,
		`null.x`:                              ErrType,
		`nosuch`:                              ErrReference,
		`new Array(-1)`:                       ErrRange,
		`JSON.parse("{")`:                     ErrSyntax,
		`document.body.appendChild(document)`: Code("HierarchyRequestError"),
		`crypto.getRandomValues(new Uint8Array(1 << 17))`:                          ErrQuota,
		`const c = new AbortController; c.abort(); c.signal.throwIfAborted()`:      context.Canceled,
		`document.createElement("a b")`:                                            ErrInvalidCharacter,
		`document.querySelector("[")`:                                              ErrSyntax,
		`AbortSignal.abort(new DOMException("", "TimeoutError")).throwIfAborted()`: context.DeadlineExceeded,
	} {
		if e := thrown(t, code); !errors.Is(e, want) {
			t.Errorf("%s: %v, want %v", code, e, want)
		}
	}
	// V8 and JavaScriptCore say RangeError, SpiderMonkey InternalError.
	if e := thrown(t, `(function f() { f() })()`); !errors.Is(e, ErrRange) && e.Name != "InternalError" {
		t.Errorf("a deep recursion: %v", e)
	}
	e := thrown(t, `function deepest() { throw new Error("with a stack") } deepest()`)
	if e.Name != "Error" || e.Message != "with a stack" || !strings.Contains(e.Stack, "deepest") {
		t.Errorf("%#v", e)
	}
	e = thrown(t, `class MyError extends TypeError { name = "MyError" }; throw new MyError("mine")`)
	if e.Name != "MyError" || e.Message != "mine" {
		t.Errorf("%#v", e)
	}
}

func TestQuotaCarriesNumbers(t *testing.T) {
	if !Supported("QuotaExceededError") {
		t.Skip("this browser has no QuotaExceededError class")
	}
	e := thrown(t, `throw new QuotaExceededError("full", {quota: 10, requested: 12})`)
	if !errors.Is(e, ErrQuota) || e.Quota != 10 || e.Requested != 12 {
		t.Errorf("%#v", e)
	}
	if e := thrown(t, `throw new QuotaExceededError("full")`); e.Quota != 0 || e.Requested != 0 {
		t.Errorf("%#v", e)
	}
}

func TestAnythingMayBeThrown(t *testing.T) {
	for code, want := range map[string]string{
		`throw undefined`:                 "undefined was thrown",
		`throw null`:                      "null was thrown",
		`throw 5`:                         "5 was thrown",
		`throw NaN`:                       "NaN was thrown",
		`throw false`:                     "false was thrown",
		`throw 10n ** 100000n`:            "a bigint was thrown",
		`throw "words"`:                   "words",
		`throw ""`:                        "an error without a message",
		`throw Symbol("s")`:               "a symbol was thrown",
		`throw {}`:                        "object without a name or message was thrown",
		`throw Object.create(null)`:       "object without a name or message was thrown",
		`throw () => 1`:                   "function without a name or message was thrown",
		`throw {name: "N", message: "m"}`: "N: m",
		`throw {name: 5, message: {}}`:    "object without a name or message was thrown",
		`throw {get message() { while (true); }, get name() { while (true); }, get stack() { while (true); }, toString() { while (true); }, [Symbol.toPrimitive]() { while (true); }}`: "object without a name or message was thrown",
		`throw Object.defineProperty(new Error("m"), "name", {get() { throw 1 }})`:                                                                                                     "m",
		`throw Object.setPrototypeOf(new Error("m"), null)`:                                                                                                                            "m",
		`throw new Proxy({}, {getOwnPropertyDescriptor() { throw 1 }, getPrototypeOf() { throw 1 }, get() { throw 1 }})`:                                                               "object without a name or message was thrown",
		`throw new Proxy(new Error("m"), {})`:                                    "Error: m",
		`let o = {}; for (let i = 0; i < 50; i++) o = Object.create(o); throw o`: "object without a name or message was thrown",
	} {
		if e := thrown(t, code); e.Error() != want {
			t.Errorf("%s: %q, want %q", code, e.Error(), want)
		}
	}
}

func TestErrorTextsAreBounded(t *testing.T) {
	e := thrown(t, `const e = new Error("m".repeat(1 << 24)); e.name = "ü".repeat(1 << 20); e.stack = "s".repeat(1 << 24); throw e`)
	if len(e.Message) != maxErrorMessage || len(e.Name) > maxErrorName || len(e.Name) < maxErrorName-1 || len(e.Stack) > maxErrorStack {
		t.Errorf("message %d, name %d, stack %d bytes", len(e.Message), len(e.Name), len(e.Stack))
	}
	if strings.ContainsRune(e.Name, '\ufffd') {
		t.Error("a character was cut in two")
	}
	for n, want := range map[int]int{maxErrorMessage - 1: maxErrorMessage - 1, maxErrorMessage: maxErrorMessage, maxErrorMessage + 1: maxErrorMessage} {
		if got := len(ErrorOf(must(ToJS(strings.Repeat("x", n)))).Message); got != want {
			t.Errorf("%d bytes became %d, want %d", n, got, want)
		}
	}
}

func TestToError(t *testing.T) {
	for _, tt := range []struct {
		err  error
		name string
	}{
		{nil, "Error"}, {errors.New("x"), "Error"}, {context.Canceled, "AbortError"}, {context.DeadlineExceeded, "TimeoutError"},
		{fs.ErrNotExist, "NotFoundError"}, {fs.ErrPermission, "NotAllowedError"}, {fs.ErrExist, "InvalidModificationError"},
		{fs.ErrInvalid, "TypeMismatchError"}, {errors.ErrUnsupported, "NotSupportedError"}, {ErrQuota, "QuotaExceededError"},
		{&fs.PathError{Op: "open", Path: "a", Err: fs.ErrNotExist}, "NotFoundError"}, {&Error{Name: "TypeError", Message: "m"}, "TypeError"},
	} {
		v := ToError(tt.err)
		if e := ErrorOf(v); e.Name != tt.name || e.Message == "" {
			t.Errorf("ToError(%v) = %v", tt.err, e)
		}
		if !isTrue(t, `e => e instanceof Error`, v) {
			t.Errorf("ToError(%v) is no Error", tt.err)
		}
	}
	if e := AsError(must2(raw(Global()))); !errors.Is(e, ErrReference) && !errors.Is(e, ErrType) {
		t.Errorf("AsError = %v", e)
	}
	plain := errors.New("plain")
	if AsError(plain) != plain || AsError(nil) != nil {
		t.Error("AsError changed what it does not know")
	}
}

// must2 returns an error as safejs makes it.
func must2(g Raw) error {
	_, err := FromRaw(g).Call("eval", "nosuch.x")
	return err
}
