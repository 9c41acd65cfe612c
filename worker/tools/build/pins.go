//go:build never

package main

// The import keeps the Go module with SQLite's C source, of which sqlite3 is made, in go.mod.
import _ "github.com/mattn/go-sqlite3"
