package iframe

import (
	"encoding/base64"
	"fmt"
)

// ImageRequest is a request for an image that the text refers to.
type ImageRequest struct {
	Section string // ID of the section with the image
	URL     string // as in the text: a name, a path or a web address. Not to be trusted
}

// imageURL returns a data: URL for an image. The first bytes must be those of a raster format.
// SVG is refused, because it may contain scripts and links.
func imageURL(data []byte, limit int) (string, error) {
	if len(data) > limit {
		return "", fmt.Errorf("iframe: image of %d bytes: more than MaxImage, %d", len(data), limit)
	}
	kind := sniffImage(data)
	if kind == "" {
		return "", fmt.Errorf("iframe: image of %d bytes is not PNG, JPEG, GIF, WebP or AVIF", len(data))
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

// sniffImage returns the MIME type of an image, or "" if it is unknown. It uses the signatures
// of the WHATWG MIME Sniffing Standard, 6.1, and for AVIF those of ISO/IEC 23008-12.
func sniffImage(b []byte) string {
	has := func(at int, s string) bool { return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s }
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case has(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return "image/gif"
	case has(0, "RIFF") && has(8, "WEBPVP"):
		return "image/webp"
	case has(4, "ftypavif"), has(4, "ftypavis"):
		return "image/avif"
	}
	return ""
}
