// Package raster reads the headers of PNG, JPEG, GIF and WebP images: the type and the size in
// pixels. It decodes no pixels and imports no decoder, so it adds little to the size of a page. It
// trusts no field of an image: each offset is checked against the length of the data. An image that
// it accepts may still have damaged pixels.
package raster
