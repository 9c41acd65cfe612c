// Package wasmbin reads and edits WebAssembly binaries: what a module imports, exports and
// declares, and the same module with the maximum of its memory and tables lowered to a
// limit, which is the only limit on memory that every browser enforces.
//
// It trusts nothing of the bytes: each length is checked against what is there, and what
// is cut off or out of order is an error that says where. It does not check code; the
// browser does, before anything of it runs.
//
// Source: WebAssembly Core Specification 3.0, chapter 5 (binary format).
package wasmbin
