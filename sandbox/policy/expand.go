package policy

import (
	"strings"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

const (
	maxVars    = 16384 // bytes of a pattern after its variables are expanded
	maxEntries = 4096  // of one list of a policy
)

// parsePatterns parses one list of a policy.
func parsePatterns(key string, texts []string, deny bool, o *Options) ([]protocol.Pattern, error) {
	if len(texts) > maxEntries {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "policy", key, "has more than %d patterns", maxEntries)
	}
	var list []protocol.Pattern
	for _, text := range texts {
		full, err := o.expandPath(text)
		if err != nil {
			return nil, err
		}
		p, err := protocol.ParsePattern(full)
		if err != nil {
			return nil, err
		}
		if strings.Contains(full, "[]]") {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "policy", key, "%s has []], which matches nothing in sandbox-runtime; write ? in its place", strictjson.Quote(text))
		}
		if deny && !p.Composed() {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "policy", key, "%s has combining characters; write it in composed form (NFC)", strictjson.Quote(text))
		}
		list = append(list, p.WithText(text))
	}
	return list, nil
}

// placed parses one list of sandbox-runtime's sections. Its entries may be absolute or begin with ~,
// so some name no path of the folder. These are added to [Policy.Inapplicable].
func (r *policyReader) placed(key string, texts []string, deny bool) ([]protocol.Pattern, error) {
	if len(texts) > maxEntries {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "policy", key, "has more than %d patterns", maxEntries)
	}
	var list []protocol.Pattern
	for _, text := range texts {
		full, err := expand(text, r.o.Vars)
		if err != nil {
			return nil, err
		}
		at, note, err := r.o.place(full, deny)
		if err != nil {
			return nil, err
		}
		if note != "" {
			r.p.Inapplicable = append(r.p.Inapplicable, key+" "+strictjson.Quote(text)+note)
		}
		if at == "" && note != "" {
			continue
		}
		one, err := parsePatterns(key, []string{strings.ReplaceAll(at, "$", "$$")}, deny, r.o)
		if err != nil {
			return nil, err
		}
		list = append(list, one[0].WithText(text))
	}
	return list, nil
}

// place returns a pattern relative to the folder, or "" if it names no path in it. The note says
// what of the pattern does not apply. In doubt a denial applies and a permission does not.
func (o *Options) place(pattern string, deny bool) (at, note string, err error) {
	home := pattern == "~" || strings.HasPrefix(pattern, "~/")
	if !home && !strings.HasPrefix(pattern, "/") {
		return pattern, "", nil
	}
	rest := strings.Trim(pattern[1:], "/")
	if dir := strings.Trim(o.Vars["HOME"], "/"); home && dir != "" && !strings.ContainsAny(dir, "*?[]") {
		home, rest = false, strings.Trim(dir+"/"+rest, "/")
	}
	if rest != "" {
		// An element . or .. could lead back into the folder.
		if _, err := protocol.ParsePattern(rest); err != nil {
			return "", "", err
		}
		if strings.HasPrefix(rest, ".") && strings.HasPrefix(strings.TrimLeft(rest, ".")+"/", "/") {
			return "", "", protocol.Errorf(protocol.ErrInvalidParams, "policy", strictjson.Quote(pattern), "has a . element; write it without")
		}
	}
	if home || o.Mount == "" {
		return unplaced(rest, deny)
	}
	return below(strings.Split(strings.Trim(o.Mount, "/"), "/"), rest, deny)
}

// unplaced places a pattern below a home folder or a root whose relation to the folder is not
// known. The folder may be the home folder or the root itself, so there a denial applies.
func unplaced(rest string, deny bool) (at, note string, err error) {
	switch {
	case !deny:
		return "", " is outside the folder", nil
	case rest == "":
		return ".", "", nil
	}
	return rest, " is outside the folder; what has this path in the folder is denied", nil
}

// below places an absolute pattern for a folder with a known place.
func below(mount []string, rest string, deny bool) (at, note string, err error) {
	elems := strings.Split(rest, "/")
	if mount[0] == "" { // the folder is the root
		mount = nil
	}
	for i, dir := range mount {
		if i == len(elems) || rest == "" {
			if deny {
				return ".", "", nil
			}
			return "", " is above the folder; write . for all of it", nil
		}
		switch elem := elems[i]; {
		case strings.ContainsAny(elem, "*?[]"):
			if !deny {
				return "", " has a wildcard above the folder", nil
			}
			if at := anywhere(mount[i:], elems[i:]); at != "" {
				return at, "", nil
			}
			return "", "", protocol.Errorf(protocol.ErrInvalidParams, "policy", strictjson.Quote("/"+rest), "has a wildcard above the folder, so it can't be seen what it denies there; write it relative to the folder")
		case elem == dir:
		case deny && sameName(elem, dir):
		default:
			return "", " is outside the folder", nil
		}
	}
	if rest = strings.Join(elems[len(mount):], "/"); rest == "" {
		rest = "."
	}
	return rest, "", nil
}

// anywhere places a denial that begins with ** above the folder, such as /**/*.pem. It returns "" if what
// follows could begin in the path of the folder and end in the folder.
func anywhere(mount, elems []string) string {
	for len(elems) > 1 && elems[0] == "**" && elems[1] == "**" {
		elems = elems[1:]
	}
	if elems[0] != "**" {
		return ""
	}
	for _, dir := range mount {
		if len(elems) > 1 && sameName(elems[1], dir) {
			if len(elems) == 2 { // it denies a folder above, or the folder itself
				return "."
			}
			return ""
		}
	}
	return strings.Join(elems, "/")
}

// sameName reports whether a pattern of one element matches a name, in any spelling.
func sameName(a, b string) bool {
	p, err := protocol.ParsePattern(a)
	return err == nil && p.MatchDeny(b)
}

// expand replaces the variables in an entry of the scope of c. A path becomes relative to the mount.
func (o *Options) expand(c protocol.Capability, text string) (string, error) {
	if c.TakesPaths() {
		return o.expandPath(text)
	}
	return expandPlain(text, o.Vars)
}

func (o *Options) expandPath(pattern string) (string, error) {
	full, err := expand(pattern, o.Vars)
	if err != nil {
		return "", err
	}
	return o.relative(full)
}

// relative returns an absolute pattern relative to the mount.
func (o *Options) relative(pattern string) (string, error) {
	if !strings.HasPrefix(pattern, "/") || o.Mount == "" {
		return pattern, nil
	}
	if rel, ok := strings.CutPrefix(pattern, strings.TrimSuffix(o.Mount, "/")+"/"); ok && rel != "" {
		return rel, nil
	}
	if strings.TrimSuffix(pattern, "/") == strings.TrimSuffix(o.Mount, "/") {
		return ".", nil
	}
	return "", protocol.Errorf(protocol.ErrInvalidParams, "policy", strictjson.Quote(pattern), "lies outside the folder, which is mounted at %s", strictjson.Quote(o.Mount))
}

// expand returns text with its variables replaced: $NAME and ${NAME} become their values in vars,
// and $$ becomes a dollar. Wildcards in a value become classes such as [*], so they match
// literally. A variable that is not set or empty gives [protocol.ErrInvalidParams], because a policy with a
// missing part must not be used. A $ that begins no variable, a value that contains ], and a result
// over 16,384 bytes give it too.
func expand(text string, vars map[string]string) (string, error) {
	return expanded(text, vars, true)
}

// expandPlain is expand for texts without classes, such as hosts. A wildcard in a value is an
// error there.
func expandPlain(text string, vars map[string]string) (string, error) {
	return expanded(text, vars, false)
}

func expanded(text string, vars map[string]string, classes bool) (string, error) {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		if strings.HasPrefix(text, "$") {
			b.WriteByte('$')
			text = text[1:]
			continue
		}
		name, rest, ok := variable(text)
		if !ok {
			return "", protocol.Errorf(protocol.ErrInvalidParams, "expand", strictjson.Quote("$"+text), "not a variable; write $NAME or ${NAME}, and $$ for a dollar")
		}
		v := vars[name]
		if v == "" {
			return "", protocol.Errorf(protocol.ErrInvalidParams, "expand", "$"+name, "the variable is not set or is empty; nothing is granted")
		}
		if !classes && strings.ContainsAny(v, "*?[]") {
			return "", protocol.Errorf(protocol.ErrInvalidParams, "expand", "$"+name, "the variable holds a wildcard, which can't be written literally here")
		}
		if strings.Contains(v, "]") {
			return "", protocol.Errorf(protocol.ErrInvalidParams, "expand", "$"+name, "the variable holds a ], which no pattern can spell")
		}
		for _, r := range v {
			if strings.ContainsRune("*?[", r) {
				b.WriteString("[" + string(r) + "]")
			} else {
				b.WriteRune(r)
			}
		}
		if b.Len() > maxVars {
			return "", protocol.Errorf(protocol.ErrInvalidParams, "expand", "$"+name, "is longer than %d bytes with its variables", maxVars)
		}
		text = rest
	}
	return b.String(), nil
}

func variable(s string) (name, rest string, ok bool) {
	braced := strings.HasPrefix(s, "{")
	if braced {
		s = s[1:]
	}
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	name, rest = s[:n], s[n:]
	if braced {
		if !strings.HasPrefix(rest, "}") {
			return "", "", false
		}
		rest = rest[1:]
	}
	return name, rest, n > 0
}
