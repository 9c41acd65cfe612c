// Package cover has a branch for each platform, and one that only a page of its own reaches.
package cover

// Where has four statements that count: one for each of the three results, and the switch.
func Where(platform, page string) string {
	switch {
	case page != "":
		return "own page"
	case platform == "js":
		return "browser"
	}
	return "native"
}
