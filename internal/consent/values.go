package consent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Values returns a JSON value as text for a user: names and values, a line each, without the
// punctuation of JSON. Each line begins with indent. For example {"path": "a", "all": true} is
// "all: yes\npath: a".
func Values(v any, indent string) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		v = strings.TrimRight(v, "\n")
		if strings.Contains(v, "\n") && indent != "" {
			return "\n" + indent + strings.ReplaceAll(v, "\n", "\n"+indent)
		}
		return v
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString("\n" + indent + "• " + strings.TrimLeft(Values(e, indent+"  "), "\n "))
		}
		if len(v) == 0 {
			return "none"
		}
		return strings.TrimPrefix(b.String(), "\n")
	case map[string]any:
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text := Values(v[key], indent+"  ")
			if list, ok := v[key].([]any); ok && len(list) > 0 {
				text = "\n" + text
			}
			b.WriteString("\n" + indent + strings.ReplaceAll(key, "_", " ") + ": " + text)
		}
		return strings.TrimPrefix(b.String(), "\n")
	}
	b, _ := json.Marshal(v)
	return string(b)
}

// Last returns the last lines of a text, at most so many and at most so many bytes.
func Last(text string, lines, bytes int) string {
	text = strings.TrimRight(text, "\n")
	if len(text) > bytes {
		text = text[len(text)-bytes:]
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
	}
	at := len(text)
	for range lines {
		if at = strings.LastIndexByte(text[:max(at, 0)], '\n'); at < 0 {
			return strings.ToValidUTF8(text, "")
		}
	}
	return strings.ToValidUTF8(text[at+1:], "")
}
