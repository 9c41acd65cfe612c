package secrets

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// whole finds credentials in a simple way, without yields: it runs each expression over all of its
// windows. Its time is quadratic in the length of a line. Tests compare their results with it.
func whole(text string) []Finding {
	var out []Finding
	lower := (&search{ctx: context.Background()}).lowered(text)
	for _, r := range rules() {
		switch {
		case r.manifests:
			for _, v := range wholeManifests(text) {
				out = append(out, Finding{r.kind, v.from, v.to})
			}
			continue
		case r.end != nil:
			for _, m := range wholeKey.FindAllStringIndex(text, -1) {
				out = append(out, Finding{r.kind, m[0], m[1]})
			}
			continue
		}
		re, _ := r.compiled()
		for _, w := range r.wholeWindows(lower) {
			for _, m := range re.FindAllStringSubmatchIndex(text[w.from:w.to], -1) {
				start, end := w.from+m[2*r.group], w.from+m[2*r.group+1]
				secret := text[start:end]
				if r.bits > 0 && (entropy(secret) < r.bits || placeholder(secret)) || r.ok != nil && !r.ok(secret) ||
					r.name > 0 && harmlessName(text[w.from+m[2*r.name]:w.from+m[2*r.name+1]]) {
					continue
				}
				out = append(out, Finding{r.kind, start, end})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return a.Start - b.Start })
	kept := out[:0]
	for _, f := range out {
		if n := len(kept); n > 0 && f.Start < kept[n-1].End {
			kept[n-1].End = max(kept[n-1].End, f.End)
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

func (r *rule) wholeWindows(lower string) []window {
	var out []window
	for _, w := range r.words {
		for at := 0; at < len(lower); {
			i := strings.Index(lower[at:], w)
			if i < 0 {
				break
			}
			i += at
			from, to := strings.LastIndexByte(lower[:i], '\n')+1, i
			for range r.lines + 1 {
				n := strings.IndexByte(lower[min(to+1, len(lower)):], '\n')
				if to = to + 1 + n; n < 0 || to >= len(lower) {
					to = len(lower)
					break
				}
			}
			from, to = max(from, i-reach), min(to, i+reach)
			out = append(out, window{from, to})
			at = max(to, i+len(w))
		}
	}
	slices.SortFunc(out, func(a, b window) int { return a.from - b.from })
	merged := out[:0]
	for _, w := range out {
		if n := len(merged); n > 0 && w.from <= merged[n-1].to {
			merged[n-1].to = max(merged[n-1].to, w.to)
			continue
		}
		merged = append(merged, w)
	}
	return merged
}

var (
	wholeKey         = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)`)
	kubernetesSecret = regexp.MustCompile(`(?im)^\s*kind:\s*["']?secret["']?\s*$`)
	documentEnd      = regexp.MustCompile(`(?m)^---\s*$`)
	dataBegins       = regexp.MustCompile(`(?i)^([ \t]*)(?:string)?data:\s*$`)
	dataLine         = regexp.MustCompile(`^[ \t]+(?:[\w.\-]+:\s*)?["']?([A-Za-z0-9+/=]{8,})["']?\s*$`)
)

func wholeManifests(text string) (out []window) {
	at := 0
	for _, cut := range append(documentEnd.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		if manifest := text[at:cut[0]]; kubernetesSecret.MatchString(manifest) {
			indent := -1
			for line := range strings.Lines(manifest) {
				deep := len(line) - len(strings.TrimLeft(line, " \t"))
				switch {
				case dataBegins.MatchString(line):
					indent = deep
				case strings.TrimSpace(line) != "" && deep <= indent:
					indent = -1
				case indent >= 0:
					if m := dataLine.FindStringSubmatchIndex(line); m != nil {
						out = append(out, window{at + m[2], at + m[3]})
					}
				}
				at += len(line)
			}
		}
		at = cut[1]
	}
	return out
}
