package frame

import (
	_ "embed" // for the scripts
	"sync"

	"github.com/bailey-go/bailey/internal/wire/document"
)

// Script is a script of Bailey's own that runs inside a frame. Its text is embedded in the
// binary and its hash is a constant, so both are known before any page is served. A Script
// can't be made from a string at run time.
type Script struct {
	name string
	text func() string
	hash string
}

func newScript(name, text, hash string) Script {
	return Script{name, sync.OnceValue(func() string { return compact(text) }), hash}
}

// Name returns the name of the embedded file.
func (s Script) Name() string { return s.name }

// Text returns the script as it is between its tags, without comments.
func (s Script) Text() string { return s.text() }

// Hash returns the CSP source expression of the script, with its quotes: 'sha256-…'.
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
	//go:embed appouter.js
	appouterText string
	//go:embed app.js
	appText string
	//go:embed document.css
	documentCSS string
)

var (
	outerScript    = newScript("outer.js", outerText, outerHash)
	documentScript = newScript("document.js", document.JS+documentText, documentHash)
	domainScript   = newScript("domain.js", domainText, domainHash)
	enclaveScript  = newScript("enclave.js", enclaveText, enclaveHash)
	domScript      = newScript("dom.js", domText, domHash)
	appouterScript = newScript("appouter.js", appouterText, appouterHash)
	appScript      = newScript("app.js", appText, appHash)
)

// Scripts returns all scripts that Bailey puts into frames.
func Scripts() []Script {
	return []Script{outerScript, documentScript, domainScript, enclaveScript, domScript, appouterScript, appScript}
}

// ScriptHashes returns the CSP source expressions of [Scripts]. A srcdoc frame inherits its
// page's policy. So a page can contain Bailey's frames only if its script-src lists these
// hashes, or 'unsafe-inline', which no page should have.
func ScriptHashes() []string {
	scripts := Scripts()
	hashes := make([]string, len(scripts))
	for i, s := range scripts {
		hashes[i] = s.Hash()
	}
	return hashes
}
