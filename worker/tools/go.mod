module github.com/bailey-go/bailey/worker/tools

go 1.26.0

require (
	github.com/aymerick/douceur v0.2.0 // indirect
	github.com/gorilla/css v1.0.1 // indirect
	github.com/hack-pad/safejs v0.1.0 // indirect
	github.com/itchyny/timefmt-go v0.1.9 // indirect
	github.com/microcosm-cc/bluemonday v1.0.27 // indirect
	github.com/tdewolff/parse/v2 v2.8.20 // indirect
	github.com/yuin/goldmark v1.8.7 // indirect
	golang.org/x/net v0.62.0 // indirect
)

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/andybalholm/brotli v1.2.8
	github.com/bailey-go/bailey v0.0.0-00010101000000-000000000000
	github.com/itchyny/gojq v0.12.20
	github.com/mattn/go-sqlite3 v1.14.53
	github.com/sahilm/fuzzy v0.1.3
	github.com/tdewolff/minify/v2 v2.24.25
	go.yaml.in/yaml/v3 v3.0.6
	mvdan.cc/sh/v3 v3.14.1
)

replace github.com/bailey-go/bailey => ../..
