package frame

// Written by go test -update; a test compares them with the scripts.
const (
	outerHash    = "'sha256-E4sQWhq20uIYX7dD6U09OFVKzsy/nZ4KhQgI3e+OMDY='"
	documentHash = "'sha256-d4Tqq/gvzvm+puy2cAQgR/QDzdMxdzdWCh1MZtOjHOE='"
	domainHash   = "'sha256-7z6DhncJs9FR61ECyJMBTBo5pii3omTRFYiMafHf2HM='"
	enclaveHash  = "'sha256-KE97JOZcYeu1wLuqs8QfEp6dKTUb5KjMUFjEPXMsmaU='"
	domHash      = "'sha256-rAcUsixwvrXjHuOVUm2RlZRH+LwUd8HtdRgTWfdGy7s='"
)
