package api

import "github.com/go-json-experiment/json/jsontext"

// SpawnRequest starts a turn within another: for an agent or a third-party worker within the turn that it has claimed
// (Worker), for a tool service within the turn whose call it runs (Call). Exactly one of the two is set. The new turn has
// the same owner, is one agent deeper, and ends no later than the turn above it. It inherits no consent.
type SpawnRequest struct {
	Worker *WorkerRequest `json:"worker,omitzero"`
	Call   *OwnerRequest  `json:"call,omitzero"`
	Agent  string         `json:"agent"`
	Args   jsontext.Value `json:"args"`
	// Correlation is required: the same request of the same caller under the same id starts one turn. See [EnqueueRequest],
	// also for the members that follow.
	Correlation  string   `json:"correlation_id"`
	Request      string   `json:"request,omitzero"`
	Label        string   `json:"label,omitzero"`
	ResultFields []string `json:"result_fields,omitzero"`
	Deadline     int      `json:"deadline_seconds,omitzero"`

	Boxes
}
