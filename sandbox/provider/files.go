package provider

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/sandbox"
)

// withFiles returns a request whose files a server takes. A line stands for each other file, and for
// each file of the model's own, unless own is set and it has the provider's Meta. An error in its place
// would end the conversation, since the file stays in it.
func (o *Options) withFiles(r sandbox.ModelRequest, takes func(sandbox.File) bool, own bool) sandbox.ModelRequest {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		m := &r.Messages[i]
		var parts []sandbox.ModelPart
		for _, p := range m.Parts {
			var files []sandbox.File
			var lines []string
			for _, f := range p.Files {
				mayHave := m.Role != sandbox.RoleAssistant || own && len(p.Meta) > 0
				if mayHave && len(f.Data) > 0 && !o.TextOnly && takes(f) {
					files = append(files, f)
				} else {
					lines = append(lines, f.String()+" (you can't see it: files of this type are not sent to you)")
				}
			}
			p.Files = files
			text := strings.Join(lines, "\n")
			if p.Type != sandbox.PartFile {
				if text != "" {
					p.Text = strings.TrimPrefix(p.Text+"\n"+text, "\n")
				}
				parts = append(parts, p)
				continue
			}
			if len(files) > 0 {
				parts = append(parts, p)
			}
			if text != "" {
				parts = append(parts, sandbox.ModelPart{Type: sandbox.PartText, Text: text})
			}
		}
		m.Parts = parts
	}
	return r
}

// noFiles is for models that take text alone.
func noFiles(sandbox.File) bool { return false }

// isImage reports whether f is an image of a type that Anthropic and OpenAI take.
func isImage(f sandbox.File) bool {
	switch f.MediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

func isPDF(f sandbox.File) bool { return f.MediaType == "application/pdf" }

func isImageOrPDF(f sandbox.File) bool { return isImage(f) || isPDF(f) }

func base64Of(f sandbox.File) string { return base64.StdEncoding.EncodeToString(f.Data) }

func dataURL(f sandbox.File) string { return "data:" + f.MediaType + ";base64," + base64Of(f) }

// pdfName returns the name of a PDF with its extension, by which OpenAI knows the type.
func pdfName(f sandbox.File) string {
	if strings.HasSuffix(strings.ToLower(f.Name), ".pdf") {
		return f.Name
	}
	return f.Name + ".pdf"
}

// resultFiles is the text in front of a result's files, where they are in a message of their own.
func resultFiles(tool string) string { return "The files of the result of " + tool + ":" }

// anthropicFile returns a file in the form of Anthropic's API. A result may have both kinds.
// https://platform.claude.com/docs/en/build-with-claude/vision
// https://platform.claude.com/docs/en/build-with-claude/pdf-support
func anthropicFile(f sandbox.File) any {
	source := map[string]any{"type": "base64", "media_type": f.MediaType, "data": base64Of(f)}
	if isPDF(f) {
		return map[string]any{"type": "document", "source": source, "title": f.Name}
	}
	return map[string]any{"type": "image", "source": source}
}

// responsesFile returns a file in the form of the Responses API, for messages and for results.
// https://developers.openai.com/api/docs/guides/images-vision
// https://developers.openai.com/api/docs/guides/file-inputs
func responsesFile(f sandbox.File) any {
	if isPDF(f) {
		return map[string]any{"type": "input_file", "filename": pdfName(f), "file_data": dataURL(f)}
	}
	return map[string]any{"type": "input_image", "detail": "auto", "image_url": dataURL(f)}
}

// chatFile returns a file in the form of the Chat Completions API, for messages of the user's.
// https://developers.openai.com/api/docs/guides/file-inputs?api-mode=chat
func chatFile(f sandbox.File) any {
	if isPDF(f) {
		return map[string]any{"type": "file", "file": map[string]any{"filename": pdfName(f), "file_data": dataURL(f)}}
	}
	return map[string]any{"type": "image_url", "image_url": map[string]any{"url": dataURL(f)}}
}

// geminiType returns the name that Gemini has for a media type, or "" for one that it does not take,
// such as GIF. https://ai.google.dev/gemini-api/docs/image-understanding,
// https://ai.google.dev/gemini-api/docs/audio
func geminiType(media string) string {
	switch media {
	case "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf",
		"audio/wav", "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac":
		return media
	case "audio/mpeg":
		return "audio/mp3"
	case "audio/x-wav", "audio/wave":
		return "audio/wav"
	}
	return ""
}

func geminiFile(f sandbox.File) map[string]any {
	return map[string]any{"inlineData": map[string]any{"mimeType": geminiType(f.MediaType), "data": base64Of(f)}}
}

// inGeminiResult reports whether a result for a model may have a file. Gemini takes some types from
// version 3 on, and refuses such a result before.
// https://ai.google.dev/gemini-api/docs/function-calling#multimodal-function-responses
func inGeminiResult(model string, f sandbox.File) bool {
	_, version, _ := strings.Cut(model, "gemini-")
	major, _, _ := strings.Cut(version, ".")
	major, _, _ = strings.Cut(major, "-")
	if n, err := strconv.Atoi(major); err != nil || n < 3 {
		return false
	}
	switch f.MediaType {
	case "image/png", "image/jpeg", "image/webp", "application/pdf":
		return true
	}
	return false
}
