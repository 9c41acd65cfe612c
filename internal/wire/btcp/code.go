package btcp

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// Code converts the code of a BTCP tool, which uses the parameters btcp and args, to code for
// an enclave. It declares btcp at the start of the first line, so that the lines keep their
// numbers. btcp has only the members that the grants allow. BTCP's documents have
// parentDOM.querySelector alone. All call the tools of sandbox/btcp.Page, and fail without one.
func Code(code string, grants []protocol.Grant) string {
	var groups []string
	group := func(name string, members ...string) {
		var list []string
		for i := 0; i < len(members); i += 2 {
			if slices.ContainsFunc(grants, func(g protocol.Grant) bool { return string(g.Capability) == members[i] }) {
				list = append(list, members[i+1])
			}
		}
		if len(list) > 0 {
			groups = append(groups, name+":Object.freeze({"+strings.Join(list, ",")+"})")
		}
	}
	group("parentDOM",
		string(protocol.DOMRead), `querySelector:(selector)=>callTool("dom_querySelector",{selector}),observe:(selector,seconds)=>callTool("dom_observe",{selector,seconds})`,
		string(protocol.DOMWrite), `setText:(selector,from,to)=>callTool("dom_setText",{selector,from,to})`)
	group("storage",
		string(protocol.StorageRead), `get:async(key)=>(await callTool("storage_get",{key})).value`,
		string(protocol.StorageWrite), `set:(key,value)=>callTool("storage_set",{key,value})`)
	group("clipboard",
		string(protocol.ClipboardRead), `readText:async()=>(await callTool("clipboard_read",{})).text`,
		string(protocol.ClipboardWrite), `writeText:(text)=>callTool("clipboard_write",{text})`)
	return "const btcp=Object.freeze({" + strings.Join(groups, ",") + "});" + code
}
