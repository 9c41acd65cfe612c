package compat

import (
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// ConnectSrc returns the sources for the connect-src directive of an enclave's outer frame, for the
// hosts in its grants. Without a host it returns "'none'".
func ConnectSrc(grants []protocol.Grant) ([]string, error) {
	var out []string
	for _, g := range grants {
		if g.Capability != protocol.NetFetch {
			continue
		}
		for _, text := range g.Scope {
			if _, err := protocol.ParseHost(text); err != nil {
				return nil, err
			}
			scheme := "https://"
			for _, own := range []string{"localhost", "127.0.0.1", "[::1]"} {
				if text == own || strings.HasPrefix(text, own+":") {
					scheme = "http://"
				}
			}
			out = append(out, scheme+strings.ToLower(text))
		}
	}
	if out == nil {
		out = []string{"'none'"}
	}
	return out, nil
}
