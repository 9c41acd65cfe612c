package protocol

import (
	"strings"
	"unicode"
)

// WatchedCall is the part of a tool call that a [Watch] checks.
type WatchedCall struct {
	Tool       string
	Args       any
	Capability Capability // the capability that the tool will use, or empty
}

// StepKind is a set of kinds of a call, as bits. The kinds are guessed from the tool's name, the
// arguments and the capability.
type StepKind uint16

const (
	StepList       StepKind = 1 << iota // lists or searches things
	StepAccess                          // reads something
	StepCredential                      // uses secrets
	StepExternal                        // uses a network or another outside place
	StepSend                            // sends something
	StepBulk                            // handles very many things at once
	StepDelete                          // deletes something
)

// Step is one part of a [Sequence]: at least AtLeast calls of a kind. 0 is one call.
type Step struct {
	Kind    StepKind
	AtLeast int
}

// Sequence is a list of steps that are harmless one by one. Other calls may come between them.
type Sequence struct {
	Name   string
	Reason string
	Steps  []Step
}

// DefaultSequences returns the sequences of a [Watch] by default.
func DefaultSequences() []Sequence {
	return []Sequence{
		{"exfiltration", "something was listed, and now something is to be sent", []Step{{Kind: StepList}, {Kind: StepSend}}},
		{"credential theft", "a secret was touched, and now something outside is to be reached", []Step{{Kind: StepCredential}, {Kind: StepExternal}}},
		{"bulk collection", "very much was read, and now something outside is to be reached", []Step{{Kind: StepBulk}, {Kind: StepExternal}}},
		{"bulk reading", "many things were read one by one, and now something outside is to be reached", []Step{{Kind: StepAccess, AtLeast: 20}, {Kind: StepExternal}}},
		{"delete after access", "something was read, and now something is to be deleted", []Step{{Kind: StepAccess}, {Kind: StepDelete}}},
	}
}

func (s Sequence) validate() error {
	if s.Name == "" || len(s.Steps) < 2 || len(s.Steps) > 8 {
		return Errorf(ErrInvalidParams, "sequence", quote(s.Name), "it must have a name and 2 to 8 steps")
	}
	for _, st := range s.Steps {
		if st.Kind == 0 || st.AtLeast < 0 || st.AtLeast > maxWatched {
			return Errorf(ErrInvalidParams, "sequence", quote(s.Name), "each step must have a kind and a count that is not negative")
		}
	}
	return nil
}

// ends reports whether a call of this kind, after the calls of the history, ends the sequence. It
// searches from the end, so it uses the latest calls that match.
func (s Sequence) ends(history []seen, kind StepKind) bool {
	i := len(s.Steps) - 1
	if kind&s.Steps[i].Kind == 0 {
		return false
	}
	need := max(s.Steps[i].AtLeast, 1) - 1
	for j := len(history); ; {
		for need == 0 {
			if i--; i < 0 {
				return true
			}
			need = max(s.Steps[i].AtLeast, 1)
		}
		if j--; j < 0 {
			return false
		}
		if history[j].kind&s.Steps[i].Kind != 0 {
			need--
		}
	}
}

// stepWords returns the words that indicate a kind. Each is matched as a whole word.
func stepWords() map[string]StepKind {
	m := map[string]StepKind{}
	for kind, words := range map[StepKind]string{
		StepList:       "list ls dir search find enumerate scan glob query index browse",
		StepAccess:     "read get open view cat load download access show dump",
		StepCredential: "password passwords passwd passphrase credential credentials secret secrets token tokens apikey apikeys keychain cookie cookies ssh oauth vault keystore",
		StepExternal:   "fetch http https url request webhook external remote curl download",
		StepSend:       "send post upload email mail publish share push export transmit forward webhook sms tweet notify",
		StepBulk:       "bulk batch dump export everything",
		StepDelete:     "delete remove rm destroy drop purge erase wipe truncate unlink shred",
	} {
		for _, w := range strings.Fields(words) {
			m[w] |= kind
		}
	}
	return m
}

const (
	bulkCount     = 1_000 // a count in an argument from which the call is bulk
	maxWatchNodes = 10_000
	maxWatchText  = 4 * kib // of each string, because longer text is seldom words
)

// kinds returns the kinds of the call. whole is false if the call is too large to check.
func (c WatchedCall) kinds(words map[string]StepKind) (kind StepKind, whole bool) {
	kind = told(c.Tool, words)
	switch c.Capability {
	case NetFetch:
		kind |= StepExternal
	case FSRead:
		kind |= StepAccess
	case SecretHas:
		kind |= StepCredential
	}
	if kind&StepSend != 0 {
		kind |= StepExternal
	}
	left := maxWatchNodes
	whole = c.arguments(c.Args, 32, &left, &kind, words)
	return kind, whole
}

// told returns the kinds that the words of a text indicate. Two neighbouring words also count as
// one, so "api_key" matches apikey.
func told(text string, words map[string]StepKind) (kind StepKind) {
	before := ""
	for _, w := range splitWords(text) {
		kind |= words[w] | words[before+w]
		before = w
	}
	return kind
}

// arguments checks keys, strings that contain words for secrets or outside addresses, and counts.
// It ignores verbs in strings, because they are not the verb of the call. It reports whether it
// could check all of v.
func (c WatchedCall) arguments(v any, depth int, left *int, kind *StepKind, words map[string]StepKind) bool {
	if *left--; *left < 0 || depth == 0 {
		return false
	}
	switch v := v.(type) {
	case string:
		if len(v) > maxWatchText {
			v = v[:maxWatchText]
		}
		if outside(v) {
			*kind |= StepExternal
		}
		*kind |= told(v, words) & StepCredential
	case float64:
		// The key of a count identifies it, see below.
	case []any:
		if len(v) >= bulkCount {
			*kind |= StepBulk
		}
		for _, e := range v {
			if !c.arguments(e, depth-1, left, kind, words) {
				return false
			}
		}
	case map[string]any:
		for k, e := range v {
			*kind |= told(k, words) & StepCredential
			for _, w := range splitWords(k) {
				switch w {
				case "limit", "count", "max", "size", "top", "first":
					if n, ok := e.(float64); ok && n >= bulkCount {
						*kind |= StepBulk
					}
				}
			}
			if !c.arguments(e, depth-1, left, kind, words) {
				return false
			}
		}
	case *Map:
		for _, e := range v.Entries {
			if !c.arguments(e.Key, depth-1, left, kind, words) || !c.arguments(e.Value, depth-1, left, kind, words) {
				return false
			}
		}
	case Set:
		return c.arguments([]any(v), depth-1, left, kind, words)
	case *ErrorValue:
		return c.arguments(v.Message, depth-1, left, kind, words) && c.arguments(v.Cause, depth-1, left, kind, words)
	}
	return true
}

// outside reports whether s begins like an address outside of the page, such as "https://".
func outside(s string) bool {
	s = strings.ToLower(strings.TrimLeft(s, " \t\r\n"))
	for _, scheme := range []string{"http://", "https://", "ws://", "wss://", "ftp://", "mailto:", "//"} {
		if strings.HasPrefix(s, scheme) {
			return true
		}
	}
	return false
}

// splitWords returns the words of a name or a text in lower case. It splits at everything that is
// not a letter, and before a capital that follows a small letter. "listUsers", "list_users" and
// "users:list" contain the word list. "blacklist" and "listen" do not.
func splitWords(s string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	runes := []rune(s)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsUpper(runes[i-1]) && unicode.IsLower(runes[i+1])) {
			flush()
		}
		b.WriteRune(unicode.ToLower(r))
	}
	flush()
	return out
}
