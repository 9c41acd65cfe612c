package confine

import (
	"fmt"
	"strings"
)

// Profile returns the profile of sandbox-exec on macOS for the same sandbox: port is that of the proxy
// on loopback, or 0 for no network. It is tested as a text.
func Profile(s *Spec, port int) (string, error) {
	var b strings.Builder
	b.WriteString("(version 1)\n(deny default)\n(import \"system.sb\")\n(allow process-fork)\n(allow signal (target same-sandbox))\n(allow sysctl-read)\n")
	read := append([]string{"/usr", "/bin", "/sbin", "/System", "/Library/Apple", "/private/etc/ssl"}, s.Read...)
	for _, p := range read {
		q, err := quoted(p)
		if err != nil {
			return "", err
		}
		b.WriteString("(allow file-read* process-exec (subpath " + q + "))\n")
	}
	q, err := quoted(s.Dir)
	if err != nil {
		return "", err
	}
	b.WriteString("(allow file-read* file-write* process-exec (subpath " + q + "))\n(allow file-read* file-write* (literal \"/dev/null\"))\n")
	if port != 0 {
		fmt.Fprintf(&b, "(allow network-outbound (remote tcp \"localhost:%d\"))\n", port)
	}
	// The last rule that fits decides, so what must not be reached comes last.
	b.WriteString("(deny process-info* (target others))\n(deny mach-priv*)\n(deny network* (remote unix-socket))\n")
	return b.String(), nil
}

// quoted returns a text of the profile's language. It has no escape for control characters.
func quoted(p string) (string, error) {
	if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) || !strings.HasPrefix(p, "/") {
		return "", fmt.Errorf("confine: %q can't be in a profile: it must be absolute, without control characters", p)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`, nil
}
