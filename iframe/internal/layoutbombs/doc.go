// Package layoutbombs contains texts that cost a browser's layout far more than their size,
// such as spans of table cells, stacks of combining marks and runs of opposite direction. The
// tests of packages markdown and iframe show that none of them stops a page.
//
// The package is part of tests only and trusts its own file bombs.json.
package layoutbombs
