package iframe

import (
	"encoding/base64"
	"fmt"

	"github.com/bailey-go/bailey/iframe/internal/raster"
)

// ImageRequest is a request for an image that the text refers to.
type ImageRequest struct {
	Section string // ID of the section with the image
	URL     string // as in the text: a name, a path or a web address. Not to be trusted
	Path    string // the path that a relative URL names, as in [fs.ValidPath], otherwise empty. Not to be trusted
}

// imageURL returns a data: URL for an image. The first bytes must be those of a raster format.
// SVG is refused, because it may contain scripts and links.
func imageURL(data []byte, limit int) (string, error) {
	if len(data) > limit {
		return "", fmt.Errorf("iframe: image of %d bytes: more than MaxImage, %d", len(data), limit)
	}
	kind := raster.Type(data)
	if kind == "" {
		return "", fmt.Errorf("iframe: image of %d bytes is not PNG, JPEG, GIF, WebP or AVIF", len(data))
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
