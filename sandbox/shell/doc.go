// Package shell is the tool bash: a real shell over the person's folder. It has
// variables, functions, loops, pipes, redirects, here-documents, globs, arithmetic and
// set -e, by the interpreter of mvdan.cc/sh; the commands of [Commands], written in Go;
// and those of a [sandbox.CommandRunner]. It is a package of its own, so that only who
// imports it pays for it.
//
// The shell sees the folder as /, and nothing else: no host file, no process, no
// environment, no network. Each file it opens passes the box's gate at that moment, and
// so does each command that the script did not name in plain words. What would reach
// the host through the interpreter (process substitution, ~user, coprocesses) is
// refused. A script is bounded in length, nesting, depth, steps and the size of its
// variables; its end is the tool's time limit.
//
// The differences from bash are listed at [Differences].
package shell
