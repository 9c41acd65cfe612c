// Package shell provides the tool bash: a real shell over the user's folder. It has
// variables, functions, loops, pipes, redirects, here-documents, globs, arithmetic and
// set -e, by the interpreter of mvdan.cc/sh. Its commands are the [Commands], written in
// Go, and those of a [sandbox.CommandRunner]. It is a separate package, so that only
// programs that import it contain the shell.
//
// The shell sees the folder as /. It has no host file, process, environment or network.
// Each file it opens passes the box's gate at that moment, and so does each command that
// is not named in plain words in the script. Features of the interpreter that would reach
// the host are refused: process substitution, ~user and coprocesses. A script has limits
// of length, nesting, depth, steps and size of variables, and the tool's time limit.
//
// [Differences] returns the differences from bash.
package shell
