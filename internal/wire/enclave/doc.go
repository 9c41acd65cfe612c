// Package enclave contains the messages between a page, an enclave's broker and the code in the
// enclave, in Go and in JavaScript. A message is a line of JSON in a batch, and both languages accept
// and refuse the same batches: testdata/vectors has them.
//
// The package trusts no text that it decodes. It checks the length before it parses and the depth
// before it recurses, and it refuses a batch that it does not understand completely. [RunState] checks
// the order and the number of the messages of a run, on the side that the code cannot reach.
//
// The scripts of [Scripts] run in the broker, those of [EncoderScripts] in the worker of the code.
package enclave
