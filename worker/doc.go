// Package worker runs WebAssembly programs as commands, in workers that can be killed.
// It has the shape and the habits of os/exec:
//
//	pool, err := worker.NewPool(ctx, worker.Options{})
//	module, err := pool.Compile(ctx, wasm)                    // a WASI preview1 command
//	cmd := pool.Command(ctx, module, "sha256sum", "report.pdf")
//	cmd.FS = folder                                           // mounted at /, and nothing else is there
//	out, err := cmd.Output()                                  // *worker.ExitError, partial output
//
// Each run has a worker of its own, which is terminated afterwards: nothing is left of it
// for the next. A program sees its arguments, its environment, the folders it was given and
// a clock; there is no network, and no way to ask for one.
//
// An untrusted pool, which is the zero value, keeps its workers inside the two frames of
// package iframe's enclaves: an origin of their own, no storage, a policy that loads
// nothing, a process of their own where the browser has such. A trusted pool's workers
// belong to the page.
//
// What is limited for real: time, by the host's clock; memory and tables, by lowering the
// maximum that the module declares before the browser compiles it; output, open files and
// bytes of files, by counting. CPU time is not told by any browser.
//
// What the package trusts: the browser's WebAssembly engine, and its own scripts in the
// workers. What it never does: hand a handle, a URL or an object of the page to a program,
// or change a file of the caller's that somebody else changed meanwhile.
//
// # Files
//
// A program works on a tree in its worker's memory. It holds a copy of everything
// (snapshot), or asks the host for what it opens (lazy), which needs JavaScript Promise
// Integration: Chromium and Firefox have it, WebKit does not. What the program changed is
// written back when it has ended by itself, file by file, if all of these files are still
// what they were; a program that was killed or that crashed has changed nothing.
//
// Programs of GOOS=js run in trusted pools ([Pool.CompileGo]).
//
// Without Promise Integration standard input has to be complete before the program
// starts, so the stages of a pipeline run one after the other; [Pool.Features] says so.
package worker
