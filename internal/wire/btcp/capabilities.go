package btcp

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// ParseCapabilities returns the grants of capabilities in BTCP's colon form. An origin may follow
// network:fetch, as in network:fetch:https://api.example.com. Without an origin, network:fetch
// grants no host. An unknown capability or a bad origin is an error.
func ParseCapabilities(texts []string) ([]protocol.Grant, error) {
	var out []protocol.Grant
	add := func(c protocol.Capability, scope ...string) {
		i := slices.IndexFunc(out, func(g protocol.Grant) bool { return g.Capability == c })
		if i < 0 {
			out = append(out, protocol.Grant{Capability: c})
			i = len(out) - 1
		}
		out[i].Scope = append(out[i].Scope, scope...)
	}
	for _, text := range texts {
		origin, fetch := strings.CutPrefix(text, "network:fetch:")
		if !fetch {
			c, err := protocol.ParseCapability(text)
			if err != nil {
				return nil, err
			}
			add(c)
			continue
		}
		host, err := originHost(origin)
		if err != nil {
			return nil, err
		}
		add(protocol.NetFetch, host)
	}
	return out, nil
}

// originHost returns the host pattern of an https origin or of a bare host. An http origin is an
// error unless it is this machine.
func originHost(origin string) (string, error) {
	host, secure := strings.CutPrefix(origin, "https://")
	plain := false
	if !secure {
		host, plain = strings.CutPrefix(host, "http://")
	}
	host = strings.TrimSuffix(host, "/")
	name, port, err := protocol.SplitHost(strings.TrimPrefix(host, "*."))
	if err != nil {
		return "", err
	}
	if plain && name != "localhost" && name != "127.0.0.1" && name != "[::1]" {
		return "", protocol.Errorf(protocol.ErrInvalidParams, "origin", origin, "use https; http is for this machine only")
	}
	switch {
	case port != 0:
	case secure:
		host += ":443"
	case plain:
		host += ":80"
	}
	if _, err := protocol.ParseHost(host); err != nil {
		return "", err
	}
	return host, nil
}

// Capabilities returns grants in the colon form. A scope that the form cannot express gives
// [protocol.ErrInvalidParams], because a grant without it would be wider.
func Capabilities(grants []protocol.Grant) ([]string, error) {
	out := []string{}
	for _, g := range grants {
		name := strings.ReplaceAll(string(g.Capability), ".", ":")
		switch g.Capability {
		case protocol.NetFetch:
			if len(g.Scope) == 0 {
				out = append(out, "network:fetch")
			}
			for _, host := range g.Scope {
				out = append(out, "network:fetch:"+host)
			}
			continue
		case protocol.CodeRun:
			name = "code:execute"
		}
		if len(g.Scope) > 0 {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "capability", string(g.Capability), "BTCP's form has no place for its scope")
		}
		out = append(out, name)
	}
	return out, nil
}
