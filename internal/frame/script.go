package frame

import _ "embed" // for the scripts

// Script is a script of Bailey's own that runs inside a frame. Its text is
// embedded in the binary and its hash is a constant, so both are known before
// any page is served, and there is no way to make one out of a string at run
// time.
type Script struct{ name, text, hash string }

// Name is the file the script was embedded from.
func (s Script) Name() string { return s.name }

// Text is the script as it stands between its tags.
func (s Script) Text() string { return s.text }

// Hash is the script's CSP source expression, quotes included: 'sha256-…'.
func (s Script) Hash() string { return s.hash }

var (
	//go:embed outer.js
	outerText string
	//go:embed document.js
	documentText string
	//go:embed domain.js
	domainText string
	//go:embed enclave.js
	enclaveText string
	//go:embed dom.js
	domText string
	//go:embed document.css
	documentCSS string
)

var (
	outerScript    = Script{"outer.js", outerText, outerHash}
	documentScript = Script{"document.js", documentText, documentHash}
	domainScript   = Script{"domain.js", domainText, domainHash}
	enclaveScript  = Script{"enclave.js", enclaveText, enclaveHash}
	domScript      = Script{"dom.js", domText, domHash}
)

// Scripts are all scripts that Bailey puts into frames.
func Scripts() []Script {
	return []Script{outerScript, documentScript, domainScript, enclaveScript, domScript}
}

// ScriptHashes are the CSP source expressions of [Scripts]. A srcdoc frame
// inherits its page's policy, so a page whose script-src has neither these nor
// 'unsafe-inline' (which nobody should have) can't hold a frame of Bailey's.
func ScriptHashes() []string {
	scripts := Scripts()
	hashes := make([]string, len(scripts))
	for i, s := range scripts {
		hashes[i] = s.Hash()
	}
	return hashes
}
