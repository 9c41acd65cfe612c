package frame

// Written by go test -update; a test compares them with the scripts.
const (
	outerHash    = "'sha256-E4sQWhq20uIYX7dD6U09OFVKzsy/nZ4KhQgI3e+OMDY='"
	documentHash = "'sha256-MwxSj01kzsZCXNrpkiBfoKp5PVCNZy4cYjlZe7/kvRA='"
	domainHash   = "'sha256-ILcp8ud9m5w8ey8Bi4IHA/cAYErpz5cjbDYlh8FqOJY='"
	enclaveHash  = "'sha256-/L7O6JmwrPHCiuji8iEtb0yB7MutC2mjotExkrlGVtA='"
	domHash      = "'sha256-Au2z3qnIi1sCDcUPZTZ4vB0UghTG8knrEDqj0pBN7hA='"
)
