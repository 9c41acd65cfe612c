package sandbox

// off has a switch for each defence that an attack test disables, to show that the attack succeeds
// without it. Only tests set one, see export_test.go.
type off struct {
	clone  bool // arguments are copied before the user is asked
	keys   bool // keys of results are searched for credentials
	names  bool // a server's tool is left out if its name is taken
	agents bool // subagents are counted and share a budget
	words  bool // questions list all needs
	same   bool // the effect is the one that the question showed
	sizes  bool // the size of an edit is counted before it is made
	marks  bool // invisible characters in a question are marked
	views  bool // each path of a program, an undo and a removed folder is decided separately
}
