// Package viewer shows a file of the open folder: text with line numbers, Markdown behind two frames,
// images, tables, differences and bytes. It also edits texts.
//
// It trusts no name and no content. A content becomes text nodes of the page, an image that the browser
// decodes as a picture only, or a document behind two frames. An SVG is shown as text, because as a
// document it could run code.
package viewer
