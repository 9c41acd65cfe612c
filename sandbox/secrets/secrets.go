// Package secrets finds credentials in text before it leaves the machine: keys and
// tokens whose form is known, private keys, passwords in addresses, and values that
// are called a secret and look like one. It is a net with meshes, not a wall: what
// nobody gave a form to, it does not see. It keeps no text and sends nothing.
package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Finding is one credential in a text.
type Finding struct {
	Kind       string // such as "github token"
	Start, End int    // bytes
}

type rule struct {
	kind  string
	words []string // one of them must be there, in lower case, before the expression is tried
	re    *regexp.Regexp
	group int     // which is the secret
	bits  float64 // entropy per character that the secret must have
}

// rules are compiled when the first text is looked at.
var rules = sync.OnceValue(func() []rule {
	r := func(kind, words, re string, group int, bits float64) rule {
		return rule{kind, strings.Fields(words), regexp.MustCompile(re), group, bits}
	}
	return []rule{
		r("private key", "-----begin", `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)`, 0, 0),
		r("aws access key", "akia asia abia acca", `\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b`, 1, 2.5),
		r("aws secret key", "aws", `(?i)aws[\w .\-]{0,30}(?:secret|key)[\w .\-]{0,20}["']?\s{0,5}(?:=|:|=>|:=)\s{0,5}["']?([A-Za-z0-9/+=]{40})(?:["'\s;]|$)`, 1, 3.5),
		r("github token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", `\b((?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})\b`, 1, 2.5),
		r("gitlab token", "glpat- gldt- glrt- glsoat- glft- glcbt- gloas- glptt-", `\b(gl(?:pat|dt|rt|soat|ft|cbt|oas|ptt)-[\w\-]{20,})`, 1, 2.5),
		r("slack token", "xox", `\b(xox[abeoprs]-(?:\d-)?[A-Za-z0-9\-]{10,250})`, 1, 2),
		r("slack webhook", "hooks.slack.com", `(hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{23,90})`, 1, 2),
		r("discord webhook", "discord", `(discord(?:app)?\.com/api/webhooks/\d{15,22}/[\w\-]{50,80})`, 1, 2),
		r("anthropic key", "sk-ant-", `\b(sk-ant-[a-z]{2,8}\d{2}-[\w\-]{20,120})`, 1, 2.5),
		r("openai key", "sk-", `\b(sk-(?:proj|svcacct|admin)-[\w\-]{20,200}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{48})\b`, 1, 3),
		r("openrouter key", "sk-or-", `\b(sk-or-v1-[0-9a-f]{64})\b`, 1, 2.5),
		r("google api key", "aiza", `\b(AIza[\w\-]{35})`, 1, 3),
		r("google oauth", "gocspx- ya29.", `\b(GOCSPX-[\w\-]{28}|ya29\.[\w\-]{30,})`, 1, 2.5),
		r("stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ whsec_", `\b((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,99}|whsec_[A-Za-z0-9+/]{32,})\b`, 1, 2.5),
		r("twilio key", "sk ac", `\b((?:SK|AC)[0-9a-f]{32})\b`, 1, 3),
		r("sendgrid key", "sg.", `\b(SG\.[\w\-]{22}\.[\w\-]{43})`, 1, 3),
		r("mailgun key", "key-", `\b(key-[0-9a-f]{32})\b`, 1, 3),
		r("mailchimp key", "-us", `\b([0-9a-f]{32}-us\d{1,2})\b`, 1, 3),
		r("npm token", "npm_", `\b(npm_[A-Za-z0-9]{36})\b`, 1, 2.5),
		r("pypi token", "pypi-", `\b(pypi-AgE[\w\-]{50,1000})`, 1, 3),
		r("docker token", "dckr_", `\b(dckr_(?:pat|oat)_[\w\-]{27,})`, 1, 2.5),
		r("hugging face token", "hf_ api_org_", `\b((?:hf_|api_org_)[A-Za-z]{34})\b`, 1, 2.5),
		r("databricks token", "dapi", `\b(dapi[0-9a-f]{32}(?:-\d)?)\b`, 1, 3),
		r("digitalocean token", "dop_v1_ doo_v1_ dor_v1_", `\b(do[opr]_v1_[0-9a-f]{64})\b`, 1, 3),
		r("shopify token", "shpat_ shpca_ shppa_ shpss_", `\b(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})\b`, 1, 2.5),
		r("square token", "sq0 eaaa", `\b(sq0(?:atp|csp)-[\w\-]{22,43}|EAAA[\w\-]{60})`, 1, 2.5),
		r("telegram token", "bot telegr :aa", `\b(\d{8,10}:AA[\w\-]{33})\b`, 1, 3),
		r("linear key", "lin_api_", `\b(lin_api_[A-Za-z0-9]{40})\b`, 1, 2.5),
		r("notion token", "ntn_ secret_", `\b(ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})\b`, 1, 3),
		r("figma token", "figd_", `\b(figd_[\w\-]{40,})`, 1, 2.5),
		r("atlassian token", "atatt3", `\b(ATATT3[\w\-=]{100,300})`, 1, 3),
		r("grafana token", "glsa_ glc_", `\b(glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})`, 1, 2.5),
		r("sentry token", "sntrys_ sntryu_", `\b(sntrys_[A-Za-z0-9+/=_]{60,400}|sntryu_[0-9a-f]{64})`, 1, 2.5),
		r("new relic key", "nrak- nrjs- nrii-", `\b(NR(?:AK|JS|II)-[A-Za-z0-9\-]{19,32})`, 1, 2.5),
		r("vault token", "hvs. hvb. s.", `\b(hv[bs]\.[\w\-]{24,300})`, 1, 2.5),
		r("age secret key", "age-secret-key-1", `(?i)\b(AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58})\b`, 1, 2.5),
		r("azure key", "accountkey sharedaccesskey", `(?i)(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,90}={0,2})`, 1, 3),
		r("azure client secret", "q~", `\b([\w~.\-]{3}\dQ~[\w~.\-]{31,34})`, 1, 3),
		r("cloudflare key", "v1.0-", `\b(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})\b`, 1, 3),
		r("terraform token", ".atlasv1.", `\b([A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{60,70})`, 1, 3),
		r("planetscale token", "pscale_", `\b(pscale_(?:tkn|pw|oauth)_[\w\-.=]{32,64})`, 1, 2.5),
		r("doppler token", "dp.pt. dp.st. dp.ct.", `\b(dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.\-]{40,60})`, 1, 2.5),
		r("fly token", "fm1r_ fm2_ fo1_", `\b(fo1_[\w\-]{43}|fm1[ar]_[A-Za-z0-9+/=]{60,}|fm2_[A-Za-z0-9+/=]{60,})`, 1, 2.5),
		r("postman key", "pmak-", `\b(PMAK-[0-9a-f]{24}-[0-9a-f]{34})\b`, 1, 2.5),
		r("dynatrace token", "dt0c01.", `\b(dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64})\b`, 1, 3),
		r("rubygems key", "rubygems_", `\b(rubygems_[0-9a-f]{48})\b`, 1, 2.5),
		r("groq key", "gsk_", `\b(gsk_[A-Za-z0-9]{52})\b`, 1, 3),
		r("perplexity key", "pplx-", `\b(pplx-[A-Za-z0-9]{48})\b`, 1, 3),
		r("xai key", "xai-", `\b(xai-[A-Za-z0-9]{80})\b`, 1, 3),
		r("json web token", "eyj", `\b(eyJ[\w\-]{8,}\.eyJ[\w\-]{8,}\.[\w\-/+]{10,})`, 1, 3),
		r("password in an address", "://", `\b[a-zA-Z][a-zA-Z0-9+.\-]{1,20}://[^\s:/@"'<>]{0,80}:([^\s/@"'<>$\{]{3,200})@[\w.\-\[]`, 1, 1.5),
		r("authorization header", "authorization", `(?i)authorization["']?\s{0,3}[:=]\s{0,3}["']?(?:bearer|basic|token)\s+([\w\-.~+/=]{16,1000})`, 1, 2.5),
		r("named secret", "secret token password passwd pwd api_key apikey api-key auth credential private_key client_key access_key",
			`(?i)[\w.\-]{0,40}(?:secret|token|passw(?:or)?d|pwd|api[_\-]?key|access[_\-]?key|client[_\-]?key|private[_\-]?key|credential)[\w.\-]{0,20}["']?\s{0,5}(?:=|:|=>|:=)\s{0,5}["'`+"`"+`]([^\s"'`+"`"+`]{8,150})["'`+"`"+`]`, 1, 3),
		r("named secret", "secret token password passwd pwd api_key apikey api-key auth credential private_key access_key",
			`(?im)^\s{0,20}(?:export\s+|-\s+)?[A-Z0-9_.\-]{0,40}(?:secret|token|passw(?:or)?d|pwd|api[_\-]?key|access[_\-]?key|private[_\-]?key)[A-Z0-9_.\-]{0,20}\s{0,3}[=:]\s{0,3}([^\s"'`+"`"+`#;,(){}\[\]<>$]{10,150})\s*$`, 1, 3.2),
	}
})

// maxText is how much of a text is looked at; what is behind it is taken out whole.
const maxText = 4 << 20

// Find returns the credentials in a text, in order and without overlap.
func Find(text string) []Finding {
	var out []Finding
	if len(text) > maxText {
		out = append(out, Finding{"unread rest", maxText, len(text)})
		text = text[:maxText]
	}
	lower := lowered(text)
	for _, r := range rules() {
		for _, w := range r.windows(lower) {
			out = r.find(out, text, w)
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

// lowered has the ASCII letters in lower case, so that places stay the same.
func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// window is a part of a text.
type window struct{ from, to int }

// reach is how far from a word a secret may lie in a very long line.
const reach = 4 << 10

// windows are the lines that hold one of the rule's words, so that its expression is
// run over those alone. A private key has many lines, and its rule sees all.
func (r *rule) windows(lower string) []window {
	var out []window
	for _, w := range r.words {
		for at := 0; ; {
			i := strings.Index(lower[at:], w)
			if i < 0 {
				break
			}
			i += at
			from := strings.LastIndexByte(lower[:i], '\n') + 1
			to := len(lower)
			if n := strings.IndexByte(lower[i:], '\n'); n >= 0 {
				to = i + n
			}
			from, to = max(from, i-reach), min(to, i+reach)
			if r.kind == "private key" {
				to = len(lower)
			}
			out = append(out, window{from, to})
			at = max(to, i+len(w))
			if at >= len(lower) {
				break
			}
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

func (r *rule) find(out []Finding, text string, w window) []Finding {
	for _, m := range r.re.FindAllStringSubmatchIndex(text[w.from:w.to], -1) {
		start, end := w.from+m[2*r.group], w.from+m[2*r.group+1]
		secret := text[start:end]
		if r.bits > 0 && (entropy(secret) < r.bits || placeholder(secret)) || r.kind == "named secret" && !random(secret) {
			continue
		}
		out = append(out, Finding{r.kind, start, end})
	}
	return out
}

// Redact returns the text with each credential replaced by a word about it, and the
// kinds that were found.
func Redact(text string) (string, []string) {
	found := Find(text)
	if len(found) == 0 {
		return text, nil
	}
	var b strings.Builder
	var kinds []string
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.Start] + "[" + f.Kind + " removed]")
		at = f.End
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	return b.String() + text[at:], kinds
}

// entropy is the bits per character that the text's own letters have.
func entropy(s string) float64 {
	var count [256]int
	for i := 0; i < len(s); i++ {
		count[s[i]]++
	}
	h := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}

// placeholder is what people write where a secret belongs.
func placeholder(s string) bool {
	low := strings.ToLower(s)
	for _, w := range []string{"example", "xxxx", "your", "changeme", "change_me", "placeholder", "redacted", "dummy", "****", "....", "<", "todo", "${", "{{", "%s", "process.env", "os.environ", "getenv"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// random reports whether a value looks made by a machine: digits and letters mixed,
// or long with both cases, and no words parted by underscores, dots or brackets.
func random(s string) bool {
	var digit, lower, upper, sign, runs int
	last := 0
	for _, c := range s {
		kind := 0
		switch {
		case c >= '0' && c <= '9':
			digit++
			kind = 1
		case c >= 'a' && c <= 'z':
			lower++
			kind = 2
		case c >= 'A' && c <= 'Z':
			upper++
			kind = 3
		default:
			sign++
			kind = 4
		}
		if kind != last {
			runs++
		}
		last = kind
	}
	switch {
	case strings.ContainsAny(s, "()[]{}<>$") || strings.Contains(s, "::") || strings.Contains(s, "/") && sign > 2:
		return false
	case digit == 0:
		return lower > 0 && upper > 2 && runs > 8 && sign < 3
	}
	return lower+upper > 0 && runs >= 4
}
