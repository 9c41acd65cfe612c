package secrets

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// rule finds one kind of credential.
type rule struct {
	kind      string
	words     []string // one of them, in lower case, must be in the text before the expression is tried
	compiled  func() (*regexp.Regexp, int)
	group     int     // the group with the secret
	bits      float64 // minimum entropy of the secret in bits per byte, 0 for none
	lines     int     // the number of further lines in a window
	name      int     // the group with the secret's name, 0 for none
	ok        func(secret string) bool
	endWord   string         // the beginning of end, for secrets of many lines
	end       *regexp.Regexp // the end of such a secret, at most 64 bytes longer than endWord
	manifests bool           // secretValues finds the secrets, without an expression
}

// form returns a rule whose expression is compiled at its first use, together with its steps per
// character.
func form(kind, words, re string, group int, bits float64) rule {
	compiled := sync.OnceValues(func() (*regexp.Regexp, int) {
		return regexp.MustCompile(re), steps(re)
	})
	return rule{kind: kind, words: strings.Fields(words), compiled: compiled, group: group, bits: bits}
}

// steps returns an estimate of the maximum steps of an expression per character. Each instruction
// may run on it.
func steps(re string) int {
	parsed, err := syntax.Parse(re, syntax.Perl)
	if err != nil {
		panic(err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(err)
	}
	return 8 + len(prog.Inst)/2
}

var rules = sync.OnceValue(func() []rule {
	key := form("private key", "-----begin", `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`, 0, 0)
	key.endWord, key.end = "-----END ", regexp.MustCompile(`^-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`)
	return append(append([]rule{key}, known()...), named()...)
})

// known returns the rules for credentials with a form of their own.
func known() []rule {
	r := form
	return []rule{
		r("aws access key", "akia asia abia acca", `\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b`, 1, 2.5),
		r("aws secret key", "aws", `(?i)aws[\w .\-]{0,30}(?:secret|key)[\w .\-]{0,20}["']?\s{0,5}(?:=|:|=>|:=)\s{0,5}["']?([A-Za-z0-9/+=]{40})(?:["'\s;]|$)`, 1, 3.5),
		r("github token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", `\b((?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})\b`, 1, 2.5),
		r("gitlab token", "glpat- gldt- glrt- glsoat- glft- glcbt- gloas- glptt-", `\b(gl(?:pat|dt|rt|soat|ft|cbt|oas|ptt)-[\w\-]{20,})`, 1, 2.5),
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
		r("linear key", "lin_api_", `\b(lin_api_[A-Za-z0-9]{40})\b`, 1, 2.5),
		r("notion token", "ntn_ secret_", `\b(ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})\b`, 1, 3),
		r("figma token", "figd_", `\b(figd_[\w\-]{40,})`, 1, 2.5),
		r("atlassian token", "atatt3", `\b(ATATT3[\w\-=]{100,300})`, 1, 3),
		r("grafana token", "glsa_ glc_", `\b(glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})`, 1, 2.5),
		r("sentry token", "sntrys_ sntryu_", `\b(sntrys_[A-Za-z0-9+/=_]{60,400}|sntryu_[0-9a-f]{64})`, 1, 2.5),
		r("new relic key", "nrak- nrjs- nrii-", `\b(NR(?:AK|JS|II)-[A-Za-z0-9\-]{19,32})`, 1, 2.5),
		r("vault token", "hvs. hvb. s.", `\b(hv[bs]\.[\w\-]{24,300})`, 1, 2.5),
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
		r("password in an address", "://", `\b[a-zA-Z][a-zA-Z0-9+.\-]{1,20}://[^\s:/@"'<>]{0,80}:([^\s/@"'<>$\{]{3,200})@[\w.\-\[]`, 1, 1.5),
		r("slack token", "xox xapp-", `\b(xox[abepr]-(?:\d-)?[A-Za-z0-9\-]{10,250}|xox[os]-\d[A-Za-z0-9\-]{10,250}|xapp-\d-[A-Za-z0-9\-]{20,250})`, 1, 2),
		r("telegram token", "bot telegr :a", `(?i)\b(\d{8,10}:AA[\w\-]{33}|\d{5,16}:A[\w\-]{34})\b`, 1, 3),
		r("age secret key", "age-secret-key-1", `(?i)\b(AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58})\b`, 1, 0),
		r("json web token", "ey", `\b(ey[A-Za-z0-9][\w\-]{8,}\.ey[\w/\\\-]{8,}\.[\w/\\+\-]{10,}={0,2})`, 1, 3),
		r("json web token", "zxlk", `\b(ZXlK[\w+/\-]{60,}={0,2})`, 1, 3),
		r("1password token", "ops_eyj", `\b(ops_eyJ[A-Za-z0-9+/]{200,}={0,3})`, 1, 3),
		r("1password key", "a3-", `\b(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})\b`, 1, 3),
		r("adobe secret", "p8e-", `(?i)\b(p8e-[a-z0-9]{32})\b`, 1, 3),
		r("alibaba key", "ltai", `(?i)\b(LTAI[a-z0-9]{20})\b`, 1, 3),
		r("amazon bedrock key", "absk", `\b(ABSK[A-Za-z0-9+/]{109,269}={0,2})`, 1, 0),
		r("facebook token", "eaa", `\b(EAA[MC][A-Za-z0-9]{100,})`, 1, 3),
		r("facebook token", "|", `\b(\d{15,16}\|[\w\-]{27,40})`, 1, 3),
		r("intra42 secret", "s-s4t2", `\b(s-s4t2(?:ud|af)-[0-9a-f]{64})\b`, 1, 3),
		r("openshift token", "sha256~", `\b(sha256~[\w\-]{43})`, 1, 3),
		r("sourcegraph token", "sgp_", `\b(sgp_(?:[0-9A-Fa-f]{16}_|local_)?[0-9A-Fa-f]{40})\b`, 1, 3),
		r("teams webhook", "webhook.office.com", `(webhook\.office\.com/webhookb2/[\w\-@]{30,}/IncomingWebhook/[\w\-]{16,}/[\w\-]{16,})`, 1, 3),
		r("sidekiq key", "contribsys", `(?i)BUNDLE_(?:ENTERPRISE|GEMS)__CONTRIBSYS__COM\w{0,20}["'\x60>]{0,2}[\s=:?.,]{1,110}["'\x60>]?\s{0,5}([0-9a-f]{8}:[0-9a-f]{8})\b`, 1, 2).over(1),
		r("easypost key", "ezak eztk", `\b(EZ[AT]K[A-Za-z0-9]{54})\b`, 1, 3),
		r("heroku key", "hrku-", `\b(HRKU-AA[\w\-]{58})`, 1, 3),
		r("sidekiq key", "contribsys", `(?i)\b([0-9a-f]{8}:[0-9a-f]{8})@(?:gems|enterprise)\.contribsys\.com`, 1, 2),
	}
}

// over returns a rule with further lines in its windows.
func (r rule) over(lines int) rule {
	r.lines = lines
	return r
}
