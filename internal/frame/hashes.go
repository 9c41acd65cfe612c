package frame

// Written by go test -update; a test compares them with the scripts.
const (
	outerHash    = "'sha256-E4sQWhq20uIYX7dD6U09OFVKzsy/nZ4KhQgI3e+OMDY='"
	documentHash = "'sha256-L5Cy9K3k4suwI6/R10vyy5T1c+95btXPh1+rO1izozo='"
)
