package raster

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Error is an error of [Check].
type Error string

const (
	// ErrType is returned for data that is no PNG, JPEG, GIF or WebP image.
	ErrType Error = "this is no PNG, JPEG, GIF or WebP image"
	// ErrDamaged is returned for an image with a wrong header, or without its end.
	ErrDamaged Error = "the image is damaged or cut off"
)

// Error returns the text of the error.
func (e Error) Error() string { return string(e) }

// Image is what the headers of an image tell.
type Image struct {
	Type          string // media type, such as "image/png"
	Width, Height int    // pixels, both at least 1
}

// The media types that this package knows.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	GIF  = "image/gif"
	WebP = "image/webp"
)

// Type returns the media type of an image by its first bytes, or "".
func Type(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return GIF
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return WebP
	}
	return ""
}

// MediaType returns the media type of data that a server calls media: without parameters, in lower case.
// The content of an image decides, because servers name a wrong type at times.
func MediaType(media string, data []byte) string {
	media, _, _ = strings.Cut(media, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	if is := Type(data); is != "" {
		if _, err := Check(data); err == nil || strings.HasPrefix(media, "image/") {
			return is
		}
	}
	return media
}

// Check returns the type and the size of an image, or one of the errors of this package.
func Check(data []byte) (Image, error) {
	m := Image{Type: Type(data)}
	ok := false
	switch m.Type {
	case PNG:
		m.Width, m.Height, ok = sizePNG(data)
	case JPEG:
		m.Width, m.Height, ok = sizeJPEG(data)
	case GIF:
		m.Width, m.Height, ok = sizeGIF(data)
	case WebP:
		m.Width, m.Height, ok = sizeWebP(data)
	default:
		return Image{}, ErrType
	}
	if !ok || m.Width < 1 || m.Height < 1 {
		return Image{}, ErrDamaged
	}
	return m, nil
}

// sizePNG reads the first chunk, IHDR, and goes from chunk to chunk until IEND.
// https://www.w3.org/TR/png-3/#5Chunk-layout
func sizePNG(data []byte) (w, h int, ok bool) {
	const chunk = 12 // length, type and checksum
	for at, first := 8, true; at+chunk <= len(data); first = false {
		n, kind := int64(binary.BigEndian.Uint32(data[at:])), string(data[at+4:at+8])
		if int64(at)+chunk+n > int64(len(data)) || first && (kind != "IHDR" || n != 13) {
			return 0, 0, false
		}
		switch kind {
		case "IHDR":
			w, h = int(binary.BigEndian.Uint32(data[at+8:])&0x7fffffff), int(binary.BigEndian.Uint32(data[at+12:])&0x7fffffff)
		case "IEND":
			return w, h, true
		}
		at += chunk + int(n)
	}
	return 0, 0, false
}

// sizeJPEG goes from marker to marker until a start of frame, and looks for the end of the image
// behind it. https://www.w3.org/Graphics/JPEG/itu-t81.pdf, annex B
func sizeJPEG(data []byte) (w, h int, ok bool) {
	for at := 2; at+4 <= len(data); {
		if data[at] != 0xff {
			return 0, 0, false
		}
		marker := data[at+1]
		switch {
		case marker == 0xff: // a byte that fills
			at++
			continue
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd8: // without a length
			at += 2
			continue
		case marker == 0xd9 || marker == 0xda: // the end, or the pixels, before a frame
			return 0, 0, false
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			if at+9 > len(data) {
				return 0, 0, false
			}
			h, w = int(binary.BigEndian.Uint16(data[at+5:])), int(binary.BigEndian.Uint16(data[at+7:]))
			return w, h, bytes.Contains(data[at:], []byte("\xff\xd9"))
		}
		n := int(binary.BigEndian.Uint16(data[at+2:]))
		if n < 2 {
			return 0, 0, false
		}
		at += 2 + n
	}
	return 0, 0, false
}

// sizeGIF goes from block to block until the trailer. At least one of them must be a frame.
// https://www.w3.org/Graphics/GIF/spec-gif89a.txt
func sizeGIF(data []byte) (w, h int, ok bool) {
	const screen, frame = 13, 10 // the header with the logical screen, and an image descriptor
	if len(data) < screen {
		return 0, 0, false
	}
	w, h = int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	colors := func(flags byte) int { // bytes of the color table
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	frames := 0
	for at := screen + colors(data[10]); at < len(data); {
		switch data[at] {
		case ';':
			return w, h, frames > 0
		case '!': // an extension, with a label
			at += 2
		case ',': // a frame, with the smallest code's size in front of its pixels
			if at+frame > len(data) {
				return 0, 0, false
			}
			at += frame + colors(data[at+frame-1]) + 1
			frames++
		default:
			return 0, 0, false
		}
		for at < len(data) && data[at] != 0 { // pieces, each with its length in front
			at += 1 + int(data[at])
		}
		at++
	}
	return 0, 0, false
}

// sizeWebP reads the first chunk, which is of one of three kinds, and goes from chunk to chunk until
// the end. At least one of them must have pixels.
// https://developers.google.com/speed/webp/docs/riff_container and, for VP8, RFC 6386, section 9.1
func sizeWebP(data []byte) (w, h int, ok bool) {
	if len(data) < 30 {
		return 0, 0, false
	}
	end := int64(binary.LittleEndian.Uint32(data[4:])) + 8
	if end > int64(len(data)) || !webpChunks(data[:end]) {
		return 0, 0, false
	}
	switch string(data[12:16]) {
	case "VP8 ":
		if string(data[23:26]) != "\x9d\x01\x2a" {
			return 0, 0, false
		}
		return int(binary.LittleEndian.Uint16(data[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[28:]) & 0x3fff), true
	case "VP8L":
		if data[20] != 0x2f {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8X":
		u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return u24(data[24:]) + 1, u24(data[27:]) + 1, true
	}
	return 0, 0, false
}

// webpChunks reports whether no chunk of a WebP image ends behind the image, and one has pixels.
func webpChunks(data []byte) (pixels bool) {
	const head = 8 // the kind and the length
	for at := 12; at+head <= len(data); {
		n := int64(binary.LittleEndian.Uint32(data[at+4:]))
		if n > int64(len(data)-at-head) {
			return false
		}
		switch string(data[at : at+4]) {
		case "VP8 ", "VP8L", "ANMF":
			pixels = true
		}
		at += head + int(n+n&1)
	}
	return pixels
}
