// Command wasm_exec makes any Go program a page that starts well.
//
//	go run github.com/bailey-go/bailey/wasm_exec build ./cmd/app -o dist
//	go run github.com/bailey-go/bailey/wasm_exec serve dist
//	go run github.com/bailey-go/bailey/wasm_exec headers -for nginx
//	go run github.com/bailey-go/bailey/wasm_exec init ./cmd/app
//	go run github.com/bailey-go/bailey/wasm_exec size dist -max 1250KB
//	go run github.com/bailey-go/bailey/wasm_exec enclave -level secure -o dist/enclave
//
// build compiles with the Go toolchain (not TinyGo, whose runtime and
// wasm_exec.js are others), takes the wasm_exec.js that belongs to that very
// toolchain, names files by their content, compresses them, and writes the
// manifest that the loader reads. serve sends the result from this machine with
// the headers of package
// [github.com/bailey-go/bailey/headers]. enclave writes the page of an enclave
// that has one of its own, and its headers.
//
// A package with an offline.json beside its headers.json becomes a page that works without a
// network: build writes offline-worker.js, a service worker with the list of the build's files
// and their hashes, and the loader registers it.
//
//	{"keep": ["words.json", "data/"]}
//
// {} stores what the build consists of. keep adds what may change without a build: a file is
// stored with the page, the files of a folder (with a slash behind) once they were used.
// {"remove": true} writes a worker that deletes the copies of earlier builds and goes.
//
// All but the files that are named by their content are asked for over the network first, and
// documents past the browser's own cache: while there is a server, its headers hold, and a copy
// has the headers that came last. When another build is stored, the page's window gets the event
// "bailey-update"; what to do then is the page's own matter, such as to offer a reload. The worker
// looks for one at each load, each hour, when the page is shown again and when the network is back.
//
// The loader, bailey.js, is one small script without dependencies:
//
//	<script src="bailey.js" data-wasm="main.wasm"></script>
//
// or, as a module:
//
//	import {start} from "./bailey.mjs";
//	const program = await start({wasm: "main.wasm"});
//	const {code} = await program.exited;
//
// It trusts the files that build wrote. It never runs an inline script, never
// parses HTML, never evaluates text, and never asks another origin for
// anything, so that it works under the strictest policy that still lets
// WebAssembly run.
package main
