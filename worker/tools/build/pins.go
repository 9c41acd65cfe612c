//go:build never

package main

// So that go.mod pins the module whose C source the sqlite3 tool is made of.
import _ "github.com/mattn/go-sqlite3"
