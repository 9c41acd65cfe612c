module github.com/bailey-go/bailey/fsaccess/conformance

go 1.26.0

require (
	github.com/bailey-go/bailey v0.0.0
	github.com/hack-pad/hackpadfs v0.2.4
)

require github.com/hack-pad/safejs v0.1.0 // indirect

replace github.com/bailey-go/bailey => ../..
