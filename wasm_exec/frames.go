package main

import "github.com/bailey-go/bailey/internal/frame"

// frameScriptHashes returns the hashes of the trusted scripts that run inline in the two walls'
// frames. These frames inherit the page's policy.
func frameScriptHashes() []string { return frame.ScriptHashes() }
