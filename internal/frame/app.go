package frame

import (
	_ "embed" // for the scripts
	"html"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx/trust"
)

// appSandbox is the sandbox attribute of the frames of an MCP App. Without allow-forms a form would
// have no submit event. The policy keeps it from being sent.
const appSandbox = Sandbox + " allow-forms"

// AppHello is the message that the outer frame of an MCP App posts to the host, with a port.
const AppHello = "bailey-app"

// AppPage describes the frames of an MCP App.
type AppPage struct {
	Label      string   // accessible name of both frames
	PolicyName string   // Trusted Types policy to make inside the inner frame
	Connect    []string // origins of fetch and sockets
	Resources  []string // origins of scripts, styles, images, fonts and media

	Off []Layer // layers that an attack test leaves out: LayerPolicy and LayerFrames
}

// policy returns the policy of the outer frame, which the inner one inherits. The page's own policy
// is inherited too, so the app never has more than the page.
func (p AppPage) policy() string {
	if slices.Contains(p.Off, LayerPolicy) {
		return appOpenPolicy
	}
	return appPolicy(appouterScript.Hash()+" "+appScript.Hash(), p.Resources, p.Connect) + "; worker-src 'none'; base-uri 'none'; form-action 'none'; frame-src 'none'"
}

// appOpenPolicy is the policy of an app's frame without layer 1.
const appOpenPolicy = "default-src * 'unsafe-inline' 'unsafe-eval' data: blob:"

// appPolicy returns the directives that the policies of both modes have.
func appPolicy(scripts string, resources, connect []string) string {
	more := ""
	if len(resources) > 0 {
		more = " " + strings.Join(resources, " ")
	}
	return "default-src 'none'; script-src " + scripts + " blob:" + more + "; style-src 'unsafe-inline'" + more + "; img-src data: blob:" + more +
		"; font-src data:" + more + "; media-src data: blob:" + more + "; connect-src " + orNone(connect)
}

func orNone(sources []string) string {
	if len(sources) == 0 {
		return "'none'"
	}
	return strings.Join(sources, " ")
}

// Sandbox returns the sandbox attribute of both frames.
func (p AppPage) Sandbox() string {
	if slices.Contains(p.Off, LayerFrames) {
		return appSandbox + " allow-same-origin allow-popups allow-top-navigation allow-modals allow-downloads"
	}
	return appSandbox
}

// Srcdoc returns the srcdoc of the outer frame, with the inner one. The page of the app is not in it:
// the host sends it through the port.
func (p AppPage) Srcdoc() trust.HTML {
	var inner, b strings.Builder
	inner.WriteString(`<!doctype html><html data-policy="` + html.EscapeString(p.PolicyName) + `"><meta charset="utf-8"><title></title><script>`)
	inner.WriteString(appScript.Text())
	inner.WriteString(`</script>`)
	head(&b, p.policy(), "", p.Label)
	b.WriteString(`<script>`)
	b.WriteString(appouterScript.Text())
	b.WriteString(`</script><iframe sandbox="` + p.Sandbox() + `" referrerpolicy="no-referrer" allow="` + Allow + `" title="`)
	b.WriteString(html.EscapeString(p.Label))
	b.WriteString(`" srcdoc="`)
	b.WriteString(html.EscapeString(inner.String()))
	b.WriteString(`"></iframe>`)
	return trust.AuthoredHTML(b.String())
}
