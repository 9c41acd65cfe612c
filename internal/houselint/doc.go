// Command houselint measures what keeps the source easy to enter, and fails where it is over its
// limit: exported names of public packages, aliases of internal types, exported names that nothing
// uses, types whose methods lie in many files, and words in comments that hide the subject of a
// sentence.
//
// It reads syntax, not types, of every Go file that git would keep, in all modules of the
// repository. What it never does: run or change code.
package main
