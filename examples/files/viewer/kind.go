package viewer

import (
	"bytes"
	"encoding/binary"
	"path"
	"strings"
	"unicode/utf8"
)

// kind is how a file is shown.
type kind string

const (
	asText     kind = "text"
	asMarkdown kind = "Markdown"
	asTable    kind = "table"
	asImage    kind = "image"
	asPDF      kind = "PDF"
	asBytes    kind = "bytes"
)

// kindOf returns how a file is shown. The name chooses among the kinds that the content allows: a file
// with the name of an image whose bytes are none is text or bytes, and SVG is always text.
func kindOf(name string, head []byte) kind {
	switch {
	case raster(head) != "":
		return asImage
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return asPDF
	case !isText(head):
		return asBytes
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return asMarkdown
	case ".csv", ".tsv":
		return asTable
	}
	return asText
}

// isText reports whether bytes are the beginning of a text. A character may be cut at the end.
func isText(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) { // UTF-16
		return true
	}
	for i := 0; i < 3 && len(head) > 0 && !utf8.RuneStart(head[len(head)-1]); i++ {
		head = head[:len(head)-1]
	}
	if n := len(head); n > 0 && head[n-1] >= 0xC0 {
		head = head[:n-1]
	} else if n > 0 && !utf8.Valid(head) { // the last character may be complete
		return false
	}
	return utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
}

// raster returns the type of an image that the page shows, "" for all others.
func raster(b []byte) string {
	has := func(at int, s string) bool { return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s }
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case has(0, "\xff\xd8\xff"):
		return "image/jpeg"
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return "image/gif"
	case has(0, "RIFF") && has(8, "WEBPVP8"):
		return "image/webp"
	}
	return ""
}

// sides returns the size of an image in pixels from its header, 0 and 0 if it is not there. A browser
// takes four bytes of memory for each pixel, so the header is read before the image is decoded.
func sides(b []byte) (w, h int) {
	u16, u32 := binary.BigEndian.Uint16, binary.BigEndian.Uint32
	switch raster(b) {
	case "image/png":
		if len(b) >= 24 && string(b[12:16]) == "IHDR" {
			return int(u32(b[16:])), int(u32(b[20:]))
		}
	case "image/gif":
		if len(b) >= 10 {
			return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
		}
	case "image/webp":
		if len(b) < 30 {
			return 0, 0
		}
		switch string(b[12:16]) {
		case "VP8 ":
			return int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff)
		case "VP8L":
			n := binary.LittleEndian.Uint32(b[21:])
			return int(n&0x3fff) + 1, int(n>>14&0x3fff) + 1
		case "VP8X":
			return int(b[24]) | int(b[25])<<8 | int(b[26])<<16 + 1, int(b[27]) | int(b[28])<<8 | int(b[29])<<16 + 1
		}
	case "image/jpeg":
		for i := 2; i+9 < len(b) && b[i] == 0xff; {
			m := b[i+1]
			if m == 0xff { // filling
				i++
				continue
			}
			if m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc { // a frame
				return int(u16(b[i+7:])), int(u16(b[i+5:]))
			}
			i += 2 + int(u16(b[i+2:]))
		}
	}
	return 0, 0
}

// The limits of an image.
const (
	maxImage  = 16 << 20   // bytes
	maxPixels = 64_000_000 // pixels, of which each takes 4 bytes of memory
	maxSide   = 30_000     // pixels of one side
)

// mayDecode returns why an image is not shown, "" if it is.
func mayDecode(data []byte) string {
	w, h := sides(data)
	switch {
	case w <= 0 || h <= 0:
		return "The size of this image can't be read, so it may be damaged or too large to show. Download it to look at it in another program."
	case w > maxSide || h > maxSide || w > maxPixels/h:
		return "This image is too large to show here: a page could use up the memory of this computer. Download it to look at it in another program."
	}
	return ""
}
