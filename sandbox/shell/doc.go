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
// # Differences from bash
//
//   - / is the folder, and .. ends there. There is no home folder, and no /dev except null, stdin,
//     stdout, stderr and fd. mktemp makes /tmp in the folder.
//   - There are no processes. &, wait and jobs work on parts of the script, and kill and $! reach
//     nothing else. $$ is 1, and a signal to it runs its trap or ends the script.
//   - coproc and ~user are refused.
//   - A negative subscript before the first element of an array ends the command.
//   - The command in <(…) runs to its end first, and prints at most 8 MiB. The one in >(…) runs when
//     the statement ends. A program of the Runner reads <(…) and can't write to >(…).
//   - The environment has PATH, HOME=/, LC_ALL, UID, EUID, GID and the variables that the script
//     exports.
//   - ln -s, chmod and touch -d work where the folder has links, permissions and times: in memory and on a
//     disk. Elsewhere they are an error with the reason, as in a folder that was picked in a browser. A link
//     leads only to names in the folder that a script may read and write, a whole path in it becomes a relative
//     one, and .. after a link leads back to the folder of the link. Hard links are refused: the rules decide
//     by name. Times are in UTC.
//   - A redirect into a file becomes visible to others when the redirected command ends, or the file
//     is closed, and then completely.
//   - Aliases are not expanded. There is no shopt failglob, no compgen and no ${v~~}. declare -f prints a function
//     in a form of its own. Messages name no line.
//   - xargs -P runs its commands one after the other, and tail -f ends at the end of the file.
//   - A pattern with a back reference or look-around has a limit of steps. grep -P has no atomic
//     groups and no conditions.
//   - bc has no functions of -l and no define. date knows common forms only. sort compares bytes, as
//     with LC_ALL=C.
//   - awk, jq and git need a Runner, and can start no command. git only reads. In a page tar, gzip, join, column, bc and
//     others need one, too: see Commands.
package shell
