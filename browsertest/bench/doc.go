// Bench compares Bailey with its peers and with the bare browser:
//
//	make bench
//	BENCH=markdown.stream make bench
//	make bench BENCH=sandbox BASE=v0.1.0
//
// For each suite it opens one page in headless Chromium that contains all contenders. They run in
// turns, round after round, so that a busy machine slows down all of them alike. The results are
// rows of medians. They are printed as a table, and written to bench/results.json in the
// repository, which keeps the rows that were not run. A calibrated loop runs before, between and
// after the suites. If it shows that the machine had other work, nothing is written.
//
// With BASE, a commit, the suites run three times by turns in that commit and in the present tree.
// The medians of both are printed, no results are written, and a row that is more than 1.05 times
// worse, by its own figure and by its ratio, ends the command with status 1.
//
// The peers are the exact versions in package.json. They and the Go program under test (folder
// wasm) are trusted as a development tool is. All traffic is on loopback. No user of the library
// imports this command.
package main
