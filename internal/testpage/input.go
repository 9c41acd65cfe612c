package testpage

import "testing"

// Click moves the mouse to the middle of the first element that the CSS selector finds in the
// top-level document, and clicks. It scrolls the element into view if necessary. The events are
// trusted, with user activation.
func Click(t testing.TB, selector string) {
	t.Helper()
	must(t, "click", map[string]any{"selector": selector}, nil)
}

// ClickAt clicks at a point of the top-level viewport, in CSS pixels. The click reaches frames of
// any origin.
func ClickAt(t testing.TB, x, y float64) {
	t.Helper()
	must(t, "click", map[string]any{"x": x, "y": y}, nil)
}

// MoveTo moves the mouse to a point of the top-level viewport, in CSS pixels.
func MoveTo(t testing.TB, x, y float64) {
	t.Helper()
	must(t, "move", map[string]any{"x": x, "y": y}, nil)
}

// Type types text into the focused element, key by key.
func Type(t testing.TB, text string) {
	t.Helper()
	must(t, "type", map[string]any{"text": text}, nil)
}

// Press presses and releases one key, with modifiers before it: "Enter", "Tab", "Shift+Tab",
// "Control+a", "ArrowDown".
func Press(t testing.TB, key string) {
	t.Helper()
	must(t, "press", map[string]any{"key": key}, nil)
}

// Screenshot returns a PNG of the viewport.
func Screenshot(t testing.TB) []byte {
	t.Helper()
	var png []byte
	must(t, "screenshot", nil, &png)
	return png
}

// Media emulates media features of CSS in this page, such as {"prefers-color-scheme": "dark"}, or a
// media type by {"media": "print"}. nil ends the emulation.
func Media(t testing.TB, features map[string]string) {
	t.Helper()
	must(t, "media", map[string]any{"features": features}, nil)
}

// Viewport sets the size of the page's viewport in CSS pixels, and the number of device pixels for
// each of them (1 if zero). 0 by 0 restores the window's own size.
func Viewport(t testing.TB, width, height int, scale float64) {
	t.Helper()
	must(t, "viewport", map[string]any{"width": width, "height": height, "scale": scale}, nil)
}
