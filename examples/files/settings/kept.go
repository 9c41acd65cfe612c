package settings

import "github.com/bailey-go/bailey/sandbox/policy"

// Kept is the settings in the browser's localStorage. boot.js reads theme.
type Kept struct {
	Theme    string `json:"theme,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	URL      string `json:"url,omitempty"`
	Key      string `json:"key,omitempty"`
	Origin   string `json:"origin,omitempty"`  // of the provider's address
	Effort   string `json:"effort,omitempty"`  // how much the model thinks, see provider.Options
	Context  int    `json:"context,omitempty"` // tokens of the model's window, 0 for the provider's own

	Notify bool            `json:"notify,omitempty"`
	Voice  bool            `json:"voice,omitempty"`  // the user has agreed to speech input
	Copies map[string]bool `json:"copies,omitempty"` // folders that are worked on in a copy, by name
	Skills []string        `json:"skills,omitempty"` // accepted skills, by their hash

	Rules map[string]policy.Rules `json:"rules,omitempty"` // lasting answers, by folder name

	Web     Web      `json:"web,omitzero"`
	Servers []Server `json:"servers,omitempty"`
	Origins []string `json:"origins,omitempty"` // of Web and Servers, for Narrow
}
