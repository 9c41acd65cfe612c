package mcpclient

import (
	"encoding/json"
	"strings"
)

// appType is the media type of a page of a tool.
const appType = "text/html;profile=mcp-app"

// Limits of the page of a tool.
const (
	maxApp     = 8 << 20 // bytes of its HTML
	maxURI     = 2000
	maxOrigins = 50 // of each list
)

// toolMeta is what a server says about the page of a tool. A member of a wrong type is left out, so it
// can't hide the tool.
type toolMeta struct {
	UI  json.RawMessage `json:"ui"`
	URI json.RawMessage `json:"ui/resourceUri"` // in older servers
}

// origins returns the origins that a server declares, for a question to the user. Texts that a user could
// not read are left out.
func origins(list []string) []string {
	var out []string
	for _, o := range list[:min(len(list), maxOrigins)] {
		if len(o) <= 200 && !strings.ContainsFunc(o, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`;,'"`, r) }) {
			out = append(out, o)
		}
	}
	return out
}
