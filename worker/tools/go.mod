module github.com/bailey-go/bailey/worker/tools

go 1.26.0

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/benhoyt/goawk v1.29.1
	github.com/itchyny/gojq v0.12.17
	github.com/pmezard/go-difflib v1.0.0
	github.com/tdewolff/minify/v2 v2.24.25
	github.com/u-root/u-root v0.16.0
	github.com/yuin/goldmark v1.8.7
	mvdan.cc/sh/v3 v3.14.1
)

require (
	github.com/itchyny/timefmt-go v0.1.9 // indirect
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/klauspost/pgzip v1.2.6 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/mattn/go-runewidth v0.0.15 // indirect
	github.com/pierrec/lz4/v4 v4.1.22 // indirect
	github.com/rck/unit v0.0.3 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/tdewolff/parse/v2 v2.8.20 // indirect
	github.com/u-root/uio v0.0.0-20240224005618-d2acac8f3701 // indirect
	golang.org/x/sys v0.49.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
