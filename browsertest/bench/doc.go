// Bench compares Bailey with its peers and with the bare browser:
//
//	make bench
//	BENCH=markdown.stream make bench
//
// For each suite it opens one page in headless Chromium that contains all contenders. They run in
// turns, round after round, so that a busy machine slows down all of them alike. The results are
// rows of medians. They are printed as a table, and written to bench/results.json in the
// repository, which keeps the rows that were not run. A calibrated loop runs before, between and
// after the suites. If it shows that the machine had other work, nothing is written.
//
// The peers are the exact versions in package.json. They and the Go program under test (folder
// wasm) are trusted as a development tool is. All traffic is on loopback. No user of the library
// imports this command.
package main
