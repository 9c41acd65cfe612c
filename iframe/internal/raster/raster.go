// Package raster recognises the image formats that a frame may show. It reads signatures alone, and
// decodes nothing.
package raster

// Type returns the MIME type of an image, or "" if it is unknown. It uses the signatures of
// the WHATWG MIME Sniffing Standard, 6.1, and for AVIF those of ISO/IEC 23008-12.
func Type(b []byte) string {
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
