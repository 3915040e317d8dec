package aaep

import "github.com/go-json-experiment/json/jsontext"

// Producer identifies the agent that emits an event (§3.2.6). Only AgentID is
// required; it stays the same across versions (ENV-30).
type Producer struct {
	AgentID      string `json:"agent_id"`
	AgentVersion string `json:"agent_version,omitzero"`
	AgentName    string `json:"agent_name,omitzero"`
	Model        string `json:"model,omitzero"`
	ManifestURI  string `json:"manifest_uri,omitzero"`
	// Unknown holds members that this package does not know.
	Unknown map[string]jsontext.Value `json:",embed"`
}
