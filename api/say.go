package api

// ReportedText is how far the text has been told that an agent writes while it plans a step. Sum
// is the FNV-1a hash, of 64 bits, of those bytes; Try counts the texts of the step that
// were begun again, because a planner that was started again wrote another one.
type ReportedText struct {
	Step  int    `json:"step,omitzero"`
	Try   int    `json:"try,omitzero"`
	Bytes int64  `json:"bytes,omitzero"`
	Sum   uint64 `json:"sum,string,omitzero"`
}

// AddSum goes on with the [ReportedText.Sum] of a text; 0 begins it.
func AddSum(sum uint64, text string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	if sum == 0 {
		sum = offset
	}
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * prime
	}
	return sum
}

// AgentTextRequest tells a piece of the text that the agent writes while it plans the step,
// from a byte on: sending it again tells nothing again. A Try that is one higher than the
// last begins the text again, at byte 0.
type AgentTextRequest struct {
	WorkerRequest

	Step int    `json:"step"`
	Try  int    `json:"try,omitzero"`
	From int64  `json:"from"`
	Text string `json:"text"`
}

// AgentTextLimit is the most bytes of text that one request tells.
const AgentTextLimit = 16 << 10
