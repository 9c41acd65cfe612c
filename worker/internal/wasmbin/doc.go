// Package wasmbin reads and edits WebAssembly binaries. It returns a module's imports, exports
// and declarations, and can lower the maximum of its memory and tables to a limit. This maximum
// is the only limit on memory that every browser enforces.
//
// The bytes are not trusted: each length is checked against the bytes that are left, and a
// section that is cut off or out of order is an error with its position. The package does not
// check code. The browser does that before it runs any.
//
// Source: WebAssembly Core Specification 3.0, chapter 5 (binary format).
package wasmbin
