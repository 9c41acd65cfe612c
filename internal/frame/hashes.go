package frame

// Written by go test -update; a test compares them with the scripts.
const (
	outerHash    = "'sha256-YeuTixefugl8fnCK+iH2gYcGNlyCYbHnGulbNV0Inds='"
	documentHash = "'sha256-/gFXUwJwnRqsQ0nEWzggIs4AOivMIpyjCZ/l8Xp1MdE='"
	domainHash   = "'sha256-8i3LXOj5Fw5XG/SfURenJQ6i+nZbHNStY2bXi3aTZX0='"
	enclaveHash  = "'sha256-sS2MzooY19mFbzLutLyq2qmIgWqw3/pvxKWHTWDXgB0='"
	domHash      = "'sha256-3p/5SSzPcF1PGXvQ3PHgYr+xiYXYOyvzZett3NrHdpY='"
)
