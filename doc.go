// Package bailey is the root of a library that makes the browser the sandbox
// for what a language model wants to do on a person's machine. It holds no
// code: import the packages below it.
//
//   - [github.com/bailey-go/bailey/iframe] shows a model's Markdown, and
//     runs its JavaScript, behind two walls.
//   - [github.com/bailey-go/bailey/iframe/markdown] turns Markdown into HTML
//     that only its sanitiser can make, all at once or as it streams in.
//   - [github.com/bailey-go/bailey/fsaccess] is the folder that a person chose, with
//     a guard in front and an undo for every change.
//   - [github.com/bailey-go/bailey/worker] runs WebAssembly programs as commands
//     that can be killed.
//   - [github.com/bailey-go/bailey/sandbox] puts one policy over files, code, tools and
//     network, and lets a model work under it.
//   - [github.com/bailey-go/bailey/protocol] is the words that all of them speak.
//   - [github.com/bailey-go/bailey/wasm_exec] builds a Go program into a page
//     that starts well, and serves it with the headers that hold it.
//
// README.md says how to begin, THREATMODEL.md what is defended and what is
// not, RATIONALE.md why things are as they are.
package bailey
