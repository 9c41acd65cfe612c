package protocol

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/internal/strictjson"
)

// Policy is a policy for files, hosts, capabilities and calls. It consists of the two sections of
// sandbox-runtime's settings and of Bailey's own grants and rules. [ParsePolicy] reads one from
// JSON.
type Policy struct {
	FS     FSPolicy
	Net    NetPolicy
	Grants []Grant
	Rules  Rules

	// Send limits the text of the folder's files that may be sent to a model.
	Send SendPolicy
	// Level and Limits are for enclaves. Zero fields of Limits take the values of Level.
	Level  Level
	Limits Limits

	// Inapplicable lists, in order, the keys of the JSON that are known but have no meaning in a
	// browser, so that an app can show them to the user.
	Inapplicable []string
}

// PolicyOptions are the options of [ParsePolicy].
type PolicyOptions struct {
	// Vars are the variables for patterns. A policy that uses a variable which is not set or empty
	// is an error.
	Vars map[string]string
	// Mount is the absolute path of the folder in the policy, such as "/workspace". Absolute
	// patterns outside of it are errors. If Mount is empty, all absolute patterns are errors.
	Mount string
}

// ParsePolicy returns the policy of a JSON text:
//
//	{
//	  "filesystem": {"denyRead": [], "allowRead": [], "allowWrite": [], "denyWrite": [], "allowGitConfig": false},
//	  "network": {"allowedDomains": [], "deniedDomains": []},
//	  "capabilities": {"fs.read": ["."], "code.run": true},
//	  "rules": [{"permission": "write", "pattern": "src/**", "action": "allow"}],
//	  "send": {"default": "contents", "summaries": ["data"], "nothing": ["private"]},
//	  "enclave": {"level": "STRICT", "limits": {"Time": 5000, "ToolCalls": 10}}
//	}
//
// Times in limits are milliseconds.
//
// An unknown key is an error, because a misspelt restriction has no effect. Keys for an operating
// system's sandbox are accepted and listed in [Policy.Inapplicable]. The text is read by
// [ParseJSON] with its default limits.
func ParsePolicy(text string, opts PolicyOptions) (*Policy, error) {
	v, err := ParseJSON(text, JSONLimits{})
	if err != nil {
		return nil, &Error{Code: CodeOf(err), Op: "policy", Message: err.Error(), Err: err}
	}
	p := &Policy{}
	r := policyReader{p: p, o: &opts}
	if err := r.read(v); err != nil {
		return nil, err
	}
	slices.Sort(p.Inapplicable)
	return p, nil
}

type policyReader struct {
	p *Policy
	o *PolicyOptions
}

// Keys for parts of sandbox-runtime that do not exist in a page.
var (
	osTopLevel = []string{
		"ignoreViolations", "enableWeakerNestedSandbox", "enableWeakerNetworkIsolation", "allowAppleEvents", "ripgrep",
		"mandatoryDenySearchDepth", "allowPty", "allowNestedUserNamespaces", "seccomp", "bwrapPath", "socatPath", "javaAgentJarPath", "windows", "git",
	}
	osNetwork = []string{
		"allowUnixSockets", "allowAllUnixSockets", "allowLocalBinding", "allowMachLookup", "httpProxyPort",
		"socksProxyPort", "mitmProxy", "parentProxy", "tlsTerminate", "allowPlaintextHeaderSet", "refuseOpaqueTunnels",
		"requireHostMatch", "ambiguousRequestTarget",
	}
	osCredentials = []string{"envVars", "allowPlaintextInject", "awsPairs", "sigv4"}
)

func badPolicy(path, format string, args ...any) error {
	return Errorf(ErrInvalidParams, "policy", path, format, args...)
}

func (r *policyReader) read(v any) error {
	return r.object("", v, osTopLevel, func(key string, v any) (bool, error) {
		switch key {
		case "filesystem":
			return true, r.filesystem(v)
		case "network":
			return true, r.network(v)
		case "credentials":
			return true, r.credentials(v)
		case "capabilities":
			return true, r.capabilities(v)
		case "rules":
			return true, r.rules(v)
		case "send":
			return true, r.send(v)
		case "enclave":
			return true, r.enclave(v)
		}
		return false, nil
	})
}

// object calls field for each key of an object, in order. Keys that field does not know are added
// to Inapplicable if they are in the list inapplicable. Other keys are an error.
func (r *policyReader) object(path string, v any, inapplicable []string, field func(key string, v any) (bool, error)) error {
	m, ok := v.(map[string]any)
	if !ok {
		return badPolicy(path, "must be an object")
	}
	for _, key := range sortedKeys(m) {
		full := strings.TrimPrefix(path+"."+key, ".")
		known, err := field(key, m[key])
		if err != nil {
			return err
		}
		if known {
			continue
		}
		if !slices.Contains(inapplicable, key) {
			return badPolicy(full, "unknown key; a misspelt restriction restricts nothing, so this is an error")
		}
		r.p.Inapplicable = append(r.p.Inapplicable, full)
	}
	return nil
}

func (r *policyReader) filesystem(v any) error {
	f := &r.p.FS
	return r.object("filesystem", v, nil, func(key string, v any) (bool, error) {
		path := "filesystem." + key
		var list *[]Pattern
		switch key {
		case "denyRead":
			list = &f.DenyRead
		case "allowRead":
			list = &f.AllowRead
		case "allowWrite":
			list = &f.AllowWrite
		case "denyWrite":
			list = &f.DenyWrite
		case "allowGitConfig":
			return true, boolean(path, v, &f.AllowGitConfig)
		case "disabled":
			var off bool
			if err := boolean(path, v, &off); err != nil {
				return true, err
			}
			if off {
				return true, badPolicy(path, "the file policy can't be switched off; allow what is needed instead")
			}
			return true, nil
		default:
			return false, nil
		}
		texts, err := pathTexts(path, v)
		if err != nil {
			return true, err
		}
		ps, err := parsePatterns(path, texts, strings.HasPrefix(key, "deny"), r.o)
		*list = append(*list, ps...)
		return true, err
	})
}

func (r *policyReader) network(v any) error {
	n := &r.p.Net
	return r.object("network", v, osNetwork, func(key string, v any) (known bool, err error) {
		path := "network." + key
		switch key {
		case "allowedDomains", "deniedDomains":
			texts, err := strs(path, v)
			if err != nil {
				return true, err
			}
			if key == "deniedDomains" {
				n.Denied, err = parseHosts(path, texts, true, r.o)
			} else {
				n.Allowed, err = parseHosts(path, texts, false, r.o)
			}
			return true, err
		case "deniedResolvedAddresses":
			texts, err := strs(path, v)
			if err != nil {
				return true, err
			}
			for _, text := range texts {
				a, err := parseRange(text)
				if err != nil {
					return true, badPolicy(path, "%s is no IP address and no CIDR range", quote(text))
				}
				n.DeniedAddresses = append(n.DeniedAddresses, a)
			}
			return true, nil
		case "strictAllowlist":
			return true, boolean(path, v, &n.StrictAllowlist)
		case "deniedDomainReasons":
			m, ok := v.(map[string]any)
			if !ok {
				return true, badPolicy(path, "must be an object")
			}
			n.Reasons = map[string]string{}
			for k, why := range m {
				if n.Reasons[k], ok = why.(string); !ok || why == "" {
					return true, badPolicy(path, "%s must be a text", quote(k))
				}
			}
			return true, nil
		}
		return false, nil
	})
}

// credentials adds files of the modes deny and mask to the Credentials: a page cannot mask the
// content of a file, so both are denied. Environment variables do not exist in a page.
func (r *policyReader) credentials(v any) error {
	return r.object("credentials", v, osCredentials, func(key string, v any) (bool, error) {
		if key != "files" {
			return false, nil
		}
		list, ok := v.([]any)
		if !ok {
			return true, badPolicy("credentials.files", "must be an array")
		}
		for i, item := range list {
			path := "credentials.files" + strictjson.Element(i)
			m, _ := item.(map[string]any)
			text, ok := m["path"].(string)
			if mode := m["mode"]; !ok || mode != "deny" && mode != "mask" {
				return true, badPolicy(path, `must be an object with a path and the mode "deny" or "mask"`)
			}
			ps, err := parsePatterns(path, []string{text}, true, r.o)
			if err != nil {
				return true, err
			}
			// A file that may not be read may also not be replaced, so Credentials deny writing
			// too.
			r.p.FS.Credentials = append(r.p.FS.Credentials, ps...)
			for _, k := range sortedKeys(m) {
				switch k {
				case "path", "mode":
				case "extract", "onExtractNoMatch", "decode", "maskClaims", "maskDuplicates", "injectHosts":
					r.p.Inapplicable = append(r.p.Inapplicable, path+"."+k)
				default:
					return true, badPolicy(path+"."+k, "unknown key")
				}
			}
		}
		return true, nil
	})
}

func (r *policyReader) capabilities(v any) error {
	return r.object("capabilities", v, nil, func(key string, v any) (bool, error) {
		path := "capabilities." + key
		c, err := ParseCapability(key)
		if err != nil {
			return true, badPolicy(path, "unknown capability")
		}
		if c.ScopeKind() == ScopeNone {
			var on bool
			if err := boolean(path, v, &on); err != nil || !on {
				return true, err
			}
			r.p.Grants = append(r.p.Grants, Grant{Capability: c})
			return true, nil
		}
		texts, err := strs(path, v)
		if err != nil {
			return true, err
		}
		g := Grant{Capability: c}
		for _, text := range texts {
			full, err := r.o.expand(c.ScopeKind(), text)
			if err != nil {
				return true, err
			}
			g.Scope = append(g.Scope, full)
		}
		if _, err := NewAuthority(g); err != nil {
			return true, err
		}
		r.p.Grants = append(r.p.Grants, g)
		return true, nil
	})
}

func (r *policyReader) rules(v any) error {
	list, ok := v.([]any)
	if !ok {
		return badPolicy("rules", "must be an array")
	}
	if len(list) > MaxPatterns {
		return badPolicy("rules", "has more than %d rules", MaxPatterns)
	}
	for i, item := range list {
		path := "rules" + strictjson.Element(i)
		var rule Rule
		if err := Unmarshal(item, &rule); err != nil {
			return badPolicy(path, "%s", err.Error())
		}
		c, _ := ParseCapability(rule.Permission)
		full, err := r.o.expand(c.ScopeKind(), rule.Pattern)
		if err != nil {
			return err
		}
		rule.Pattern = full
		if err := rule.Validate(); err != nil {
			return err
		}
		r.p.Rules = append(r.p.Rules, rule)
	}
	return nil
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func boolean(path string, v any, to *bool) error {
	b, ok := v.(bool)
	if !ok {
		return badPolicy(path, "must be true or false")
	}
	*to = b
	return nil
}

func strs(path string, v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, badPolicy(path, "must be an array of texts")
	}
	out := make([]string, 0, len(list))
	for i, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, badPolicy(path+"["+strconv.Itoa(i)+"]", "must be a text")
		}
		out = append(out, s)
	}
	return out, nil
}

// pathTexts is strs for lists that may also contain {"path": "a.txt", "literal": true}, a path
// without wildcards. A path with the character of a wildcard is an error there.
func pathTexts(path string, v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, badPolicy(path, "must be an array of texts")
	}
	plain := make([]any, len(list))
	for i, item := range list {
		plain[i] = item
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		at := path + strictjson.Element(i)
		name, ok := m["path"].(string)
		if literal, _ := m["literal"].(bool); !ok || !literal || len(m) != 2 {
			return nil, badPolicy(at, `must be a text, or an object with a path and "literal": true`)
		}
		if strings.ContainsAny(name, "*?[]") {
			return nil, badPolicy(at, "%s holds a wildcard's character; write it as a class of one, such as [*]", quote(name))
		}
		plain[i] = name
	}
	return strs(path, plain)
}
