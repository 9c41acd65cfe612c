package frame

import (
	_ "embed" // for the script
	"hash/fnv"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
)

//go:embed proxy.js
var proxyText string

// ProxyMethod is the beginning of the methods that only a host and its sandbox proxy say to each other.
const ProxyMethod = "ui/notifications/sandbox-"

// ProxySandbox is the sandbox attribute of the frame with a sandbox proxy, which has an origin of its
// own. The frame of the app in it has none.
const ProxySandbox = appSandbox + " allow-same-origin"

// AppFeatures are the features of the browser that an app may declare and the user agree to.
func AppFeatures() []string {
	return []string{"camera", "clipboard-write", "geolocation", "microphone"}
}

// AllowOnly returns the allow attribute of a frame whose pages of an origin may use some features.
func AllowOnly(features []string, origin string) string {
	allow := Allow
	for _, f := range features {
		allow = strings.Replace(allow, f+" 'none'", f+" "+origin, 1)
	}
	return allow
}

// ProxyPage describes the sandbox proxy of MCP Apps, which a server sends from an origin of its own.
type ProxyPage struct {
	Hosts                      []string // origins of the pages around it
	Connect, Resources, Frames []string // origins: the most that an app can have
	Features                   []string // of AppFeatures, the same

	Off []Layer // layers that an attack test leaves out: LayerPolicy and LayerFrames
}

// Policy returns the policy of the proxy. It is the widest that an app can have, because the app inherits
// it. The proxy adds one for each app.
func (p ProxyPage) Policy() string {
	if slices.Contains(p.Off, LayerPolicy) {
		return appOpenPolicy
	}
	return appPolicy("'unsafe-inline'", p.Resources, p.Connect) + "; worker-src blob:; frame-src " + orNone(p.Frames) +
		"; object-src 'none'; base-uri " + orNone(slices.Concat(p.Connect, p.Resources)) + "; form-action 'none'"
}

// HTML returns the page and its digest.
func (p ProxyPage) HTML() (page, digest string) {
	var names []string
	for item := range strings.SplitSeq(Allow, ";") {
		name, _, _ := strings.Cut(strings.TrimSpace(item), " ")
		names = append(names, name)
	}
	sandbox := appSandbox
	if slices.Contains(p.Off, LayerFrames) {
		sandbox = AppPage{Off: p.Off}.Sandbox()
	}
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=\"en\"")
	for _, data := range [][2]string{{"hosts", strings.Join(p.Hosts, " ")}, {"sandbox", sandbox}, {"permissions", strings.Join(p.Features, " ")}, {"features", strings.Join(names, " ")}} {
		b.WriteString(` data-` + data[0] + `="` + html.EscapeString(data[1]) + `"`)
	}
	b.WriteString(`><meta http-equiv="Content-Security-Policy" content="` + html.EscapeString(p.Policy()) + `"><meta charset="utf-8"><title>App</title><body><script>`)
	b.WriteString(compact(proxyText))
	b.WriteString("</script></body></html>\n")
	h := fnv.New64a()
	_, _ = io.WriteString(h, b.String())
	return b.String(), strconv.FormatUint(h.Sum64(), 36)
}

// Within returns the policies that leave an app in a proxy no host that the page's own policies don't
// list for the same kind of load. policies is the value of the page's Content-Security-Policy, or of
// several with a comma between them. origin is the page's.
//
// Keywords, hashes and nonces are about the page's own code. The app's is inline, in an origin that is
// not the page's.
func Within(policies, origin string) []string {
	var out []string
	for policy := range strings.SplitSeq(policies, ",") {
		page := map[string][]string{}
		for d := range strings.SplitSeq(policy, ";") {
			words := strings.Fields(d)
			if len(words) == 0 {
				continue
			}
			if name := strings.ToLower(words[0]); page[name] == nil {
				page[name] = append([]string{}, words[1:]...)
			}
		}
		var list []string
		for _, kind := range withinKinds {
			i := slices.IndexFunc(kind.from, func(name string) bool { return page[name] != nil })
			if i < 0 {
				continue
			}
			sources := kind.own
			for _, s := range page[kind.from[i]] {
				if strings.EqualFold(s, "'self'") {
					s = origin
				}
				if !strings.HasPrefix(s, "'") {
					sources += " " + s
				}
			}
			if sources == "" {
				sources = " 'none'"
			}
			list = append(list, kind.name+sources)
		}
		if len(list) > 0 {
			out = append(out, strings.Join(list, "; "))
		}
	}
	return out
}

// withinKinds are the kinds of loads with a host: their directive, the page's directives of which the
// first one applies, and the sources that every app has.
var withinKinds = []struct {
	name string
	from []string
	own  string
}{
	{"script-src", []string{"script-src-elem", "script-src", "default-src"}, " 'unsafe-inline' blob:"},
	{"style-src", []string{"style-src-elem", "style-src", "default-src"}, " 'unsafe-inline'"},
	{"img-src", []string{"img-src", "default-src"}, " data: blob:"},
	{"font-src", []string{"font-src", "default-src"}, " data:"},
	{"media-src", []string{"media-src", "default-src"}, " data: blob:"},
	{"connect-src", []string{"connect-src", "default-src"}, ""},
	{"frame-src", []string{"frame-src", "child-src", "default-src"}, ""},
}
