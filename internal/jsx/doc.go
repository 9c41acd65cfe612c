// Package jsx wraps JavaScript values, promises, ports and callbacks. It is the only library package
// of Bailey that uses them directly. Its API consists of Go contexts, errors, queues and closers.
//
// A goroutine awaits a promise under a context ([Await]), receives from a [Queue] that callbacks
// fill, posts to a [Port], and gets DOMExceptions as errors for errors.Is ([Error]). A [Scope] owns
// every callback, listener, port and timer, and its Close releases them all. [Live] returns the
// number of those that are not released. Package jsxtest fails a test run that leaves some of them
// behind.
//
// The package trusts only the page's own built-ins, which it captures on first use. A getter, a
// Proxy, a cross-origin window or a thrown value may be hostile, so properties are read and methods
// are called where an exception is caught. (syscall/js catches exceptions only in Call, Invoke and
// New. An exception in a getter under Value.Get unwinds the whole program.)
//
// The package compiles no JavaScript from text, so it works under any Content-Security-Policy. It
// sets nothing on the page's global object, so two Go programs on one page do not meet. None of its
// own callbacks blocks: each appends to a queue and signals.
//
// A program has only one js.Func. Every callback is that function bound to a number. A call of a
// callback that has been released is therefore ignored, and the browser can collect a callback that
// no script holds.
package jsx
