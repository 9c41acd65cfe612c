package compat

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// BTCPCode makes a tool's code, which is written for the parameters btcp and args,
// code for an enclave: btcp stands before it, in its first line, so that lines keep
// their numbers. btcp holds what the grants allow and nothing else; for dom.read that is
// btcp.parentDOM.querySelector(selector), which calls the tool dom_querySelector:
// iframe.ParentDOM is one, and without such a tool it is refused.
func BTCPCode(code string, grants []protocol.Grant) string {
	var api []string
	if slices.ContainsFunc(grants, func(g protocol.Grant) bool { return g.Capability == protocol.DOMRead }) {
		api = append(api, `parentDOM:Object.freeze({querySelector:(selector)=>callTool("dom_querySelector",{selector})})`)
	}
	return "const btcp=Object.freeze({" + strings.Join(api, ",") + "});" + code
}
