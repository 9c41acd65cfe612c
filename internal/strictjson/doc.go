// Package strictjson reads and writes JSON that crosses a wall: between the page and a frame, a
// worker, a model or a server. Every text has limits of size, depth and number of values, which are
// checked before the work. No two parsers can read a text of this package in two ways.
//
// The package imports nothing of the house. A [Dialect] gives it the errors to return and the values
// that JSON has no form for. Package protocol has the public functions for plain JSON, and
// internal/wire/enclave those for the values that code and tools exchange.
package strictjson
