module github.com/bailey-go/bailey/sandbox/command/native

go 1.26.0

require (
	github.com/bailey-go/bailey v0.0.0-00010101000000-000000000000
	github.com/tetratelabs/wazero v1.12.0
)

require (
	github.com/hack-pad/safejs v0.1.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	mvdan.cc/sh/v3 v3.14.1 // indirect
)

replace github.com/bailey-go/bailey => ../../..
