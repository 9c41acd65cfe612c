package sandbox

// off are the defences that an attack test switches off to show that its attack succeeds
// then. Only tests set them: see export_test.go.
type off struct {
	clone  bool // arguments are copied before anybody is asked
	keys   bool // keys of results are searched for credentials
	names  bool // a server's tool whose name is taken is left out
	agents bool // subagents are counted and share a budget
	words  bool // questions say all needs
	same   bool // what is done is what was shown
	sizes  bool // the size of an edit is counted before it is made
	marks  bool // what cannot be seen in a question is marked
	views  bool // each path of a program, an undo and a removed folder is decided by itself
}
