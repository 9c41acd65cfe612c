// Package bailey is the root of a library that makes the browser the sandbox for a language model's
// work on a user's machine. It contains no code. Import the packages below it:
//
//   - [github.com/bailey-go/bailey/iframe] shows a model's Markdown and runs its JavaScript, inside two
//     nested frames that cannot reach the page.
//   - [github.com/bailey-go/bailey/iframe/markdown] converts Markdown to sanitised HTML, at once or
//     while it streams in. Only its sanitiser can create that HTML.
//   - [github.com/bailey-go/bailey/fsaccess] is the folder that the user chose, with a guard before
//     it and an undo for every change.
//   - [github.com/bailey-go/bailey/worker] runs WebAssembly programs as commands that can be
//     killed.
//   - [github.com/bailey-go/bailey/sandbox] enforces one policy for files, code, tools and network,
//     and runs a model under it.
//   - [github.com/bailey-go/bailey/protocol] contains the types that all of them share.
//   - [github.com/bailey-go/bailey/headers] builds the response headers that protect a page.
//   - [github.com/bailey-go/bailey/wasm_exec] builds a page from a Go program and serves it with
//     these headers.
//
// README.md is the introduction. THREATMODEL.md lists the attacks that are defended, and those that
// are not. RATIONALE.md gives the reasons of the design.
package bailey
