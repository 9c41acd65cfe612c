package provider

import (
	"fmt"
	"strconv"
	"strings"
)

// codeSays returns a text about the result of code_run.
func codeSays(out map[string]any) string {
	if why, bad := out["error"]; bad {
		return "The code failed:\n\n" + fenced("", why)
	}
	if v, ok := out["value"]; ok {
		return fmt.Sprint(v)
	}
	return "It ran, and returned nothing."
}

func fenced(lang string, v any) string {
	s, _ := v.(string)
	if s == "" {
		return "(nothing)"
	}
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + lang + "\n" + strings.TrimSuffix(s, "\n") + "\n" + fence
}

func paths(_ []string, p []done) string {
	list := strs(p[0].out["paths"])
	if len(list) == 0 {
		return "There are no such files."
	}
	return "- " + strings.Join(list, "\n- ")
}

func grepResults(_ []string, p []done) string {
	list, _ := p[0].out["matches"].([]any)
	if len(list) == 0 {
		return "It is nowhere."
	}
	var b strings.Builder
	for _, e := range list {
		m, _ := e.(obj)
		fmt.Fprintf(&b, "- %v:%v: %v\n", m["path"], m["line"], m["text"])
	}
	return b.String()
}

func webResults(_ []string, p []done) string {
	list, _ := p[0].out["results"].([]any)
	var b strings.Builder
	for _, e := range list {
		m, _ := e.(obj)
		fmt.Fprintf(&b, "- [%v](%v): %v\n", m["title"], m["url"], m["snippet"])
	}
	return first(b.String(), "Nothing was found.")
}

func countIn(m []string, p []done) string {
	text, _ := p[0].out["content"].(string)
	lines := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		lines++
	}
	switch strings.ToLower(m[1]) {
	case "words":
		return strconv.Itoa(len(strings.Fields(text))) + " words."
	case "characters":
		return strconv.Itoa(len([]rune(text))) + " characters."
	case "bytes":
		return strconv.Itoa(len(text)) + " bytes."
	}
	return strconv.Itoa(lines) + " lines."
}

func ends(m []string, p []done) string {
	text, _ := p[0].out["content"].(string)
	n, err := strconv.Atoi(first(m[2], m[5]))
	if err != nil {
		n = 10
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	n = min(n, len(lines))
	which := strings.ToLower(first(m[1], m[4]))
	if which == "last" || which == "tail" {
		lines = lines[len(lines)-n:]
	} else {
		lines = lines[:n]
	}
	return fenced("", strings.Join(lines, ""))
}
