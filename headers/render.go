package headers

import (
	"errors"
	"strconv"
	"strings"
)

// servers are the names that Render accepts.
const servers = "nginx, caddy, apache, netlify, go, json"

// Render returns h as configuration for a server: "nginx", "caddy", "apache", "netlify", "go" or "json". For nginx, Caddy and Apache it adds the other
// settings of a built page: the compressed forms, WebAssembly's type, and long caching for
// files that are named by their content. For Netlify it adds only the type. A value that the
// server's syntax can't express is an error, and so is an unknown server.
func (h Headers) Render(server string) (string, error) {
	if err := h.Validate(); err != nil {
		return "", err
	}
	switch server {
	case "nginx":
		return nginx(h.List())
	case "caddy":
		return caddy(h.List())
	case "apache":
		return apache(h.List()), nil
	case "netlify":
		return netlify(h.List()), nil
	case "go":
		return golang(h.List()), nil
	case "json":
		return jsonObject(h.List()), nil
	}
	return "", errors.New(strconv.Quote(server) + " is not a known server; use one of " + servers)
}

// quoted returns v as a double-quoted word, with the escapes that nginx, Caddy and Apache
// share.
func quoted(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
}

func nginx(list []Header) (string, error) {
	var b strings.Builder
	b.WriteString(`# Inside server { }. A location with an add_header of its own inherits none of
# these: repeat them there.
`)
	for _, h := range list {
		if strings.Contains(h.Value, "$") {
			return "", errors.New("nginx: " + h.Name + " holds $, which nginx reads as a variable and cannot escape")
		}
		b.WriteString("add_header " + h.Name + " " + quoted(h.Value) + " always;\n")
	}
	b.WriteString(`
types { application/wasm wasm; text/javascript js mjs; text/html html; text/css css; application/json json;
        image/svg+xml svg; image/png png; image/jpeg jpg jpeg; image/webp webp; text/plain txt md; }
gzip_static on;
# brotli_static on;  # with ngx_brotli
expires -1;
location ~ "\.[0-9a-f]+\.(wasm|js)$" { expires 1y; }
location ~ "(^|/)(\.|headers\.json$)" { return 404; }
`)
	return b.String(), nil
}

func caddy(list []Header) (string, error) {
	var b strings.Builder
	b.WriteString("# Inside the site's block.\nheader {\n")
	for _, h := range list {
		if strings.ContainsAny(h.Value, "{}") {
			return "", errors.New("caddy: " + h.Name + " holds a brace, which Caddy reads as a placeholder")
		}
		b.WriteString("\t" + h.Name + " " + quoted(h.Value) + "\n")
	}
	// Caddy sorts directives, so two rules for one header can't rely on their order.
	b.WriteString(`}
@named path_regexp \.[0-9a-f]+\.(wasm|js)$
header @named Cache-Control "public, max-age=31536000, immutable"
@other not path_regexp \.[0-9a-f]+\.(wasm|js)$
header @other Cache-Control "no-cache"
@private path_regexp (^|/)(\.|headers\.json$)
respond @private 404
file_server {
	precompressed br gzip
}
`)
	return b.String(), nil
}

func apache(list []Header) string {
	var b strings.Builder
	b.WriteString("# Needs mod_headers, mod_rewrite and mod_mime. For <Directory>, or .htaccess.\n")
	for _, h := range list {
		v := strings.ReplaceAll(h.Value, "%", "%%") // % begins a format
		b.WriteString("Header always set " + h.Name + " " + quoted(v) + "\n")
	}
	b.WriteString(`Header always set Cache-Control "no-cache"
<FilesMatch "\.[0-9a-f]+\.(wasm|js)(\.br|\.gz)?$">
	Header always set Cache-Control "public, max-age=31536000, immutable"
</FilesMatch>
<FilesMatch "^(\.|headers\.json$)">
	Require all denied
</FilesMatch>
AddType application/wasm .wasm
AddType text/javascript .js .mjs
RewriteEngine On
RewriteCond %{HTTP:Accept-Encoding} \bbr\b
RewriteCond %{REQUEST_FILENAME}.br -f
RewriteRule ^(.*)$ $1.br [L]
RewriteCond %{HTTP:Accept-Encoding} \bgzip\b
RewriteCond %{REQUEST_FILENAME}.gz -f
RewriteRule ^(.*)$ $1.gz [L]
AddEncoding br .br
AddEncoding gzip .gz
RemoveType .gz
RemoveLanguage .br
Header append Vary Accept-Encoding
`)
	return b.String()
}

func netlify(list []Header) string {
	var b strings.Builder
	b.WriteString("# The file _headers. Netlify compresses by itself.\n/*\n")
	for _, h := range list {
		b.WriteString("  " + h.Name + ": " + h.Value + "\n")
	}
	b.WriteString(`/*.wasm
  Content-Type: application/wasm
`)
	return b.String()
}

func golang(list []Header) string {
	var b strings.Builder
	b.WriteString(`package page

import "net/http"

// withHeaders sends the page's headers with every answer of next.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
`)
	for _, h := range list {
		b.WriteString("\t\th.Set(" + strconv.Quote(h.Name) + ", " + strconv.Quote(h.Value) + ")\n")
	}
	b.WriteString("\t\tnext.ServeHTTP(w, r)\n\t})\n}\n")
	return b.String()
}

// jsonObject returns list as JSON without an encoder: header values are printable ASCII, for
// which the quoting of Go and JSON is the same.
func jsonObject(list []Header) string {
	var b strings.Builder
	b.WriteString("{\n")
	for i, h := range list {
		end := ",\n"
		if i == len(list)-1 {
			end = "\n"
		}
		b.WriteString("  " + strconv.Quote(h.Name) + ": " + strconv.Quote(h.Value) + end)
	}
	b.WriteString("}\n")
	return b.String()
}
