// Command wasm_exec makes any Go program a page that starts well.
//
//	go run github.com/bailey-go/bailey/wasm_exec build ./cmd/app -o dist
//	go run github.com/bailey-go/bailey/wasm_exec serve dist
//	go run github.com/bailey-go/bailey/wasm_exec headers -for nginx
//	go run github.com/bailey-go/bailey/wasm_exec init ./cmd/app
//	go run github.com/bailey-go/bailey/wasm_exec size dist -max 1250KB
//
// build compiles with the Go toolchain (not TinyGo, whose runtime and
// wasm_exec.js are others), takes the wasm_exec.js that belongs to that very
// toolchain, names files by their content, compresses them, and writes the
// manifest that the loader reads. serve sends the result from this machine with
// the headers of package
// [github.com/bailey-go/bailey/wasm_exec/headers].
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
