// Package jsx is Bailey's one place that knows JavaScript values, promises,
// ports and callbacks. Everything above it speaks Go: contexts, errors,
// queues and closers.
//
// What it is for. A goroutine awaits a promise under a context ([Await]),
// receives what callbacks append to a [Queue], posts to a [Port], turns
// DOMExceptions into errors that errors.Is understands ([Error]), and owns
// every callback, listener, port and timer through a [Scope] whose Close
// releases them all. [Live] counts what is still held, and package jsxtest
// fails a test run that leaves something behind.
//
// What it trusts. The page's own built-ins, captured on first use, and
// nothing else: a getter, a Proxy, a cross-origin window or a thrown value may
// be hostile, so properties are read and methods called where an exception is
// caught. (syscall/js catches exceptions in Call, Invoke and New alone; one
// thrown by a getter under Value.Get unwinds the whole program.)
//
// What it never does. It makes no JavaScript from text, so it works under any
// Content-Security-Policy; it puts nothing on the page's global object, so two
// Go programs on one page do not meet; and no callback of its own blocks: it
// appends and signals.
//
// There is one js.Func in a whole program. Every callback is that function
// bound to a number, so that a callback released while JavaScript still holds
// it is silently ignored, and what nobody calls again is the browser's to
// collect.
package jsx
