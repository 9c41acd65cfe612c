package shell

// Differences returns the differences between the tool and bash, one sentence each. They
// are meant for a model's instructions and for documentation.
func Differences() []string {
	return []string{
		"/ is the folder, and .. ends there; there is no home folder, no /tmp and no /dev but /dev/null",
		"there are no processes: &, wait and jobs work on parts of the script, kill and $! do not reach anything else",
		"process substitution <(…) and >(…), coproc and ~user are refused",
		"the environment is empty but for PATH, HOME=/, PWD, IFS, UID and what the script sets",
		"files have no owners and no permissions: -x is true of what can be read, chmod is not there",
		"redirects into a file are seen by others when the redirected command ends, whole",
		"commands have the options that are most used; an option that is not known is an error and not ignored",
		"regular expressions in grep and sed are RE2's extended ones, also without -E: no back references in a pattern",
		"printf has no %q and no precision beside zeros, type -t is not there, and errors of the shell itself have exit code 1",
		"exec > file for the rest of a script is not there; put it in braces: { …; } > file",
		"sort compares bytes, as with LC_ALL=C",
	}
}
