package browser

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
)

// homeEnv returns the environment with dir as the home folder. So no setting of the developer's
// applies, and nothing is written to their home.
func homeEnv(dir string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS":
			continue
		}
		env = append(env, kv)
	}
	return append(env,
		"HOME="+dir, "TMPDIR="+dir,
		"XDG_CONFIG_HOME="+dir+"/config", "XDG_CACHE_HOME="+dir+"/cache", "XDG_DATA_HOME="+dir+"/data",
		"DBUS_SESSION_BUS_ADDRESS=disabled:",
	)
}

// logWriter returns a writer that calls logf for each line.
func logWriter(logf func(string, ...any)) io.Writer { return lineWriter(logf) }

type lineWriter func(format string, args ...any)

func (w lineWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		w("%s", strings.TrimRight(string(line), "\r\n"))
	}
	return len(p), nil
}

func unquote(s string) string {
	var out string
	if json.Unmarshal([]byte(s), &out) == nil {
		return out
	}
	return s
}
