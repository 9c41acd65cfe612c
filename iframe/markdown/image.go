package markdown

import (
	"encoding/base64"
	"strings"

	"github.com/bailey-go/bailey/iframe/internal/raster"
)

// imageScheme is the scheme for images stored by the host, such as bailey-image:chart-1. The frame
// requests them by their whole address, and the host decides.
const imageScheme = "bailey-image"

const maxImageName = 4000 // bytes of the address of an image that is requested from the host

// resolveImage resolves an image's address. It returns a data: URL in src, or in name the address to
// request from the host. If both are "", only the alternative text is shown, and why is the
// reason for the report.
func resolveImage(dest string, l *Limits) (src, name, why string) {
	s := strings.TrimFunc(dest, func(c rune) bool { return c <= ' ' })
	if len(s) >= 5 && strings.EqualFold(s[:5], "data:") {
		src, why = dataImage(s, l.ImageBytes)
		return src, "", why
	}
	s = unbroken.Replace(s)
	if s == "" {
		return "", "", ""
	}
	scheme, _ := splitScheme(s)
	switch scheme {
	case "", "http", "https", imageScheme:
	default:
		return "", "", scheme
	}
	if name = percent(s, "'"); !goodImageName(name) {
		return "", "", "too long"
	}
	return "", name, ""
}

func goodImageName(s string) bool {
	if s == "" || len(s) > maxImageName {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || strings.IndexByte("\"'<>`", s[i]) >= 0 {
			return false
		}
	}
	scheme, _ := splitScheme(s)
	return scheme == "" || scheme == "http" || scheme == "https" || scheme == imageScheme
}

// dataImage returns a data: URL written again from its bytes. The declared type and the first
// bytes must name the same raster format. It has at most most bytes.
func dataImage(s string, most int) (src, why string) {
	head, body, ok := strings.Cut(s[len("data:"):], ",")
	if !ok || len(head) > 100 {
		return "", "malformed data"
	}
	params := strings.Split(strings.ToLower(head), ";")
	if strings.TrimSpace(params[len(params)-1]) != "base64" {
		return "", "data that is not base64"
	}
	kind := strings.TrimSpace(params[0])
	if kind == "image/jpg" {
		kind = "image/jpeg"
	}
	if len(body) > 2*most+1000 {
		return "", "too large"
	}
	body = strings.NewReplacer(" ", "", "\n", "", "\t", "", "%2B", "+", "%2b", "+", "%2F", "/", "%2f", "/", "%3D", "=", "%3d", "=").Replace(body)
	body = strings.TrimRight(body, "=")
	data, err := base64.RawStdEncoding.DecodeString(body)
	switch {
	case err != nil:
		return "", "malformed data"
	case len(data) > most:
		return "", "too large"
	case raster.Type(data) == "" || raster.Type(data) != kind:
		return "", "data that is not of its type"
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), ""
}

// goodDataImage reports whether s may be the value of src. It is the last check and shares no
// code with dataImage.
func goodDataImage(s string) bool {
	for _, kind := range [...]string{"png", "jpeg", "gif", "webp", "avif"} {
		if body, ok := strings.CutPrefix(s, "data:image/"+kind+";base64,"); ok {
			for i := range len(body) {
				if c := body[i]; !isLetter(c) && !isDigit(c) && c != '+' && c != '/' && c != '=' {
					return false
				}
			}
			return body != ""
		}
	}
	return false
}
