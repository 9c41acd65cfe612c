//go:build !js

package mcp_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain is also the client that the conformance suite runs.
func TestMain(m *testing.M) {
	if os.Getenv("BAILEY_CONFORMANCE") == "client" {
		if err := conformanceClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
