package policy

import (
	"encoding/json"
	"strings"

	"github.com/bailey-go/bailey/internal/wire/btcp"
	"github.com/bailey-go/bailey/protocol"
)

// Parse returns the policy of a JSON text:
//
//	{
//	  "filesystem": {"denyRead": [], "allowRead": [], "allowWrite": [], "denyWrite": [], "allowGitConfig": false},
//	  "network": {"allowedDomains": [], "deniedDomains": []},
//	  "capabilities": {"fs.read": ["."], "code.run": true},
//	  "rules": [{"permission": "write", "pattern": "src/**", "action": "allow"}],
//	  "send": {"default": "contents", "above": 2048, "summaries": ["data"], "nothing": ["private"]},
//	  "enclave": {"level": "STRICT", "limits": {"Time": 5000, "ToolCalls": 10}},
//	  "page": {"connect": ["api.anthropic.com"], "features": ["clipboard-write"]}
//	}
//
// Times in limits are milliseconds. The section page is what the page itself uses, with the keys of
// [headers.Use]; [PageUse] adds what follows from the capabilities. A settings file of sandbox-runtime (srt) is valid. The sections
// filesystem and network say the same as the section capabilities, so each is derived from the other
// if it is missing:
//
//   - Without capabilities, the lists are granted. This is reading the whole folder, because srt
//     denies reading by name, and writing and network access according to allowWrite and
//     allowedDomains.
//   - Without filesystem or network, their lists allow the granted paths and hosts.
//   - If both are present, an effect must be allowed by both.
//
// A text without any of these sections grants nothing. An unknown key is [protocol.ErrInvalidParams],
// because a misspelt restriction has no effect. Keys for an operating system's sandbox are accepted
// and listed in [Policy.Inapplicable]. The text has at most 1 MiB.
func Parse(text string, opts Options) (*Policy, error) {
	p, m, err := read(text, opts)
	if err != nil {
		return nil, err
	}
	_, files := m["filesystem"]
	_, network := m["network"]
	_, capabilities := m["capabilities"]
	if !capabilities {
		return p, grantLists(p, files, network, opts)
	}
	return p, listGrants(p, files, network)
}

// grantLists adds the capabilities that follow from srt's lists.
func grantLists(p *Policy, files, network bool, opts Options) error {
	if files {
		p.Grants = append(p.Grants, protocol.Grant{Capability: protocol.FSRead, Scope: []string{"."}})
		if len(p.FS.AllowWrite) > 0 { // allowWrite narrows this grant
			p.Grants = append(p.Grants, protocol.Grant{Capability: protocol.FSWrite, Scope: []string{"."}})
		}
	}
	if network && len(p.Net.Allowed) > 0 {
		g := protocol.Grant{Capability: protocol.NetFetch}
		for _, h := range p.Net.Allowed {
			full, err := expand(h.String(), opts.Vars)
			if err != nil {
				return err
			}
			g.Scope = append(g.Scope, full)
		}
		if _, err := protocol.NewAuthority(g); err != nil {
			return err
		}
		p.Grants = append(p.Grants, g)
	}
	return nil
}

// listGrants adds the entries of srt's lists that follow from capabilities.
func listGrants(p *Policy, files, network bool) error {
	for _, g := range p.Grants {
		switch {
		case g.Capability == protocol.FSWrite && !files:
			for _, text := range g.Scope {
				pat, err := protocol.ParsePattern(text)
				if err != nil {
					return err
				}
				p.FS.AllowWrite = append(p.FS.AllowWrite, pat)
			}
		case g.Capability == protocol.NetFetch && !network:
			for _, text := range g.Scope {
				h, err := protocol.ParseHost(text)
				if err != nil {
					return err
				}
				p.Net.Allowed = append(p.Net.Allowed, h)
			}
		}
	}
	return nil
}

// AskBeforeChanges returns a policy for an assistant with a folder. It may read the whole folder, and may
// change it after a question about each change. It may send messages to the model. It has no
// network access and runs no code.
func AskBeforeChanges() *Policy {
	p, err := Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true},
		"rules": [{"permission": "fs.read", "action": "allow"}]}`, Options{})
	if err != nil {
		panic("policy: a constant is not valid: " + err.Error())
	}
	return p
}

// FromBTCP returns a policy for a list of capabilities of the Browser Tool Calling Protocol, such
// as "dom:read" or "network:fetch:https://api.example.com". As in BTCP, the listed capabilities are
// allowed without a question.
func FromBTCP(list []string) (*Policy, error) {
	grants, err := btcp.ParseCapabilities(list)
	if err != nil {
		return nil, err
	}
	p := &Policy{Grants: grants}
	for _, g := range grants {
		p.Rules = append(p.Rules, Rule{Permission: string(g.Capability), Action: protocol.ActionAllow, Source: SourceManifest})
	}
	return p, listGrants(p, false, false)
}

// flag is a permission flag of Deno.
type flag struct {
	name, short string
	capability  protocol.Capability
	deny        bool
}

func flags() []flag {
	return []flag{
		{"--allow-read", "-R", protocol.FSRead, false},
		{"--allow-write", "-W", protocol.FSWrite, false},
		{"--allow-net", "-N", protocol.NetFetch, false},
		{"--allow-env", "-E", protocol.EnvRead, false},
		{"--allow-run", "", protocol.ShellRun, false},
		{"--deny-read", "", protocol.FSRead, true},
		{"--deny-write", "", protocol.FSWrite, true},
		{"--deny-net", "", protocol.NetFetch, true},
		{"--deny-env", "", protocol.EnvRead, true},
		{"--deny-run", "", protocol.ShellRun, true},
	}
}

// inapplicable are Deno's flags without a meaning in a page.
const inapplicable = " --allow-sys -S --allow-ffi --allow-import -I --allow-hrtime --deny-sys --deny-ffi --deny-import --no-prompt "

// FromFlags returns a policy for Deno's permission flags, such as --allow-read=src,docs,
// --allow-net=api.example.com and --deny-write=src/secret, and their short forms. As in Deno,
// allowed effects happen without a question. The flags --allow-all, and --allow-net without hosts,
// are errors: name the permissions that are needed.
func FromFlags(args []string, opts Options) (*Policy, error) {
	doc := map[string]map[string][]string{"filesystem": {}, "network": {}, "capabilities": {}}
	var rules []map[string]string
	var skipped []string
	for _, arg := range args {
		name, value, valued := strings.Cut(arg, "=")
		if strings.Contains(inapplicable, " "+name+" ") {
			skipped = append(skipped, arg)
			continue
		}
		f, err := findFlag(name, arg)
		if err != nil {
			return nil, err
		}
		values := strings.Split(value, ",")
		if !valued {
			values = []string{""}
			if f.capability.TakesPaths() {
				values[0] = "."
			}
			if values[0] == "" {
				values[0] = "*"
			}
		}
		if f.deny {
			denyFlag(doc, &rules, f, values)
			continue
		}
		allowFlag(doc, &rules, f, values)
	}
	text, err := json.Marshal(map[string]any{"filesystem": doc["filesystem"], "network": doc["network"], "capabilities": doc["capabilities"], "rules": append(rules, []map[string]string{}...)})
	if err != nil {
		return nil, err
	}
	if rules == nil {
		text = []byte(strings.Replace(string(text), `"rules":null`, `"rules":[]`, 1))
	}
	p, err := Parse(string(text), opts)
	if err != nil {
		return nil, err
	}
	p.Inapplicable = append(p.Inapplicable, skipped...)
	return p, nil
}

func findFlag(name, arg string) (flag, error) {
	for _, f := range flags() {
		if name == f.name || name == f.short && f.short != "" {
			return f, nil
		}
	}
	why := "unknown flag; a misspelt restriction restricts nothing, so this is an error"
	if name == "--allow-all" || name == "-A" {
		why = "would open everything; name what is needed: --allow-read=… --allow-net=…"
	}
	return flag{}, protocol.Errorf(protocol.ErrInvalidParams, "flags", arg, "%s", why)
}

func allowFlag(doc map[string]map[string][]string, rules *[]map[string]string, f flag, values []string) {
	c := string(f.capability)
	if doc["capabilities"][c] == nil {
		*rules = append(*rules, map[string]string{"permission": c, "action": "allow", "source": "manifest"})
	}
	doc["capabilities"][c] = append(doc["capabilities"][c], values...)
	switch f.capability {
	case protocol.FSWrite:
		doc["filesystem"]["allowWrite"] = append(doc["filesystem"]["allowWrite"], values...)
	case protocol.NetFetch:
		doc["network"]["allowedDomains"] = append(doc["network"]["allowedDomains"], values...)
	}
}

func denyFlag(doc map[string]map[string][]string, rules *[]map[string]string, f flag, values []string) {
	switch f.capability {
	case protocol.FSRead:
		doc["filesystem"]["denyRead"] = append(doc["filesystem"]["denyRead"], values...)
	case protocol.FSWrite:
		doc["filesystem"]["denyWrite"] = append(doc["filesystem"]["denyWrite"], values...)
	case protocol.NetFetch:
		doc["network"]["deniedDomains"] = append(doc["network"]["deniedDomains"], values...)
	default:
		for _, v := range values {
			*rules = append(*rules, map[string]string{"permission": string(f.capability), "pattern": v, "action": "deny", "source": "manifest"})
		}
	}
}
