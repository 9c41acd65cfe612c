// Package loadertest tests the loader (wasm_exec/loader) in a real browser: each way in which a
// start can fail and the text that the user then reads, policies from loose to the strictest, and
// several programs on one page. It contains only tests.
//
// With LOADERTEST_SHOTS set to a folder, it writes a screenshot of each card there.
package loadertest
