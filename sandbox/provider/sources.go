package provider

import (
	"cmp"
	"encoding/json"

	"github.com/bailey-go/bailey/sandbox"
)

// citation is a source as servers tell it with a piece of a text: Anthropic's citation, the Responses
// API's annotation, and Chat Completions' with the object url_citation.
// https://platform.claude.com/docs/en/build-with-claude/citations
// https://developers.openai.com/api/docs/guides/tools-web-search
type citation struct {
	Type     text `json:"type"`
	URL      text `json:"url"`
	Title    text `json:"title"`
	Document text `json:"document_title"`
	Filename text `json:"filename"`
	Nested   struct {
		URL   text `json:"url"`
		Title text `json:"title"`
	} `json:"url_citation"`
}

// cite sends the source in a citation. A citation of another form is left out: the text is there
// without it.
func (s *sink) cite(raw json.RawMessage) error {
	var c citation
	if len(raw) == 0 || json.Unmarshal(raw, &c) != nil {
		return nil
	}
	source := sandbox.Source{URL: string(cmp.Or(c.URL, c.Nested.URL)), Title: string(cmp.Or(c.Title, c.Nested.Title))}
	switch c.Type {
	case "url_citation", "web_search_result_location":
		if source.URL == "" {
			return nil
		}
	case "file_citation", "container_file_citation":
		source = sandbox.Source{Title: string(c.Filename), Filename: string(c.Filename)}
	case "page_location":
		source = sandbox.Source{Title: string(c.Document), MediaType: "application/pdf"}
	case "char_location", "content_block_location":
		source = sandbox.Source{Title: string(c.Document)}
	default:
		return nil
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartSource, Source: source})
}

// grounds sends the pages in Gemini's groundingMetadata.
// https://ai.google.dev/gemini-api/docs/google-search
func (s *sink) grounds(raw json.RawMessage) error {
	var g struct {
		Chunks []struct {
			Web struct {
				URI   text `json:"uri"`
				Title text `json:"title"`
			} `json:"web"`
		} `json:"groundingChunks"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &g) != nil {
		return nil
	}
	for _, c := range g.Chunks {
		if c.Web.URI == "" {
			continue
		}
		if err := s.send(sandbox.ModelEvent{Type: sandbox.PartSource, Source: sandbox.Source{URL: string(c.Web.URI), Title: string(c.Web.Title)}}); err != nil {
			return err
		}
	}
	return nil
}
