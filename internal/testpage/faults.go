package testpage

import (
	"slices"
	"strings"
)

// Fault is a behaviour that an engine, or the driver that runs it, lacks or has differently, and
// that tests accept. Tests use the name of a fault and never that of an engine, so this list is
// complete.
type Fault string

const (
	NoConnectionAllowlist  Fault = "no Connection-Allowlist"
	NoCredentialless       Fault = "no credentialless"
	NoTrustedTypes         Fault = "no Trusted Types"
	NoInnermostScript      Fault = "no script in the innermost frame"
	NoPromiseIntegration   Fault = "no promise integration"
	NoPrivateFolder        Fault = "no private file system"
	NoLineOfSyntaxError    Fault = "no line of a syntax error"
	FramesOnThePagesThread Fault = "frames on the page's thread"
	OneProcessForTwoSites  Fault = "one process for two sites"
	NoDebuggerCommands     Fault = "no debugger commands"
	NoFolderDragged        Fault = "no folder can be dragged"
	NoFolderChosen         Fault = "no folder can be chosen"
	KeysToTheTopOnly       Fault = "keys go to the top document only"
	NoFeaturePolicy        Fault = "no document.featurePolicy"
)

// KnownFault is a row of [KnownFaults].
type KnownFault struct {
	Fault   Fault
	Engines string // separated by spaces
	What    string // the difference
	Source  string // documentation, or the place where it was measured
}

// KnownFaults returns the list. Attacks that only some engines stop are listed with the attacks, in
// iframe/testdata/attacks.json (In, Flaky).
func KnownFaults() []KnownFault {
	return []KnownFault{
		{NoConnectionAllowlist, "firefox webkit", "the header Connection-Allowlist is ignored", "https://wicg.github.io/connection-allowlists/; measured by make leaklab (THREATMODEL.md, The leak lab)"},
		{NoCredentialless, "webkit", "Cross-Origin-Embedder-Policy: credentialless is ignored, so a page is not isolated by it", "https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Cross-Origin-Embedder-Policy (compatibility); measured in WebKitGTK 2.50"},
		{NoTrustedTypes, "webkit", "require-trusted-types-for does not hold", "https://developer.mozilla.org/docs/Web/API/Trusted_Types_API (compatibility: Safari 26); measured in WebKitGTK 2.50"},
		{NoInnermostScript, "webkit", "no code starts in the innermost of the sandboxed frames", "measured in WebKitGTK 2.50 by TestDOMEnclave, which fails if it starts one day"},
		{NoPromiseIntegration, "webkit", "WebAssembly can't wait for a promise (JSPI)", "https://github.com/WebAssembly/js-promise-integration; measured in WebKitGTK 2.50"},
		{NoPrivateFolder, "webkit", "navigator.storage.getDirectory is missing", "measured in WebKitGTK 2.50 (docs/browsers.md)"},
		{NoLineOfSyntaxError, "firefox", "the error event of a script of an opaque origin has no line of a syntax error", "https://html.spec.whatwg.org/multipage/webappapis.html#report-an-exception (muted errors); measured by TestEnclaveErrors in Firefox ESR"},
		{FramesOnThePagesThread, "firefox webkit", "sandboxed frames run on the page's own thread", "https://developer.chrome.com/docs/web-platform/origin-agent-cluster; measured by TestDOMEnclaveLoop (THREATMODEL.md, An enclave with a document)"},
		{OneProcessForTwoSites, "firefox webkit", "two sites of the test's servers share a process", "measured by TestEnclavesOfTwoSites (docs/browsers.md)"},
		{NoDebuggerCommands, "firefox webkit", "the driver can't kill a frame's process, freeze or hide a page, set a quota or count what lives", "https://chromedevtools.github.io/devtools-protocol/ is Chromium's alone; https://w3c.github.io/webdriver/ has no such commands"},
		{NoFolderDragged, "firefox webkit", "the driver can't drag a folder into a page", "Input.dispatchDragEvent, https://chromedevtools.github.io/devtools-protocol/tot/Input/, is Chromium's alone"},
		{NoFolderChosen, "firefox webkit", "the driver refuses to choose a folder, or chooses it as a file", "https://w3c.github.io/webdriver/#element-send-keys (file inputs); measured in both"},
		{KeysToTheTopOnly, "webkit", "the driver sends keys to the top document only", "measured with WebKitWebDriver 2.50"},
		{NoFeaturePolicy, "firefox webkit", "no script can read which features its document may use", "https://developer.mozilla.org/docs/Web/API/Document/featurePolicy (compatibility)"},
	}
}

// Has reports whether the engine that this test runs in has the fault.
func Has(f Fault) bool { return f.In(Engine()) }

// In reports whether an engine has the fault. No engine has a fault that is not in the list.
func (f Fault) In(engine string) bool {
	return slices.ContainsFunc(KnownFaults(), func(k KnownFault) bool {
		return k.Fault == f && slices.Contains(strings.Fields(k.Engines), engine)
	})
}
