package frame

// Written by go test -update; a test compares them with the scripts.
const (
	outerHash    = "'sha256-E4sQWhq20uIYX7dD6U09OFVKzsy/nZ4KhQgI3e+OMDY='"
	documentHash = "'sha256-8Da8j6h7vE4FgD8dMFBkbabjx/yv2aS/w42q3Tqqe+Y='"
	domainHash   = "'sha256-ut6lyVFcEhmpYl6KfGOGp9rO3Z8j+lwrVz7NAd84V7A='"
	enclaveHash  = "'sha256-qSx8/lagrXGKXfJ8VfetJhePGgvHbqoDSVphZH9tD98='"
	domHash      = "'sha256-rAcUsixwvrXjHuOVUm2RlZRH+LwUd8HtdRgTWfdGy7s='"
)
