// Package worker runs WebAssembly programs as commands, in workers that can be killed. Its API
// follows os/exec:
//
//	pool, err := worker.NewPool(ctx, worker.Options{})
//	module, err := pool.Compile(ctx, wasm)                    // a WASI preview1 command
//	cmd := pool.Command(ctx, module, "sha256sum", "report.pdf")
//	cmd.FS = folder                                           // mounted at /, the only files it has
//	out, err := cmd.Output()                                  // *worker.ExitError, partial output
//
// Each run has a worker of its own. The worker is terminated after the run, so no state of it
// reaches the next run. A program has its arguments, its environment, the folders it is given
// and a clock. It has no network.
//
// An untrusted pool, which is the zero value of [Options], keeps its workers inside the two
// frames that package iframe's enclaves use: an origin of their own, no storage, a policy that
// loads nothing, and a process of their own where the browser provides one. The workers of a
// trusted pool belong to the page.
//
// Time is limited by the host's clock. Memory and tables are limited by lowering the maximum
// that the module declares before the browser compiles it. Output, open files and bytes of
// files are limited by counting. CPU time is not limited, because no browser reports it.
//
// The package trusts the browser's WebAssembly engine, and its own scripts in the workers. It
// never gives a program a handle, a URL or an object of the page. It never changes a file of
// the caller's that something else changed during the run.
//
// # Files
//
// A program works on a tree in its worker's memory. The tree is either a copy of all files,
// made before the start (snapshot), or is filled from the host as the program opens files
// (lazy). Lazy files need JavaScript Promise Integration: Chromium and Firefox have it, WebKit
// does not. Changes are written back file by file after the program has exited, and only if all
// of these files are unchanged since the program read them. A program that was killed or that
// crashed changes nothing.
//
// Programs of GOOS=js run in trusted pools, and those of Emscripten in untrusted ones ([Pool.CompileJS]).
//
// Without Promise Integration standard input has to be complete before the program starts, so
// the stages of a pipeline run one after the other. [Pool.Features] returns whether the browser
// has it.
package worker
