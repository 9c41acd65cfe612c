package btcp

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// Code converts the code of a BTCP tool, which uses the parameters btcp and args, to code for
// an enclave. It declares btcp at the start of the first line, so that the lines keep their
// numbers. btcp has only the members that the grants allow. For dom.read that is
// btcp.parentDOM.querySelector(selector), which calls the tool dom_querySelector. iframe.ParentDOM
// is such a tool. Without one the call fails.
func Code(code string, grants []protocol.Grant) string {
	var api []string
	if slices.ContainsFunc(grants, func(g protocol.Grant) bool { return g.Capability == protocol.DOMRead }) {
		api = append(api, `parentDOM:Object.freeze({querySelector:(selector)=>callTool("dom_querySelector",{selector})})`)
	}
	return "const btcp=Object.freeze({" + strings.Join(api, ",") + "});" + code
}
