// Bench compares Bailey with its peers and with the bare browser:
//
//	make bench
//	BENCH=markdown.stream make bench
//
// For each suite it opens one page in headless Chromium that holds everything to
// be compared, and runs the contenders by turns, round after round, so that a
// machine that is busy for a while is so for all of them. Rows hold medians, and
// go to a table and to bench/results.json in the repository, where rows that were
// not run are kept.
//
// The peers are the exact versions in package.json. They and the Go program under
// test (folder wasm) are trusted as far as a development tool is; all traffic is
// on loopback. Nothing here is part of what users import.
package main
