package sandbox

import (
	"encoding/json"
	"strconv"
	"strings"
)

// rowLine returns a row of a result as one line of text: a string unchanged, a match of grep as
// path:line:text, and other values as JSON.
func rowLine(row any) string {
	switch r := row.(type) {
	case string:
		return r
	case map[string]any:
		path, _ := r["path"].(string)
		line, _ := r["line"].(float64)
		text, _ := r["text"].(string)
		if path != "" && line > 0 {
			return path + ":" + strconv.Itoa(int(line)) + ":" + text
		}
	}
	text, err := json.Marshal(row)
	if err != nil {
		return ""
	}
	return string(text)
}

func rowLines(rows []any) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(rowLine(r))
		b.WriteByte('\n')
	}
	return b.String()
}
