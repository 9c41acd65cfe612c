module github.com/bailey-go/bailey

go 1.26.0

require (
	github.com/andybalholm/brotli v1.2.8
	github.com/hack-pad/safejs v0.1.0
	github.com/microcosm-cc/bluemonday v1.0.27
	github.com/yuin/goldmark v1.8.7
	golang.org/x/net v0.62.0
	mvdan.cc/sh/v3 v3.14.1
)

require (
	github.com/aymerick/douceur v0.2.0 // indirect
	github.com/gorilla/css v1.0.1 // indirect
)
