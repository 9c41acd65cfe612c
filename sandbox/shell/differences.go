package shell

// Differences returns the differences between the tool and bash, one text each. Show them to a
// model or in documentation.
func Differences() []string {
	return []string{
		"/ is the folder, and .. ends there. There is no home folder, no /tmp, and no /dev except /dev/null.",
		"There are no processes. &, wait and jobs work on parts of the script, and kill and $! reach nothing else.",
		"Process substitution <(…) and >(…), coproc and ~user are refused.",
		"The environment is empty except for PATH, HOME=/, PWD, IFS, UID and the variables that the script sets.",
		"Files have no owners and no permissions: -x is true for every readable file, and there is no chmod.",
		"A redirect into a file becomes visible to others when the redirected command ends, and then completely.",
		"Commands have their most used options. An unknown option is an error and not ignored.",
		"Regular expressions in grep and sed are RE2's extended ones, also without -E: a pattern has no back references.",
		"printf has no %q and no precision except zeros, there is no type -t, and errors of the shell itself have exit code 1.",
		"There is no exec > file for the rest of a script. Use braces: { …; } > file",
		"sort compares bytes, as with LC_ALL=C.",
	}
}
