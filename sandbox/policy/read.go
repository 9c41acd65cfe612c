package policy

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// Policy is a policy for files, hosts, capabilities and calls. It consists of the two sections of
// sandbox-runtime's settings and of Bailey's own grants and rules. [Parse] reads one from JSON.
type Policy struct {
	FS     protocol.FSPolicy
	Net    NetPolicy
	Grants []protocol.Grant
	Rules  Rules

	// Send limits the text of the folder's files that may be sent to a model.
	Send SendPolicy
	// Level and Limits are for enclaves. Zero fields of Limits take the values of Level.
	Level  protocol.Level
	Limits protocol.Limits

	// Page lists what the page itself uses, beside the hosts and features of Grants. Its Connect are
	// hosts of the app, such as the model's provider. No tool may reach them for that.
	Page headers.Use

	// Inapplicable lists, in order, the parts of the JSON that are known but have no meaning here, so
	// that an app can show them to the user: keys for an operating system, and paths outside of the
	// folder, such as `filesystem.allowWrite "/tmp" is outside the folder`.
	Inapplicable []string
}

// Options are the options of [Parse].
type Options struct {
	// Vars are the variables for patterns. A policy that uses a variable which is not set or empty
	// is an error.
	Vars map[string]string
	// Mount is the absolute path of the folder in the policy, such as "/workspace". In the sections
	// filesystem and credentials a path outside of it is listed in [Policy.Inapplicable], and ~ is
	// Vars["HOME"]. If it can't be known whether a path is outside, because Mount or the variable is
	// missing, a permission does not apply, and a denial applies to the same path in the folder. In
	// other sections such patterns are errors.
	Mount string
}

// read returns the policy of a JSON text and the tree of the text, without what [Parse] derives.
func read(text string, opts Options) (*Policy, map[string]any, error) {
	v, err := protocol.ParseJSON(text, protocol.JSONLimits{})
	if err != nil {
		return nil, nil, &protocol.Error{Code: protocol.CodeOf(err), Op: "policy", Message: err.Error(), Err: err}
	}
	p := &Policy{}
	r := policyReader{p: p, o: &opts}
	if err := r.read(v); err != nil {
		return nil, nil, err
	}
	slices.Sort(p.Inapplicable)
	tree, _ := v.(map[string]any)
	return p, tree, nil
}

type policyReader struct {
	p *Policy
	o *Options
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
	return protocol.Errorf(protocol.ErrInvalidParams, "policy", path, format, args...)
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
		case "page":
			if err := protocol.Unmarshal(v, &r.p.Page); err != nil {
				return true, badPolicy("page", "%s", err.Error())
			}
			return true, nil
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
	for _, key := range slices.Sorted(maps.Keys(m)) {
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
		var list *[]protocol.Pattern
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
		ps, err := r.placed(path, texts, strings.HasPrefix(key, "deny"))
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
					return true, badPolicy(path, "%s is no IP address and no CIDR range", strictjson.Quote(text))
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
					return true, badPolicy(path, "%s must be a text", strictjson.Quote(k))
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
			ps, err := r.placed(path, []string{text}, true)
			if err != nil {
				return true, err
			}
			// A file that may not be read may also not be replaced, so Credentials deny writing
			// too.
			r.p.FS.Credentials = append(r.p.FS.Credentials, ps...)
			for _, k := range slices.Sorted(maps.Keys(m)) {
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
		c, err := protocol.ParseCapability(key)
		if err != nil {
			return true, badPolicy(path, "unknown capability")
		}
		if !c.TakesScope() {
			var on bool
			if err := boolean(path, v, &on); err != nil || !on {
				return true, err
			}
			r.p.Grants = append(r.p.Grants, protocol.Grant{Capability: c})
			return true, nil
		}
		texts, err := strs(path, v)
		if err != nil {
			return true, err
		}
		g := protocol.Grant{Capability: c}
		for _, text := range texts {
			full, err := r.o.expand(c, text)
			if err != nil {
				return true, err
			}
			g.Scope = append(g.Scope, full)
		}
		if _, err := protocol.NewAuthority(g); err != nil {
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
	if len(list) > maxEntries {
		return badPolicy("rules", "has more than %d rules", maxEntries)
	}
	for i, item := range list {
		path := "rules" + strictjson.Element(i)
		var rule Rule
		if err := protocol.Unmarshal(item, &rule); err != nil {
			return badPolicy(path, "%s", err.Error())
		}
		c, _ := protocol.ParseCapability(rule.Permission)
		full, err := r.o.expand(c, rule.Pattern)
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
			return nil, badPolicy(at, "%s holds a wildcard's character; write it as a class of one, such as [*]", strictjson.Quote(name))
		}
		plain[i] = name
	}
	return strs(path, plain)
}

func (r *policyReader) send(v any) error {
	s := &r.p.Send
	return r.object("send", v, nil, func(key string, v any) (bool, error) {
		path := "send." + key
		var list *[]protocol.Pattern
		switch key {
		case "default":
			text, _ := v.(string)
			if s.Default = Send(text); !s.Default.Valid() {
				return true, badPolicy(path, `must be "contents", "summary" or "nothing"`)
			}
			return true, nil
		case "above":
			n, ok := v.(float64)
			if !ok || n != float64(int(n)) || n < minAbove || n > maxAbove {
				return true, badPolicy(path, "must be a whole number of bytes, from %d to %d", minAbove, maxAbove)
			}
			s.Above = int(n)
			return true, nil
		case "contents":
			list = &s.Contents
		case "summaries":
			list = &s.Summaries
		case "nothing":
			list = &s.Nothing
		default:
			return false, nil
		}
		texts, err := strs(path, v)
		if err != nil {
			return true, err
		}
		*list, err = parsePatterns(path, texts, key != "contents", r.o)
		return true, err
	})
}

func (r *policyReader) enclave(v any) error {
	return r.object("enclave", v, nil, func(key string, v any) (bool, error) {
		switch key {
		case "level":
			text, _ := v.(string)
			l, err := protocol.ParseLevel(text)
			r.p.Level = l
			return true, err
		case "limits":
			return true, r.limits(v)
		}
		return false, nil
	})
}

func (r *policyReader) limits(v any) error {
	err := r.object("enclave.limits", v, nil, func(key string, v any) (bool, error) {
		n, ok := v.(float64)
		limits, known := r.p.Limits.With(key, int64(n))
		if !known {
			return false, nil
		}
		if !ok || n != float64(int64(n)) || n < 1 || n > 1<<40 {
			return true, badPolicy("enclave.limits."+key, "must be a whole number, more than 0; times are milliseconds")
		}
		r.p.Limits = limits
		return true, nil
	})
	if err != nil {
		return err
	}
	return r.p.Limits.Validate()
}
