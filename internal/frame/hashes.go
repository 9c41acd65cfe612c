package frame

// Written by go test -update; a test compares them with the scripts.
const (
	outerHash    = "'sha256-E4sQWhq20uIYX7dD6U09OFVKzsy/nZ4KhQgI3e+OMDY='"
	documentHash = "'sha256-MwxSj01kzsZCXNrpkiBfoKp5PVCNZy4cYjlZe7/kvRA='"
	domainHash   = "'sha256-aQQ9OEqeZZrAt+Ldk+WS5bDTQSAA1xGUxkuRprSOeu4='"
	enclaveHash  = "'sha256-Ke9MztwWh9B0SzgcmEapV8WTO7MK7yK2FVgqY21Zpy8='"
)
