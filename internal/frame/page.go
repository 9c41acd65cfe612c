package frame

import (
	"html"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx/trust"
)

// Sandbox is the sandbox attribute of every frame. It permits our own scripts and nothing else.
// Without allow-same-origin the origin of a frame is opaque.
const Sandbox = "allow-scripts"

// Allow is the allow attribute of every frame. It disables all features that ask the user, take
// over the screen or measure the machine.
const Allow = "accelerometer 'none'; autoplay 'none'; " +
	"camera 'none'; clipboard-read 'none'; clipboard-write 'none'; display-capture 'none'; encrypted-media 'none'; " +
	"fullscreen 'none'; gamepad 'none'; geolocation 'none'; gyroscope 'none'; hid 'none'; identity-credentials-get 'none'; " +
	"idle-detection 'none'; local-fonts 'none'; magnetometer 'none'; microphone 'none'; midi 'none'; payment 'none'; " +
	"picture-in-picture 'none'; publickey-credentials-get 'none'; screen-wake-lock 'none'; serial 'none'; " +
	"storage-access 'none'; usb 'none'; window-management 'none'; xr-spatial-tracking 'none'"

// DocumentPage describes the frames of a document.
type DocumentPage struct {
	Label      string // accessible name of both frames
	Lang       string // BCP 47, or "" for unknown
	PolicyName string // Trusted Types policy to make inside the inner frame
	Opens      bool   // code has a button that opens it as a file
}

// documentPolicy returns the policy of a document's outer frame, which the inner one inherits.
// frame-src 'none' still permits srcdoc, and prevents navigation of the inner frame. style-src
// stays 'none', because our styles are constructed style sheets.
func documentPolicy() string {
	return "default-src 'none'; script-src " + outerScript.Hash() + " " + documentScript.Hash() +
		"; img-src data:; base-uri 'none'; form-action 'none'; frame-src 'none'"
}

// Srcdoc returns the srcdoc of the outer frame: the policy, the outer script, and the inner
// frame with its own srcdoc.
func (p DocumentPage) Srcdoc() trust.HTML {
	return trust.AuthoredHTML(outerPage(documentPolicy(), p.Label, p.Lang, p.inner()))
}

func (p DocumentPage) inner() string {
	var b strings.Builder
	head(&b, "", p.Lang, p.Label)
	b.WriteString(`<template id="css">`)
	b.WriteString(documentCSS)
	b.WriteString(`</template><div id="root" data-policy="`)
	b.WriteString(html.EscapeString(p.PolicyName))
	b.WriteString(`"`)
	if p.Opens {
		b.WriteString(` data-opens=""`)
	}
	b.WriteString(`></div><script>`)
	b.WriteString(documentScript.Text())
	b.WriteString(`</script>`)
	return b.String()
}

func outerPage(policy, label, lang, inner string) string {
	var b strings.Builder
	head(&b, policy, lang, label)
	b.WriteString(`<script>`)
	b.WriteString(outerScript.Text())
	b.WriteString(`</script><iframe sandbox="` + Sandbox + `" referrerpolicy="no-referrer" allow="` + Allow + `" title="`)
	b.WriteString(html.EscapeString(label))
	b.WriteString(`" srcdoc="`)
	b.WriteString(html.EscapeString(inner))
	b.WriteString(`"></iframe>`)
	return b.String()
}

// head writes the start of a page, before a frame's own content. The policy comes before
// everything else, because it applies only to content parsed after it.
func head(b *strings.Builder, policy, lang, label string) {
	b.WriteString(`<!doctype html><html`)
	if lang != "" {
		b.WriteString(` lang="`)
		b.WriteString(html.EscapeString(lang))
		b.WriteString(`"`)
	}
	b.WriteString(`>`)
	if policy != "" {
		b.WriteString(`<meta http-equiv="Content-Security-Policy" content="`)
		b.WriteString(html.EscapeString(policy))
		b.WriteString(`">`)
	}
	b.WriteString(`<meta charset="utf-8"><title>`)
	b.WriteString(html.EscapeString(label))
	b.WriteString(`</title>`)
}
