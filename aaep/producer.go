package aaep

// Producer identifies the agent that emits an event (§3.2.6). Only AgentID is
// required; it stays the same across versions (ENV-30).
type Producer struct {
	AgentID      string `json:"agent_id"`
	AgentVersion string `json:"agent_version,omitzero"`
	AgentName    string `json:"agent_name,omitzero"`
	Model        string `json:"model,omitzero"`
	ManifestURI  string `json:"manifest_uri,omitzero"`
}
