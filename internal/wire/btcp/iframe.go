package btcp

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/wire/members"
	"github.com/bailey-go/bailey/protocol"
)

// IframeConfig is the configuration of BTCP's iframe sandbox:
//
//	{"config": {"sandbox": "iframe", "iframeOptions": {"sandbox": "allow-scripts", "csp": {"default-src": "'none'"}}}}
//
// It can only narrow the policy that an enclave has anyway.
type IframeConfig struct {
	CSP map[string][]string // the sources of each directive
}

// ParseIframeConfig returns the configuration of a JSON text. Every flag except allow-scripts is an
// error. The most dangerous is allow-same-origin, which next to allow-scripts disables the sandbox.
func ParseIframeConfig(text string) (IframeConfig, error) {
	r, err := members.Open("iframe config", text, protocol.JSONLimits{Bytes: 64 << 10, Depth: 8})
	if err != nil {
		return IframeConfig{}, err
	}
	var c IframeConfig
	config := r.Object("config")
	if kind := config.Text("sandbox", 32); kind != "iframe" {
		config.Fail("sandbox", "must be iframe")
	}
	if config.Has("iframeOptions") {
		o := config.Object("iframeOptions")
		if o.Has("sandbox") {
			for _, f := range strings.Fields(o.Text("sandbox", 256)) {
				if f != "allow-scripts" {
					o.Fail("sandbox", "the flag "+f+" would widen the sandbox; only allow-scripts is taken")
				}
			}
		}
		if o.Has("csp") {
			csp := o.Object("csp")
			c.CSP = map[string][]string{}
			for _, name := range csp.Keys() {
				sources := csp.Text(name, 4096)
				if strings.ContainsAny(sources, ";,\r\n") || !directiveName(name) {
					csp.Fail(name, "is not a directive with its sources")
				}
				c.CSP[name] = strings.Fields(strings.ToLower(sources))
			}
			o.Close(csp)
		}
		config.Close(o)
	}
	r.Close(config)
	return c, r.Done()
}

func directiveName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// Narrow returns base, the policy of the enclave, narrowed by the configuration. Both map
// directives to their sources. A directive that base lacks falls back to its default-src. A source
// that base does not have gives [protocol.ErrCapabilityDenied]. 'unsafe-inline', which the
// dialect's own example has for scripts and styles, is left out: Bailey's scripts run by their
// hashes, so it would grant nothing.
func (c IframeConfig) Narrow(base map[string][]string) (map[string][]string, error) {
	out := map[string][]string{}
	for name, sources := range base {
		out[name] = slices.Clone(sources)
	}
	names := make([]string, 0, len(c.CSP))
	for name := range c.CSP {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if name == "script-src" || name == "script-src-elem" || name == "worker-src" || name == "default-src" {
			// These directives load the enclave itself. They may be named, but are not changed.
			if err := c.within(name, base); err != nil {
				return nil, err
			}
			continue
		}
		if err := c.within(name, base); err != nil {
			return nil, err
		}
		kept := slices.DeleteFunc(slices.Clone(c.CSP[name]), inert)
		if len(kept) == 0 {
			kept = []string{"'none'"}
		}
		out[name] = kept
	}
	return out, nil
}

func inert(source string) bool { return source == "'unsafe-inline'" || source == "'none'" }

func (c IframeConfig) within(name string, base map[string][]string) error {
	has, ok := base[name]
	if !ok {
		has = base["default-src"]
	}
	for _, source := range c.CSP[name] {
		if !inert(source) && !slices.Contains(has, source) {
			return protocol.Errorf(protocol.ErrCapabilityDenied, "csp", name, "the source %s would widen the enclave's policy", source)
		}
	}
	return nil
}
