// Package layoutbombs holds texts that cost a browser's layout far more than their
// size: spans of table cells, stacks of combining marks, runs of opposite direction and
// so on. The tests of packages markdown and iframe show that none of them stops a page.
//
// It trusts its own file bombs.json and is only part of tests.
package layoutbombs
