package watch

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
)

// Call is the part of a tool call that a [Watch] checks.
type Call struct {
	Tool       string
	Args       any
	Capability protocol.Capability // the capability that the tool will use, or empty
}

// kinds is a set of kinds of a call, as bits. The kinds are guessed from the tool's name, the
// arguments and the capability.
type kinds uint16

const (
	list       kinds = 1 << iota // lists or searches things
	access                       // reads something
	credential                   // uses secrets
	external                     // uses a network or another outside place
	send                         // sends something
	bulk                         // handles very many things at once
	remove                       // deletes something
)

func kindOf(name string) kinds {
	return map[string]kinds{"list": list, "access": access, "credential": credential, "external": external, "send": send, "bulk": bulk, "delete": remove}[name]
}

// Sequence is a list of steps that are harmless one by one. Other calls may come between them. Each
// step is a kind of call: list, access, credential, external, send, bulk or delete. A number before
// it, as in "20 access", is the number of calls, 1 by default.
type Sequence struct {
	Name   string
	Reason string
	Steps  []string
}

// Defaults returns the sequences of a [Watch] by default.
func Defaults() []Sequence {
	return []Sequence{
		{"exfiltration", "something was listed, and now something is to be sent", []string{"list", "send"}},
		{"credential theft", "a secret was touched, and now something outside is to be reached", []string{"credential", "external"}},
		{"bulk collection", "very much was read, and now something outside is to be reached", []string{"bulk", "external"}},
		{"bulk reading", "many things were read one by one, and now something outside is to be reached", []string{"20 access", "external"}},
		{"delete after access", "something was read, and now something is to be deleted", []string{"access", "delete"}},
	}
}

// sequence is a [Sequence] with its steps parsed.
type sequence struct {
	Sequence
	steps []step
}

type step struct {
	kind    kinds
	atLeast int
}

func (s Sequence) parse() (sequence, error) {
	bad := func(why string) (sequence, error) {
		return sequence{}, protocol.Errorf(protocol.ErrInvalidParams, "sequence", strictjson.Quote(s.Name), "%s", why)
	}
	if s.Name == "" || len(s.Steps) < 2 || len(s.Steps) > 8 {
		return bad("it must have a name and 2 to 8 steps")
	}
	p := sequence{Sequence: s}
	for _, text := range s.Steps {
		st := step{kind: kindOf(text), atLeast: 1}
		if count, kind, ok := strings.Cut(text, " "); ok {
			n, err := strconv.Atoi(count)
			if err != nil || n < 1 || n > maxWatched {
				return bad("the number of calls in a step must be 1 to " + strconv.Itoa(maxWatched))
			}
			st = step{kind: kindOf(kind), atLeast: n}
		}
		if st.kind == 0 {
			return bad("a step must be list, access, credential, external, send, bulk or delete, with a number before it if it is more than one call")
		}
		p.steps = append(p.steps, st)
	}
	return p, nil
}

// ends reports whether a call of this kind, after the calls of the history, ends the sequence. It
// searches from the end, so it uses the latest calls that match.
func (s sequence) ends(history []seen, kind kinds) bool {
	i := len(s.steps) - 1
	if kind&s.steps[i].kind == 0 {
		return false
	}
	need := s.steps[i].atLeast - 1
	for j := len(history); ; {
		for need == 0 {
			if i--; i < 0 {
				return true
			}
			need = s.steps[i].atLeast
		}
		if j--; j < 0 {
			return false
		}
		if history[j].kind&s.steps[i].kind != 0 {
			need--
		}
	}
}

// stepWords returns the words that indicate a kind. Each is matched as a whole word.
func stepWords() map[string]kinds {
	m := map[string]kinds{}
	for kind, words := range map[kinds]string{
		list:       "list ls dir search find enumerate scan glob query index browse",
		access:     "read get open view cat load download access show dump",
		credential: "password passwords passwd passphrase credential credentials secret secrets token tokens apikey apikeys keychain cookie cookies ssh oauth vault keystore",
		external:   "fetch http https url request webhook external remote curl download",
		send:       "send post upload email mail publish share push export transmit forward webhook sms tweet notify",
		bulk:       "bulk batch dump export everything",
		remove:     "delete remove rm destroy drop purge erase wipe truncate unlink shred",
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
	maxWatchText  = 4 << 10 // of each string, because longer text is seldom words
)

// look returns the kinds of the call. whole is false if the call is too large to check.
func (c Call) look(words map[string]kinds) (kind kinds, whole bool) {
	kind = told(c.Tool, words)
	switch c.Capability {
	case protocol.NetFetch:
		kind |= external
	case protocol.FSRead:
		kind |= access
	case protocol.SecretHas:
		kind |= credential
	}
	if kind&send != 0 {
		kind |= external
	}
	left := maxWatchNodes
	whole = c.arguments(c.Args, 32, &left, &kind, words)
	return kind, whole
}

// told returns the kinds that the words of a text indicate. Two neighbouring words also count as
// one, so "api_key" matches apikey.
func told(text string, words map[string]kinds) (kind kinds) {
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
func (c Call) arguments(v any, depth int, left *int, kind *kinds, words map[string]kinds) bool {
	if *left--; *left < 0 || depth == 0 {
		return false
	}
	switch v := v.(type) {
	case string:
		if len(v) > maxWatchText {
			v = v[:maxWatchText]
		}
		if outside(v) {
			*kind |= external
		}
		*kind |= told(v, words) & credential
	case float64:
		// The key of a count identifies it, see below.
	case []any:
		if len(v) >= bulkCount {
			*kind |= bulk
		}
		for _, e := range v {
			if !c.arguments(e, depth-1, left, kind, words) {
				return false
			}
		}
	case map[string]any:
		for k, e := range v {
			*kind |= told(k, words) & credential
			for _, w := range splitWords(k) {
				switch w {
				case "limit", "count", "max", "size", "top", "first":
					if n, ok := e.(float64); ok && n >= bulkCount {
						*kind |= bulk
					}
				}
			}
			if !c.arguments(e, depth-1, left, kind, words) {
				return false
			}
		}
	case *protocol.Map:
		for _, e := range v.Entries {
			if !c.arguments(e.Key, depth-1, left, kind, words) || !c.arguments(e.Value, depth-1, left, kind, words) {
				return false
			}
		}
	case protocol.Set:
		return c.arguments([]any(v), depth-1, left, kind, words)
	case *protocol.ErrorValue:
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
