package enclave

import (
	_ "embed" // for the scripts
)

var (
	//go:embed builtins.js
	builtinsJS string
	//go:embed batch.js
	batchJS string
	//go:embed encode.js
	encodeJS string
	//go:embed tags.js
	tagsJS string
	//go:embed json.js
	jsonJS string
	//go:embed messages.js
	messagesJS string
)

// Script is one of the JavaScript twins of this package, with the name of its file.
type Script struct{ Name, Text string }

// Scripts returns the twins in the order in which they must run. They declare the constants
// baileyBuiltins, baileyBatch, baileyEncode, baileyTags, baileyDecode and baileyMessages. The
// caller must put them and its own script into one function, so that code that runs later in the
// realm cannot use these names.
func Scripts() []Script {
	return append(EncoderScripts(), Script{"json.js", jsonJS}, Script{"messages.js", messagesJS})
}

// EncoderScripts returns the scripts for the untrusted worker. It encodes messages, and decodes
// only messages that the broker has checked.
func EncoderScripts() []Script {
	return []Script{{"builtins.js", builtinsJS}, {"batch.js", batchJS}, {"encode.js", encodeJS}, {"tags.js", tagsJS}}
}

// ScriptText returns the texts of the scripts, joined.
func ScriptText(scripts []Script) string {
	text := ""
	for _, s := range scripts {
		text += s.Text
	}
	return text
}
