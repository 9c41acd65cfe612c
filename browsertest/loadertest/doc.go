// Package loadertest holds the loader (wasm_exec/loader) to its words in a real
// browser: each way a start can go wrong, what a person then reads, policies from
// loose to the strictest, and several programs on one page. It holds no code.
//
// With LOADERTEST_SHOTS set to a folder, it leaves a screenshot of each card there.
package loadertest
