// Package shell provides the tool bash: a real shell over the user's folder. It has
// variables, functions, loops, pipes, redirects, here-documents, globs, arithmetic and
// set -e, by the interpreter of mvdan.cc/sh. Its commands are the [Commands], written in
// Go, and those of a [sandbox.CommandRunner]. They have the options and the regular
// expressions of GNU's tools, and an unknown option is an error. It is a separate package,
// so that only programs that import it contain the shell.
//
// A page has the most used commands itself. A program outside of a page has all of them.
// They are of the same source as the binary core of the module worker/tools, which a
// Runner loads when it is needed.
//
// The shell sees the folder as /. It has no host file, process, environment or network.
// Each file it opens passes the box's gate at that moment, and so does each command that
// is not named in plain words in the script. Features of the interpreter that would reach
// the host are refused: ~user and coprocesses. A script has limits
// of length, nesting, depth, steps and size of variables, and the tool's time limit.
//
// [Differences] returns the differences from bash.
package shell
